"""Meanings of Plains Cree words."""

from __future__ import annotations

GLOSSES = {
    "atim": ("dog; horse",), "atimêw": ("s/he catches up to s.o.",),
    "wâpamêw": ("s/he sees s.o., s/he witnesses s.o.",), "minôs": ("cat",),
    "nipâw": ("s/he sleeps",), "mîcisow": ("s/he eats, s/he has a meal",), "namôya": ("no, not",),
    "êkwa": ("and", "now"), "mîna": ("and, also",), "nâpêw": ("man",), "awâsis": ("child",),
    "mistatim": ("horse",), "misatim": ("horse",), "wiyâs": ("meat",),
}  # fmt: skip
"""A handful of well-known words with glosses in the way of dictionaries, for these tests only."""
