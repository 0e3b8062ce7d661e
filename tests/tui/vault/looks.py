"""Pictures of the custodian's screens: in which sizes and colours, and where their store lies."""

from pathlib import Path

from tests.tui.golden import SIZES, compare
from tests.tui.golden_colours import THEMES, compare_colours
from tests.tui.screens import App

LOOKS = [(size, THEMES[0]) for size in SIZES] + [((100, 30), theme) for theme in THEMES]
"""Sizes for the words; each theme once for the colours."""


def store(home: Path) -> Path:
    """Return the store of a data folder."""
    return home / "rosetta.sqlite"


def look(name: str, size: tuple[int, int], app: App) -> None:
    """Compare what is drawn with what is kept: words in the sizes, colours in any other."""
    if size in SIZES:
        compare(name, size, app)
    else:
        compare_colours(name, app)
