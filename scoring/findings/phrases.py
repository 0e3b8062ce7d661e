"""Common beginnings and ends, found by counting over the outputs: no list of phrases, so any language.

Words count as common where many outputs share them and few references do, the references of those outputs mostly
lack them, and their sources do not begin (or end) alike, which would explain them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from scoring.findings.rows import OutputRow, RowFault
from scoring.findings.writing import without_accents
from scoring.words.violations import is_quotation_mark

LEAST_COUNT = 3
LEAST_PART = 0.002
"""Outputs, and their part of all, from which a beginning is common."""

MOST_PHRASES = 5
_MOST_TOKENS = 10
_REACH = 160
"""Characters from an end of an output that are examined."""
_LEAST_LETTERS = 10
"""Characters from which words without a colon or another sign of their own count."""
_SAMPLE = 50
_SUPPORTED = 0.5
"""Part of a phrase's words that the references have, from which it is part of the translations."""

_HEAD = re.compile(r"[^\s:：、。！!]+[:：、。！!]*\s*|[:：、。！!]+\s*")
_TAIL = re.compile(r"\s*(?:<[^<>\s]*>|[^\s<]+|<)")
_SENTENCE_END = frozenset(".!?…。！？।॥؟۔᙮።")
_PLACEHOLDER = re.compile(r"[{}]|%\w")
_NO_WORD = re.compile(r"[\W_]+\Z")


@dataclass(frozen=True, slots=True)
class _End:
    """One of the two ends of a text."""

    cut: Callable[[str], list[str]]
    """Return the pieces of a text that reach from this end, shortest first."""
    distinct: Callable[[str], bool]
    """Return whether a phrase is long or marked enough to count."""
    nearest: Callable[[str], str]
    """Return the words of a source at this end."""
    left: Callable[[str, str], str]
    """Return a text without a piece at this end."""


def _heads(text: str) -> list[str]:
    tokens = _HEAD.findall(text[:_REACH])[:_MOST_TOKENS]
    return [item for item in accumulate(tokens) if len(item) < len(text)]


def _tails(text: str) -> list[str]:
    tokens = _TAIL.findall(text[-_REACH:])[-_MOST_TOKENS:]
    pieces = accumulate(reversed(tokens), lambda whole, token: token + whole)
    return [item for item in pieces if len(item) < len(text)]


def _is_sign(phrase: str) -> bool:
    return (
        bool(_NO_WORD.match(phrase))
        and not _SENTENCE_END.issuperset(phrase)
        and not all(is_quotation_mark(item) for item in phrase)
    )


def _distinct_head(phrase: str) -> bool:
    if _PLACEHOLDER.search(phrase):
        return False
    if " " not in phrase and phrase[-1] not in ":：!！":
        return _is_sign(phrase)
    return len(phrase) >= _LEAST_LETTERS or phrase[-1] in ":：!！"


def _distinct_tail(phrase: str) -> bool:
    if _PLACEHOLDER.search(phrase):
        return False
    if " " not in phrase:
        return (phrase[0] == "<" and len(phrase) > 1) or _is_sign(phrase)
    return len(phrase) >= _LEAST_LETTERS


_BEGINNING = _End(
    _heads,
    _distinct_head,
    lambda source: " ".join(source.split(maxsplit=2)[:2]).casefold(),
    lambda text, piece: text[len(piece) :],
)
_ENDING = _End(
    _tails,
    _distinct_tail,
    lambda source: " ".join(source.rsplit(maxsplit=2)[-2:]).casefold(),
    lambda text, piece: text[: -len(piece)].rstrip(),
)


def common_beginnings(rows: Sequence[OutputRow]) -> list[RowFault]:
    """Return the outputs that begin alike, and take the beginnings off their bodies."""
    return _common(rows, _BEGINNING)


def common_endings(rows: Sequence[OutputRow]) -> list[RowFault]:
    """Return the outputs that end alike, and take the ends off their bodies."""
    return _common(rows, _ENDING)


def _form(text: str) -> str:
    """Return a text as beginnings and ends are compared: without case, spaces folded."""
    return " ".join(text.casefold().split())


def _common(rows: Sequence[OutputRow], end: _End) -> list[RowFault]:
    answered = [row for row in rows if row.answered]
    pieces = [[item.strip() for item in end.cut(_form(row.body))] for row in answered]
    counts = Counter(key for keys in pieces for key in keys)
    least = max(LEAST_COUNT, len(rows) * LEAST_PART)
    common = {key for key, count in counts.items() if count >= least and end.distinct(key)}
    if not common:
        return []
    # Without accents: of outputs that have none, the references share the beginnings all the same.
    shared = {without_accents(key) for key in common}
    references = Counter(
        key
        for row in answered
        for piece in end.cut(without_accents(_form(row.reference)))
        if (key := piece.strip()) in shared
    )
    having: dict[str, list[int]] = {}
    for place, keys in enumerate(pieces):
        for key in common.intersection(keys):
            having.setdefault(key, []).append(place)
    starts = [end.nearest(row.source) for row in answered]
    often = Counter(starts)
    phrases = [
        key
        for key, places in having.items()
        if references[without_accents(key)] * 4 <= len(places)
        and not _explained([starts[item] for item in places], often)
        and _support(key, [answered[item] for item in places[:_SAMPLE]]) < _SUPPORTED
    ]
    hits: list[RowFault] = []
    for _ in range(MOST_PHRASES):
        # The phrase that takes off most characters: 19 × a whole sentence goes before 21 × its first words.
        best = max(phrases, key=lambda key: (len(having[key]) * len(key), key), default=None)
        if best is None or len(having[best]) < least:
            break
        taken = frozenset(having[best])
        for place in having[best]:
            row = answered[place]
            result = end.cut(row.body)
            piece = result[min(pieces[place].index(best), len(result) - 1)]
            hits.append(RowFault(row, row.narrowed(end.left(row.body, piece)), piece.strip()))
        having = {key: [item for item in places if item not in taken] for key, places in having.items()}  # fmt: skip
    return hits


def _explained(starts: Sequence[str], often: Counter[str]) -> bool:
    """Return whether the sources of some outputs are alike at this end, more than all sources are."""
    result, count = Counter(starts).most_common(1)[0]
    return count / len(starts) > max(0.5, 2 * often[result] / often.total())


def _support(phrase: str, rows: Sequence[OutputRow]) -> float:
    """Return which part of a phrase's words the references have, on average (0–1)."""
    words = [
        word
        for item in without_accents(phrase).split()
        if (word := item.strip(".,:;!?…。、：！\"'*()[]"))
    ]
    if not words:
        return 0.0
    result = 0
    for row in rows:
        reference = without_accents(row.reference.casefold())
        tokens = {item.strip(".,:;!?\"'()") for item in reference.split()}
        result += sum(word in tokens or (len(word) > 3 and word in reference) for word in words)
    return result / (len(words) * len(rows))
