"""Corpora: the list of them, and one with its entries, facts and checks."""

from rosetta_tui.toolkit.places import Place

PLACE = Place(
    "corpora", "Corpora", "Corpora and what is in them", "rosetta_tui.corpus.screen",
    "CorporaScreen", order=2,
)  # fmt: skip
