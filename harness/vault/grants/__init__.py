"""Grants: one opening of a vault that several keepers allow, asked for and answered by files that travel on a stick."""
