"""Corpora in the store: their entries, listed, looked at, named in the place of files."""
