"""Entry rows of runs: written in groups, read by page, never loaded whole for a screen.

Beside each row lies what an analyser said of its output, and what the rules of variants make of it, as it goes
on the card. Runs that were sealed before have none of it, so that their rows stay as they were sealed. Of an entry
that is stored encrypted, outputs and the words of errors are sealed too; numbers, times and kinds of failure are open.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, NamedTuple

import msgpack

from corpora.files.places import without_gaps
from corpora.files.problems import StoredValueError
from corpora.model.entry import EntryId
from harness.core.calls import TOKENS, StatedUsage, Usage, token_counts
from harness.core.failures import ErrorClass
from harness.method.method import Attempt, Result
from harness.store.replies import pack_attempts, rate_limited, said_again, said_in, unpack_attempts, unsaid
from harness.store.sqlite.sealing import CorpusSeal, Opening, SealedKind, sealed_column, sealed_positions
from harness.store.sqlite.trouble import among, intern_text, of_kind, stored_word, unpacked_message
from scoring.core.specification import SortValues


@dataclass(frozen=True, slots=True)
class RowWords:
    """Of one output."""

    analyses: tuple[str, ...] | None
    """Analysis strings in the order of its words, ``word+?`` for a rejected one; None without an analyser."""
    lint: str | None
    """EXACT, EQUIVALENT, MISS or NO_OUTPUT; None for a language without rules of variants."""


def keep_row_words(connection: sqlite3.Connection, run: int, found: Mapping[int, RowWords]) -> None:
    """Store the words of a run's rows by place in the corpus; called within a transaction."""
    connection.executemany(
        "INSERT OR REPLACE INTO row_words (run, position, analyses, lint) VALUES (?, ?, ?, ?)",
        [
            (run, place, None if row_words.analyses is None else msgpack.packb(row_words.analyses), row_words.lint)
            for place, row_words in found.items()
        ],
    )


def read_row_words(
    connection: sqlite3.Connection, run: int, positions: Sequence[int] | None = None
) -> dict[int, RowWords]:
    """Return the words of a run's rows, or of some, by place in the corpus; StoredValueError where one is damaged."""
    condition, wanted = among("position", positions)
    query = f"SELECT position, analyses, lint FROM row_words WHERE run = ?{condition}"
    rows = connection.execute(query, (run, *wanted))
    return {place: RowWords(_analyses(packed), lint) for place, packed, lint in rows}


def _analyses(packed: bytes | None) -> tuple[str, ...] | None:
    if packed is None:
        return None
    return tuple(of_kind(analysis, str) for analysis in of_kind(unpacked_message(packed), list))


_ELSEWHERE = {"entry_id": "e.entry_id", "output": "t.body", "raw": "w.body"}
"""Field of ``Result`` that is not kept in its row itself → where it is."""

_FIELDS = tuple(field.name for field in fields(Result) if field.name not in {"usage", "trace"})
_OWN = tuple(name for name in _FIELDS if name not in _ELSEWHERE)
"""Fields that are columns of the same name."""

_own = attrgetter(*_OWN)
_EXACT, _CACHED, _ERROR_CLASS = map(_FIELDS.index, ("exact", "cached", "error_class"))
_POSITION = _FIELDS.index("position")
_SEALED = ("output", "raw", "error")  # Fields that are sealed of a sealed entry
_SEALED_PLACES = tuple(map(_FIELDS.index, _SEALED))

_BEFORE = {"headline": "chrf", "second": "composite", "third": "equivalent"}
"""Columns of sort values as they were called in stores that are read as they are (before migration 10)."""


def sort_columns(connection: sqlite3.Connection) -> Mapping[str, str]:
    """Return what the columns of sort values are called in this store, by name."""
    query = "SELECT 1 FROM pragma_table_info('results') WHERE name = 'headline'"
    now = connection.execute(query).fetchone()
    return {name: name for name in _BEFORE} if now else _BEFORE


def _columns(connection: sqlite3.Connection) -> str:
    """Return the columns of ``Result`` in their order, and after them what is sealed of the row."""
    called = sort_columns(connection)
    own = [_ELSEWHERE.get(name) or f"r.{called.get(name, name)}" for name in (*_FIELDS, *TOKENS)]
    return ", ".join([*own, sealed_column(connection, "results", "r")])


_INSERT = (
    f"INSERT INTO results (run, output, raw, trace, sealed, {', '.join((*_OWN, *TOKENS))})"
    f" VALUES ({', '.join('?' * (5 + len(_OWN) + len(TOKENS)))})"
)

_FROM = """
    FROM results r
    JOIN runs u ON u.id = r.run
    JOIN entries e ON e.corpus = u.corpus AND e.position = r.position
    LEFT JOIN texts t ON t.id = r.output
    LEFT JOIN texts w ON w.id = r.raw
    WHERE r.run = ?
"""


def add_results(connection: sqlite3.Connection, run: int, results: Sequence[Result]) -> None:
    """Store finished entries with their attempts; called within a transaction."""
    seal = run_seal(connection, run)
    secret = sealed_positions(connection, seal.corpus, (result.position for result in results))
    connection.executemany(
        _INSERT, [_row(connection, run, result, seal if result.position in secret else None) for result in results]
    )


def run_seal(connection: sqlite3.Connection, run: int) -> CorpusSeal:
    """Return what seals and opens texts of a run."""
    row = connection.execute("SELECT corpus FROM runs WHERE id = ?", (run,)).fetchone()
    return CorpusSeal(connection, -1 if row is None else row[0])


def _row(connection: sqlite3.Connection, run: int, result: Result, seal: CorpusSeal | None) -> tuple[object, ...]:
    sealed, attempts = None, result.trace
    if seal is not None:
        sealed_fields = {name: getattr(result, name) for name in _SEALED} | {"said": said_in(attempts)}
        sealed = seal.seal(result.position, SealedKind.RESULT, sealed_fields)
        result = replace(result, output=None, raw=None, error=None)
        attempts = unsaid(attempts)
    output = None if result.output is None else intern_text(connection, result.output)
    raw = None if result.raw is None else intern_text(connection, result.raw)
    counts = token_counts(result.usage) if result.usage else (None,) * len(TOKENS)
    return (run, output, raw, pack_attempts(attempts), sealed, *_own(result), *counts)


def copy_results(connection: sqlite3.Connection, run: int, to: int) -> None:
    """Copy the entry rows to another run; called within a transaction."""
    names = [row[1] for row in connection.execute("PRAGMA table_info(results)")][1:]
    columns = ", ".join(names)
    connection.execute(
        f"INSERT INTO results (run, {columns}) SELECT ?, {columns} FROM results WHERE run = ?", (to, run)
    )


def copy_done(connection: sqlite3.Connection, run: int, to: int) -> None:
    """Copy the rows of the entries that did not fail, paid for by the first, to another run; in a transaction."""
    names = [row[1] for row in connection.execute("PRAGMA table_info(results)")]
    taken = {"run": "?", "spent_usd": "0.0"}
    columns = ", ".join(taken.get(name, name) for name in names)
    connection.execute(
        f"INSERT INTO results ({', '.join(names)}) SELECT {columns} FROM results WHERE run = ? AND error_class IS NULL",
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


def replace_scores(connection: sqlite3.Connection, run: int, scores: Iterable[tuple[int, bytes, SortValues]]) -> None:
    """Write new statistics, by place in the corpus, with what is derived from them; within a transaction."""
    connection.executemany(
        "UPDATE results SET statistics = ?, headline = ?, exact = ?, second = ?, third = ?"
        " WHERE run = ? AND position = ?",
        [(statistics, *kept, run, position) for position, statistics, kept in scores],
    )


def read_results(connection: sqlite3.Connection, run: int, positions: Sequence[int] | None = None) -> Iterator[Result]:
    """Yield the stored rows of a run in corpus order: all, or those of some entries. StoreSealed as in ``read_entries``."""
    return _results(connection, run, positions, CorpusSeal.open)


def shown_results(connection: sqlite3.Connection, run: int, positions: Sequence[int] | None = None) -> Iterator[Result]:
    """Yield the same for a screen or list, and for no computing.

    A sealed one that no key available opens comes without output, first answer and words of its error.
    """
    return _results(connection, run, positions, CorpusSeal.shown)


def _results(
    connection: sqlite3.Connection, run: int, positions: Sequence[int] | None, opening: Opening
) -> Iterator[Result]:
    seal = run_seal(connection, run)
    condition, wanted = among("r.position", positions)
    query = f"SELECT {_columns(connection)} {_FROM}{condition} ORDER BY r.position"
    for row in connection.execute(query, (run, *wanted)):
        yield _result(row, seal, opening)


def results_after(connection: sqlite3.Connection, run: int, rowid: int) -> list[tuple[int, Result]]:
    """Return the rows stored after a row id, oldest first, so that a second terminal can follow."""
    rows = connection.execute(
        f"SELECT r.rowid, {_columns(connection)} {_FROM} AND r.rowid > ? ORDER BY r.rowid", (run, rowid)
    )
    seal = run_seal(connection, run)
    return [(row[0], _result(row[1:], seal, CorpusSeal.shown)) for row in rows]


def _result(row: tuple[Any, ...], seal: CorpusSeal, opening: Opening) -> Result:
    *values, sealed = row
    counts = values[len(_FIELDS) :]
    del values[len(_FIELDS) :]
    if sealed is not None:
        opened = opening(seal, values[_POSITION], SealedKind.RESULT, sealed)
        if opened is None:
            opened = dict.fromkeys(_SEALED)
        if not opened.keys() >= {*_SEALED}:
            raise StoredValueError
        for place, name in zip(_SEALED_PLACES, _SEALED, strict=True):
            values[place] = opened[name]
    values[_EXACT] = bool(values[_EXACT])
    values[_CACHED] = bool(values[_CACHED])
    if values[_ERROR_CLASS] is not None:
        values[_ERROR_CLASS] = stored_word(values[_ERROR_CLASS], ErrorClass)
    values.append(None if set(counts) == {None} else StatedUsage(*counts) if None in counts else Usage(*counts))
    return Result(*values)


def read_headlines(connection: sqlite3.Connection, run: int) -> list[float | None]:
    """Return what each stored entry is shown by first, in no order; None where it has no value."""
    query = f"SELECT {sort_columns(connection)['headline']} FROM results WHERE run = ?"
    return [row[0] for row in connection.execute(query, (run,))]


def headlines_by_place(connection: sqlite3.Connection, run: int) -> dict[int, float]:
    """Return the same by place in the corpus, of the entries that have a value and did not fail."""
    name = sort_columns(connection)["headline"]
    query = f"SELECT position, {name} FROM results WHERE run = ? AND error_class IS NULL AND {name} IS NOT NULL"
    return dict(connection.execute(query, (run,)))


def stored_positions(connection: sqlite3.Connection, run: int) -> set[int]:
    """Return the places of the entries that are stored already."""
    return {row[0] for row in connection.execute("SELECT position FROM results WHERE run = ?", (run,))}


def places_in_order(connection: sqlite3.Connection, run: int) -> Sequence[int]:
    """Return the places of the stored entries in order; many that follow one another take no memory."""
    query = "SELECT position FROM results WHERE run = ? ORDER BY position"
    return without_gaps(array("L", (place for (place,) in connection.execute(query, (run,)))))


def read_statistics(
    connection: sqlite3.Connection, run: int, positions: Sequence[int] | None = None
) -> Iterator[tuple[int, bytes]]:
    """Yield place and packed statistics of every stored entry in corpus order, or of some."""
    condition, wanted = among("position", positions)
    query = f"SELECT position, statistics FROM results WHERE run = ?{condition} ORDER BY position"
    return connection.execute(query, (run, *wanted))


_TOKENS = "prompt_tokens + completion_tokens"
"""``Result.total_tokens``."""


@dataclass(frozen=True, slots=True)
class StoredTotals:
    """How many entries are stored, how many of them failed, and what they took."""

    done: int
    failed: int
    tokens: int | None  # Of the entries whose tokens are known, None where none are
    tokens_untold: int  # Entries whose tokens are not known


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
    """Return the ways in which a run's entries failed, the most frequent first; of sealed entries without words."""
    rows = connection.execute(
        "SELECT error_class, coalesce(error, '') FROM results WHERE run = ? AND error_class IS NOT NULL"
        " GROUP BY 1, 2 ORDER BY count(*) DESC",
        (run,),
    )
    return [(stored_word(row[0], ErrorClass), row[1]) for row in rows]


def read_attempts(connection: sqlite3.Connection, run: int, position: int) -> list[Attempt]:
    """Return the attempts at one entry, in order; without words where they are sealed and no key available opens them."""
    row = connection.execute(
        f"SELECT trace, {sealed_column(connection, 'results', 'results')} FROM results WHERE run = ? AND position = ?",
        (run, position),
    ).fetchone()
    if row is None or row[0] is None:
        return []
    attempts = unpack_attempts(row[0])
    if row[1] is None:
        return attempts
    opened = run_seal(connection, run).shown(position, SealedKind.RESULT, row[1])
    return attempts if opened is None else said_again(attempts, of_kind(opened.get("said"), list))


def read_all_attempts(connection: sqlite3.Connection, run: int) -> Iterator[Attempt]:
    """Yield the attempts at all entries of a run, in corpus order; of sealed entries without words."""
    rows = connection.execute("SELECT trace FROM results WHERE run = ? AND trace IS NOT NULL ORDER BY position", (run,))
    return (attempt for row in rows for attempt in unpack_attempts(row[0]))


def read_tries(connection: sqlite3.Connection, run: int) -> Iterator[tuple[int, int, int]]:
    """Yield the place of each entry, how often it was tried, and how many tries were answered with 429.

    A trace that is damaged counts no 429: the run can be examined for all the rest.
    """
    for position, attempts, trace in connection.execute(
        "SELECT position, attempts, trace FROM results WHERE run = ?", (run,)
    ):
        try:
            yield position, attempts, rate_limited(trace)
        except StoredValueError:
            yield position, attempts, 0


class SharedOutcome(NamedTuple):
    """What several runs made of one entry."""

    missing: int
    """Runs that failed there or whose output is not good enough."""
    best: float | None
    """Highest second sort value, of translations the composite; None where no run has one."""
    best_run: int
    """Number of a run that has it."""


def shared_outcomes(
    connection: sqlite3.Connection, runs: Sequence[int], below: float | None
) -> dict[int, SharedOutcome]:
    """Return by place what came of the entries that all of these runs have.

    An output is not good enough where its second sort value is under ``below``, or where it is not right if that is None.
    """
    second = sort_columns(connection)["second"]
    misses = "NOT exact" if below is None else f"{second} < :below"
    # beside its only max() SQLite takes ``run`` from the row that has the maximum
    rows = connection.execute(
        f"SELECT position, sum(error_class IS NOT NULL OR coalesce({misses}, 0)), max(coalesce({second}, -1)), run"
        " FROM results WHERE run IN (SELECT value FROM json_each(:runs)) GROUP BY position HAVING count(*) = :many",
        {"below": below, "runs": json.dumps([*runs]), "many": len(runs)},
    )
    return {place: SharedOutcome(missing, None if best < 0 else best, run) for place, missing, best, run in rows}


def entry_ids(connection: sqlite3.Connection, run: int) -> dict[int, EntryId]:
    """Return the id of every entry of the run's corpus by its place."""
    return dict(
        connection.execute(
            "SELECT e.position, e.entry_id FROM entries e JOIN runs u ON u.corpus = e.corpus WHERE u.id = ?", (run,)
        )
    )
