"""Seals of a key: who vouches for a card, and one row shown to be on it without the others."""
