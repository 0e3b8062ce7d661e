"""Cells of tables that spreadsheets open: a text that would run there as a formula is guarded.

Every CSV and TSV that the program writes asks here. A table for people gets ``guarded`` cells. A corpus must come
back as it was, so its writer puts such texts into a column of JSON instead (``corpora.formats.columns``).
Source: OWASP, “CSV injection”.
"""

from __future__ import annotations

import re
import unicodedata

_STARTS = frozenset("=+-@")
_BREAKS = frozenset("\t\r\n")
_UNSEEN = frozenset({"Zs", "Cf"})
"""Categories of spaces and characters without width, which some programs pass over at the start of a cell."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a cell: it begins with = + - @, a tab or a line break.

    Full-width and small variants count too, and spaces before them do not hide them. A number is none.
    """
    for character in text:
        if character in _BREAKS:
            return True
        if unicodedata.category(character) not in _UNSEEN:
            shape = unicodedata.normalize("NFKC", character)[:1]
            return shape in _STARTS and _NUMBER.fullmatch(text) is None
    return False


def guarded(text: str) -> str:
    """Return a text for a cell, with an apostrophe before one that would run as a formula."""
    return f"'{text}" if is_formula(text) else text
