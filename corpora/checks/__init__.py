"""What is looked at in a corpus as a whole, before its numbers mean something."""
