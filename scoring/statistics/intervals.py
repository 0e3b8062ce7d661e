"""Confidence intervals: percentile bootstrap of every metric and the composite from the same draws (§8.1).

A draw is a weighted sum of the entries' statistics, so all draws of all metrics are one product of a matrix of counts
with the table of statistics, made in blocks to bound the memory. Three entries with (matches, words) of (2, 4), (1, 5)
and (0, 3) and a draw that takes the first twice and the last once, counts (2, 0, 1), give (4, 11): 36.4 %, where the
point estimate is 3 / 12 = 25 %. The middle 950 of 1,000 such values are the 95 % interval.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from corpora.model.entry import Entry
from scoring.core.inventory import composite, composites, profile_for
from scoring.core.metric import FloatArray, MatchRate, Metric, Table
from scoring.core.specification import Weighing

DRAWS = 1000
LEVEL = 0.95
SEED = 12345
"""sacreBLEU's own, so that its resamples and ours are the same."""
BLOCK = 100_000
"""Counts held at once, 8 bytes each, three times: little enough for the processor's cache."""
MOST_KEPT = 4_000_000
"""Counts, one byte each, up to which they are kept for the next run."""
Counts = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval on the metric's own scale, with what is needed to make it again."""

    lower: float
    upper: float
    level: float
    draws: int
    """0 for an interval in closed form."""
    seed: int | None
    method: str
    """``percentile bootstrap``, ``Poisson bootstrap`` or ``Wilson``."""


def bootstrap(table: Table, *, draws: int = DRAWS, seed: int = SEED, level: float = LEVEL) -> dict[str, Interval]:
    """Return the interval of every metric that has a value, and of ``composite``.

    The inputs and the profile of the composite are those of the point estimate in every draw. An
    interval is widened to its point estimate where resampling a small corpus misses it.
    """
    if not len(table):
        return {}
    drawn = table.with_rows(resample(table.matrix, draws, seed))
    return intervals_of(table, drawn, seed=seed, level=level)


def intervals_of(table: Table, drawn: Table, *, seed: int = SEED, level: float = LEVEL) -> dict[str, Interval]:
    """Return the same from resamples that were made before, a table whose rows are draws."""
    return _intervals(table, drawn, level, seed, "percentile bootstrap")


def resample(matrix: FloatArray, draws: int, seed: int) -> FloatArray:
    """Sum ``draws`` resamples of the rows, with replacement: shape (draws, columns).

    The rows drawn are those of sacreBLEU's bootstrap with the same seed.
    """
    if matrix.dtype.kind == "i":
        return _resample_whole(matrix, draws, seed)  # type: ignore[arg-type]
    matrix, places = distinct_columns(matrix)
    matrix = matrix.astype(exact_type(matrix))
    sums = np.empty((draws, matrix.shape[1]), order="F")
    numbers = np.empty((0, 0), dtype=matrix.dtype)
    small = draws * len(matrix) <= MOST_KEPT
    blocks = (kept_counts if small else _count_blocks)(len(matrix), draws, seed)
    done = 0
    for counts in blocks:
        if numbers.shape != counts.shape:  # new memory for each block takes longer than the product
            numbers = np.empty(counts.shape, dtype=matrix.dtype)
        numbers[...] = counts
        sums[done : done + len(counts)] = numbers @ matrix
        done += len(counts)
    return sums.T[places].T


def _resample_whole(matrix: Counts, draws: int, seed: int) -> FloatArray:
    """Return the same of small whole numbers, whose sums lose no digit in any order, by blocks of draws and of rows."""
    sums = np.zeros((draws, matrix.shape[1]))
    small = draws * len(matrix) <= MOST_KEPT
    blocks = iter((kept_counts if small else _count_blocks)(len(matrix), draws, seed))
    done = 0
    while done < draws:
        held: list[Counts] = []
        while sum(map(np.size, held)) < MOST_KEPT and (block := next(blocks, None)) is not None:
            held.append(block.astype(np.uint8, copy=False))
        counts = np.concatenate(held)
        rows = max(1, 10 * BLOCK // len(counts))
        for start in range(0, len(matrix), rows):
            part = matrix[start : start + rows].astype(np.float64)
            sums[done : done + len(counts)] += counts[:, start : start + rows].astype(np.float64) @ part
        done += len(counts)
    return sums


def distinct_columns(matrix: FloatArray) -> tuple[FloatArray, list[int]]:
    """Return the columns without repetitions, and the place of each column among them.

    Equal columns have equal sums: the lengths that several metrics count, and the references that several
    runs share, enter a product once.
    """
    places_by_bytes: dict[bytes, int] = {}
    rows = np.ascontiguousarray(matrix.T)
    places = [places_by_bytes.setdefault(row.tobytes(), len(places_by_bytes)) for row in rows]
    firsts = [places.index(place) for place in range(len(places_by_bytes))]
    return rows[firsts].T, places


@lru_cache(maxsize=8)
def kept_counts(entries: int, draws: int, seed: int) -> tuple[Counts, ...]:
    """Cache how often each draw takes each entry: runs on one corpus share it.

    One byte holds a count: more than 255 takes of one entry among many have no measurable chance.
    """
    return tuple(counts.astype(np.uint8) for counts in _count_blocks(entries, draws, seed))


def _count_blocks(entries: int, draws: int, seed: int) -> Iterator[Counts]:
    """Count block by block how often each draw takes each entry, shape (draws of the block, entries)."""
    random = np.random.default_rng(seed)
    block = max(1, min(draws, BLOCK // entries))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        drawn = random.integers(0, entries, (size, entries))
        # numbers of its own for each draw, so that one pass counts all draws
        drawn += np.arange(size)[:, None] * entries
        yield np.bincount(drawn.ravel(), minlength=size * entries).reshape(size, entries)


def exact_type(matrix: FloatArray) -> type[np.float32 | np.float64]:
    """Choose single precision where no sum of a draw can lose a digit in it.

    Three to four times as fast, which serves the goal of ``compare`` in docs/internals/benchmarks.md (100 × sacreBLEU).
    """
    whole = bool((matrix == np.rint(matrix)).all())
    largest = float(np.abs(matrix).max(initial=0.0)) * len(matrix)
    return np.float32 if whole and largest < 2**24 else np.float64


def wilson(right: float, total: float, level: float = LEVEL) -> Interval | None:
    """Return the Wilson score interval of a rate, which holds for few entries and near 0 and 1 as well.

    8 of 10 right are 0.80, 0.49 to 0.94 with 95 %; the usual ± 1.96 standard errors would reach 1.05.
    """
    if total <= 0:
        return None
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.5 + level / 2)
    rate, share = right / total, z * z / total
    middle = (rate + share / 2) / (1 + share)
    half = z / (1 + share) * np.sqrt(rate * (1 - rate) / total + share / (4 * total))
    lower, upper = max(0.0, float(middle - half)), min(1.0, float(middle + half))
    return Interval(min(lower, rate), max(upper, rate), level, 0, None, "Wilson")


def wilson_intervals(table: Table) -> dict[str, Interval]:
    """Return the Wilson intervals of the metrics whose entries are right or wrong as a whole.

    Wilson's formula takes all cases for independent. Words, terms and rules of one entry are not, so that
    over them it would be too narrow; their rates have the bootstrap alone, which draws whole entries.
    """
    intervals = {
        metric.info.id: wilson(*table.sums(metric.info.id)) for metric in table.metrics if isinstance(metric, MatchRate)
    }
    return {id_: interval for id_, interval in intervals.items() if interval is not None}


class LiveIntervals:
    """Intervals of a run in progress, kept up to date as entries come (Poisson bootstrap).

    Each entry enters each draw with a Poisson(1) weight, so nothing is computed again: adding costs one
    product of (draws × entries) with (entries × columns): with 200 draws 35 µs for an entry alone, 6 µs
    in a batch of 30. Asking costs 0.4 ms whatever the length of the run. Exact ones replace them at the end.
    """

    def __init__(
        self, metrics: Sequence[Metric], *, draws: int = 200, seed: int = SEED, weighing: Weighing | None = None
    ) -> None:
        self._table = Table.of(metrics, [], weighing)
        self._totals = self._table.totals()
        self._sums = np.zeros((draws, self._totals.shape[1]))
        self._present = np.zeros((0, len(metrics)))
        self._random = np.random.default_rng(seed)
        self._seed = seed
        self.entries = 0
        """How many entries were added."""

    def add(self, table: Table, counts: FloatArray | None = None) -> None:
        """Count the entries of a table in, block by block to bound the memory.

        ``counts``: how often each draw takes each entry, shape (draws, entries), where several share draws.
        """
        block = max(1, BLOCK // len(self._sums))
        for start in range(0, len(table), block) if counts is None else ():
            rows = table.matrix[start : start + block]
            self._sums += poisson_counts(self._random, len(self._sums), len(rows)) @ rows
        if counts is not None:
            self._sums += counts @ table.matrix
        self.entries += len(table)
        self._totals += table.totals()
        present = np.vstack([self._present, table.present])
        self._present = present.max(axis=0, keepdims=True, initial=0)

    def intervals(self, level: float = LEVEL) -> dict[str, Interval]:
        """Return the intervals so far, Wilson's of rates of which all draws agree; empty before the first entry."""
        if not self.entries:
            return {}
        so_far = self._so_far
        drawn = so_far.with_rows(self._sums)
        intervals = _intervals(so_far, drawn, level, self._seed, "Poisson bootstrap")
        return intervals | {
            id_: closed
            for id_, closed in wilson_intervals(so_far).items()
            if id_ in intervals and intervals[id_].lower == intervals[id_].upper
        }

    @property
    def _so_far(self) -> Table:
        """One row, the sums of all entries."""
        return Table(self._table.metrics, self._totals, self._present, self._table.weighing)

    def group(self) -> Group:
        """Return the scores so far as those of a part of the corpus."""
        return _group(self._so_far, self.entries, self.intervals)


def poisson_counts(random: np.random.Generator, draws: int, entries: int) -> FloatArray:
    """Return Poisson(1) counts, shape (draws, entries).

    A Poisson number of takes, each of any cell alike, are such counts, five times as fast as one by one: for 2 draws of
    3 entries perhaps 7 takes of 6 cells, 0 2 2 5 1 0 4, which are the counts (2 1 2) and (0 1 1).
    """
    cells = draws * entries
    taken = random.integers(0, cells, random.poisson(cells))
    return np.bincount(taken, minlength=cells).reshape(draws, entries).astype(np.float64)


def _intervals(table: Table, sums: Table, level: float, seed: int, method: str) -> dict[str, Interval]:
    known = table.corpus_values().items()
    points = {id_: np.array([value]) for id_, value in known if value is not None}
    if not points:
        return {}
    drawn = {id_: values for id_, values in sums.row_values.items() if id_ in points}
    profile = profile_for({id_: float(value[0]) for id_, value in points.items()})
    points["composite"] = composites(points, profile, weighing=table.weighing)
    drawn["composite"] = composites(drawn, profile, complete=True, weighing=table.weighing)
    intervals = {}
    for id_, values in drawn.items():
        point = float(points[id_][0])
        if not np.isnan(point):
            both = ends(values[~np.isnan(values)], point, level)
            intervals[id_] = Interval(*both, level, len(values), seed, method)
    return intervals


def ends(drawn: FloatArray, point: float, level: float) -> tuple[float, float]:
    """Return the percentile interval of some draws, widened to the point where resampling misses it."""
    if not len(drawn):
        return point, point
    tail = 100 * (1 - level) / 2
    lower, upper = np.percentile(drawn, [tail, 100 - tail])
    return min(float(lower), point), max(float(upper), point)


# ---- Scores of parts of a corpus: by difficulty, provenance, register, segment and context (§9),
# variety and orthography.
#
# A part is another sum of the same statistics, so the parts always fit the whole.

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


def breakdowns(entries: Sequence[Entry], table: Table, *, seed: int = SEED) -> dict[str, dict[str, Group]]:
    """Split by each dimension; entries without that tag, or with one to withhold, are in no group of it."""
    places: dict[str, dict[str, array[int]]] = {name: {} for name in DIMENSIONS}
    for place, entry in enumerate(entries):
        for name, attribute in DIMENSIONS.items():
            if (tag := entry.open_tag(attribute)) is not None:
                places[name].setdefault(str(tag), array("i")).append(place)
    return {name: _grouped(places[name], table, seed=seed) for name in DIMENSIONS}


def _grouped(places: Mapping[str, Sequence[int]], table: Table, *, seed: int = SEED) -> dict[str, Group]:
    """Score the entries at the places of each tag, in the order of the tags' names."""
    groups = {}
    for name in sorted(places):
        part = table.rows(places[name])
        groups[name] = _group(part, len(part), partial(bootstrap, part, seed=seed))
    return groups


def _group(table: Table, n: int, intervals: Callable[[], dict[str, Interval]]) -> Group:
    values = table.corpus_values()
    values["composite"] = composite(values, weighing=table.weighing).value
    return Group(n, values, intervals() if n >= LEAST_FOR_INTERVAL else {})


# ---- Mean and sample standard deviation of the entries' own values, as tables of answers print
# them: 0.62 ± 0.31.


@dataclass(frozen=True, slots=True)
class ValueSpread:
    """How the values of single entries lie."""

    mean: float
    std: float
    """Sample standard deviation (n − 1), on the metric's scale; 0 for fewer than two values."""
    n: int
    """Entries that have a value."""


class RunningSpread:
    """Takes values as they come; the same whatever the order and the groups, but for rounding.

    Two groups are joined by their means and squares (Chan et al. 1979): 1 and 3 have mean 2 and squares 2; then 8 comes,
    6 away: mean 2 + 6 · 1/3 = 4, squares 2 + 0 + 6² · 2 · 1 / 3 = 26, as those of 1, 3 and 8 around 4.
    """

    def __init__(self) -> None:
        self._n = 0
        self._mean = 0.0
        self._squares = 0.0
        """Sum of squared distances from the mean."""

    def add(self, values: FloatArray) -> None:
        """Add some more values; NaN where an entry has none."""
        there = values[~np.isnan(values)]
        if not len(there):
            return
        n, mean = len(there), float(there.mean())
        apart, whole = mean - self._mean, self._n + n
        self._squares += float(((there - mean) ** 2).sum()) + apart**2 * self._n * n / whole
        self._mean += apart * n / whole
        self._n = whole

    def value(self) -> ValueSpread | None:
        """Return the spread so far; None before the first value."""
        if not self._n:
            return None
        std = (self._squares / (self._n - 1)) ** 0.5 if self._n > 1 else 0.0
        return ValueSpread(self._mean, std, self._n)


def spreads(entry_values: Mapping[str, FloatArray]) -> dict[str, ValueSpread]:
    """Return how the entries' values of each metric lie (``Table.entry_values``); of those that have any."""
    value_spreads = {}
    for id_, values in entry_values.items():
        taken = RunningSpread()
        taken.add(values)
        if (spread := taken.value()) is not None:
            value_spreads[id_] = spread
    return value_spreads
