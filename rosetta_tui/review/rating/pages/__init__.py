"""The pages: of an item, and before, between and after the items."""
