"""Runs whose entries were not all asked for with the same settings: which were asked for how.

Such a run is never silently one model's: its set-up names every part, and is that of no other run.

Tries that were a run's own: a retry has rows that came over from the run before, with their tries.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter

from harness.method.method import Setup
from harness.store.file.trouble import of_kind, unpacks
from harness.store.results import read_tries
from harness.store.runs import Run

RETRIED_WITH = "retried_with"
"""Option of a set-up in parts: for each later part, what was different from the first."""

_TOLD_BY_HASH = frozenset({"system_prompt_used"})


@dataclass(frozen=True, slots=True)
class SetupPart:
    """Entries of a run that were asked for with one set-up."""

    setup: Setup
    positions: frozenset[int] = frozenset()
    """Places of its entries; of the first part empty, for it has all the rest."""

    def as_json(self) -> dict[str, Any]:
        """Write the part as a run's opening holds it."""
        setup = self.setup.model_dump(mode="json")
        return {"setup": setup, "positions": sorted(self.positions)}


class _StoredPart(BaseModel):
    setup: Setup
    positions: frozenset[int]


_PARTS = TypeAdapter(list[_StoredPart])
_TRIED = TypeAdapter(list[tuple[int, int]])
"""Place of an entry, and how often it was tried."""


@unpacks
def parts_of(run: Run) -> list[SetupPart]:
    """Return the parts of a run, one where all of it was asked for in the same way."""
    stored = _PARTS.validate_python(run.opening.get("parts", ()))
    return [SetupPart(part.setup, part.positions) for part in stored] or [SetupPart(run.setup)]


@unpacks
def asked_with(run: Run) -> Setup:
    """Return the set-up of the method that a run asks."""
    stored = run.opening.get("asked_with")
    return run.setup if stored is None else Setup.model_validate(stored)


@unpacks
def tried_before(run: Run) -> dict[int, int]:
    """Return how often entries were tried before the run, by place: empty for one that is no retry."""
    return _tried(of_kind(run.opening.get("retry_of", {}), dict))


@unpacks
def tries_before(run: Run) -> dict[int, int]:
    """Return how often entries were tried in all before they are asked for now, by place.

    Besides those of the runs before these are the ones that failed in this run until it was gone on with.
    """
    return {**tried_before(run), **_tried(run.opening)}


def _tried(block: Mapping[str, Any]) -> dict[int, int]:
    return dict(_TRIED.validate_python(block.get("tried", ())))


def with_part(
    parts: Sequence[SetupPart], setup: Setup, positions: Collection[int]
) -> list[SetupPart]:
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
    """Return the set-up of a run in parts: that of the first, with a name and options that tell of all.

    Its hash differs from that of every part, so that no list takes the run for one of them.
    """
    first = parts[0].setup
    if len(parts) == 1:
        return first
    told = [differences(first, part.setup) for part in parts[1:]]
    return first.model_copy(
        update={
            "model_slug": _joined(part.setup.model_slug for part in parts),
            "condition": _joined([*(part.setup.condition for part in parts), "retry"]),
            "options": {**first.options, RETRIED_WITH: told},
        }
    )


def _joined(names: Any) -> str:
    return " + ".join(dict.fromkeys(names))


def differences(first: Setup, other: Setup) -> dict[str, Any]:
    """Return what another set-up says otherwise, as JSON values; a prompt by its hash only."""
    then, now = first.model_dump(mode="json"), other.model_dump(mode="json")
    return {
        name: now[name] for name in now if now[name] != then[name] and name not in _TOLD_BY_HASH
    }


def own_tries(run: Run, rows: Iterable[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return for each row how often the run tried its entry after the first time, and was answered with 429.

    A row is given as in ``read_tries``. What was tried before the run is left out; entries that a retry did not
    ask for again count nothing.
    """
    before = tried_before(run)
    return [
        (max(0, attempts - 1 - before.get(position, 0)), limited)
        if not before or position in before
        else (0, 0)
        for position, attempts, limited in rows
    ]


def sum_tries(connection: sqlite3.Connection, run: Run) -> tuple[int, int]:
    """Return the retries and the 429 replies of a run, over all its stored entries."""
    own = own_tries(run, read_tries(connection, run.id))
    return sum(retries for retries, _ in own), sum(limited for _, limited in own)
