"""What a run says from its first moment, and while it is under way: kept with it, and taken up by later runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, JsonValue, PlainSerializer, TypeAdapter

from corpora.files.json_types import Json, JsonObject
from corpora.model.corpus import Dataset
from harness.method.method import Setup
from harness.store.sqlite.trouble import (
    STORE_ERRORS,
    inflated,
    of_kind,
    pack_positions,
    stored_object,
    unpacked_message,
    unpacks,
)


class StoredRecord(BaseModel):
    """A record that a run keeps as JSON; what another version put there is kept, what is unset stays out."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @classmethod
    def read(cls, text: object) -> Self:
        """Read the record; StoredValueError where it is of another shape."""
        return unpacks(cls.model_validate)(stored_object(text))

    def as_json(self) -> dict[str, Json]:
        """Return the record as JSON values."""
        return self.model_dump(mode="json", exclude_unset=True)

    def as_text(self) -> str:
        """Return the record as it is stored."""
        return json.dumps(self.as_json(), ensure_ascii=False)


_LEAVE_OUT = ConfigDict(extra="ignore")
"""For parts of a record, which have no place for what another version put there."""


@dataclass(frozen=True, slots=True)
class Floor:
    """What a worthless method reaches on the same entries with the same metrics (T2)."""

    __pydantic_config__ = _LEAVE_OUT

    name: str  # `empty`, `source`, `constant`, `shuffled`, `words` or `truncated`
    composite: float | None
    chrf: float | None
    inputs: tuple[str, ...] = ()  # Metrics of its composite that have a value
    entries: int | None = None  # Entries that it was scored on; None where nobody said
    searched: int | None = None  # Of `constant`: distinct references that it was chosen from


@dataclass(frozen=True, slots=True)
class SetupPart:
    """Entries of a run that were asked for with one set-up."""

    __pydantic_config__ = _LEAVE_OUT

    setup: Setup
    positions: Annotated[frozenset[int], PlainSerializer(sorted)] = frozenset()
    """Places of its entries; of the first part empty, for it has all the rest."""


Tries = tuple[tuple[int, int], ...]  # Place of an entry, and how often it was tried


class Origin(StoredRecord):
    """The run that another one goes back to."""

    run_id: str
    run_card_hash: str | None = None
    tried: Tries = ()
    """The entries that are asked for again, with their tries before."""


class EarlyStop(StoredRecord):
    """That a run ended itself before its last entry, because the difference to another was decided."""

    rule: str
    """``worse`` or ``decided``."""
    against: str
    """Id of the run that it was compared with."""
    metric: str
    entries: int
    """Entries of both runs that it was decided by."""
    difference: float
    """Mean difference of their own values, this run's minus the other's."""
    lower: float
    upper: float
    """Interval of that, right at any time (95 %)."""


class RunOpening(StoredRecord):
    """What is known of a run from its beginning; scoring it as a whole completes some of it."""

    floors: tuple[Floor, ...] | None = None
    """None: to be worked out."""
    floors_version: int | None = None
    missing: dict[str, str] = {}
    """Metric id → why it has no value in this run (M1)."""
    scoring: Any = None
    """The scoring setup as it was stated; ``harness.setup.scoring_tools.stated_setup`` reads it."""
    packed: tuple[tuple[str, int | None], ...] | None = None
    """What the packed statistics hold; None for runs that do not say it."""
    corpus_values: dict[str, float | None] = {}
    """Values of the metrics that only a whole corpus has."""
    budget_usd: float | None = None
    despite_network: str = ""
    """Why a custodian let the run from a vault continue although the computer had a way to other machines; empty where it had none."""
    terms_from: Path | None = None
    """The coaching data whose terms the run before was scored with."""
    asked_with: Setup | None = None
    """Set-up of the method that a retry asks; None: the run's own."""
    parts: tuple[SetupPart, ...] = ()
    tried: Tries = ()
    """Entries that failed in this run until it was gone on with."""
    retry_of: Origin | None = None
    rescore_of: Origin | None = None
    stopped_early: EarlyStop | None = None
    """None where no rule stopped it; one that was is not stopped by a rule again."""

    def of_entries(self) -> RunOpening:
        """Return the fields that depend on a run's entries and its scoring setup only."""
        names = {"floors", "floors_version", "missing", "scoring", "packed"} & self.model_fields_set
        return RunOpening(**{name: getattr(self, name) for name in names})

    def changed(self, **fields: Any) -> RunOpening:
        """Return the opening with some fields told again."""
        return self.model_copy(update=fields)


class ScoringSoFar(StoredRecord):
    """What endpoints were asked about a run's outputs, such as judges; no part of what the outputs cost."""

    calls: int = 0
    """Answered by the endpoints, not from the cache."""
    cost_usd: float | None = 0.0
    """US dollars; None as soon as one answer's cost is unknown."""
    known_cost_usd: float = 0.0
    failed: int = 0
    """Judgements that failed: each is of one output by one judge."""

    def joined(self, other: ScoringSoFar) -> ScoringSoFar:
        """Return this with another added."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return ScoringSoFar(
            calls=self.calls + other.calls,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            known_cost_usd=self.known_cost_usd + other.known_cost_usd,
            failed=self.failed + other.failed,
        )


class Live(StoredRecord):
    """A run's heartbeat, which a second terminal reads; of a run that stopped on its own, why."""

    at: float = 0.0
    """Unix time."""
    in_flight: tuple[int, ...] = ()
    """Places of the entries under way."""
    waiting: tuple[tuple[int, int, int, float, str], ...] = ()
    """Of each entry that waits: place, next try, tries allowed, seconds left and reason."""
    concurrency: int | None = None
    most_concurrency: int | None = None
    rate_limited: int | None = None
    retries: int | None = None
    spent_usd: float | None = None
    so_far: dict[str, float | None] = {}
    """Two scores of the entries that are in."""
    scoring: ScoringSoFar | None = None
    """None before anything was asked about outputs."""
    doing: str | None = None
    """What is done with the outputs before the seal, in words."""
    floors: tuple[Floor, ...] = ()
    """Those so far, while they are worked out."""
    reason: str | None = None
    budget_reached: bool = False


def find_openings(
    connection: sqlite3.Connection, corpus: int, positions: Sequence[int], harness_version: str
) -> Iterator[RunOpening]:
    """Return what earlier runs on the same entries worked out for their beginning, the newest first."""
    rows = connection.execute(
        "SELECT opening FROM runs WHERE corpus = ? AND positions = ? AND harness_version = ?"
        " AND imported IS NULL ORDER BY id DESC",
        (corpus, pack_positions(positions), harness_version),
    )
    return (RunOpening.read(row[0]) for row in rows)


def set_plan(connection: sqlite3.Connection, run: int, plan: JsonObject, opening: RunOpening) -> None:
    """Replace what resume needs, where a person chose another budget or concurrency."""
    connection.execute("UPDATE runs SET plan = ?, opening = ? WHERE id = ?", (json.dumps(plan), opening.as_text(), run))


def set_opening(connection: sqlite3.Connection, run: int, opening: RunOpening) -> None:
    """Replace what a run says of its floors, missing metrics and scoring."""
    connection.execute("UPDATE runs SET opening = ? WHERE id = ?", (opening.as_text(), run))


# ---- Whether a store is damaged: examined where the program met something that it did not
# foresee.
#
# A fault of the program must not be told as damage of somebody's store, so damage is only said
# where it is found here, by what the schema and the models say of each value, and never by
# running the code that failed.

_KINDS = {"INTEGER": ("integer",), "REAL": ("real", "integer"), "TEXT": ("text",), "BLOB": ("blob",)}
"""Declared type of a column → the kinds of its values."""

_REFERRED = {
    "texts": (
        ("entries", "source"),
        ("entries", "reference"),
        ("results", "output"),
        ("results", "raw"),
        ("replies", "head"),
        ("replies", "tail"),
        ("replies", "body"),
    ),
    "corpora": (("entries", "corpus"), ("runs", "corpus")),
    "runs": (("results", "run"), ("stretches", "run")),
}
"""Table → columns that hold ids of its rows."""


class _Card(BaseModel):
    model_config = ConfigDict(extra="allow")

    run_id: str
    scores: dict[str, JsonValue]
    cost: dict[str, JsonValue]
    speed: dict[str, JsonValue]
    dataset: dict[str, JsonValue]
    method: dict[str, JsonValue]


_STATISTICS: TypeAdapter[list[list[float] | None]] = TypeAdapter(list[list[float] | None])

_VALUES: tuple[tuple[str, str, Callable[[Any], object]], ...] = (
    ("runs", "setup", Setup.model_validate_json),
    ("runs", "opening", RunOpening.read),
    ("runs", "plan", stored_object),
    ("runs", "live", Live.read),
    ("runs", "run_card", lambda text: _Card.model_validate(stored_object(text))),
    ("runs", "positions", inflated),
    ("runs", "imported", inflated),
    ("corpora", "dataset", Dataset.model_validate_json),
    ("entries", "rest", stored_object),
    ("results", "statistics", lambda data: _STATISTICS.validate_python(unpacked_message(data))),
    ("results", "trace", lambda data: of_kind(unpacked_message(data), list)),
    ("row_words", "analyses", lambda data: of_kind(unpacked_message(data), list)),
    ("annotations", "value", unpacked_message),
    ("annotations", "trace", lambda data: of_kind(unpacked_message(data), list)),
    ("replies", "facts", lambda data: of_kind(unpacked_message(data), list)),
)
"""Table and column of values that are more than a number or a text, and what reads them."""


def damaged(connection: sqlite3.Connection) -> bool:
    """Return whether any value of the store is not what the schema, or the program's models, say of it."""
    try:
        whole = connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
        looks = (_other_kinds(connection), _strays(connection), _unread(connection))
        return not whole or any(any(look) for look in looks)
    except sqlite3.ProgrammingError:  # the connection is closed: nothing can be said
        return False
    except (*STORE_ERRORS, UnicodeDecodeError):
        return True


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [row[0] for row in rows if not row[0].startswith(("sqlite_", "_sqlite"))]


def _other_kinds(connection: sqlite3.Connection) -> Iterator[bool]:
    """Find values of another kind than their column's."""
    for table in _tables(connection):
        for _, name, declared, needed, _, _ in connection.execute(f"PRAGMA table_info({table})").fetchall():
            kinds = _KINDS.get(declared)
            if kinds is None:
                continue
            allowed = (*kinds, *(() if needed else ("null",)))
            marks = ",".join("?" * len(allowed))
            query = f'SELECT 1 FROM {table} WHERE typeof("{name}") NOT IN ({marks}) LIMIT 1'
            yield connection.execute(query, allowed).fetchone() is not None


def _strays(connection: sqlite3.Connection) -> Iterator[bool]:
    """Find ids of rows that are not there."""
    for table, columns in _REFERRED.items():
        for other, column in columns:
            query = (
                f"SELECT 1 FROM {other} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT id FROM {table}) LIMIT 1"
            )
            yield connection.execute(query).fetchone() is not None
    keyless = (
        "SELECT 1 FROM entries WHERE sealed IS NOT NULL AND corpus NOT IN (SELECT corpus FROM corpus_keys) LIMIT 1"
    )
    if "corpus_keys" in _tables(connection):
        yield connection.execute(keyless).fetchone() is not None
    query = (
        "SELECT 1 FROM results r JOIN runs u ON u.id = r.run WHERE NOT EXISTS"
        " (SELECT 1 FROM entries e WHERE e.corpus = u.corpus AND e.position = r.position) LIMIT 1"
    )
    yield connection.execute(query).fetchone() is not None


def _unread(connection: sqlite3.Connection) -> Iterator[bool]:
    """Read every text and every packed value; StoredValueError where one cannot be."""
    for (body,) in connection.execute("SELECT body FROM texts"):
        yield not isinstance(body, str)
    for table, column, read in _VALUES:
        reading = unpacks(read)
        for (value,) in connection.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"):
            reading(value)
            yield False
