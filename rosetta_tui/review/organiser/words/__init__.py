"""What the organiser of a review is told, in words for screens and commands."""
