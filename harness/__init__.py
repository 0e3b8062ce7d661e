"""Runs: methods, the run loop and its events, run cards and the store."""
