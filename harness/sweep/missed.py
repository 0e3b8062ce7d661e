"""Entries that every run of a sweep misses, which show hard problems of the language (benchmark-specification §6.3).

A run misses an entry where it failed there or its output is in the lowest tier; of other tasks than translation, where
the answer is not right.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from corpora.model.entry import EntryId
from harness.card.withholding import LEAST
from harness.store.corpora.entries import open_entries
from harness.store.results import shared_outcomes
from harness.store.runs import find_by_id
from scoring.core.specification import TRANSLATIONS, KeptColumns, Tier, specified, stated_columns

LEAST_RUNS = 2  # Complete runs from which there is something that all of them miss
MOST_LISTED = 20  # Entries that are listed; the others are counted


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class MissedEntry(_Record):
    """An entry that all runs miss."""

    entry_id: EntryId
    difficulty: int | None
    source: str
    best_composite: float | None
    """Highest composite that an output of any run has there, 0–1; None where all failed, and of other tasks."""
    best_run: str
    """Id of the run that has it."""


class MissedTier(_Record):
    """The entries of one difficulty."""

    difficulty: int | None
    """Tier of the corpus, 1–5; None for entries without one."""
    missed: int
    entries: int


class MissedEntries(_Record):
    """What all complete runs of a sweep miss. Secret entries are counted in ``secret`` alone."""

    runs: int
    """Complete runs."""
    below: float | None
    """Composite under which an output is in the lowest tier; None for other tasks than translation."""
    entries: int
    """Open entries that all of them have."""
    missed: int
    by_difficulty: tuple[MissedTier, ...]
    listed: tuple[MissedEntry, ...]
    """The worst first, at most ``MOST_LISTED``."""
    secret: int | None
    """Secret entries that all runs miss; None where they are fewer than ``LEAST`` of those there are, which is not told."""


def missed_entries(connection: sqlite3.Connection, ids: Sequence[str]) -> MissedEntries | None:
    """Return what every one of these complete runs misses; None under two runs, or where answers are never right or wrong."""
    known = [run for run_id in ids if (run := find_by_id(connection, run_id)) is not None]
    runs = [run for run in known if run.corpus == known[0].corpus]
    kept = stated_columns(runs[0].opening.scoring) if runs else KeptColumns()
    if len(runs) < LEAST_RUNS or not (kept == TRANSLATIONS or kept.right):
        return None
    below = None
    if kept == TRANSLATIONS:  # the composite from which an output is above the lowest tier
        tiers = (kept.weighing or specified()).tiers
        below = min(least for least, name in tiers if name != Tier.BASELINE)
    outcomes = shared_outcomes(connection, [run.id for run in runs], below)
    open_ones = open_entries(connection, runs[0].corpus, outcomes)
    missed = [place for place, outcome in outcomes.items() if outcome.missing == len(runs)]
    ranked = sorted(set(missed) & open_ones.keys(), key=lambda place: (outcomes[place].best or 0.0, place))
    secret = len(missed) - len(ranked)
    total = Counter(entry.difficulty for entry in open_ones.values())
    gone = Counter(open_ones[place].difficulty for place in ranked)
    run_ids = {run.id: run.run_id for run in runs}
    return MissedEntries(
        runs=len(runs),
        below=below,
        entries=len(open_ones),
        missed=len(ranked),
        by_difficulty=tuple(
            MissedTier(difficulty=tier, missed=gone[tier], entries=total[tier])
            for tier in sorted(total, key=lambda tier: (tier is None, tier or 0))
        ),
        listed=tuple(
            MissedEntry(
                entry_id=open_ones[place].id,
                difficulty=open_ones[place].difficulty,
                source=open_ones[place].source,
                best_composite=None if below is None else outcomes[place].best,
                best_run=run_ids[outcomes[place].best_run],
            )
            for place in ranked[:MOST_LISTED]
        ),
        secret=None if secret < LEAST and len(outcomes) > len(open_ones) else secret,
    )
