"""The two files that travel: the batch out, the ratings back."""
