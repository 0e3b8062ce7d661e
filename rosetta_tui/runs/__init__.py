"""The runs of the store: the list, and what can be done with one of them."""
