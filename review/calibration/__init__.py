"""Ratings of people beside the scores of stored runs, and the proposal that comes of it."""
