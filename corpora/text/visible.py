"""Text from outside, made harmless for a screen: what would act instead of showing becomes a visible symbol.

Outputs of models and corpora of strangers may hold escape sequences, direction overrides, invisible
characters or towers of marks. A terminal shows ``plain`` text; a window, which sets type, ``readable`` text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import partial
from itertools import count
from typing import Final

_NAMED: Final = {
    0x09: "⇥", 0x0A: "␤", 0x7F: "␡", 0xAD: "⟨SHY⟩", 0x061C: "⟨ALM⟩", 0x200B: "⟨ZWSP⟩",
    0x200E: "⟨LRM⟩", 0x200F: "⟨RLM⟩", 0x2028: "⟨LS⟩", 0x2029: "⟨PS⟩", 0x202A: "⟨LRE⟩",
    0x202B: "⟨RLE⟩", 0x202C: "⟨PDF⟩", 0x202D: "⟨LRO⟩", 0x202E: "⟨RLO⟩", 0x2060: "⟨WJ⟩",
    0x2066: "⟨LRI⟩", 0x2067: "⟨RLI⟩", 0x2068: "⟨FSI⟩", 0x2069: "⟨PDI⟩", 0xFEFF: "⟨BOM⟩",
}  # fmt: skip

_KEPT: Final = frozenset({0x20, 0x200C, 0x200D, 0x3000})
"""Space, ZWNJ and ZWJ (scripts need them to shape), and the ideographic space."""
_KEPT_IN_TYPE: Final = frozenset({0x09, 0xAD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2060})
"""What type-setting needs at the place where it stands, and what reaches no further than its neighbours."""
_BLANK: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]")
"""Characters that count as printable and yet show nothing."""
_RUN: Final = re.compile(r"([^\n -~])\1{3,}")
"""The same character four times and more."""
MOST_MARKS: Final = 8
"""Marks on one letter; no writing of a living language needs as many."""
MOST_NAMED: Final = 200
"""Letters of one line that are there by their long names; further ones by their numbers."""
_TOWER_SEAT: Final = "◌"
"""What further marks are on."""


class _Visible(dict[int, str]):
    """A translation table that decides about a character when it first meets it."""

    def __missing__(self, code: int) -> str:
        self[code] = _visible(code)
        return self[code]


class _Readable(dict[int, str]):
    """The same for a screen that sets type: in signs that every font has, and every space as wide as it is."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        shown = _visible(code)
        if unicodedata.category(character) == "Zs" or code in _KEPT_IN_TYPE:
            shown = character
        elif shown != character:
            shown = f"‹{shown[1:-1]}›" if len(shown) > 1 else f"‹U+{code:04X}›"
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


_TABLE: Final = _Visible()
_TYPE_TABLE: Final = _Readable()


def plain(text: str) -> str:
    """Return text in which every control, direction mark and invisible character is a visible symbol.

    The result holds no character of the categories Cc, Cs, Co, Cn, Zl or Zp, and of Cf only ZWJ and ZWNJ,
    so a terminal can only show it. Text without such characters comes back as it is.
    """
    if _is_plain(text):
        return text
    return text.translate(_TABLE)


def readable(text: str, undrawn: Collection[str] = ()) -> str:
    """Return text for a window: with its line breaks, spaces and direction marks, but without what reaches further.

    Controls and everything that overrides, embeds or isolates a direction become visible, and after
    ``MOST_MARKS`` marks on one letter the next ones are on a dotted circle, so that no text covers another.
    The same one many times in a row is replaced by its number.

    ``undrawn``: letters, each with its marks, that the window has no picture of; they are there by name.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_readable_line(line, any_of(undrawn)) for line in lines)


def any_of(letters: Collection[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds each of these letters, longer ones first; None where there are none."""
    if not letters:
        return None
    return re.compile("|".join(map(re.escape, sorted(letters, key=len, reverse=True))))


def letter_name(letter: str) -> str:
    """Name a letter and each of its marks by what Unicode calls them; what has no name, by its number."""
    return " + ".join(unicodedata.name(part, "") or _number(part) for part in _few(letter))


def _number(character: str) -> str:
    return f"U+{ord(character):04X}"


def _few(letter: str) -> list[str]:
    """Return the characters of a letter; of more marks than a letter has the first ones and a sign for the rest."""
    return [*letter] if len(letter) <= MOST_MARKS else [*letter[:MOST_MARKS], "…"]


def _readable_line(line: str, undrawn: re.Pattern[str] | None) -> str:
    if line.isascii() and line.isprintable():
        return line
    if undrawn is not None and undrawn.search(line):
        line = _RUN.sub(partial(_counted, undrawn), line)
        places = count()

        def named(found: re.Match[str]) -> str:
            if next(places) < MOST_NAMED:
                return f"‹{letter_name(found[0])}›"
            return f"‹{' + '.join(map(_number, _few(found[0])))}›"

        line = undrawn.sub(named, line).translate(_TYPE_TABLE)
    elif not _is_plain(line):
        line = _RUN.sub(partial(_counted, None), line).translate(_TYPE_TABLE)
    marks = 0
    kept = []
    for character in line:
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        if marks > MOST_MARKS:
            kept.append(_TOWER_SEAT)
            marks = 1
        kept.append(character)
    return "".join(kept)


def _counted(undrawn: re.Pattern[str] | None, run: re.Match[str]) -> str:
    """Write what is shown by name once, with how often it is there."""
    character = run[1]
    drawn = undrawn is None or not undrawn.fullmatch(character)
    if drawn and _TYPE_TABLE[ord(character)] == character:
        return run[0]
    return f"{character}‹×{len(run[0])}›"


def _is_plain(text: str) -> bool:
    return text.isprintable() and not _BLANK.search(text)


# ---- Cells of tables that spreadsheets open: a text that would run there as a formula is
# guarded.
#
# Every CSV and TSV that the program writes asks here. A table for people gets ``guarded`` cells.
# A corpus must come back as it was, so its writer puts such texts into a column of JSON instead
# (``corpora.formats.columns``). Source: OWASP, “CSV injection”.

_STARTS = frozenset("=+-@")
_BREAKS = frozenset("\t\r\n")
_UNSEEN = frozenset({"Zs", "Cf"})
"""Categories of spaces and characters without width, which some programs pass over at the start of a cell."""
_NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a cell: it begins with = + - @, a tab or a line break.

    Full-width and small variants count too, and spaces before them do not hide them. A number is none.
    """
    for character in text:
        if character in _BREAKS:
            return True
        if unicodedata.category(character) not in _UNSEEN:
            shape = unicodedata.normalize("NFKC", character)[:1]
            return shape in _STARTS and re.fullmatch(_NUMBER, text, re.ASCII) is None
    return False


def guarded(text: str) -> str:
    """Return a text for a cell, with an apostrophe before one that would run as a formula."""
    return f"'{text}" if is_formula(text) else text
