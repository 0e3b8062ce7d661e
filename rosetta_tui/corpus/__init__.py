"""Corpora: the list of them, and one with its entries, facts and checks."""
