"""Asking again for the failed entries of a complete run, with the same settings or others.

A sealed card never changes (DESIGN C4): the result is its own run that names the one it goes back to,
has its good rows, and says of which entries it asked again and how often each was tried in all. A run that
was cut is not retried but resumed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from harness.card.material import fingerprint
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from harness.core.version import VERSION
from harness.endpoint.endpoints import KeySource, find_key
from harness.method.method import Method
from harness.method.options import MethodOptions, refuse_written_keys
from harness.privacy import ClearedMethod, clear
from harness.run.beginning import begin_like, begun_with, check_budget, coaching_of, new_identity
from harness.setup.plan import Plan, RunOptions, plan_of
from harness.setup.scoring_tools import ScoringTools
from harness.store.annotations import answered, read_annotations
from harness.store.corpora.entries import corpus_sha256, read_dataset, read_entries
from harness.store.holding import copy_stretches
from harness.store.mixed_setups import parts_of, whole_setup, with_part
from harness.store.results import copy_done, failed_attempts
from harness.store.runs import Run, read_card, read_run
from harness.store.sqlite.openings import Origin
from harness.store.sqlite.trouble import transaction

CHANGEABLE = (set(MethodOptions.model_fields) - {"source_language", "target_language", "task", "file_lines"}) | set(
    RunOptions.model_fields
)
"""What may be told otherwise than to the run before, by name of the field."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A new run that is stored and ready to go: hand all of it to ``harness.run.running.execute_run``."""

    number: int
    run_id: str
    cleared: ClearedMethod
    tools: ScoringTools
    asked: int  # Entries that it asks for
    kept: int  # Entries whose rows are those of the run before


def retry(
    connection: sqlite3.Connection, run: Run, changes: Mapping[str, Any] | None = None, find_key: KeySource = find_key
) -> Retry:
    """Store a new run with a run's good rows, which asks only for the entries that failed.

    ``changes`` are fields of MethodOptions and RunOptions by name; a budget holds for the new calls only.
    Nothing is asked yet. Raises UsageError where the run has nothing to ask again or a change cannot be made,
    HarnessError where it can no longer be scored as it was.
    """
    tried = _failed(connection, run)
    wanted = {"keep_failed": False, "stop_when": None, **(changes or {})}
    plan = changed_plan(plan_of(run), wanted)
    dataset = read_dataset(connection, run.corpus)
    entries = read_entries(connection, run.corpus, dataset=dataset)
    whole = [entries[place] for place in sorted(entries)]
    refuse_written_keys(plan.options)
    cleared = clear(dataset, {place: entries[place] for place in run.positions}, plan, whole, find_key)
    method, plan = cleared.method, cleared.plan
    check_budget(method, plan)
    tools = begun_with(connection, run)
    try:
        with transaction(connection):
            read_run(connection, run.id)  # it may have been deleted meanwhile
            number, run_id = _store(connection, run, plan, method, tried)
    except BaseException:
        tools.close()
        raise
    return Retry(number, run_id, cleared, tools, len(tried), len(run.positions) - len(tried))


def _failed(connection: sqlite3.Connection, run: Run) -> dict[int, int]:
    """Return the entries that are to be asked for again, with how often each was tried."""
    name = run.run_id[:8]
    if run.imported:
        raise UsageError(
            f"Run {name} was imported as a card, so its method cannot be asked here. Begin a run of your own."
        )
    if read_card(connection, run.id) is None:
        raise UsageError(f"Run {name} is not complete. `rosetta resume {name} --retry-failed` continues with it.")
    tried = failed_attempts(connection, run.id)
    if not tried:
        rows = read_annotations(connection, run.id)
        hint = f" Judgements failed: `rosetta score --rescore {name}` asks for those again."
        lacking = any(row.position is not None and not answered(row) for row in rows)
        raise UsageError(f"No entry of run {name} failed; there is nothing to ask for again.{hint if lacking else ''}")
    return tried


def changed_plan(plan: Plan, changes: Mapping[str, Any]) -> Plan:
    """Return a plan with some options told otherwise; UsageError names one that cannot be."""
    if stray := sorted(set(changes) - CHANGEABLE):
        raise UsageError(
            f"Options: {stray[0]!r} cannot be changed for a retry. What can: {', '.join(sorted(CHANGEABLE))}."
        )
    try:
        return plan.model_copy(update={"options": _told(plan.options, changes), "run": _told(plan.run, changes)})
    except ValidationError as error:
        raise UsageError(f"Options: {first_problem(error)}") from error


def _told(options: Any, changes: Mapping[str, Any]) -> Any:
    fields = type(options).model_fields
    changed_fields = {name: value for name, value in changes.items() if name in fields}
    return type(options).model_validate({**options.model_dump(), **changed_fields})


def _store(
    connection: sqlite3.Connection, run: Run, plan: Plan, method: Method, tried: Mapping[int, int]
) -> tuple[int, str]:
    card = read_card(connection, run.id) or {}
    parts = with_part(parts_of(run), method.setup, tried)
    setup = whole_setup(parts)
    print_ = fingerprint(setup, corpus_sha256(connection, run.corpus), VERSION)
    opening = run.opening.of_entries().changed(
        budget_usd=plan.run.budget_usd,
        terms_from=coaching_of(run),
        asked_with=method.setup,
        parts=tuple(parts) if len(parts) > 1 else (),
        retry_of=Origin(run_id=run.run_id, run_card_hash=card.get("run_card_hash"), tried=tuple(sorted(tried.items()))),
    )
    changed = run._replace(
        **new_identity(),
        setup=setup,
        setup_hash=print_.setup_hash,
        fingerprint_hash=print_.hash,
        plan=plan.model_dump(mode="json"),
        opening=opening,
    )
    number = begin_like(connection, changed)
    copy_stretches(connection, run.id, number, paid=False)
    copy_done(connection, run.id, number)
    return number, changed.run_id
