"""Whether one run is better than another on the same entries: paired bootstrap and approximate randomisation (§8.2).

Statistics add up, so a resample or a shuffle of all metrics and the composite is one row of one product.

The randomisation asks how large a difference chance makes where a coin for each entry decides whose output is whose
(Riezler & Maxwell 2005). Two runs with per-entry differences of 3, 1, -1 and 2 points differ by 5 in all. Of the 16 ways
in which four coins fall six make a sum of 5 or more in size (as they are: 5; -1 turned: 7; 1 and -1 turned: 5; and these
with all signs turned), so p is 6/16 = 0.38: no finding. With 10,000 throws p is (those as large + 1) / 10,001, never 0.

The bootstrap asks the same of resamples of the entries: their differences are moved to mean 0, and p is the share of
them at least as large as the one that was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.core.inventory import composites, direction, known_row, profile_for
from scoring.core.metric import FloatArray, Table, oriented
from scoring.core.scorer import entry_composites
from scoring.statistics.intervals import DRAWS, LEVEL, SEED, distinct_columns, ends, exact_type, resample


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values in the same order, 0–1; one below the level is a finding at that level.

    Who compares many runs finds some difference by chance; after this the chance of even one false finding stays below the
    level, whatever the tests have in common (Holm 1979). The smallest p is multiplied by the number of tests, the next by
    one less, and none may fall below the one before: 0.01, 0.04 and 0.03 become 0.03, 0.06 and 0.06. ValueError where one
    is no probability.
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value lies between 0 and 1")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        adjusted[place] = min(1.0, largest)
    return adjusted


TRIALS = 10_000
"""Shuffles of the approximate randomisation, as many as sacreBLEU makes."""
COMPOSITE = "composite"
_BLOCK = 1_000_000
"""Coins held at once, as numbers of 4 or 8 bytes each."""
MOST_KEPT = 40_000_000
"""Coins, one bit each, up to which they are kept for the next pair of runs."""
_PATTERNS = 4
"""How often a throw serves: more makes nothing faster."""
_FACES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
"""The eight coins of each byte, 1 for heads."""
_TIE = 1e-9
"""Values whose distance is less than this share of them are the same: sums are rounded."""
Side = str
"""``first`` or ``second``."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two runs by one metric on the same entries, each number on the metric's own scale."""

    first: float
    second: float
    difference: float
    """``second - first``."""
    lower: float
    upper: float
    """Percentile interval of the difference, from the paired bootstrap."""
    p_bootstrap: float
    """sacreBLEU's paired bootstrap; never 0, and in effect one-sided, which is why it does not decide alone."""
    p_randomisation: float
    """Two-sided: how often chance alone, a coin for each entry, makes a difference at least as large; never 0."""
    effect_size: float | None
    """Mean difference of the entries' own values over its standard deviation (Cohen's d for pairs), with the
    sign of ``second - first``; None where entries have no value of their own or all differ alike."""
    wins: int
    losses: int
    ties: int
    """Entries on which the second run's own value is better, worse, the same; all 0 for a metric that only a
    whole corpus has."""
    direction: str
    """``higher``, ``lower`` or ``neither`` is better."""
    level: float = LEVEL

    @property
    def alpha(self) -> float:
        """The p below which a difference counts."""
        return round(1 - self.level, 12)  # not 0.050000000000000044

    @property
    def significant(self) -> bool:
        """Return whether the runs differ: p of both tests below alpha, and the interval without zero (§8.2)."""
        apart = self.lower > 0 or self.upper < 0
        return apart and max(self.p_bootstrap, self.p_randomisation) < self.alpha

    @property
    def ahead(self) -> Side | None:
        """Which run has the better value, be it by chance; None where they are equal or no direction is better."""
        if self.difference == 0 or self.direction == "neither":
            return None
        return "second" if (self.difference > 0) == (self.direction == "higher") else "first"

    @property
    def better(self) -> Side | None:
        """Which run is better; None where that may be chance, or where no direction is better."""
        return self.ahead if self.significant else None


def compare(
    first: Table,
    second: Table,
    *,
    draws: int = DRAWS,
    trials: int = TRIALS,
    seed: int = SEED,
    level: float = LEVEL,
    resampled: tuple[Table, Table] | None = None,
) -> dict[str, Difference]:
    """Test two runs by every metric that has a value in both, and by ``composite``.

    Rows are the same entries in the same order, metrics the same. The composite is there only where both
    runs weigh the same inputs. The resamples are those of sacreBLEU's test with the same seed; who compares
    many pairs makes them once (``resamples``) and gives them. ValueError where the tables do not fit together.
    """
    _require_fitting(first, second)
    if not len(first):
        return {}
    pair = _Pair.of(first, second)
    drawn = pair.values(*(resampled or resamples((first, second), draws, seed)))
    shuffled = pair.values(*pair.shuffled(trials, seed))
    values = pair.entry_values()
    return {
        id_: _difference(id_, pair.points[id_], drawn[id_], shuffled[id_], values.get(id_), level)
        for id_ in pair.points
    }


def difference_intervals(
    first: Table, second: Table, *, draws: int = DRAWS, seed: int = SEED, level: float = LEVEL
) -> dict[str, tuple[float, float]]:
    """Return the percentile intervals of the differences alone, for parts of a corpus that nobody tests."""
    _require_fitting(first, second)
    if not len(first):
        return {}
    pair = _Pair.of(first, second)
    intervals = {}
    for id_, (one, other) in pair.values(*resamples((first, second), draws, seed)).items():
        drawn, points = other - one, pair.points[id_]
        intervals[id_] = ends(drawn[~np.isnan(drawn)], points[1] - points[0], level)
    return intervals


def _require_fitting(first: Table, second: Table) -> None:
    kinds = [[(m.info.id, m.width) for m in table.metrics] for table in (first, second)]
    if kinds[0] != kinds[1] or len(first) != len(second):
        raise ValueError("two runs are compared on the same entries by the same metrics")


Two = tuple[FloatArray, FloatArray]
"""The same of the first run and of the second."""


@dataclass(frozen=True)
class _Pair:
    """Two tables, and what is compared of them."""

    first: Table
    second: Table
    points: Mapping[str, tuple[float, float]]
    """Corpus values of both, where both have one, and the composites."""
    profile: str | None
    """Of the composite; None where the runs do not weigh the same inputs."""

    @classmethod
    def of(cls, first: Table, second: Table) -> _Pair:
        one, other = known_values(first), known_values(second)
        points = {id_: (one[id_], other[id_]) for id_ in one if id_ in other}
        profile = shared_profile(first, second)
        if profile is not None:
            arrays = [{id_: np.array([v]) for id_, v in values.items()} for values in (one, other)]
            mixed = [float(composites(array, profile, weighing=first.weighing)[0]) for array in arrays]
            points[COMPOSITE] = (mixed[0], mixed[1])
        return cls(first, second, points, profile)

    def shuffled(self, trials: int, seed: int) -> tuple[Table, Table]:
        """Return the sums of two runs of which a coin for each entry decides whose output is whose."""
        moved = flipped(self.second.matrix - self.first.matrix, trials, seed)
        return (self.first.with_rows(self.first.totals() + moved), self.second.with_rows(self.second.totals() - moved))

    def values(self, first: Table, second: Table) -> dict[str, Two]:
        """Return the values of both runs for every row of sums."""
        sides = [self._side(first), self._side(second)]
        return {id_: (sides[0][id_], sides[1][id_]) for id_ in self.points}

    def _side(self, sums: Table) -> dict[str, FloatArray]:
        values = {id_: v for id_, v in sums.row_values.items() if id_ in self.points}
        if self.profile is not None:
            weighing = self.first.weighing
            values[COMPOSITE] = composites(values, self.profile, complete=True, weighing=weighing)
        return values

    def entry_values(self) -> dict[str, Two]:
        """Return the entries' own values by the metrics that have such, and their composites."""
        first, second = own_values(self.first), own_values(self.second)
        return {id_: (first[id_], second[id_]) for id_ in first}


def resamples(tables: Sequence[Table], draws: int = DRAWS, seed: int = SEED) -> tuple[Table, ...]:
    """Sum the same resamples of the entries for several runs: tables whose rows are draws."""
    sums = resample(np.hstack([table.matrix for table in tables]), draws, seed)
    parts = np.split(sums, np.cumsum([table.matrix.shape[1] for table in tables])[:-1], axis=1)
    return tuple(table.with_rows(part) for table, part in zip(tables, parts, strict=True))


def own_values(table: Table) -> dict[str, FloatArray]:
    """Return the entries' own values by the metrics that have such, and their composites; NaN where none is."""
    values = table.entry_values()
    own = {id_: value for id_, value in values.items() if known_row(id_).level == "both"}
    return {**own, COMPOSITE: entry_composites(values, len(table), table.weighing)}


def known_values(table: Table) -> dict[str, float]:
    """Return the corpus values of the metrics that have one."""
    return {id_: value for id_, value in table.corpus_values().items() if value is not None}


def shared_profile(first: Table, second: Table) -> str | None:
    """Return the profile of two composites that weigh the same inputs alike; None where they do not, or have none."""
    if first.weighing != second.weighing:
        return None
    one, other = known_values(first), known_values(second)
    profile = profile_for(one)
    inputs = [first.weighing.profiles[profile_for(v)].keys() & v.keys() for v in (one, other)]
    same = profile == profile_for(other) and inputs[0] == inputs[1]
    return profile if same and inputs[0] else None


def flipped(matrix: FloatArray, trials: int, seed: int) -> FloatArray:
    """Sum the rows for which a coin falls on heads, ``trials`` times: shape (trials, columns).

    A throw serves several times, its coins turned over by one pattern after another that were thrown before:
    without that it takes five times as long (the goal of ``compare`` in docs/internals/benchmarks.md).
    Over all patterns any two of these shuffles are as independent as two throws, so a share of them is as exact
    as of throws. Rows of zeros, entries on which two runs do not differ, cost nothing, and columns of zeros or
    that repeat another neither.
    """
    moving, counted = np.flatnonzero(matrix.any(axis=1)), np.flatnonzero(matrix.any(axis=0))
    columns, places = distinct_columns(matrix[np.ix_(moving, counted)])
    patterns = np.random.default_rng([seed, 1]).integers(0, 2, (_PATTERNS, len(matrix)))[:, moving]
    patterns[0] = 0
    width, throws = columns.shape[1], trials // _PATTERNS
    # A coin c that is turned over where its pattern p is 1 becomes p + (1 - 2p) c: what p alone sums up to is
    # worked out once, the rest is one product with the coins. Rows 3, 1, -1, 2 with the coins 1 0 0 1 sum to 5; with
    # the pattern 0 1 1 0 the coins are 1 1 1 1 and the sum is heads 0 + (1 - 1) = 0, plus 3·1 - 1·0 + 1·0 + 2·1 = 5.
    heads = patterns @ columns  # of a throw without heads
    kind: type[Any] = exact_type(columns)
    turned = columns.T.astype(kind, order="C") * (1 - 2 * patterns[:, None]).astype(kind)
    rows = turned.reshape(_PATTERNS * width, len(moving))
    kept = throws * len(matrix) <= MOST_KEPT
    coins = (kept_coins if kept else _coin_blocks)(len(matrix), throws, seed)
    product = _thrown(rows, moving, coins, throws)
    values = product.reshape(_PATTERNS, width, throws) + heads[:, :, None]
    shuffles = values.swapaxes(0, 1).reshape(width, _PATTERNS * throws)
    sums = np.zeros((matrix.shape[1], trials))
    # the patterns are throws themselves: they make up for what the division left over
    sums[counted] = np.hstack([heads[1:].T, shuffles])[places, :trials]
    return sums.T


Coins = tuple[npt.NDArray[np.uint8], int]
"""Coins of a block of throws, eight to a byte, shape (entries, bytes), and how many throws these are."""


def _thrown(rows: npt.NDArray[Any], moving: npt.NDArray[np.int64], blocks: Iterable[Coins], throws: int) -> FloatArray:
    """Sum each row over the entries whose coins fell on heads: shape (rows, throws)."""
    values = np.empty((len(rows), throws))
    faces = _FACES.astype(rows.dtype)
    coins = np.empty((0, 0, 8), dtype=rows.dtype)
    done = 0
    for packed, size in blocks:
        chosen = packed[moving]
        if coins.shape[:2] != chosen.shape:  # new memory for each takes as long as the product
            coins = np.empty((*chosen.shape, 8), dtype=rows.dtype)
        faces.take(chosen, axis=0, out=coins, mode="clip")
        width = 8 * chosen.shape[1]
        values[:, done : done + size] = (rows @ coins.reshape(len(moving), width))[:, :size]
        done += size
    return values


@lru_cache(maxsize=4)
def kept_coins(entries: int, throws: int, seed: int) -> tuple[Coins, ...]:
    """Cache the coins: all pairs of runs on the same entries share them."""
    return tuple(_coin_blocks(entries, throws, seed))


def _coin_blocks(entries: int, throws: int, seed: int) -> Iterator[Coins]:
    """Throw a coin for each entry, block by block of throws."""
    random = np.random.default_rng(seed)
    block = max(64, _BLOCK // entries)
    for start in range(0, throws, block):
        size = min(block, throws - start)
        width = (size + 7) // 8
        yield np.frombuffer(random.bytes(entries * width), np.uint8).reshape(entries, width), size


def _difference(
    id_: str, points: tuple[float, float], resampled: Two, shuffled: Two, values: Two | None, level: float
) -> Difference:
    difference = points[1] - points[0]
    tie = _TIE * max(map(abs, points))
    difference = 0.0 if abs(difference) <= tie else difference
    drawn = resampled[1] - resampled[0]
    drawn = drawn[~np.isnan(drawn)]
    lower, upper = ends(drawn, difference, level)
    effect, sides = None, np.empty(0, np.int8)
    if values is not None:
        sides = outcomes(*values, direction(id_))
        effect = _effect_size((values[1] - values[0])[sides != 2])
    wins, losses, ties = (int(np.count_nonzero(sides == side)) for side in (1, -1, 0))
    return Difference(
        first=points[0],
        second=points[1],
        difference=difference,
        lower=lower,
        upper=upper,
        p_bootstrap=p_of_bootstrap(drawn, difference, tie),
        p_randomisation=_p(~(np.abs(shuffled[1] - shuffled[0]) < abs(difference) - tie)),
        effect_size=effect,
        wins=wins,
        losses=losses,
        ties=ties,
        direction=direction(id_),
        level=level,
    )


def p_of_bootstrap(drawn: FloatArray, difference: float, tie: float) -> float:
    """Return sacreBLEU's p: how often draws, moved to where no difference is, show one at least as large.

    A tie counts as large, else a run would differ from itself.
    """
    sizes = np.abs(drawn)
    moved = sizes - sizes.mean() if len(sizes) else sizes
    return _p(moved >= abs(difference) - tie)


def _p(as_large: npt.NDArray[np.bool_]) -> float:
    """Count the case that was seen as one of the cases: then p is never 0 and never too small."""
    return (int(np.count_nonzero(as_large)) + 1) / (len(as_large) + 1)


def outcomes(first: FloatArray, second: FloatArray, better: str) -> npt.NDArray[np.int8]:
    """Return for each entry who is better: 1 the second run, -1 the first, 0 neither; 2 where a value lacks."""
    sides = oriented(second, better) - oriented(first, better)
    same = np.abs(sides) <= _TIE * np.maximum(np.abs(first), np.abs(second))
    values = np.where(same, 0, np.sign(np.nan_to_num(sides)))
    return np.where(np.isnan(sides), 2, values).astype(np.int8)


def _effect_size(differences: FloatArray) -> float | None:
    """Return mean / standard deviation (Cohen's d for pairs): 3, 1, -1, 2 are 1.25 / 1.71 = 0.73."""
    if len(differences) < 2:
        return None
    spread = float(differences.std(ddof=1))
    mean = float(differences.mean())
    if spread <= _TIE * max(1.0, abs(mean)):
        return 0.0 if abs(mean) <= _TIE else None
    return mean / spread
