"""The line face: it reads a line and prints lines."""
