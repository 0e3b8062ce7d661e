"""What is examined in a corpus as a whole, before its numbers mean something."""
