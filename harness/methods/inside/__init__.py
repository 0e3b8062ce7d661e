"""What runs in a process of its own, with the packages of its engine and the standard library alone."""
