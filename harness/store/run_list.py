"""The list of runs: what one line of it shows, read without the parts that hardly a list needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from corpora.files.json_types import JsonObject
from harness.core.failures import RunState
from harness.method.shipped import submission_number
from harness.store.attachments import UNCHECKED, Attached, CheckedHere, attached_by_run, checked_here, tags_by_run
from harness.store.file.trouble import count_positions, rows_by_name, stored_json, stored_object, stored_word
from harness.store.withdrawn import withdrawn_runs

if TYPE_CHECKING:
    from harness.store.file.openings import Live


# ---- What a list says of each run besides its own row: what parts it from others, and how many
# entries are in.
#
# People try one method with several outputs or settings, so that runs of one name are separated
# by what they differ in.


def failures_by_run(connection: sqlite3.Connection, only: int | None = None) -> dict[int, dict[str, int]]:
    """Count the failed entries of runs by class, the most frequent first; those of one run where ``only``.

    A class that this version does not know keeps its name.
    """
    failures: dict[int, dict[str, int]] = {}
    of_one = "" if only is None else "AND run = :run"
    rows = connection.execute(
        f"SELECT run, error_class, count(*) FROM results WHERE error_class IS NOT NULL {of_one}"
        " GROUP BY run, error_class ORDER BY count(*) DESC, error_class",
        {"run": only},
    )
    for run, error_class, count in rows:
        failures.setdefault(run, {})[str(error_class)] = count
    return failures


def done_by_run(connection: sqlite3.Connection, only: int | None = None) -> dict[int, int]:
    """Count the stored entries of runs; those of one run where ``only``."""
    of_one = "" if only is None else "WHERE run = :run"
    query = f"SELECT run, count(*) FROM results {of_one} GROUP BY run"
    return dict(connection.execute(query, {"run": only}))


def distinctions_by_run(connection: sqlite3.Connection, run_id: str | None = None) -> dict[int, str]:
    """Return for every run what distinguishes it from those of the same corpus, method, model and condition.

    Where ``run_id`` asks for one run, only those that it can be separated from are read.
    """
    query = """
        SELECT id, setup, plan -> '$.options.outputs' AS outputs, dataset_id, model_slug, condition
        FROM runs
        WHERE :run_id IS NULL OR (dataset_id, model_slug, condition) =
            (SELECT dataset_id, model_slug, condition FROM runs WHERE run_id = :run_id)
    """
    rows = rows_by_name(connection, query, {"run_id": run_id})
    setups = [stored_object(row["setup"]) for row in rows]
    names = [
        (setup.get("method"), row["dataset_id"], row["model_slug"], row["condition"])
        for setup, row in zip(setups, rows, strict=True)
    ]
    outputs = [None if row["outputs"] is None else stored_json(row["outputs"]) for row in rows]
    facts = [setup_facts(*setup_row) for setup_row in zip(setups, outputs, strict=True)]
    return dict(zip((row["id"] for row in rows), distinctions(names, facts), strict=True))


def distinctions(names: Sequence[Hashable], facts: Sequence[Sequence[str]]) -> list[str]:
    """Return for each run what distinguishes it from others of its name; empty where nothing does, or nothing need.

    ``facts`` has the same number of words for each run; the first that distinguish runs are returned.
    """
    told_words: list[tuple[str, ...]] = [()] * len(names)
    for words in zip(*facts, strict=True):
        kinds: dict[Hashable, set[str]] = {}
        called = list(zip(names, told_words, strict=True))
        for label, word in zip(called, words, strict=True):
            kinds.setdefault(label, set()).add(word)
        told_words = [
            (*label[1], word) if word and len(kinds[label]) > 1 else label[1]
            for label, word in zip(called, words, strict=True)
        ]
    return [" · ".join(label) for label in told_words]


def setup_facts(setup: Mapping[str, Any], outputs: str | None) -> tuple[str, ...]:
    """Return what runs of one method, model and condition differ by, as words; ``outputs`` is a path."""
    temperature, replicate = setup.get("temperature"), setup.get("replicate")
    tools = setup.get("tools_enabled") or ()
    return (
        PurePath(outputs or "").name,
        "" if temperature is None else f"temperature {temperature:g}",
        f"prompt {setup['prompt_version']}" if setup.get("prompt_version") else "",
        f"with {', '.join(tools)}" if tools else "",
        setup.get("provider") or "",
        f"replicate {replicate}" if replicate else "",
        _hash("coaching", setup.get("coaching_data_sha256")),
        _hash("prompt", setup.get("system_prompt_sha256")),
        _hash("outputs", setup.get("outputs_sha256")),
    )


def _hash(of: str, sha256: str | None) -> str:
    return f"{of} {sha256[:8]}" if sha256 else ""


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
    card: JsonObject | None
    """The sealed card without results[]; None while the run is not complete."""
    live: Live | None
    imported: bool
    scoring: JsonObject | None = None
    """Of a run without a card what it is scored with, and its task; None where the card tells it, or nothing does."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Class of failure → entries that failed so, the most frequent first."""
    certificates: tuple[Attached, ...] = ()
    """Certificates of reviews beside the run; ``review.verdict.certificate.certificate`` says what they are worth."""
    note: str = ""
    """What a person wrote about it (``harness.store.attachments``)."""
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
    connection: sqlite3.Connection, *, run_id: str | None = None, deleted: bool = False, brief: bool = False
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
    done, failures = done_by_run(connection, only), failures_by_run(connection, only)
    certificates, tags = attached_by_run(connection), tags_by_run(connection)
    parted, checked = distinctions_by_run(connection, run_id), checked_here(connection, only)
    withdrawn = withdrawn_runs(connection, only)
    return [
        replace(
            _summary(row, failures.get(number, {})),
            done=done.get(number, 0),
            certificates=certificates.get(number, ()),
            tags=tags.get(number, ()),
            distinction=parted.get(number, ""),
            checked=checked.get(number, UNCHECKED),
        )
        for row in rows
        if (number := row["id"]) not in withdrawn
    ]


_AS_STORED = (
    "run_id", "created", "dataset_id", "language_pair", "model_slug", "condition", "method", "note", "method_name",
)  # fmt: skip


def _summary(row: sqlite3.Row, failures: Mapping[str, int]) -> RunSummary:
    card = None if row["card"] is None else stored_object(row["card"])
    return RunSummary(
        **{name: row[name] for name in _AS_STORED},
        number=row["id"],
        state=stored_word(row["state"], RunState),
        total=count_positions(row["positions"]),
        done=0,
        failed=sum(failures.values()),
        card=card,
        live=None if row["live"] is None else _live(row["live"]),
        imported=bool(row["imported"]),
        scoring=None if row["scoring"] is None else stored_object(row["scoring"]),
        failures=failures,
        retry_of=row["retry_of"] or _origin(card, "retry_of"),
        rescore_of=row["rescore_of"] or _origin(card, "rescore_of"),
        trashed=row["put_away"],
        submission=submission_number(row["method"], row["method_sha256"]),
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
    card: JsonObject | None
    """Name of a part that was asked for → what the sealed card has there, None where it has nothing; None before the seal."""


def runs_of_sweep(connection: sqlite3.Connection, sweep: int, parts: Mapping[str, str]) -> dict[str, SweepRun]:
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
            card=None if row["card"] is None else dict(zip(parts, stored_json(row["card"]), strict=True)),
        )
        for row in rows
        if row["id"] not in withdrawn
    }


def _live(text: object) -> Live:
    from harness.store.file.openings import Live

    return Live.read(text)


def _origin(card: JsonObject | None, name: str) -> str:
    """Read from a card, which may come from elsewhere, which run it goes back to."""
    origin = (card or {}).get(name)
    run_id = origin.get("run_id") if isinstance(origin, Mapping) else None
    return run_id if isinstance(run_id, str) else ""
