"""What runs inside of the box, on the standard library alone."""
