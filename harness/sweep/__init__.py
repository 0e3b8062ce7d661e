"""Sweeps: every combination of a plan's settings as a run of its own (benchmark-specification §6)."""
