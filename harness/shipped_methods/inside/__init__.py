"""What runs in its own process, with the packages of its engine and the standard library alone."""
