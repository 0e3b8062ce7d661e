"""Corpora in the making: the folders known here, the form of a new one, and one with all that it still needs."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "projects", "New languages", "From an empty folder to a checked corpus",
    "rosetta_tui.project.list_screen", "ProjectsScreen", order=8,
)  # fmt: skip
