"""The organiser's screens."""
