"""Scores of parts of a corpus: by difficulty, provenance, register, segment and context (§9), variety and orthography.

A part is another sum of the same statistics, so the parts always fit the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from corpora.model.entry import Entry
from scoring.core.composite import composite
from scoring.core.table import Table
from scoring.statistics.intervals import SEED, Interval, bootstrap

DIMENSIONS = {
    "difficulty": "difficulty",
    "provenance": "provenance",
    "register": "register_",
    "segment": "segment",
    "context": "context",
    "variety": "variety",
    "orthography": "orthography",
}
"""Name of each breakdown and the entry's field behind it."""

FREE = ("variety", "orthography")
"""Those that a card has only where an entry, or its corpus, has such a tag; earlier cards have none of them."""

LEAST_FOR_INTERVAL = 10
"""Entries from which on an interval says more than it hides."""


@dataclass(frozen=True, slots=True)
class Group:
    """One part of the corpus."""

    n: int
    """Entries in it."""
    values: dict[str, float | None]
    """Corpus values by metric id, and ``composite``."""
    intervals: dict[str, Interval] = field(default_factory=dict)
    """Empty below ten entries."""


def breakdown(
    entries: Sequence[Entry], table: Table, dimension: str, *, seed: int = SEED
) -> dict[str, Group]:
    """Split by one dimension; entries without that tag, or with one to withhold, are in no group."""
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        tag = entry.open_tag(DIMENSIONS[dimension])
        if tag is not None:
            places.setdefault(str(tag), []).append(place)
    return {tag: _group(table.rows(places[tag]), seed) for tag in sorted(places)}


def _group(part: Table, seed: int) -> Group:
    values = part.corpus_values()
    values["composite"] = composite(values, weighing=part.weighing).value
    intervals = bootstrap(part, seed=seed) if len(part) >= LEAST_FOR_INTERVAL else {}
    return Group(len(part), values, intervals)
