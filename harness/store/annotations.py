"""What endpoints answered about the outputs of runs, with what it cost: judgements above all.

A row belongs to an output, or to no single one where several were asked about together. What a judge says is text
from outside, and may quote the output. Replies that a scoring asked for before its run is stored are noted beside
the run whose outputs they are about, so that they go with it when it is deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgpack

from harness.method.method import Attempt
from harness.store.file.trouble import unpacked_message
from harness.store.results import pack_attempts, unpack_attempts


@dataclass(frozen=True, slots=True)
class AnnotationRow:
    """What was asked and found by one annotator about one output."""

    position: int | None
    """Place in the corpus; None: a call about several outputs together."""
    annotator: str
    maker: str
    """``AskingAnnotator.maker``; of a row that was read, only its hash."""
    value: Any = None
    """The annotation; None where no answer came, or none of its own."""
    calls: int = 0
    """Answered by the endpoint, not from the cache."""
    cost_usd: float | None = 0.0
    """What the answer cost when it was made; None: unknown."""
    spent_usd: float = 0.0
    """What this run paid."""
    attempts: tuple[Attempt, ...] = ()


def answered(row: AnnotationRow) -> bool:
    """Tell whether a row holds an answer: a judgement that failed is none, and may be asked for again."""
    turns = row.value if isinstance(row.value, list) else [row.value]
    return all(isinstance(turn, dict) and turn.get("score") is not None for turn in turns)


def maker_key(maker: str) -> bytes:
    """Return the 16 bytes by which a maker is kept."""
    return blake2b(maker.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def keep_annotations(
    connection: sqlite3.Connection, run: int, rows: Iterable[AnnotationRow]
) -> None:
    """Keep rows; called within a transaction.

    One about an output that was asked about before takes the place of that, and adds to what it cost.
    """
    connection.executemany(
        "INSERT INTO annotations"
        " (run, position, annotator, maker, value, calls, cost_usd, spent_usd, trace)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (run, annotator, position) DO UPDATE SET maker = excluded.maker,"
        " value = excluded.value, calls = calls + excluded.calls,"
        " cost_usd = cost_usd + excluded.cost_usd, spent_usd = spent_usd + excluded.spent_usd,"
        " trace = excluded.trace",
        [
            (
                run,
                row.position,
                row.annotator,
                maker_key(row.maker),
                None if row.value is None else msgpack.packb(row.value),
                row.calls,
                row.cost_usd,
                row.spent_usd,
                pack_attempts(row.attempts),
            )
            for row in rows
        ],
    )


def read_annotations(
    connection: sqlite3.Connection,
    run: int,
    *,
    annotator: str | None = None,
    maker: str | None = None,
    position: int | None = None,
) -> Iterator[AnnotationRow]:
    """Yield the rows of a run, or those of one annotator, maker or output; StoredValueError for a damaged one."""
    rows = connection.execute(
        "SELECT position, annotator, maker, value, calls, cost_usd, spent_usd, trace FROM annotations"
        " WHERE run = ? AND (? IS NULL OR annotator = ?) AND (? IS NULL OR maker = ?)"
        " AND (? IS NULL OR position = ?) ORDER BY annotator, position",
        (
            run,
            annotator,
            annotator,
            *[None if maker is None else maker_key(maker)] * 2,
            position,
            position,
        ),
    )
    for place, id_, key, value, calls, cost, spent, trace in rows:
        yield AnnotationRow(
            place,
            id_,
            key.hex(),
            None if value is None else unpacked_message(value),
            calls,
            cost,
            spent,
            () if trace is None else tuple(unpack_attempts(trace)),
        )


def note_asked(connection: sqlite3.Connection, run: int, replies: Sequence[bytes]) -> None:
    """Note the keys of replies about a run's outputs that no run has yet; called within a transaction."""
    connection.executemany(
        "INSERT OR IGNORE INTO asked_about VALUES (?, ?)", [(run, key) for key in replies]
    )
