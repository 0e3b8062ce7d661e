"""The Esperanto analyser that ships: its source, the program that compiles it, and the result."""
