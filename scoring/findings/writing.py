"""How an answer is written: the mark at its end, capitals, and letters of the language that never occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from unicodedata import category, combining, normalize

import regex

from scoring.findings.rows import OutputRow, RowFault

_SENTENCE_ENDS = frozenset(".!?…。．！？｡।॥؟۔᙮።፧་།၊။។៕᱾")
_CLOSERS = " \t\n\"'”’“»«›)]}」』】*_`"

_LEAST_HAVING = 10
"""References that must have a letter before its absence says anything."""

_HARDLY = 0.15
"""Outputs with a letter / references with it, up to which it hardly occurs."""


def ends_sentence(text: str) -> bool:
    """Return whether a text ends with a mark that ends a sentence; brackets and quotation marks aside."""
    return text.rstrip(_CLOSERS)[-1:] in _SENTENCE_ENDS and bool(text.strip(_CLOSERS))


def end_mark(row: OutputRow) -> RowFault | None:
    """Return a hit where the last mark is lost or added; its source and its reference agree."""
    wanted = ends_sentence(row.reference)
    present = ends_sentence(row.body)
    if wanted == present or wanted != ends_sentence(row.source) or not row.reference:
        return None
    if any(ends_sentence(item) == present for item in row.accepted[2:]):
        return None
    if present:
        corrected = row.body.rstrip(_CLOSERS).rstrip("".join(_SENTENCE_ENDS))
    else:
        corrected = row.body + row.reference.rstrip(_CLOSERS)[-1:]
    before = row.body
    whole = row.narrowed(corrected)
    row.body = before
    return RowFault(row, whole, f"…{before[-40:]}")


def capitals(row: OutputRow) -> RowFault | None:
    """Return a hit where capitals stand otherwise than in the reference: everywhere, nowhere, at each word."""
    text, reference = row.body, row.reference
    if not _cased(reference):
        return None
    wrong = (
        (_shouted(text) and not any(map(_shouted, row.accepted)))
        or (text.islower() and not any(item.islower() for item in row.accepted))
        or (_titled(text) and not any(map(_titled, row.accepted)))
    )
    if not wrong:
        return None
    lowered = text.lower()
    corrected = lowered[:1].upper() + lowered[1:] if reference[:1].isupper() else lowered
    return RowFault(row, respelled(corrected, reference, str.casefold))


def _cased(text: str) -> bool:
    return not text.isupper() and text != text.lower()


def _shouted(text: str) -> bool:
    return text.isupper() and sum(map(str.isupper, text)) >= 4


def _titled(text: str) -> bool:
    return text.istitle() and text.count(" ") >= 3


_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’ʼ-][\p{L}\p{M}]+)*")


def respelled(output: str, reference: str, fold: Callable[[str], str]) -> str:
    """Return an output whose words are written as in the reference, where ``fold`` gives the same for both."""
    wanted = {fold(item): item for item in _WORD.findall(reference)}
    return _WORD.sub(lambda match: wanted.get(fold(match[0]), match[0]), output)


def missing_letters(rows: Sequence[OutputRow]) -> list[RowFault]:
    """Return the outputs without letters that their references have and hardly any output has.

    Letters are counted one by one, and by accent: of 15 references with a macron on some vowel no single vowel may
    be frequent enough.
    """
    answered = [row for row in rows if row.answered]
    wanted = [_units(row.reference) for row in answered]
    present = [_units(row.body) for row in answered]
    having, occurring = Counter[str](), Counter[str]()
    for one, other in zip(wanted, present, strict=True):
        having.update(one)
        occurring.update(other)
    missing = frozenset(
        unit
        for unit, count in having.items()
        if count >= _LEAST_HAVING
        and occurring[unit] <= count * _HARDLY
        and category(unit)[0] in "LM"
    )
    if not missing:
        return []
    of_open = Counter(
        unit
        for row, one in zip(answered, wanted, strict=True)
        if not row.entry.secret
        for unit in one & missing
    )
    letters = _shown(of_open)
    hits = []
    for row, one, other in zip(answered, wanted, present, strict=True):
        if (one & missing) - other:
            before = row.body
            corrected = row.narrowed(respelled(before, row.reference, without_accents))
            row.body = before
            hits.append(RowFault(row, corrected, letters))
    return hits


def _shown(missing: Counter[str]) -> str:
    """Return the missing letters, most frequent first; an accent alone if no own letter has it."""
    letters = [unit for unit, _ in missing.most_common()]
    composed = {mark for item in letters if not combining(item[0]) for mark in _accents(item)}
    return " ".join(f"◌{item}" if combining(item) else item for item in letters if item not in composed)  # fmt: skip


@lru_cache(maxsize=4096)
def _accents(letter: str) -> tuple[str, ...]:
    return tuple(item for item in normalize("NFD", letter)[1:] if combining(item))


def _units(text: str) -> frozenset[str]:
    """Return the small letters of a text, the other signs in it, and the accents on its letters."""
    letters = frozenset(text.lower())
    accents = {mark for item in letters if item > "\x7f" for mark in _accents(item)}
    return letters | accents if accents else letters


_WRITTEN = {
    "ø": "o", "đ": "d", "ŋ": "n", "ł": "l", "ħ": "h", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th",
    "ŧ": "t", "ɨ": "i", "ɬ": "l", "ƛ": "l", "ʻ": "", "ʼ": "", "ʔ": "", "ə": "e", "ɛ": "e", "ɔ": "o", "ґ": "г",
    "'": "", "’": "",
}  # fmt: skip
"""Letter without an accent of its own → what is written in its place where it cannot be typed."""

_BASES = str.maketrans(_WRITTEN | {item.upper(): base.upper() for item, base in _WRITTEN.items() if len(item.upper()) == 1})  # fmt: skip


_NO_ACCENTS = dict.fromkeys(range(0x300, 0x370)) | _BASES


@lru_cache(maxsize=8192)
def without_accents(text: str) -> str:
    """Return a text without accents (U+0300–U+036F), as it is written where they cannot be typed."""
    return normalize("NFD", text).translate(_NO_ACCENTS)
