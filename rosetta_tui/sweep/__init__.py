"""Sweeps on the screen: a map of any two axes, with the best baseline and the Pareto front."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "sweeps", "Sweeps", "Map any two axes of a sweep: quality, cost, speed",
    "rosetta_tui.sweep.screen", "SweepScreen", order=4,
)  # fmt: skip
