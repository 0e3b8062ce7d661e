"""The organiser's screens: what went out and came back, and what the speakers decided."""
