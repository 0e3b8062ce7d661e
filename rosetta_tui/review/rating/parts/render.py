"""Words of the program for a reviewer's screen; a catalogue may come from outside like any other text."""

from __future__ import annotations

import re

from textual.content import Content

from rosetta_tui.show.text import plain

_SPACE_THAT_HOLDS = re.compile("([\u00a0\u202f])")
"""No-break spaces, as French typography sets them; a terminal shows both as the wider one."""
_HOLDS = "\u00a0"


def told(words: str, style: str = "") -> Content:
    """Return words of the catalogue as harmless Content, with their line breaks and no-break spaces."""
    lines = words.split("\n")
    return Content("\n").join([Content.styled(_harmless(line), style) for line in lines])


def _harmless(line: str) -> str:
    parts = _SPACE_THAT_HOLDS.split(line)
    return "".join(_HOLDS if _SPACE_THAT_HOLDS.fullmatch(part) else plain(part) for part in parts)
