"""What a translation method is, its options, and what it returns."""
