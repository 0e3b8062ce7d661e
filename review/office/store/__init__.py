"""The office's file: reviews with their answer keys, and everything that came back."""
