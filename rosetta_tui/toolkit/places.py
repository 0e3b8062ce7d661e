"""Screens that stand for themselves: anybody can go there from anywhere, by key or by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from textual.screen import Screen

COMPARISON = "rosetta_tui.compare.screen"
"""Where the screen is that lays runs side by side; it needs more than the store."""


def is_there(module: str) -> bool:
    """Whether this installation has a screen."""
    return find_spec(module) is not None


@dataclass(frozen=True, slots=True)
class Place:
    """One screen that needs nothing but the store."""

    title: str
    about: str
    """What a person finds there, in a few words."""
    module: str
    """Where its class is; imported when somebody goes there."""
    screen: str

    def open(self, store_path: Path) -> Screen[None]:
        """Make the screen."""
        made = getattr(import_module(self.module), self.screen)(store_path)
        return cast("Screen[None]", made)


PLACES = {
    "new_run": Place("New run", "Fill in a form", "rosetta_tui.new_run.screen", "NewRunScreen"),
    "corpora": Place(
        "Corpora", "Corpora and what is in them", "rosetta_tui.corpus.list_screen", "CorporaScreen"
    ),
    "leaderboard": Place(
        "Leaderboard",
        "Rank what is comparable",
        "rosetta_tui.leaderboard.screen",
        "LeaderboardScreen",
    ),
    "plots": Place(
        "Plots", "Look at runs instead of reading", "rosetta_tui.plots.screen", "PlotsScreen"
    ),
    "settings": Place(
        "Settings", "Keys, endpoints, colours", "rosetta_tui.settings.screen", "SettingsScreen"
    ),
    "doctor": Place(
        "Doctor", "What is missing on this computer", "rosetta_tui.doctor.screen", "DoctorScreen"
    ),
}
"""Name → screen, in the order in which the palette offers them."""
