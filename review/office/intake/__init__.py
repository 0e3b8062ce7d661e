"""Taking ratings back, and who speaks for whom."""
