"""What the reviewer's pages are made of."""
