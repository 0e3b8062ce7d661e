"""What a translation method is, what it is told, and what it gives back."""
