"""Plots of runs, drawn with the characters of a terminal."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "plots", "Plots", "Look at runs instead of reading", "rosetta_tui.plots.screen", "PlotsScreen",
    order=4,
)  # fmt: skip
