"""Submissions: a method with its card, handed to the organisation that keeps the secret texts, and what comes of it there."""

FOLDER = "submissions"
"""In the data folder: a folder for each submission that came, called by its number."""
UNPACKED = "unpacked"
"""In that of a submission: where its members lie while it runs."""
