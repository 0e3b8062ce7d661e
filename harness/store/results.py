"""Entry rows of runs: written in groups, read by page, never loaded whole for a screen.

Beside each row lies what an analyser said of its output, and what the rules of variants make of it, as it goes
on the card. Runs that were sealed before have none of it, so that their rows stay as they were sealed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

import msgpack

from corpora.files.problems import StoredValueError
from corpora.model.entry import EntryId
from harness.core.failures import ErrorClass
from harness.method.method import Attempt, Result
from harness.store.file.transaction import intern_text
from harness.store.file.trouble import of_kind, stored_word, unpacked_message
from scoring.core.columns import Kept


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


_ELSEWHERE = {"entry_id": "e.entry_id", "output": "t.body", "raw": "w.body"}
"""Field of ``Result`` that is not kept in its row itself → where it is."""

_FIELDS = tuple(field.name for field in fields(Result))
_OWN = tuple(name for name in _FIELDS if name not in _ELSEWHERE)
"""Fields that are columns of the same name."""

_own = attrgetter(*_OWN)

_EXACT, _CACHED, _ERROR_CLASS = map(_FIELDS.index, ("exact", "cached", "error_class"))

_BEFORE = {"headline": "chrf", "second": "composite", "third": "equivalent"}
"""Columns of sort values as they were called in stores that are read as they are (before migration 10)."""


def sort_columns(connection: sqlite3.Connection) -> Mapping[str, str]:
    """Return what the columns of sort values are called in this store, by name."""
    query = "SELECT 1 FROM pragma_table_info('results') WHERE name = 'headline'"
    now = connection.execute(query).fetchone()
    return {name: name for name in _BEFORE} if now else _BEFORE


def _columns(connection: sqlite3.Connection) -> str:
    called = sort_columns(connection)
    return ", ".join(_ELSEWHERE.get(name) or f"r.{called.get(name, name)}" for name in _FIELDS)


_INSERT = (
    f"INSERT INTO results (run, output, raw, trace, {', '.join(_OWN)})"
    f" VALUES ({', '.join('?' * (4 + len(_OWN)))})"
)

_FROM = """
    FROM results r
    JOIN runs u ON u.id = r.run
    JOIN entries e ON e.corpus = u.corpus AND e.position = r.position
    LEFT JOIN texts t ON t.id = r.output
    LEFT JOIN texts w ON w.id = r.raw
    WHERE r.run = ?
"""


def add_results(
    connection: sqlite3.Connection,
    run: int,
    results: Iterable[tuple[Result, Sequence[Attempt]]],
) -> None:
    """Store finished entries with their attempts; called within a transaction."""
    connection.executemany(
        _INSERT, [_row(connection, run, result, attempts) for result, attempts in results]
    )


def _row(
    connection: sqlite3.Connection, run: int, result: Result, attempts: Sequence[Attempt]
) -> tuple[object, ...]:
    output = None if result.output is None else intern_text(connection, result.output)
    raw = None if result.raw is None else intern_text(connection, result.raw)
    return (run, output, raw, pack_attempts(attempts), *_own(result))


def copy_results(connection: sqlite3.Connection, run: int, to: int) -> None:
    """Give another run the same entry rows; called within a transaction."""
    names = [row[1] for row in connection.execute("PRAGMA table_info(results)")][1:]
    columns = ", ".join(names)
    connection.execute(
        f"INSERT INTO results (run, {columns}) SELECT ?, {columns} FROM results WHERE run = ?",
        (to, run),
    )


def copy_done(connection: sqlite3.Connection, run: int, to: int) -> None:
    """Give another run the rows of the entries that did not fail, paid for by the first; in a transaction."""
    names = [row[1] for row in connection.execute("PRAGMA table_info(results)")]
    taken = {"run": "?", "spent_usd": "0.0"}
    columns = ", ".join(taken.get(name, name) for name in names)
    connection.execute(
        f"INSERT INTO results ({', '.join(names)}) SELECT {columns} FROM results"
        " WHERE run = ? AND error_class IS NULL",
        (to, run),
    )


def failed_attempts(connection: sqlite3.Connection, run: int) -> dict[int, int]:
    """Return the places of the entries that failed and can be asked for again, with how often each was tried."""
    return dict(
        connection.execute(
            "SELECT position, attempts FROM results WHERE run = ? AND error_class IS NOT NULL"
            " AND error_class <> ? ORDER BY position",
            (run, ErrorClass.NO_SOURCE),
        )
    )


def replace_scores(
    connection: sqlite3.Connection,
    run: int,
    scores: Iterable[tuple[int, bytes, Kept]],
) -> None:
    """Write new statistics, by place in the corpus, with what is derived from them; within a transaction."""
    connection.executemany(
        "UPDATE results SET statistics = ?, headline = ?, exact = ?, second = ?, third = ?"
        " WHERE run = ? AND position = ?",
        [(statistics, *kept, run, position) for position, statistics, kept in scores],
    )


def read_results(
    connection: sqlite3.Connection, run: int, positions: Sequence[int] | None = None
) -> Iterator[Result]:
    """Yield the stored rows of a run: all in corpus order, or those of some entries."""
    query = f"SELECT {_columns(connection)} {_FROM}"
    if positions is None:
        for row in connection.execute(f"{query} ORDER BY r.position", (run,)):
            yield _result(row)
        return
    for start in range(0, len(positions), 500):
        chunk = positions[start : start + 500]
        marks = ",".join("?" * len(chunk))
        page = connection.execute(f"{query} AND r.position IN ({marks})", (run, *chunk))
        yield from map(_result, page)


def results_after(connection: sqlite3.Connection, run: int, rowid: int) -> list[tuple[int, Result]]:
    """Return the rows stored after a row id, oldest first, so that a second terminal can follow."""
    rows = connection.execute(
        f"SELECT r.rowid, {_columns(connection)} {_FROM} AND r.rowid > ? ORDER BY r.rowid",
        (run, rowid),
    )
    return [(row[0], _result(row[1:])) for row in rows]


def _result(row: tuple[Any, ...]) -> Result:
    values = list(row)
    values[_EXACT] = bool(values[_EXACT])
    values[_CACHED] = bool(values[_CACHED])
    if values[_ERROR_CLASS] is not None:
        values[_ERROR_CLASS] = stored_word(values[_ERROR_CLASS], ErrorClass)
    return Result(*values)


def read_headlines(connection: sqlite3.Connection, run: int) -> list[float | None]:
    """Return what each stored entry is shown by first, in no order; None where it has no value."""
    query = f"SELECT {sort_columns(connection)['headline']} FROM results WHERE run = ?"
    return [row[0] for row in connection.execute(query, (run,))]


def stored_positions(connection: sqlite3.Connection, run: int) -> set[int]:
    """Return the places of the entries that are stored already."""
    return {
        row[0] for row in connection.execute("SELECT position FROM results WHERE run = ?", (run,))
    }


def read_statistics(connection: sqlite3.Connection, run: int) -> dict[int, bytes]:
    """Return the packed statistics of every stored entry by place in the corpus."""
    return dict(
        connection.execute(
            "SELECT position, statistics FROM results WHERE run = ? ORDER BY position", (run,)
        )
    )


_TOKENS = "coalesce(prompt_tokens + completion_tokens, prompt_tokens, completion_tokens)"
"""``Result.total_tokens``."""


@dataclass(frozen=True, slots=True)
class StoredTotals:
    """How many entries are stored, how many of them failed, and what they took."""

    done: int
    failed: int
    tokens: int | None
    """Of the entries whose tokens are known, None where none are."""
    tokens_untold: int
    """Entries whose tokens are not known."""


def read_outcome(connection: sqlite3.Connection, run: int) -> StoredTotals:
    """Count a run's stored entries."""
    row = connection.execute(
        "SELECT count(*), count(error_class), sum(t), count(*) - count(t) FROM"
        f" (SELECT error_class, {_TOKENS} t FROM results WHERE run = ?)",
        (run,),
    ).fetchone()
    return StoredTotals(*row)


def read_latencies(connection: sqlite3.Connection, run: int) -> list[float]:
    """Return the seconds of a run's entries in corpus order; cached and failed ones say nothing (M4)."""
    rows = connection.execute(
        "SELECT latency_seconds FROM results WHERE run = ? AND NOT cached AND error_class IS NULL"
        " AND latency_seconds IS NOT NULL ORDER BY position",
        (run,),
    )
    return [row[0] for row in rows]


def failures(connection: sqlite3.Connection, run: int) -> list[tuple[ErrorClass, str]]:
    """Return the ways in which a run's entries failed, the most frequent first."""
    rows = connection.execute(
        "SELECT error_class, coalesce(error, '') FROM results WHERE run = ? AND error_class IS NOT NULL"
        " GROUP BY 1, 2 ORDER BY count(*) DESC",
        (run,),
    )
    return [(stored_word(row[0], ErrorClass), row[1]) for row in rows]


def read_attempts(connection: sqlite3.Connection, run: int, position: int) -> list[Attempt]:
    """Return the attempts at one entry, in order."""
    row = connection.execute(
        "SELECT trace FROM results WHERE run = ? AND position = ?", (run, position)
    ).fetchone()
    return [] if row is None or row[0] is None else unpack_attempts(row[0])


def read_all_attempts(connection: sqlite3.Connection, run: int) -> list[Attempt]:
    """Return the attempts at all entries of a run, in corpus order."""
    rows = connection.execute(
        "SELECT trace FROM results WHERE run = ? AND trace IS NOT NULL ORDER BY position", (run,)
    )
    return [attempt for row in rows for attempt in unpack_attempts(row[0])]


@dataclass(frozen=True, slots=True)
class Moment:
    """When an entry was finished, how long it had been under way, and what it adds to the run's figures."""

    position: int
    finished_at: float
    """Unix time."""
    failed: bool
    attempts: int
    spent_usd: float | None
    cost_usd: float | None
    tokens: int | None
    latency_seconds: float | None
    statistics: bytes
    seconds: float
    """All its tries and the waits before them."""
    rate_limited: int
    """Tries that were answered with 429."""


def moments(connection: sqlite3.Connection, run: int) -> list[Moment]:
    """Return the moments of a run's entries in the order in which they were stored."""
    rows = connection.execute(
        "SELECT position, finished_at, error_class IS NOT NULL, attempts, spent_usd, cost_usd,"
        f" {_TOKENS},"
        " latency_seconds, statistics, trace FROM results WHERE run = ? ORDER BY rowid",
        (run,),
    )
    return [_moment(row) for row in rows]


def _moment(row: tuple[Any, ...]) -> Moment:
    position, at, failed, attempts, spent, cost, tokens, latency, statistics, trace = row
    adds = (attempts, spent, cost, tokens, latency, statistics)
    return Moment(position, at, bool(failed), *adds, *_under_way(trace))


def _under_way(trace: bytes | None) -> tuple[float, int]:
    """Return the seconds of all tries and waits, and how many tries were answered with 429."""
    tries = [] if trace is None else _tries(trace)
    seconds = sum((each[2:3] or [0.0])[0] or 0.0 for each in tries)
    waited = sum((each[3:4] or [0.0])[0] or 0.0 for each in tries)
    return seconds + waited, sum((each[1:2] or [None])[0] == 429 for each in tries)


def read_tries(connection: sqlite3.Connection, run: int) -> Iterator[tuple[int, int, int]]:
    """Yield the place of each entry, how often it was tried, and how many tries were answered with 429.

    A trace that is damaged counts no 429: the run can be looked at for all the rest.
    """
    for position, attempts, trace in connection.execute(
        "SELECT position, attempts, trace FROM results WHERE run = ?", (run,)
    ):
        try:
            yield position, attempts, _under_way(trace)[1]
        except StoredValueError:
            yield position, attempts, 0


def pack_attempts(attempts: Sequence[Attempt]) -> bytes | None:
    """Return the attempts as a trace; None where there are none."""
    if not attempts:
        return None
    packed: bytes = msgpack.packb([_fields(attempt) for attempt in attempts])
    return packed


def _fields(attempt: Attempt) -> list[object]:
    """Return an attempt's fields without the empty ones at the end, which most attempts have."""
    fields: list[object] = [
        attempt.reply_key,
        attempt.status,
        attempt.latency_seconds,
        attempt.waited_seconds or None,
        attempt.cached or None,
        attempt.error_class,
        attempt.error,
        attempt.note,
    ]
    while fields and fields[-1] is None:
        fields.pop()
    return fields


def unpack_attempts(packed: bytes) -> list[Attempt]:
    """Read the attempts out of a row's trace; StoredValueError where it is none."""
    return [_attempt(*fields) for fields in _tries(packed)]


_NUMBER = int | float
_KINDS: tuple[Any, ...] = (bytes, int, _NUMBER, _NUMBER, bool, str, str, str)
"""Types of the fields of an attempt, each of which may be absent."""


def _tries(packed: bytes) -> list[list[Any]]:
    tries = of_kind(unpacked_message(packed), list)
    for each in tries:
        places = zip(of_kind(each, list), _KINDS, strict=False)
        sound = all(value is None or isinstance(value, kind) for value, kind in places)
        if len(each) > len(_KINDS) or not sound:
            raise StoredValueError
    return tries


def _attempt(
    key: bytes | None = None,
    status: int | None = None,
    latency: float | None = None,
    waited: float | None = None,
    cached: bool | None = None,
    error_class: str | None = None,
    error: str | None = None,
    note: str | None = None,
) -> Attempt:
    kind = None if error_class is None else stored_word(error_class, ErrorClass)
    return Attempt(key, status, latency, waited or 0.0, bool(cached), kind, error, note)


def entry_ids(connection: sqlite3.Connection, run: int) -> dict[int, EntryId]:
    """Return the id of every entry of the run's corpus by its place."""
    return dict(
        connection.execute(
            "SELECT e.position, e.entry_id FROM entries e JOIN runs u ON u.corpus = e.corpus WHERE u.id = ?",
            (run,),
        )
    )
