"""The append-only log of what reviewers did, and what follows from it."""
