"""The metrics of the specification, one class each, and the inventory that makes them."""
