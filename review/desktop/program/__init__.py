"""The window from its start to its end, and which page follows which."""
