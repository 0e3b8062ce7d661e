"""The faces of the review in the terminal: the reviewer's screens and lines, and the organiser's screens."""
