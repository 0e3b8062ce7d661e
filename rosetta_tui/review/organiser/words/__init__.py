"""The texts for the organiser of a review, for screens and commands."""
