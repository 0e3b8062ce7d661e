"""Sweeps: every combination of a plan's settings as its own run (benchmark-specification §6)."""
