"""What stands in a line to type, made harmless: the name of a file may hold escape sequences too."""

from __future__ import annotations

from functools import cache

from rich.highlighter import Highlighter
from rich.text import Text

from rosetta_tui.show.text import plain

INSTEAD = "¤"
"""Stands for a character that shows nothing of its own, or would act."""


class Harmless(Highlighter):
    """Shows one cell for each character that would act, so that the cursor stays where it belongs."""

    def __call__(self, text: str | Text) -> Text:
        """Return the text to draw."""
        typed = text if isinstance(text, str) else text.plain
        return Text("".join(map(_shown, typed)), no_wrap=True, overflow="ignore", end="")

    def highlight(self, text: Text) -> None:
        """Colour nothing."""


@cache
def _shown(character: str) -> str:
    if plain(f"x{character}") == f"x{character}":
        return character
    symbol = plain(character)
    return symbol if len(symbol) == 1 else INSTEAD
