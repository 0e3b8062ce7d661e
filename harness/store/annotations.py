"""What endpoints answered about the outputs of runs, with what it cost: judgements above all.

A row belongs to an output, or to no single one where several were asked about together. What a judge says is text
from outside, and may quote the output. Replies that a scoring asked for before its run is stored are noted beside
the run whose outputs they are about, so that they go with it when it is deleted. What was said of an entry that lies
sealed is sealed too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import blake2b
from typing import Any

import msgpack

from harness.method.method import Attempt
from harness.store.replies import pack_attempts, said_again, said_in, unpack_attempts, unsaid
from harness.store.results import run_seal
from harness.store.sqlite.openings import ScoringSoFar
from harness.store.sqlite.sealing import CorpusSeal, Opening, SealedKind, sealed_column, sealed_positions
from harness.store.sqlite.trouble import of_kind, unpacked_message


@dataclass(frozen=True, slots=True)
class AnnotationRow:
    """What was asked and found by one annotator about one output."""

    position: int | None  # Place in the corpus; None: a call about several outputs together
    annotator: str
    maker: str  # `AskingAnnotator.maker`; of a row that was read, only its hash
    value: Any = None  # The annotation; None where no answer came, or none of its own
    calls: int = 0  # Answered by the endpoint, not from the cache
    cost_usd: float | None = 0.0  # What the answer cost when it was made; None: unknown
    spent_usd: float = 0.0  # What this run paid
    attempts: tuple[Attempt, ...] = ()


def answered(row: AnnotationRow) -> bool:
    """Return whether a row holds an answer: a judgement that failed is none, and may be asked for again."""
    turns = row.value if isinstance(row.value, list) else [row.value]
    return all(isinstance(turn, dict) and turn.get("score") is not None for turn in turns)


def asked_for(row: AnnotationRow, *, again: bool = False) -> ScoringSoFar:
    """Return what one row adds to what a scoring asked for.

    ``again``: what no reply came for is asked again, and has not failed yet.
    """
    failed = row.position is not None and not answered(row)
    return ScoringSoFar(
        calls=row.calls,
        cost_usd=row.cost_usd,
        known_cost_usd=row.cost_usd or 0.0,
        failed=int(failed and not (again and row.value is None)),
    )


def read_asked(connection: sqlite3.Connection, run: int, *, again: bool = False) -> ScoringSoFar | None:
    """Add up what was asked about a run's outputs; None where nothing was. ``again`` as in ``asked_for``."""
    rows = [asked_for(row, again=again) for row in read_annotations(connection, run)]
    return reduce(ScoringSoFar.joined, rows) if rows else None


def maker_key(maker: str) -> bytes:
    """Return the 16 bytes by which a maker is kept."""
    return blake2b(maker.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def keep_annotations(connection: sqlite3.Connection, run: int, rows: Iterable[AnnotationRow]) -> None:
    """Store rows; called within a transaction.

    One about an output that was asked about before takes the place of that, and adds to what it cost.
    """
    annotation_rows = [*rows]
    seal = run_seal(connection, run)
    places = (row.position for row in annotation_rows if row.position is not None)
    secret = sealed_positions(connection, seal.corpus, places)

    def sealed(row: AnnotationRow) -> bytes | None:
        if row.position not in secret or row.position is None:
            return None
        words = {"value": row.value, "said": said_in(row.attempts)}
        return seal.seal(row.position, _what(row.annotator), words)

    connection.executemany(
        "INSERT INTO annotations"
        " (run, position, annotator, maker, value, calls, cost_usd, spent_usd, trace, sealed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (run, annotator, position) DO UPDATE SET maker = excluded.maker,"
        " value = excluded.value, calls = calls + excluded.calls,"
        " cost_usd = cost_usd + excluded.cost_usd, spent_usd = spent_usd + excluded.spent_usd,"
        " trace = excluded.trace, sealed = excluded.sealed",
        [
            (
                run,
                row.position,
                row.annotator,
                maker_key(row.maker),
                None if row.value is None or row.position in secret else msgpack.packb(row.value),
                row.calls,
                row.cost_usd,
                row.spent_usd,
                pack_attempts(unsaid(row.attempts) if row.position in secret else row.attempts),
                sealed(row),
            )
            for row in annotation_rows
        ],
    )


def _what(annotator: str) -> str:
    return f"{SealedKind.ANNOTATION} {annotator}"


def read_annotations(
    connection: sqlite3.Connection,
    run: int,
    *,
    annotator: str | None = None,
    maker: str | None = None,
) -> Iterator[AnnotationRow]:
    """Yield the rows of a run, or those of one annotator and maker; StoredValueError for a damaged one, StoreSealed as in ``read_entries``."""
    return _annotations(connection, run, annotator, maker, None, CorpusSeal.open)


def shown_annotations(connection: sqlite3.Connection, run: int, position: int) -> Iterator[AnnotationRow]:
    """Yield what was answered about one output, for a screen; what no key available opens comes without value and words."""
    return _annotations(connection, run, None, None, position, CorpusSeal.shown)


def _annotations(
    connection: sqlite3.Connection,
    run: int,
    annotator: str | None,
    maker: str | None,
    position: int | None,
    opening: Opening,
) -> Iterator[AnnotationRow]:
    rows = connection.execute(
        "SELECT position, annotator, maker, value, calls, cost_usd, spent_usd, trace,"
        f" {sealed_column(connection, 'annotations', 'annotations')} FROM annotations"
        " WHERE run = ? AND (? IS NULL OR annotator = ?) AND (? IS NULL OR maker = ?)"
        " AND (? IS NULL OR position = ?) ORDER BY annotator, position",
        (run, annotator, annotator, *[None if maker is None else maker_key(maker)] * 2, position, position),
    )
    seal = run_seal(connection, run)
    for place, id_, key, packed, calls, cost, spent, trace, sealed in rows:
        value = None if packed is None else unpacked_message(packed)
        attempts = [] if trace is None else unpack_attempts(trace)
        if sealed is not None and (opened := opening(seal, place, _what(id_), sealed)) is not None:
            attempts = said_again(attempts, of_kind(opened.get("said"), list))
            value = opened.get("value")
        yield AnnotationRow(place, id_, key.hex(), value, calls, cost, spent, tuple(attempts))


def note_asked(connection: sqlite3.Connection, run: int, replies: Sequence[bytes]) -> None:
    """Record the keys of replies about a run's outputs that no run has yet; called within a transaction."""
    connection.executemany("INSERT OR IGNORE INTO asked_about VALUES (?, ?)", [(run, key) for key in replies])
