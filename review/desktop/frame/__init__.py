"""What every page stands in, and what it may ask for."""
