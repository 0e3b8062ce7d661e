"""Runs in the store: their beginning, their stretches, their seal, and their end."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.events import RunState
from harness.failures import StoreError, UsageError
from harness.method import Setup
from harness.store.certificates import Attached, attached_by_run


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
    opening: Mapping[str, Any]
    live: Mapping[str, Any] | None
    harness_version: str
    imported: bool
    dataset_id: str
    language_pair: str
    fingerprint_hash: str


_READ = """
    SELECT id, run_id, corpus, state, created, positions, setup, setup_hash, plan, opening, live,
           harness_version, imported IS NOT NULL, dataset_id, language_pair, fingerprint_hash
    FROM runs
"""


def _run(row: tuple[Any, ...]) -> Run:
    return Run(
        id=row[0],
        run_id=row[1],
        corpus=row[2],
        state=RunState(row[3]),
        created=row[4],
        positions=_unpack_positions(row[5]),
        setup=Setup.model_validate_json(row[6]),
        setup_hash=row[7],
        plan=json.loads(row[8]),
        opening=json.loads(row[9]),
        live=None if row[10] is None else json.loads(row[10]),
        harness_version=row[11],
        imported=bool(row[12]),
        dataset_id=row[13],
        language_pair=row[14],
        fingerprint_hash=row[15],
    )


def _pack_positions(positions: Sequence[int]) -> bytes:
    return zlib.compress(array("I", positions).tobytes())


def _unpack_positions(packed: bytes) -> tuple[int, ...]:
    positions = array("I")
    positions.frombytes(zlib.decompress(packed))
    return tuple(positions)


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
    opening: Mapping[str, Any],
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
        "positions": _pack_positions(positions),
        "setup": setup.model_dump_json(),
        "setup_hash": setup_hash,
        "plan": json.dumps(plan, ensure_ascii=False),
        "opening": json.dumps(opening, ensure_ascii=False),
        "harness_version": harness_version,
        "imported": None if imported is None else zlib.compress(imported),
        "model_slug": setup.model_slug,
        "condition": setup.condition,
        "dataset_id": dataset_id,
        "language_pair": language_pair,
        "fingerprint_hash": fingerprint_hash,
    }
    names = ", ".join(fields)
    marks = ", ".join("?" * len(fields))
    inserted = connection.execute(
        f"INSERT INTO runs ({names}) VALUES ({marks})",
        tuple(fields.values()),
    )
    return int(inserted.lastrowid or 0)


OPENING = ("floors", "missing", "scoring")
"""Fields of a run's opening that depend on its entries and its scoring setup only."""


def find_openings(
    connection: sqlite3.Connection, corpus: int, positions: Sequence[int], harness_version: str
) -> Iterator[dict[str, Any]]:
    """Give what earlier runs on the same entries worked out for their beginning, the newest first."""
    rows = connection.execute(
        "SELECT opening FROM runs WHERE corpus = ? AND positions = ? AND harness_version = ?"
        " AND imported IS NULL ORDER BY id DESC",
        (corpus, _pack_positions(positions), harness_version),
    )
    return (json.loads(row[0]) for row in rows)


def find_run(connection: sqlite3.Connection, name: str) -> Run:
    """Give the run whose id is, or begins with, this name; ``last`` is the newest.

    Raises UsageError where none or several match.
    """
    if name == "last":
        rows = connection.execute(f"{_READ} ORDER BY created DESC, id DESC LIMIT 1").fetchall()
    else:
        prefix = name.lower()
        rows = connection.execute(
            f"{_READ} WHERE substr(run_id, 1, ?) = ? ORDER BY run_id = ? DESC LIMIT 2",
            (len(prefix), prefix, prefix),
        ).fetchall()
    if not rows or not name:
        raise UsageError(f"There is no run {name!r}. `rosetta runs list` shows which there are.")
    if len(rows) > 1 and rows[0][1] != name.lower():
        raise UsageError(f"Several runs begin with {name!r}. Write more of the id.")
    return _run(rows[0])


def find_open_run(connection: sqlite3.Connection) -> Run:
    """Give the newest run that can go on; raises UsageError where there is none."""
    row = connection.execute(
        f"{_READ} WHERE run_card IS NULL AND imported IS NULL ORDER BY created DESC, id DESC LIMIT 1"
    ).fetchone()
    if row is None:
        raise UsageError("No run is waiting to go on. `rosetta runs list` shows all.")
    return _run(row)


def read_run(connection: sqlite3.Connection, number: int) -> Run:
    """Give a run by the store's own number."""
    row = connection.execute(f"{_READ} WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise StoreError("The run has been deleted.")
    return _run(row)


SILENT_SECONDS = 10.0
"""A run that says it is going, but whose last heartbeat is older than this, has lost its process."""


def under_way(run: Run | RunSummary) -> bool:
    """Tell whether a process is at work on a run now: by its state, and by how old its heartbeat is.

    A heartbeat from the future, left behind where the clock was set back, counts as old too.
    """
    if run.state in {RunState.STOPPED, RunState.COMPLETE} or run.live is None:
        return False
    age: float = time.time() - run.live.get("at", 0.0)
    return abs(age) <= SILENT_SECONDS


def begin_stretch(connection: sqlite3.Connection, run: int) -> int:
    """Note that the run is under way from now on; gives the stretch's number."""
    now = time.time()
    inserted = connection.execute(
        "INSERT INTO stretches (run, started, last, spent_usd) VALUES (?, ?, ?, 0)",
        (run, now, now),
    )
    return int(inserted.lastrowid or 0)


def touch_stretch(connection: sqlite3.Connection, stretch: int, spent_usd: float) -> None:
    """Note that the run is still under way, and what this stretch has paid or may have to pay."""
    connection.execute(
        "UPDATE stretches SET last = ?, spent_usd = ? WHERE id = ?",
        (time.time(), spent_usd, stretch),
    )


def elapsed_seconds(connection: sqlite3.Connection, run: int) -> float:
    """Give the wall-clock seconds during which the run was under way, over all its stretches."""
    row = connection.execute(
        "SELECT coalesce(sum(last - started), 0) FROM stretches WHERE run = ?", (run,)
    ).fetchone()
    return float(row[0])


def spent_usd(connection: sqlite3.Connection, run: int) -> float:
    """Give what the run paid, over all its stretches; calls that a kill cut off count as paid."""
    row = connection.execute(
        "SELECT coalesce(sum(spent_usd), 0) FROM stretches WHERE run = ?", (run,)
    ).fetchone()
    return float(row[0])


def copy_stretches(connection: sqlite3.Connection, run: int, to: int) -> None:
    """Give another run the same stretches; called within a transaction."""
    connection.execute(
        "INSERT INTO stretches (run, started, last, spent_usd)"
        " SELECT ?, started, last, spent_usd FROM stretches WHERE run = ?",
        (to, run),
    )


def set_live(
    connection: sqlite3.Connection, run: int, state: RunState, live: Mapping[str, Any] | None
) -> None:
    """Write the run's state and its heartbeat, which a second terminal reads."""
    connection.execute(
        "UPDATE runs SET state = ?, live = ? WHERE id = ?",
        (state, None if live is None else json.dumps(live), run),
    )


def leave_run(connection: sqlite3.Connection, run: int) -> None:
    """Note that no process is at the run any more; a sealed one stays complete."""
    connection.execute(
        "UPDATE runs SET state = ?, live = NULL WHERE id = ? AND run_card IS NULL",
        (RunState.STOPPED, run),
    )


def set_plan(
    connection: sqlite3.Connection, run: int, plan: Mapping[str, Any], opening: Mapping[str, Any]
) -> None:
    """Replace what resume needs, where a person chose another budget or concurrency."""
    connection.execute(
        "UPDATE runs SET plan = ?, opening = ? WHERE id = ?",
        (json.dumps(plan, ensure_ascii=False), json.dumps(opening, ensure_ascii=False), run),
    )


def set_opening(connection: sqlite3.Connection, run: int, opening: Mapping[str, Any]) -> None:
    """Replace what a run says of its floors, missing metrics and scoring."""
    connection.execute(
        "UPDATE runs SET opening = ? WHERE id = ?", (json.dumps(opening, ensure_ascii=False), run)
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
    """Give the sealed card without results[], None where the run is not complete."""
    row = connection.execute("SELECT run_card FROM runs WHERE id = ?", (run,)).fetchone()
    return None if row is None or row[0] is None else json.loads(row[0])


def read_imported(connection: sqlite3.Connection, run: int) -> bytes | None:
    """Give the card's own bytes as they came from elsewhere, None where the run was made here."""
    row = connection.execute("SELECT imported FROM runs WHERE id = ?", (run,)).fetchone()
    return None if row is None or row[0] is None else zlib.decompress(row[0])


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
    live: Mapping[str, Any] | None
    imported: bool
    certificates: tuple[Attached, ...] = ()
    """Certificates of reviews beside the run; ``review.verdict.attachment`` says what they are worth."""


def list_runs(connection: sqlite3.Connection) -> list[RunSummary]:
    """Give all runs, newest first."""
    certificates = attached_by_run(connection)
    rows = connection.execute("""
        SELECT u.run_id, u.id, u.state, u.created, u.dataset_id, u.language_pair, u.model_slug,
               u.condition, json_extract(u.setup, '$.method'), u.positions,
               (SELECT count(*) FROM results r WHERE r.run = u.id),
               (SELECT count(error_class) FROM results r WHERE r.run = u.id),
               u.run_card, u.live, u.imported IS NOT NULL
        FROM runs u ORDER BY u.created DESC, u.id DESC
    """)
    return [_summary(row, certificates.get(row[1], ())) for row in rows]


def _summary(row: tuple[Any, ...], certificates: tuple[Attached, ...]) -> RunSummary:
    return RunSummary(
        run_id=row[0],
        number=row[1],
        state=RunState(row[2]),
        created=row[3],
        dataset_id=row[4],
        language_pair=row[5],
        model_slug=row[6],
        condition=row[7],
        method=row[8],
        total=len(_unpack_positions(row[9])),
        done=row[10],
        failed=row[11],
        card=None if row[12] is None else json.loads(row[12]),
        live=None if row[13] is None else json.loads(row[13]),
        imported=bool(row[14]),
        certificates=certificates,
    )
