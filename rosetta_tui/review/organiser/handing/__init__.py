"""What leaves the organiser's computer: batches, exports and certificates as files."""
