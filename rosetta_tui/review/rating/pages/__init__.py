"""The pages before, between and after the items."""
