"""Legitimacy: what in a run's outputs somebody ought to look at (benchmark-specification §9.2–9.3)."""
