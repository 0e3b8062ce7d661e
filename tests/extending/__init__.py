"""What it takes to add something, each shown by one that stands outside the tree."""
