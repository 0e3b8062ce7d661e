"""Two to six runs side by side, and where a difference lies: by difficulty, provenance, register, segment, context.

Parts are not tested: of twenty parts one differs by chance. An interval says how sure each is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from corpora.model.entry import Entry, Segment
from harness.store.file.trouble import stored_object
from scoring.core.composite import composite
from scoring.statistics.breakdown import DIMENSIONS, LEAST_FOR_INTERVAL
from scoring.statistics.significance import (
    COMPOSITE,
    difference_intervals,
    known_values,
    shared_profile,
)

if TYPE_CHECKING:
    from harness.compare.entries import ComparedEntries
    from harness.compare.pairs import ComparedRun, Pair, PairSide
    from harness.compare.rows import CorpusRow
    from scoring.core.table import Table


@dataclass(frozen=True, slots=True)
class PartDifference:
    """Two runs on one part of the corpus."""

    difference: float
    """``second - first``."""
    interval: tuple[float, float] | None
    """Percentile interval; None below ten entries."""


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """One part of the corpus, such as all entries of difficulty 3."""

    n: int
    values: Mapping[str, Mapping[str, float | None]]
    """Letter of the run → metric → value."""
    differences: Mapping[tuple[str, str], Mapping[str, PartDifference]]
    """Letters of a pair → metric → difference, for the metrics by which the pair compares."""


Breakdown = Mapping[str, CorpusPart]
"""Tag → part."""


@dataclass(frozen=True)
class Comparison:
    """Two to six runs side by side."""

    runs: tuple[ComparedRun, ...]
    """Those that compare; fewer than two where nothing can be said."""
    refused: Mapping[str, str]
    """Run id → why it does not compare with the others."""
    pairs: tuple[Pair, ...]
    """Every pair, or each run against the baseline."""
    metrics: tuple[str, ...]
    """By which any pair compares, ``composite`` last."""
    entries: ComparedEntries
    baseline: str | None
    """Run id, None where every pair is compared."""
    draws: int
    trials: int
    seed: int
    level: float
    sides: tuple[PairSide, ...]

    @property
    def running(self) -> bool:
        """True where a run is not complete: its differences are safe to look at in ``Pair.running`` only."""
        return any(not run.complete for run in self.runs)

    @cached_property
    def breakdowns(self) -> Mapping[str, Breakdown]:
        """Parts of the corpus by difficulty, provenance, register, segment and context; worked out when asked."""
        return breakdowns(self)

    def run(self, letter: str) -> ComparedRun:
        """Return the run of a letter."""
        return self.runs[[run.letter for run in self.runs].index(letter)]


def breakdowns(comparison: Comparison) -> dict[str, Breakdown]:
    """Split the common entries by each dimension that has any tag; entries without one are in no part."""
    found: dict[str, Breakdown] = {}
    for dimension, tags in part_tags(comparison).items():
        places: dict[str, list[int]] = {}
        for place, tag in enumerate(tags):
            if tag is not None:
                places.setdefault(tag, []).append(place)
        found[dimension] = {tag: _part(comparison, places[tag]) for tag in sorted(places)}
    return found


def part_tags(comparison: Comparison) -> dict[str, list[str | None]]:
    """Return by dimension the tag of each common entry, None where it is in no part; dimensions with any tag only."""
    if not comparison.sides:
        return {}
    entries = [_tagged(row.entry) for row in comparison.sides[0].used]
    tags = {
        dimension: [entry.open_tag(field) for entry in entries]
        for dimension, field in DIMENSIONS.items()
    }
    return {
        dimension: [None if tag is None else str(tag) for tag in own]
        for dimension, own in tags.items()
        if any(tag is not None for tag in own)
    }


def _tagged(row: CorpusRow) -> Entry:
    """Return an entry without its texts, which knows which of its tags may be shown."""
    segment = row.segment if row.segment in set(Segment) else None
    rest = {} if row.rest is None else stored_object(row.rest)
    return Entry.model_construct(
        id=row.id,
        source="",
        reference="",
        segment=None if segment is None else Segment(segment),
        difficulty=row.difficulty,
        provenance=row.provenance,
        register_=row.register,
        context=rest.get("context"),
        variety=_text(rest.get("variety")),
        orthography=_text(rest.get("orthography")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _part(comparison: Comparison, places: list[int]) -> CorpusPart:
    tables = {
        run.letter: side.table.rows(places)
        for run, side in zip(comparison.runs, comparison.sides, strict=True)
    }
    values = {letter: _values(table, comparison.metrics) for letter, table in tables.items()}
    return CorpusPart(
        len(places),
        values,
        {
            (pair.first.letter, pair.second.letter): _differences(comparison, pair, tables, values)
            for pair in comparison.pairs
        },
    )


def _values(table: Table, metrics: Collection[str]) -> dict[str, float | None]:
    own = table.corpus_values()
    mixed = {**own, COMPOSITE: composite(own).value}
    return {id_: value for id_, value in mixed.items() if id_ in metrics}


def _differences(
    comparison: Comparison,
    pair: Pair,
    tables: Mapping[str, Table],
    values: Mapping[str, Mapping[str, float | None]],
) -> dict[str, PartDifference]:
    """Hold two runs against each other on one part; a part may lack an input that the whole corpus has."""
    first, second = (tables[run.letter].only(pair.used) for run in (pair.first, pair.second))
    ends = {}
    if len(first) >= LEAST_FOR_INTERVAL:
        ends = difference_intervals(
            first, second, draws=comparison.draws, seed=comparison.seed, level=comparison.level
        )
    alike = shared_profile(known_values(first), known_values(second)) is not None
    found = {}
    for id_ in pair.by_metric:
        one, other = (values[run.letter].get(id_) for run in (pair.first, pair.second))
        if one is not None and other is not None and (id_ != COMPOSITE or alike):
            found[id_] = PartDifference(other - one, ends.get(id_))
    return found
