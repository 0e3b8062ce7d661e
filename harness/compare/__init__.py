"""Runs side by side: which compare, what the tests say of each pair, and where they differ."""

LEAST_RUNS, MOST_RUNS = 2, 6  # that stand side by side
