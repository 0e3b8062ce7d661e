"""What an answer lacks or has too much of: copies, equal outputs, cuts, numbers, placeholders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import decimal

from corpora.text.comparison import bare_form
from corpora.text.tokens import read_placeholders
from scoring.findings.rows import OutputRow, RowFault, to_check
from scoring.findings.writing import ends_sentence

_LEAST_REPEATED = 12
"""Characters from which two sources with one output are worth a look; shorter ones need three."""

_LEAST_CUT = 20
"""Characters of a reference from which its output may be called cut."""

_SHORT, _SHORTER = 0.5, 0.85
"""Length of an output / length of the reference: far too short; too short for one that ends in mid-sentence."""


def empty(rows: Sequence[OutputRow]) -> list[RowFault]:
    """Return the entries without any output."""
    return [RowFault(row, None, "") for row in rows if row.blank]


def copied(rows: Sequence[OutputRow]) -> Iterator[RowFault]:
    """Yield the outputs that are their source, digits, punctuation and case aside."""
    for row in to_check(rows):
        form = bare_form(row.body)
        if form == bare_form(row.source) and all(form != bare_form(item) for item in row.accepted[1:]):  # fmt: skip
            row.answered = False
            yield RowFault(row)


def repeated(rows: Sequence[OutputRow]) -> Iterator[RowFault]:
    """Yield the outputs that stand for several sources whose references differ."""
    groups: dict[str, list[OutputRow]] = {}
    for row in rows:
        if row.answered:
            groups.setdefault(bare_form(row.body), []).append(row)
    for form, group in groups.items():
        if len(group) < 2 or all(row.right for row in group):
            continue
        sources = {bare_form(row.source) for row in group}
        references = {bare_form(row.reference) for row in group}
        least = 2 if len(form) >= _LEAST_REPEATED else 3
        if min(len(sources), len(references)) >= least:
            for row in group:
                if not row.right:
                    row.answered = False
                    yield RowFault(row)


def cut(row: OutputRow) -> RowFault | None:
    """Return a hit where an output is far shorter than its reference, or ends in the middle of a sentence."""
    length = len(row.reference.strip())
    if length < _LEAST_CUT:
        return None
    ratio = len(row.body) / length
    broken = (
        ratio < _SHORTER
        and not ends_sentence(row.body)
        and all(map(ends_sentence, (row.source, row.reference)))
    )
    return RowFault(row, None, f"…{row.body[-40:]}") if ratio < _SHORT or broken else None


_NUMBER = re.compile(r"\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*")
_DIGITS = re.compile(r"\d+")


class _Decimals(dict[int, str]):
    """Turns digits of any script into ASCII."""

    def __missing__(self, code: int) -> str:
        value = decimal(chr(code), None)
        self[code] = chr(code) if value is None else str(value)
        return self[code]


_DECIMALS = _Decimals()


@lru_cache(maxsize=4096)
def _numbers(text: str) -> Counter[str]:
    """Return the numbers of a text by their digits alone: 1,997 and 1.997 are one number."""
    if not _DIGITS.search(text):
        return Counter()
    plain = text if text.isascii() else text.translate(_DECIMALS)
    return Counter("".join(_DIGITS.findall(item)) for item in _NUMBER.findall(plain))


def numbers(row: OutputRow) -> RowFault | None:
    """Return a hit where a number that source and reference have is lost, or one is added that neither has."""
    given, wanted, present = map(_numbers, (row.source, row.reference, row.body))
    if not given and not present:
        return None
    asked = given & wanted if row.reference else given
    lost = [item for item in asked if asked[item] > present[item] and not _within(item, present)]
    known = Counter(key for text in row.accepted for key in _numbers(text))
    added = [item for item in present if not known[item] and _surely_new(item, known)]
    return RowFault(row, None, ", ".join([*lost, *added][:3])) if lost or added else None


def _within(number: str, others: Counter[str]) -> bool:
    """Return whether the digits of a number are in others, which may be written apart or together."""
    joined = "".join(others)
    return len(number) > 2 and number in joined


def _surely_new(number: str, known: Counter[str]) -> bool:
    """Return whether a number cannot be a word of the source, such as 12 or 20, or a part of another number."""
    significant = number.strip("0")
    return (
        len(significant) > 1
        and len(number) < 20
        and int(number) > 20
        and not _within(number, known)
        and not any(len(item) > 1 and item in number for item in known)
    )


def placeholders(row: OutputRow, *, tags: bool = True) -> RowFault | None:
    """Return a hit where variables and tags are not those of the source, nor those of the reference.

    ``tags``: false where marks of another kind were found, which read like added ones.
    """
    asked, present = read_placeholders(row.source).variables, read_placeholders(row.body).variables
    if asked == present or any(read_placeholders(item).variables == present for item in row.accepted[1:]):  # fmt: skip
        return None
    wrong = [*(asked - present), *((present - asked) if tags else ())]
    return RowFault(row, None, ", ".join(wrong[:3])) if wrong else None
