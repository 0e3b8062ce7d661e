"""Runs side by side: which compare, what the tests say of each pair, and where they differ."""
