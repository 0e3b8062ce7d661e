"""A run in a thread, and what a screen or a pipe sees of it."""
