"""Which character a key stands for in the table of keys."""

from __future__ import annotations

from textual.events import Key

from review.session.words.keys import BACKSPACE


def typed(event: Key) -> str:
    """Return the character of a key, empty for one that has none."""
    if event.key == "backspace":
        return BACKSPACE
    return event.character if event.is_printable and event.character else ""
