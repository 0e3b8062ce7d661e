"""Runs in the store: their beginning, their stretches, their seal, and their end."""

from __future__ import annotations

import json
import re
import sqlite3
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from harness.core.failures import StoreError, UsageError
from harness.core.run_state import RunState
from harness.core.storage_problems import storable
from harness.store.distinctions import distinctions_by_run, done_by_run, failures_by_run
from harness.store.file.trouble import (
    count_positions,
    inflated,
    pack_positions,
    rows_by_name,
    stored_object,
    stored_word,
    unpack_positions,
    unpacks,
)
from harness.store.notes import Attached, attached_by_run, tags_by_run
from harness.store.others_cards import UNCHECKED, CheckedHere, checked_here
from harness.store.withdrawn import refuse_withdrawn_run, withdrawn_runs

if TYPE_CHECKING:
    from harness.method.method import Setup
    from harness.store.file.openings import Live, RunOpening


@dataclass(frozen=True, slots=True)
class Run:
    """One run as the store knows it."""

    id: int
    """The store's own number of the run."""
    run_id: str
    """UUID v4 (benchmark-specification §3.1)."""
    corpus: int
    state: RunState
    created: float
    """Unix time of the first start."""
    positions: tuple[int, ...]
    setup: Setup
    setup_hash: str
    plan: Mapping[str, Any]
    opening: RunOpening
    live: Live | None
    harness_version: str
    imported: bool
    dataset_id: str
    language_pair: str
    fingerprint_hash: str
    trashed: float | None = None
    """Unix time at which it was deleted; it can be brought back for some days."""


_READ = """
    SELECT id, run_id, corpus, state, created, positions, setup, setup_hash, plan, opening, live,
           harness_version, imported IS NOT NULL AS imported, dataset_id, language_pair,
           fingerprint_hash, put_away
    FROM runs
"""


@unpacks
def _run(row: sqlite3.Row) -> Run:
    # a list of runs has neither, and starts without pydantic
    from harness.method.method import Setup
    from harness.store.file.openings import Live, RunOpening

    return Run(
        id=row["id"],
        run_id=row["run_id"],
        corpus=row["corpus"],
        state=stored_word(row["state"], RunState),
        created=row["created"],
        positions=unpack_positions(row["positions"]),
        setup=Setup.model_validate_json(row["setup"]),
        setup_hash=row["setup_hash"],
        plan=stored_object(row["plan"]),
        opening=RunOpening.read(row["opening"]),
        live=None if row["live"] is None else Live.read(row["live"]),
        harness_version=row["harness_version"],
        imported=bool(row["imported"]),
        dataset_id=row["dataset_id"],
        language_pair=row["language_pair"],
        fingerprint_hash=row["fingerprint_hash"],
        trashed=row["put_away"],
    )


def create_run(
    connection: sqlite3.Connection,
    *,
    run_id: str,
    corpus: int,
    positions: Sequence[int],
    setup: Setup,
    setup_hash: str,
    fingerprint_hash: str,
    plan: Mapping[str, Any],
    opening: RunOpening,
    dataset_id: str,
    language_pair: str,
    harness_version: str,
    created: float | None = None,
    imported: bytes | None = None,
) -> int:
    """Store the beginning of a run and give its number; called within a transaction."""
    fields: dict[str, object] = {
        "run_id": run_id,
        "corpus": corpus,
        "state": RunState.STOPPED,
        "created": time.time() if created is None else created,
        "positions": pack_positions(positions),
        "setup": setup.model_dump_json(),
        "setup_hash": setup_hash,
        "plan": json.dumps(plan),
        "opening": opening.as_text(),
        "harness_version": harness_version,
        "imported": None if imported is None else zlib.compress(imported),
        "model_slug": setup.model_slug,
        "condition": setup.condition,
        "dataset_id": dataset_id,
        "language_pair": language_pair,
        "fingerprint_hash": fingerprint_hash,
    }
    names, marks = ", ".join(fields), ", ".join("?" * len(fields))
    query = f"INSERT INTO runs ({names}) VALUES ({marks})"
    inserted = connection.execute(query, tuple(fields.values()))
    return int(inserted.lastrowid or 0)


def find_run(connection: sqlite3.Connection, name: str, *, withdrawn: bool = False) -> Run:
    """Return the run whose id is, or begins with, this name; ``last`` is the newest, ``last~1`` the one before.

    Raises UsageError where none or several match, or it is in the trash; Withdrawn unless ``withdrawn``, to delete it.
    """
    rows = _named(connection, name, "put_away IS NULL", "created")
    if not rows:
        deleted = bool(_begin_with(connection, name, "put_away IS NOT NULL"))
        raise UsageError(
            f"Run {name!r} was deleted. `rosetta runs undelete {name}` brings it back."
            if deleted
            else f"There is no run {name!r}. `rosetta runs list` shows which there are."
        )
    found = _only(rows, name)
    if not withdrawn:
        refuse_withdrawn_run(connection, found.id, found.run_id[:8])
    return found


def find_trashed(connection: sqlite3.Connection, name: str) -> Run:
    """Return the run in the trash; ``last`` is the one that was deleted last, ``last~1`` the one before.

    Raises UsageError where none or several match.
    """
    rows = _named(connection, name, "put_away IS NOT NULL", "put_away")
    if not rows:
        raise UsageError(
            f"No deleted run {name!r} can be brought back. `rosetta runs list --deleted` shows which can."
        )
    return _only(rows, name)


_NEWEST = "ORDER BY created DESC, id DESC LIMIT 1"

_BACK = re.compile(r"last(?:~([0-9]{1,9}))?")


def runs_back(name: str) -> int | None:
    """Return how many runs before the newest a name means: 0 for ``last``, 2 for ``last~2``; None for an id."""
    found = _BACK.fullmatch(name)
    return None if found is None else int(found[1] or 0)


def _named(
    connection: sqlite3.Connection, name: str, condition: str, order: str
) -> list[sqlite3.Row]:
    """Return at most two runs that a name may mean; ``order`` is the column by which ``last`` is told."""
    if (back := runs_back(name)) is None:
        return _begin_with(connection, name, condition)
    query = f"{_READ} WHERE {condition} ORDER BY {order} DESC, id DESC LIMIT 1 OFFSET ?"
    return rows_by_name(connection, query, (back,))


def _begin_with(connection: sqlite3.Connection, name: str, condition: str) -> list[sqlite3.Row]:
    """Return at most two runs whose id begins with a name, the one that it names wholly first."""
    prefix = storable(name.lower())
    query = (
        f"{_READ} WHERE ? AND substr(run_id, 1, ?) = ? AND {condition}"
        " ORDER BY run_id = ? DESC LIMIT 2"
    )
    return rows_by_name(connection, query, (bool(prefix), len(prefix), prefix, prefix))


def _only(rows: Sequence[sqlite3.Row], name: str) -> Run:
    if len(rows) > 1 and rows[0]["run_id"] != name.lower():
        raise UsageError(f"Several runs begin with {name!r}. Write more of the id.")
    return _run(rows[0])


def find_open_run(connection: sqlite3.Connection, back: int = 0) -> Run:
    """Return the newest run that can go on, or one so many before it; UsageError where there is none."""
    waiting = "run_card IS NULL AND imported IS NULL AND put_away IS NULL"
    rows = rows_by_name(connection, f"{_READ} WHERE {waiting} {_NEWEST} OFFSET ?", (back,))
    if not rows:
        further = " that far back" if back else ""
        raise UsageError(f"No run is waiting to go on{further}. `rosetta runs list` shows all.")
    return _run(rows[0])


def read_run(connection: sqlite3.Connection, number: int) -> Run:
    """Return a run by the store's own number; raises StoreError where it was deleted."""
    rows = rows_by_name(connection, f"{_READ} WHERE id = ? AND put_away IS NULL", (number,))
    if not rows:
        raise StoreError("The run has been deleted.")
    return _run(rows[0])


def find_by_id(connection: sqlite3.Connection, run_id: str) -> Run | None:
    """Return a run by its whole id, in the trash or not; None where there is none."""
    rows = rows_by_name(connection, f"{_READ} WHERE run_id = ?", (run_id,))
    return _run(rows[0]) if rows else None


SILENT_SECONDS = 10.0
"""A run that says it is going, but whose last heartbeat is older than this, has lost its process."""


def under_way(run: Run | RunSummary) -> bool:
    """Tell whether a process is at work on a run now: by its state, and by how old its heartbeat is.

    A heartbeat from the future, left behind where the clock was set back, counts as old too.
    """
    if run.state in {RunState.STOPPED, RunState.COMPLETE} or run.live is None:
        return False
    return abs(silent_seconds(run)) <= SILENT_SECONDS


def silent_seconds(run: Run | RunSummary) -> float:
    """Return the age of a run's heartbeat in seconds; below 0 where the clock was set back since."""
    from harness.store.file.openings import Live

    return time.time() - (run.live or Live()).at


def set_live(connection: sqlite3.Connection, run: int, state: RunState, live: Live | None) -> None:
    """Write the run's state, and its heartbeat, which a second terminal reads, or its score so far and why it stopped."""
    connection.execute(
        "UPDATE runs SET state = ?, live = ? WHERE id = ?",
        (state, None if live is None else live.as_text(), run),
    )


def leave_run(connection: sqlite3.Connection, run: int) -> None:
    """Note that no process is at the run any more; a sealed one stays complete.

    A stopped one tells why; of any other only its score so far is kept.
    """
    connection.execute(
        """UPDATE runs SET state = ?, live = CASE
            WHEN NOT json_valid(live) THEN NULL
            WHEN state = ? AND live ->> '$.reason' IS NOT NULL THEN live
            WHEN live -> '$.so_far' IS NOT NULL THEN json_object('so_far', live -> '$.so_far')
        END
        WHERE id = ? AND run_card IS NULL""",
        (RunState.STOPPED, RunState.STOPPED, run),
    )


def forget_failed(connection: sqlite3.Connection, run: int) -> int:
    """Erase the rows of failed entries, so that they are asked for again; gives how many."""
    return connection.execute(
        "DELETE FROM results WHERE run = ? AND error_class IS NOT NULL", (run,)
    ).rowcount


CARD_COLUMNS = (
    "composite_score",
    "quality_tier",
    "chrf_plus_plus",
    "exact_match_rate",
    "fst_acceptance_rate",
    "corpus_bleu",
    "comet_score",
    "total_cost_usd",
    "cost_per_1k_tokens",
    "avg_latency_seconds",
)
"""Columns of scoring-specification §9.1 that are known once the card is sealed."""


def seal_run(
    connection: sqlite3.Connection, run: int, card: str, columns: Mapping[str, object]
) -> None:
    """Store a finished run's card (without results[]) with its columns; a sealed card never changes."""
    assignments = ", ".join(f"{name} = ?" for name in CARD_COLUMNS)
    changed = connection.execute(
        f"UPDATE runs SET state = ?, live = NULL, run_card = ?, {assignments}"
        " WHERE id = ? AND run_card IS NULL",
        (RunState.COMPLETE, card, *(columns[name] for name in CARD_COLUMNS), run),
    ).rowcount
    if not changed:
        raise StoreError("The run has a sealed card already; a sealed card never changes.")


def read_card(connection: sqlite3.Connection, run: int) -> dict[str, Any] | None:
    """Return the sealed card without results[], None where the run is not complete."""
    row = connection.execute("SELECT run_card FROM runs WHERE id = ?", (run,)).fetchone()
    return None if row is None or row[0] is None else stored_object(row[0])


def read_imported(connection: sqlite3.Connection, run: int) -> bytes | None:
    """Return the card's own bytes as they came from elsewhere, None where the run was made here."""
    row = connection.execute("SELECT imported FROM runs WHERE id = ?", (run,)).fetchone()
    return None if row is None or row[0] is None else inflated(row[0])


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
    """Id of the run whose failed entries this one asked for again; empty for a run of its own."""
    rescore_of: str = ""
    """Id of the run whose outputs this one scored again; empty for a run of its own."""
    trashed: float | None = None
    """Unix time at which it was deleted, None where it is not."""
    distinction: str = ""
    """What parts it from others of its method, model and condition; empty where none has all three."""
    method_name: str = ""
    """What its maker calls the method; empty where nobody named it."""
    checked: CheckedHere = UNCHECKED


PARTS = ("difficulty", "provenance", "register", "segment", "context", "variety", "orthography")
"""The breakdowns of a card: nine tenths of it, which hardly a list shows."""

_PATHS = ", ".join(f"'$.scores.by_{name}'" for name in PARTS)


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
    card = f"json_remove(u.run_card, {_PATHS})" if brief else "u.run_card"
    certificates, tags = attached_by_run(connection), tags_by_run(connection)
    condition, order = ("IS NOT NULL", "u.put_away") if deleted else ("IS NULL", "u.created")
    query = f"""
        SELECT u.run_id, u.id, u.state, u.created, u.dataset_id, u.language_pair, u.model_slug,
               u.condition, json_extract(u.setup, '$.method') AS method,
               coalesce(json_extract(u.setup, '$.method_name'), '') AS method_name, u.positions,
               {card} AS card, u.live, u.imported IS NOT NULL AS imported,
               coalesce(n.words, '') AS note,
               CASE WHEN u.run_card IS NULL THEN json_extract(u.opening, '$.scoring') END AS scoring,
               json_extract(u.opening, '$.retry_of.run_id') AS retry_of,
               json_extract(u.opening, '$.rescore_of.run_id') AS rescore_of, u.put_away
        FROM runs u LEFT JOIN notes n ON n.run = u.id
        WHERE u.put_away {condition} AND (:run_id IS NULL OR u.run_id = :run_id)
        ORDER BY {order} DESC, u.id DESC
    """
    rows = rows_by_name(connection, query, {"run_id": run_id})
    only = rows[0]["id"] if run_id is not None and rows else None
    done, failed, checked = done_by_run(connection, only), failures_by_run(connection, only), checked_here(connection, only)  # fmt: skip
    apart, gone = distinctions_by_run(connection, run_id), withdrawn_runs(connection, only)
    return [
        replace(
            _summary(row, done.get(row["id"], 0), failed.get(row["id"], {})),
            certificates=certificates.get(row["id"], ()),
            tags=tags.get(row["id"], ()),
            distinction=apart.get(row["id"], ""),
            checked=checked.get(row["id"], UNCHECKED),
        )
        for row in rows
        if row["id"] not in gone
    ]


def _summary(row: sqlite3.Row, done: int, failures: Mapping[str, int]) -> RunSummary:
    card = None if row["card"] is None else stored_object(row["card"])
    same = ("run_id", "created", "dataset_id", "language_pair", "model_slug", "condition", "method", "method_name", "note")  # fmt: skip
    return RunSummary(
        **{name: row[name] for name in same},
        number=row["id"],
        state=stored_word(row["state"], RunState),
        total=count_positions(row["positions"]),
        done=done,
        failed=sum(failures.values()),
        failures=failures,
        card=card,
        live=None if row["live"] is None else _live(row["live"]),
        imported=bool(row["imported"]),
        scoring=None if row["scoring"] is None else stored_object(row["scoring"]),
        retry_of=row["retry_of"] or _origin(card, "retry_of"),
        rescore_of=row["rescore_of"] or _origin(card, "rescore_of"),
        trashed=row["put_away"],
    )


def _live(text: object) -> Live:
    from harness.store.file.openings import Live

    return Live.read(text)


def _origin(card: Mapping[str, Any] | None, name: str) -> str:
    """Read from a card, which may come from elsewhere, which run it goes back to."""
    found = origin.get("run_id") if isinstance(origin := (card or {}).get(name), Mapping) else None
    return found if isinstance(found, str) else ""
