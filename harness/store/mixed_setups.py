"""Runs whose entries were not all asked for with the same settings: which were asked for how.

Such a run is never silently one model's: its set-up names every part, and is that of no other run.

Tries that were a run's own: a retry has rows that came over from the run before, with their tries.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from corpora.files.json_types import Json
from harness.method.method import Setup
from harness.store.results import read_tries
from harness.store.runs import Run
from harness.store.sqlite.openings import SetupPart

RETRIED_WITH = "retried_with"
"""Option of a set-up in parts: for each later part, what was different from the first."""

_TOLD_BY_HASH = frozenset({"system_prompt_used"})


def parts_of(run: Run) -> list[SetupPart]:
    """Return the parts of a run, one where all of it was asked for in the same way."""
    return [*run.opening.parts] or [SetupPart(run.setup)]


def asked_with(run: Run) -> Setup:
    """Return the set-up of the method that a run asks."""
    return run.opening.asked_with or run.setup


def tried_before(run: Run) -> dict[int, int]:
    """Return how often entries were tried before the run, by place: empty for one that is no retry."""
    origin = run.opening.retry_of
    return {} if origin is None else dict(origin.tried)


def tries_before(run: Run) -> dict[int, int]:
    """Return how often entries were tried in all before they are asked for now, by place.

    Besides those of the runs before these are the ones that failed in this run until it was gone on with.
    """
    return {**tried_before(run), **dict(run.opening.tried)}


def with_part(parts: Sequence[SetupPart], setup: Setup, positions: Collection[int]) -> list[SetupPart]:
    """Return the parts as they are when some entries are asked for again, maybe with another set-up.

    Parts that are left without entries go.
    """
    first, *later = [SetupPart(part.setup, part.positions - set(positions)) for part in parts]
    later = [part for part in later if part.positions]
    if setup == first.setup:
        return [first, *later]
    same = [part for part in later if part.setup == setup]
    others = [part for part in later if part.setup != setup]
    joined = frozenset(positions).union(*(part.positions for part in same))
    return [first, *others, SetupPart(setup, joined)]


def whole_setup(parts: Sequence[SetupPart]) -> Setup:
    """Return the set-up of a run in parts: that of the first, with a name and options that cover all.

    Its hash differs from that of every part, so that no list takes the run for one of them.
    """
    first = parts[0].setup
    if len(parts) == 1:
        return first
    changes = [differences(first, part.setup) for part in parts[1:]]
    return first.model_copy(
        update={
            "model_slug": _joined(part.setup.model_slug for part in parts),
            "condition": _joined([*(part.setup.condition for part in parts), "retry"]),
            "options": {**first.options, RETRIED_WITH: changes},
        }
    )


def _joined(names: Any) -> str:
    return " + ".join(dict.fromkeys(names))


def differences(first: Setup, other: Setup) -> dict[str, Json]:
    """Return what another set-up says otherwise, as JSON values; a prompt by its hash only."""
    then, now = first.model_dump(mode="json"), other.model_dump(mode="json")
    return {name: now[name] for name in now if now[name] != then[name] and name not in _TOLD_BY_HASH}


def sum_tries(connection: sqlite3.Connection, run: Run) -> tuple[int, int]:
    """Return the retries and the 429 replies of a run, over all its stored entries.

    What was tried before the run is left out; entries that a retry did not ask for again count nothing.
    """
    before = tried_before(run)
    retries = limited = 0
    for position, attempts, refused in read_tries(connection, run.id):
        if not before or position in before:
            retries += max(0, attempts - 1 - before.get(position, 0))
            limited += refused
    return retries, limited
