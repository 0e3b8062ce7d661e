"""What a run says from its first moment, and while it is under way: kept with it, and taken up by later runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, PlainSerializer

from harness.method.method import Setup
from harness.store.file.trouble import pack_positions, stored_object, unpacks


class StoredRecord(BaseModel):
    """A record that a run keeps as JSON; what another version put there is kept, what is unset stays out."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @classmethod
    def read(cls, text: object) -> Self:
        """Read the record; StoredValueError where it is of another shape."""
        return unpacks(cls.model_validate)(stored_object(text))

    def as_json(self) -> dict[str, Any]:
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

    name: str
    """``empty``, ``source``, ``constant``, ``shuffled``, ``words`` or ``truncated``."""
    composite: float | None
    chrf: float | None
    inputs: tuple[str, ...] = ()
    """Metrics of its composite that have a value."""
    entries: int | None = None
    """Entries that it was scored on; None where nobody said."""
    searched: int | None = None
    """Of ``constant``: distinct references that it was chosen from."""


@dataclass(frozen=True, slots=True)
class SetupPart:
    """Entries of a run that were asked for with one set-up."""

    __pydantic_config__ = _LEAVE_OUT

    setup: Setup
    positions: Annotated[frozenset[int], PlainSerializer(sorted)] = frozenset()
    """Places of its entries; of the first part empty, for it has all the rest."""


Tries = tuple[tuple[int, int], ...]
"""Place of an entry, and how often it was tried."""


class Origin(StoredRecord):
    """The run that another one goes back to."""

    run_id: str
    run_card_hash: str | None = None
    tried: Tries = ()
    """The entries that are asked for again, with their tries before."""


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


def set_plan(
    connection: sqlite3.Connection, run: int, plan: Mapping[str, Any], opening: RunOpening
) -> None:
    """Replace what resume needs, where a person chose another budget or concurrency."""
    connection.execute(
        "UPDATE runs SET plan = ?, opening = ? WHERE id = ?",
        (json.dumps(plan), opening.as_text(), run),
    )


def set_opening(connection: sqlite3.Connection, run: int, opening: RunOpening) -> None:
    """Replace what a run says of its floors, missing metrics and scoring."""
    connection.execute("UPDATE runs SET opening = ? WHERE id = ?", (opening.as_text(), run))
