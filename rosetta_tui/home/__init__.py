"""Home: what continues, what waits, and what to do first."""
