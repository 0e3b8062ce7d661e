"""A run from its beginning to its seal, and again with other metrics or for its failed entries."""
