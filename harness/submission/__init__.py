"""Submissions: a method with its card, handed to the organisation that keeps the secret texts, and what comes of it there."""
