"""Runs that may be ranked together."""
