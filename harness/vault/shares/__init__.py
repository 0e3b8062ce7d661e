"""Shares of a vault's opening key: M of N keepers open together what none of them can open alone."""
