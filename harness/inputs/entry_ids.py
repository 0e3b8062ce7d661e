"""Ids of entries as people's tables give them back: spreadsheets and pandas make 1.0 of 1, and 7 of 007."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"0*(\d{1,15})(?:[.,]0+)?", re.ASCII)


class EntryIds:
    """The ids of a corpus, found as they are or, where only one id has it, by their number."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.all = frozenset(ids)
        numbers: dict[str, list[str]] = {}
        for id_ in self.all:
            if (number := _number(id_)) is not None:
                numbers.setdefault(number, []).append(id_)
        self._by_number = {number: ids[0] for number, ids in numbers.items() if len(ids) == 1}

    def find(self, given: str) -> str | None:
        """Return the id that is meant; None where no entry has it."""
        if given in self.all:
            return given
        number = _number(given)
        return None if number is None else self._by_number.get(number)


def _number(text: str) -> str | None:
    match = _NUMBER.fullmatch(text.strip())
    return match[1] if match else None
