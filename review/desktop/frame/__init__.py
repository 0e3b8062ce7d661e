"""What every page is in, and what it may ask for."""
