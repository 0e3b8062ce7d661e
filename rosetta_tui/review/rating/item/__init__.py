"""The page of one item, and what is typed on it."""
