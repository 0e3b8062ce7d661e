"""Corpora in the store: their entries, listed, examined, named instead of files."""
