"""Runs side by side: who is better, how sure that is, and where they differ."""
