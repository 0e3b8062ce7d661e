"""What an analyser said of each output, and what the rules of variants make of it, as it goes on the card.

Runs that were sealed before have none of it, so that their rows stay as they were sealed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

import msgpack

from harness.store.file.trouble import of_kind, unpacked_message


@dataclass(frozen=True, slots=True)
class RowWords:
    """Of one output."""

    analyses: tuple[str, ...] | None
    """Analysis strings in the order of its words, ``word+?`` for a rejected one; None without an analyser."""
    lint: str | None
    """EXACT, EQUIVALENT, MISS or NO_OUTPUT; None for a language without rules of variants."""


def keep_row_words(connection: sqlite3.Connection, run: int, found: Mapping[int, RowWords]) -> None:
    """Keep the words of a run's rows by place in the corpus; called within a transaction."""
    connection.executemany(
        "INSERT OR REPLACE INTO row_words (run, position, analyses, lint) VALUES (?, ?, ?, ?)",
        [
            (run, place, None if each.analyses is None else msgpack.packb(each.analyses), each.lint)
            for place, each in found.items()
        ],
    )


def read_row_words(connection: sqlite3.Connection, run: int) -> dict[int, RowWords]:
    """Return the words of a run's rows by place in the corpus; StoredValueError where one is damaged."""
    rows = connection.execute(
        "SELECT position, analyses, lint FROM row_words WHERE run = ?", (run,)
    )
    return {place: RowWords(_analyses(packed), lint) for place, packed, lint in rows}


def _analyses(packed: bytes | None) -> tuple[str, ...] | None:
    if packed is None:
        return None
    return tuple(of_kind(each, str) for each in of_kind(unpacked_message(packed), list))
