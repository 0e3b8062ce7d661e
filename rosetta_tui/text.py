"""The only way by which text from outside reaches a terminal.

Outputs of models and corpora of strangers may hold markup, escape sequences, direction overrides or
invisible characters. Here every character that would act instead of showing becomes one that shows.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.content import Content

_NAMED = {
    0x09: "⇥",
    0x0A: "␤",
    0x7F: "␡",
    0xAD: "⟨SHY⟩",
    0x061C: "⟨ALM⟩",
    0x200B: "⟨ZWSP⟩",
    0x200E: "⟨LRM⟩",
    0x200F: "⟨RLM⟩",
    0x2028: "⟨LS⟩",
    0x2029: "⟨PS⟩",
    0x202A: "⟨LRE⟩",
    0x202B: "⟨RLE⟩",
    0x202C: "⟨PDF⟩",
    0x202D: "⟨LRO⟩",
    0x202E: "⟨RLO⟩",
    0x2060: "⟨WJ⟩",
    0x2066: "⟨LRI⟩",
    0x2067: "⟨RLI⟩",
    0x2068: "⟨FSI⟩",
    0x2069: "⟨PDI⟩",
    0xFEFF: "⟨BOM⟩",
}

_KEPT = frozenset({0x20, 0x200C, 0x200D, 0x3000})
"""Space, ZWNJ and ZWJ (scripts need them to shape), and the ideographic space."""

_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]")
"""Characters that count as printable and yet show nothing."""


class _Visible(dict[int, str]):
    """A translation table that decides about a character when it first meets it."""

    def __missing__(self, code: int) -> str:
        shown = _visible(code)
        self[code] = shown
        return shown


def _visible(code: int) -> str:
    character = chr(code)
    if code in _KEPT:
        return character
    if code in _NAMED:
        return _NAMED[code]
    if code < 0x20:
        return chr(0x2400 + code)
    if unicodedata.category(character) == "Zs":
        return "⍽"
    if character.isprintable() and not _BLANK.match(character):
        return character
    return f"⟨U+{code:04X}⟩"


_TABLE = _Visible()


def plain(text: str) -> str:
    """Give text in which every control, direction mark and invisible character is a visible symbol.

    The result holds no character of the categories Cc, Cs, Co, Cn, Zl or Zp, and of Cf only ZWJ and ZWNJ,
    so a terminal can only show it. Text without such characters comes back as it is.
    """
    if text.isprintable() and not _BLANK.search(text):
        return text
    return text.translate(_TABLE)


def json_text(
    value: object, *, indent: int | None = 2, default: Callable[[Any], object] | None = None
) -> str:
    """Write a value as JSON that any terminal can show: ASCII alone, all other characters escaped.

    Readers get every text back as it was; ``default`` turns what JSON does not know into what it knows.
    """
    return json.dumps(value, indent=indent, default=default).replace("\x7f", "\\u007f")


def show(text: str, style: str = "") -> Content:
    """Give harmless text as Content, which Textual never reads as markup; line breaks become ␤."""
    from textual.content import Content

    return Content.styled(plain(text), style)


def show_lines(text: str, style: str = "") -> Content:
    """Give harmless text as Content with its line breaks, for places that have room."""
    from textual.content import Content

    lines = text.replace("\r\n", "\n").split("\n")
    return Content("\n").join([show(line, style) for line in lines])
