"""Two to six runs side by side: the entries that all have, and where a difference lies.

Parts (difficulty, provenance, register, segment, context) are not tested: of twenty parts one differs by chance.
An interval says how sure each is. Entries have their values by run, and those come first that differ most.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from corpora.model.entry import Entry, EntryId, Segment
from harness.compare.pairs import PairSide, repeats
from harness.store.corpora.entries import open_entries
from harness.store.results import read_results
from harness.store.sqlite.trouble import stored_object
from scoring.core.inventory import composite
from scoring.statistics.intervals import DIMENSIONS, LEAST_FOR_INTERVAL
from scoring.statistics.repetitions import Repetitions, repetitions
from scoring.statistics.significance import COMPOSITE, difference_intervals, own_values, shared_profile

if TYPE_CHECKING:
    from harness.compare.pairs import ComparedRun, Pair, PairSide
    from harness.compare.rows import CorpusRow
    from scoring.core.metric import FloatArray, Table


@dataclass(frozen=True)
class ComparedEntries:
    """Entries in corpus order; arrays of shape (runs, entries) have the runs in the comparison's order."""

    ids: tuple[EntryId, ...]
    positions: npt.NDArray[np.int64]
    """Place in each run's own corpus, shape (runs, entries): a run from elsewhere has its own corpus."""
    failed: npt.NDArray[np.bool_]
    secret: npt.NDArray[np.bool_]
    """Shape (entries,): texts of these leave this machine in no file, copy or message."""
    values: Mapping[str, FloatArray]
    """Own values by metric id and ``composite``, shape (runs, entries); NaN where there is none. Metrics that
    only a whole corpus has are not among them."""

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, ids: Sequence[EntryId], sides: Sequence[PairSide], metrics: Collection[str]) -> ComparedEntries:
        """Align the runs' rows by entry."""
        own = [own_values(side.table) for side in sides]
        shape = (len(sides), len(ids))
        positions = [[row.entry.position for row in side.used] for side in sides]
        failed = [[row.failed for row in side.used] for side in sides]
        secret = [[side.rows.is_secret(row) for row in side.used] for side in sides]
        return cls(
            ids=tuple(ids),
            positions=np.array(positions, np.int64).reshape(shape),
            failed=np.array(failed, bool).reshape(shape),
            secret=np.asarray(np.array(secret, bool).reshape(shape).any(axis=0)),
            values={
                id_: np.stack([values[id_] if id_ in values else np.full(len(ids), np.nan) for values in own])
                for id_ in dict.fromkeys(id_ for values in own for id_ in values)
                if id_ in metrics
            },
        )

    def differences(self, metric: str, first: int, second: int) -> FloatArray:
        """Return ``second - first`` of each entry, by the runs' places; NaN where one has no value."""
        values = self.values[metric]
        return np.asarray(values[second] - values[first])

    def spread_first(self, metric: str) -> list[int]:
        """Order the entries by how far their best and worst run are apart; those without a difference are left out."""
        values = self.values[metric]
        high = np.where(np.isnan(values), -np.inf, values).max(axis=0, initial=-np.inf)
        low = np.where(np.isnan(values), np.inf, values).min(axis=0, initial=np.inf)
        sizes = np.where(np.isfinite(high), high - low, 0.0)
        order = np.argsort(-sizes, kind="stable")
        return [int(place) for place in order if sizes[place] > 0]


@dataclass(frozen=True, slots=True)
class EntryTexts:
    """The texts of one entry as they may leave this machine."""

    source: str | None
    reference: str | None
    outputs: tuple[str | None, ...]
    """Of each run; None where it failed. All texts are None where the entry is secret."""


def open_texts(
    connection: sqlite3.Connection, entries: ComparedEntries, sides: Sequence[PairSide], places: Sequence[int]
) -> list[EntryTexts]:
    """Read the texts of some entries; of secret ones nothing is read."""
    shown = [place for place in places if not entries.secret[place]]
    outputs: list[dict[int, str | None]] = []
    for number, side in enumerate(sides):
        results = read_results(connection, side.rows.run.id, [int(entries.positions[number, place]) for place in shown])
        outputs.append({result.position: result.output for result in results})
    corpus = open_entries(connection, sides[0].rows.run.corpus, [int(entries.positions[0, place]) for place in shown])
    texts = []
    for place in places:
        if entries.secret[place]:
            texts.append(EntryTexts(None, None, (None,) * len(sides)))
            continue
        entry = corpus[int(entries.positions[0, place])]
        own = tuple(made.get(int(entries.positions[number, place])) for number, made in enumerate(outputs))
        texts.append(EntryTexts(entry.source, entry.reference, own))
    return texts


@dataclass(frozen=True, slots=True)
class PartDifference:
    """Two runs on one part of the corpus."""

    difference: float  # `second - first`
    interval: tuple[float, float] | None  # Percentile interval; None below ten entries


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """One part of the corpus, such as all entries of difficulty 3."""

    n: int
    values: Mapping[str, Mapping[str, float | None]]
    """Letter of the run → metric → value."""
    differences: Mapping[tuple[str, str], Mapping[str, PartDifference]]
    """Letters of a pair → metric → difference, for the metrics by which the pair compares."""


Breakdown = Mapping[str, CorpusPart]  # Tag → part


@dataclass(frozen=True, slots=True)
class RepeatedSetup:
    """Runs of one set-up, which differ in the number of the repeat alone."""

    letters: tuple[str, ...]
    equal: bool  # Whether every entry has the same statistics in all of them
    parts: Repetitions | None  # None where they are equal, or the metric cannot be taken apart


def _repeated_setups(comparison: Comparison, metric: str) -> Iterator[RepeatedSetup]:
    left = list(zip(comparison.runs, comparison.sides, strict=True))
    while left:
        first = left[0][1]
        group = [(run, side) for run, side in left if side is first or repeats(first.rows, side.rows)]
        left = [pair for pair in left if pair not in group]
        if len(group) > 1:
            kept = [[row.statistics for row in side.used] for _, side in group]
            equal, parts = all(statistics == kept[0] for statistics in kept), None
            with suppress(ValueError):  # too few entries, or a repeat without a value
                parts = None if equal else repetitions([side.table for _, side in group], metric)
            yield RepeatedSetup(tuple(run.letter for run, _ in group), equal, parts)


@dataclass(frozen=True)
class Comparison:
    """Two to six runs side by side."""

    runs: tuple[ComparedRun, ...]  # Those that compare; fewer than two where nothing can be said
    refused: Mapping[str, str]  # Run id → why it does not compare with the others
    pairs: tuple[Pair, ...]  # Every pair, or each run against the baseline
    metrics: tuple[str, ...]  # By which any pair compares, `composite` last
    entries: ComparedEntries
    baseline: str | None  # Run id, None where every pair is compared
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

    @cached_property
    def _repeated(self) -> dict[str, tuple[RepeatedSetup, ...]]:
        return {}

    def repeated(self, metric: str) -> tuple[RepeatedSetup, ...]:
        """Return the set-ups of which several runs are complete repeats, with what varies between these by a metric."""
        if metric not in self._repeated:
            self._repeated[metric] = tuple(_repeated_setups(self, metric))
        return self._repeated[metric]

    def run(self, letter: str) -> ComparedRun:
        """Return the run of a letter."""
        return self.runs[[run.letter for run in self.runs].index(letter)]


def breakdowns(comparison: Comparison) -> dict[str, Breakdown]:
    """Split the common entries by each dimension that has any tag; entries without one are in no part."""
    breakdowns: dict[str, Breakdown] = {}
    for dimension, tags in part_tags(comparison).items():
        places: dict[str, list[int]] = {}
        for place, tag in enumerate(tags):
            if tag is not None:
                places.setdefault(tag, []).append(place)
        breakdowns[dimension] = {tag: _part(comparison, places[tag]) for tag in sorted(places)}
    return breakdowns


def part_tags(comparison: Comparison) -> dict[str, list[str | None]]:
    """Return by dimension the tag of each common entry, None where it is in no part; dimensions with any tag only."""
    if not comparison.sides:
        return {}
    entries = [_tagged(row.entry) for row in comparison.sides[0].used]
    tags = {dimension: [entry.open_tag(field) for entry in entries] for dimension, field in DIMENSIONS.items()}
    return {
        dimension: [None if tag is None else str(tag) for tag in own]
        for dimension, own in tags.items()
        if any(tag is not None for tag in own)
    }


def _tagged(row: CorpusRow) -> Entry:
    """Return an entry without its texts, which knows which of its tags may be shown."""
    segment = row.segment if row.segment in set(Segment) else None
    rest = {} if row.rest is None else stored_object(row.rest)
    context, variety, orthography = (rest.get(name) for name in ("context", "variety", "orthography"))
    return Entry.model_construct(
        id=row.id,
        source="",
        reference="",
        segment=None if segment is None else Segment(segment),
        difficulty=row.difficulty,
        provenance=row.provenance,
        register_=row.register,
        context=context if isinstance(context, str) else None,
        variety=variety if isinstance(variety, str) else None,
        orthography=orthography if isinstance(orthography, str) else None,
    )


def _part(comparison: Comparison, places: list[int]) -> CorpusPart:
    tables = {run.letter: side.table.rows(places) for run, side in zip(comparison.runs, comparison.sides, strict=True)}
    values = {}
    for letter, table in tables.items():
        own = table.corpus_values()
        own = {**own, COMPOSITE: composite(own, weighing=table.weighing).value}
        values[letter] = {id_: own[id_] for id_ in own if id_ in comparison.metrics}
    return CorpusPart(
        len(places),
        values,
        {
            (pair.first.letter, pair.second.letter): _differences(comparison, pair, tables, values)
            for pair in comparison.pairs
        },
    )


def _differences(
    comparison: Comparison, pair: Pair, tables: Mapping[str, Table], values: Mapping[str, Mapping[str, float | None]]
) -> dict[str, PartDifference]:
    """Compare two runs with each other on one part; a part may lack an input that the whole corpus has."""
    first, second = (tables[run.letter].only(pair.used) for run in (pair.first, pair.second))
    ends = {}
    if len(first) >= LEAST_FOR_INTERVAL:
        ends = difference_intervals(first, second, draws=comparison.draws, seed=comparison.seed, level=comparison.level)
    alike = shared_profile(first, second) is not None
    part_differences = {}
    for id_ in pair.by_metric:
        one, other = (values[run.letter].get(id_) for run in (pair.first, pair.second))
        if one is not None and other is not None and (id_ != COMPOSITE or alike):
            part_differences[id_] = PartDifference(other - one, ends.get(id_))
    return part_differences
