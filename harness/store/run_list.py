"""The list of runs: what one line of it shows, read without the parts that hardly a list needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.core.run_state import RunState
from harness.method.shipped import submission_number
from harness.store.distinctions import distinctions_by_run, done_by_run, failures_by_run
from harness.store.file.trouble import (
    count_positions,
    rows_by_name,
    stored_json,
    stored_object,
    stored_word,
)
from harness.store.notes import Attached, attached_by_run, tags_by_run
from harness.store.others_cards import UNCHECKED, CheckedHere, checked_here
from harness.store.withdrawn import withdrawn_runs

if TYPE_CHECKING:
    from harness.store.file.openings import Live


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of the list of runs."""

    run_id: str
    number: int
    state: RunState
    created: float
    dataset_id: str
    language_pair: str
    model_slug: str
    condition: str
    method: str
    total: int
    done: int
    failed: int
    card: Mapping[str, Any] | None
    """The sealed card without results[]; None while the run is not complete."""
    live: Live | None
    imported: bool
    scoring: Mapping[str, Any] | None = None
    """Of a run without a card what it is scored with, and its task; None where the card tells it, or nothing does."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Class of failure → entries that failed so, the most frequent first."""
    certificates: tuple[Attached, ...] = ()
    """Certificates of reviews beside the run; ``review.verdict.certificate.certificate`` says what they are worth."""
    note: str = ""
    """What a person wrote about it (``harness.store.notes``)."""
    tags: tuple[str, ...] = ()
    """In order."""
    retry_of: str = ""
    """Id of the run whose failed entries this one asked for again; empty for its own run."""
    rescore_of: str = ""
    """Id of the run whose outputs this one scored again; empty for its own run."""
    trashed: float | None = None
    """Unix time at which it was deleted, None where it is not."""
    distinction: str = ""
    """What parts it from others of its method, model and condition; empty where none has all three."""
    method_name: str = ""
    """What its maker calls the method; empty where nobody named it."""
    submission: str = ""
    """Number of the submission that its method came in; empty for any other method."""
    checked: CheckedHere = UNCHECKED

    @property
    def stated(self) -> bool:
        """Return whether its scores are only what its card states: nobody scored them again here with the card's corpus."""
        return self.imported and not self.checked.counts


PARTS = ("difficulty", "provenance", "register", "segment", "context", "variety", "orthography")
"""The breakdowns of a card: nine tenths of it, which hardly a list shows."""

_PATHS = ", ".join(f"'$.scores.by_{name}'" for name in PARTS)

_LIST = """
    SELECT u.run_id, u.id, u.state, u.created, u.dataset_id, u.language_pair, u.model_slug,
           u.condition, json_extract(u.setup, '$.method') AS method,
           coalesce(json_extract(u.setup, '$.method_name'), '') AS method_name, u.positions,
           json_extract(u.setup, '$.method_sha256') AS method_sha256,
           {card} AS card, u.live, u.imported IS NOT NULL AS imported,
           coalesce(n.words, '') AS note,
           CASE WHEN u.run_card IS NULL THEN json_extract(u.opening, '$.scoring') END AS scoring,
           json_extract(u.opening, '$.retry_of.run_id') AS retry_of,
           json_extract(u.opening, '$.rescore_of.run_id') AS rescore_of, u.put_away
    FROM runs u LEFT JOIN notes n ON n.run = u.id
    WHERE u.put_away {condition} AND (:run_id IS NULL OR u.run_id = :run_id)
    ORDER BY {order} DESC, u.id DESC
"""


def list_runs(
    connection: sqlite3.Connection,
    *,
    run_id: str | None = None,
    deleted: bool = False,
    brief: bool = False,
) -> list[RunSummary]:
    """Return all runs, newest first; those in the trash instead where ``deleted``, the latest first.

    Those for which consent was withdrawn are not among them. ``run_id`` asks for one run alone; ``brief`` leaves out the breakdowns, which takes a third of the time.
    """
    query = _LIST.format(
        card=f"json_remove(u.run_card, {_PATHS})" if brief else "u.run_card",
        condition="IS NOT NULL" if deleted else "IS NULL",
        order="u.put_away" if deleted else "u.created",
    )
    rows = rows_by_name(connection, query, {"run_id": run_id})
    only = rows[0]["id"] if run_id is not None and rows else None
    beside = _Beside.read(connection, only, run_id)
    return [_summary(row, beside) for row in rows if row["id"] not in beside.withdrawn]


@dataclass(frozen=True, slots=True)
class _Beside:
    """What other tables have of the runs, by the store's number."""

    done: Mapping[int, int]
    failures: Mapping[int, Mapping[str, int]]
    certificates: Mapping[int, tuple[Attached, ...]]
    tags: Mapping[int, tuple[str, ...]]
    distinctions: Mapping[int, str]
    checked: Mapping[int, CheckedHere]
    withdrawn: Mapping[int, object]

    @classmethod
    def read(cls, connection: sqlite3.Connection, only: int | None, run_id: str | None) -> _Beside:
        """Read it of all runs, or of the one with this number and id."""
        return cls(
            done=done_by_run(connection, only),
            failures=failures_by_run(connection, only),
            certificates=attached_by_run(connection),
            tags=tags_by_run(connection),
            distinctions=distinctions_by_run(connection, run_id),
            checked=checked_here(connection, only),
            withdrawn=withdrawn_runs(connection, only),
        )


def _summary(row: sqlite3.Row, beside: _Beside) -> RunSummary:
    number = row["id"]
    failures = beside.failures.get(number, {})
    card = None if row["card"] is None else stored_object(row["card"])
    return RunSummary(
        run_id=row["run_id"],
        number=number,
        state=stored_word(row["state"], RunState),
        created=row["created"],
        dataset_id=row["dataset_id"],
        language_pair=row["language_pair"],
        model_slug=row["model_slug"],
        condition=row["condition"],
        method=row["method"],
        total=count_positions(row["positions"]),
        done=beside.done.get(number, 0),
        failed=sum(failures.values()),
        card=card,
        live=None if row["live"] is None else _live(row["live"]),
        imported=bool(row["imported"]),
        scoring=None if row["scoring"] is None else stored_object(row["scoring"]),
        failures=failures,
        certificates=beside.certificates.get(number, ()),
        note=row["note"],
        tags=beside.tags.get(number, ()),
        retry_of=row["retry_of"] or _origin(card, "retry_of"),
        rescore_of=row["rescore_of"] or _origin(card, "rescore_of"),
        trashed=row["put_away"],
        distinction=beside.distinctions.get(number, ""),
        method_name=row["method_name"],
        submission=submission_number(row["method"], row["method_sha256"]),
        checked=beside.checked.get(number, UNCHECKED),
    )


@dataclass(frozen=True, slots=True)
class SweepRun:
    """What a sweep is read by of one of its runs."""

    run_id: str
    number: int
    state: RunState
    done: int
    total: int
    failures: Mapping[str, int]
    """Class of failure → entries that failed so, the most frequent first."""
    live: Live | None
    card: Mapping[str, Any] | None
    """Name of a part that was asked for → what the sealed card has there, None where it has nothing; None before the seal."""


def runs_of_sweep(
    connection: sqlite3.Connection, sweep: int, parts: Mapping[str, str]
) -> dict[str, SweepRun]:
    """Return the runs of a sweep by their ids, without those that were deleted or whose consent was withdrawn.

    ``parts``: name → JSON path, two or more, of what is wanted of their cards; nothing else of them is read.
    """
    query = f"""
        SELECT u.run_id, u.id, u.state, u.positions, u.live,
               json_extract(u.run_card, {", ".join("?" * len(parts))}) AS card,
               (SELECT count(*) FROM results r WHERE r.run = u.id) AS done
        FROM runs u
        WHERE u.put_away IS NULL AND u.run_id IN (SELECT run_id FROM sweep_cells WHERE sweep = ?)
    """
    rows = rows_by_name(connection, query, (*parts.values(), sweep))
    failures, withdrawn = failures_by_run(connection), withdrawn_runs(connection)
    return {
        row["run_id"]: SweepRun(
            run_id=row["run_id"],
            number=row["id"],
            state=stored_word(row["state"], RunState),
            done=row["done"],
            total=count_positions(row["positions"]),
            failures=failures.get(row["id"], {}),
            live=None if row["live"] is None else _live(row["live"]),
            card=None
            if row["card"] is None
            else dict(zip(parts, stored_json(row["card"]), strict=True)),
        )
        for row in rows
        if row["id"] not in withdrawn
    }


def _live(text: object) -> Live:
    from harness.store.file.openings import Live

    return Live.read(text)


def _origin(card: Mapping[str, Any] | None, name: str) -> str:
    """Read from a card, which may come from elsewhere, which run it goes back to."""
    origin = (card or {}).get(name)
    run_id = origin.get("run_id") if isinstance(origin, Mapping) else None
    return run_id if isinstance(run_id, str) else ""
