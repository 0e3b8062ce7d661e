"""Home: what goes on, what waits, and what to do first."""
