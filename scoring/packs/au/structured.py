"""Reading answers that are JSON or SQL: what a model wraps around them is taken off, and nothing else is guessed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

MOST_LETTERS = 1_000_000
"""Of a longer answer no JSON is read."""
_FENCE = "```"
_TAG = re.compile(r"(?:json|sqlite|sql)(?!\w)|\w{0,20}(?=[^\S\n]{0,20}\n)", re.IGNORECASE)
"""What may stand behind a fence to say what is in it."""
NO_JSON = object()
"""Stands for the value of an answer that is no JSON."""


def unfenced(text: str) -> str:
    """Return an answer without the Markdown fence around it, where the whole of it is in one."""
    plain = text.strip()
    if len(plain) < 2 * len(_FENCE) or not (plain.startswith(_FENCE) and plain.endswith(_FENCE)):
        return plain
    inside = plain[len(_FENCE) : -len(_FENCE)]
    tag = _TAG.match(inside)
    return inside[tag.end() :].strip() if tag else inside.strip()


def json_answer(text: str) -> Any:
    """Return the value of an answer, with or without a Markdown fence; ``NO_JSON`` where it is none.

    What is nested deeper than Python reads, or holds a number of thousands of digits, is none.
    """
    if len(text) > MOST_LETTERS:
        return NO_JSON
    try:
        return json.loads(unfenced(text))
    except (ValueError, RecursionError):
        return NO_JSON


# ---- When two queries give the same result, and what of a query's text that depends on ----
#
# Imports nothing but the standard library: the process in which queries run loads this and no
# more.

Row = Sequence[Hashable]
MOST_WORK = 20_000_000
"""Cells that are examined before two results count as different; only columns that are alike in every count of
their values need more than a few looks."""
_TOKEN = re.compile(
    r"'(?:[^']|'')*+'?|\"(?:[^\"]|\"\")*+\"?|`[^`]*+`?|\[[^\]]*+\]?|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
    r"|\w++|\s++|.",
    re.DOTALL,
)
"""Texts, quoted names, comments, words, spaces, marks."""


def same_result(wanted: Sequence[Row], given: Sequence[Row], *, ordered: bool) -> bool:
    """Return whether two results have the same rows, their columns in any order.

    Rows are compared as a multiset, and in order only where ``ordered``. Two results without rows are the same.
    """
    if len(wanted) != len(given) or not wanted:
        return len(wanted) == len(given)
    if len(wanted[0]) != len(given[0]):
        return False
    columns, others = list(zip(*wanted, strict=True)), list(zip(*given, strict=True))
    if ordered:
        return Counter(columns) == Counter(others)
    return _Matching(columns, others).found(0, [0] * len(wanted), [0] * len(given))


class _Matching:
    """Looks for a pairing of columns under which both results are the same multiset of rows.

    Columns are paired one by one. What a row shows in the columns paired so far is its class, and both sides must
    have as many rows of each class.
    """

    def __init__(self, wanted: Sequence[Row], given: Sequence[Row]) -> None:
        self._wanted, self._given = wanted, given
        counts = [frozenset(Counter(column).items()) for column in given]
        self._alike = []
        for column in wanted:
            own = frozenset(Counter(column).items())
            self._alike.append([place for place, count in enumerate(counts) if count == own])
        self._used: set[int] = set()
        self._work = 0

    def found(self, place: int, classes: list[int], others: list[int]) -> bool:
        """Pair the columns from ``place`` on, given the class of each row on both sides."""
        if place == len(self._wanted):
            return True
        tried: set[Row] = set()
        for chosen in self._alike[place]:
            column = self._given[chosen]
            if chosen in self._used or column in tried:
                continue
            tried.add(column)
            self._work += 2 * len(column)
            if self._work > MOST_WORK:
                return False
            split = _split(classes, self._wanted[place], others, column)
            if split is not None:
                self._used.add(chosen)
                if self.found(place + 1, *split):
                    return True
                self._used.remove(chosen)
        return False


def _split(classes: list[int], wanted: Row, others: list[int], given: Row) -> tuple[list[int], list[int]] | None:
    """Divide the classes of both sides by one more column; None where their numbers of rows differ."""
    ours, theirs = list(zip(classes, wanted, strict=True)), list(zip(others, given, strict=True))
    if Counter(ours) != Counter(theirs):
        return None
    number: dict[Hashable, int] = {}
    for row in ours:
        number.setdefault(row, len(number))
    return [number[row] for row in ours], [number[row] for row in theirs]


def without_distinct(query: str) -> str:
    """Omit DISTINCT wherever it stands, as the published comparison does; ``IS DISTINCT FROM`` stays."""
    pieces = _TOKEN.findall(query)
    lowered = [(place, piece.lower()) for place, piece in enumerate(pieces) if not piece.isspace()]
    following = [*(word for _, word in lowered[1:]), ""]
    dropped = {
        place for (place, word), after in zip(lowered, following, strict=True) if word == "distinct" and after != "from"
    }
    return "".join(piece for place, piece in enumerate(pieces) if place not in dropped)


def is_ordered(query: str) -> bool:
    """Return whether a query orders its own rows, not only those of a query inside it."""
    depth, before = 0, ""
    for token in _TOKEN.findall(query):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0 and before == "order" and token.lower() == "by":
            return True
        if not token.isspace():
            before = token.lower()
    return False
