"""How far reviewers agree: alpha, AC2, exact and within one step, and how lenient each is, with intervals.

No one of them tells enough alone. Where nearly everything is rated alike, alpha is near 0 although all agree,
and AC2 near 1; where people use the scale in different places, only leniency shows it. Everything is a
function of summed rows, one row an item, so a bootstrap over items sums other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache

import numpy as np

from review.rating import LEAST_ACCEPTABLE, RANKS
from review.verdict.gate.panel import Panel
from scoring.statistics.intervals import Interval, resample

DRAWS = 1000
SEED = 12345
LEVEL = 0.95

# Fields of `Agreement` that are measures of the whole panel, and what they are called
MEASURES: Mapping[str, str] = {"alpha": "alpha", "ac2": "AC2", "exact": "same rating", "within_one": "within one step"}

SHARES = frozenset({"exact", "within_one"})  # Those of them that are shares

Value = Fraction | float
Row = Sequence[Value]
# Squared distance of two categories, given how often each category was used
Distance = Callable[[Sequence[Value], int, int], Value]


class WhyNot(StrEnum):
    """Why a coefficient has no value."""

    UNANIMOUS = "undefined: everyone gave the same rating"
    NO_OVERLAP = "not computable: no item was rated by two reviewers"


@dataclass(frozen=True, slots=True)
class AgreementMeasure:
    """One coefficient of a panel."""

    value: float | None
    # Percentile bootstrap over items, None where there is no value. No width: no item showed a
    # difference.
    interval: Interval | None
    why: WhyNot | None = None  # Why there is no value


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of the reviewers on the real items of one method."""

    items: int  # Items that two reviewers or more rated: all that agreement can be seen on
    reviewers: int
    alpha: AgreementMeasure  # Krippendorff's alpha, ordinal; 1 agreement, 0 chance
    # Gwet's AC2 with quadratic weights; chance agreement is taken from every item with a rating
    ac2: AgreementMeasure
    exact: AgreementMeasure  # Share of pairs of ratings of one item that are the same
    within_one: AgreementMeasure  # Share of such pairs that lie at most one step apart
    # Reviewer → own share of acceptable or better less the panel's, over shared items; severity is
    # its negative
    leniency: Mapping[str, AgreementMeasure]


def agreement(
    panel: Panel,
    reviewers: Collection[str] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    paired_chance: bool = False,
) -> Agreement:
    """Measure the agreement of a panel, or of some of its reviewers, with 95 % intervals.

    ``paired_chance`` takes the chance term of AC2 from the items with two ratings alone, as certificates of the
    form 1 state it; Gwet's definition takes it from all.
    """
    chosen = sorted(panel.ratings if reviewers is None else reviewers)
    every = list(tallies(panel, chosen).values())
    units = [unit for unit in every if sum(unit) > 1]
    measure = _Bootstrap(draws, seed)
    of_chance = units if paired_chance or not units else every
    return Agreement(
        items=len(units),
        reviewers=len(chosen),
        alpha=measure.of([coincidences(unit) for unit in units], alpha_of_sums),
        ac2=measure.of([gwet_row(unit) for unit in of_chance], gwet_of_sums),
        exact=measure.of([pair_row(unit, 0) for unit in units], ratio),
        within_one=measure.of([pair_row(unit, 1) for unit in units], ratio),
        leniency={who: measure.of(_leniency_rows(panel, chosen, who), ratio) for who in chosen},
    )


def tallies(panel: Panel, reviewers: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Return for each rated item, by id, how many of these reviewers chose each rank."""
    table: dict[str, list[int]] = {}
    for who in reviewers:
        for item, rank in panel.ratings.get(who, {}).items():
            table.setdefault(item, [0] * RANKS)[rank] += 1
    return {item: tuple(table[item]) for item in sorted(table)}


def ordinal(used: Sequence[Value], one: int, other: int) -> Value:
    """Count the ratings that lie between two ranks, each end by half (Krippendorff 2011)."""
    low, high = min(one, other), max(one, other)
    between = sum(used[low : high + 1]) - (used[low] + used[high]) / 2
    return between * between


def alpha(units: Sequence[Sequence[int]], distance: Distance = ordinal) -> Fraction | None:
    """Return Krippendorff's alpha of counts, one unit a row, one category of the whole scale a column.

    Exact, as a fraction. None where no unit has two ratings or all ratings are the same.
    """
    if not (rows := [coincidences(unit) for unit in units if sum(unit) > 1]):
        return None
    value = alpha_of_sums([sum(column) for column in zip(*rows, strict=True)], distance)
    return None if value is None else Fraction(value)


def coincidences(unit: Sequence[int]) -> list[Fraction]:
    """Return the coincidence matrix of one unit with two ratings or more, row after row."""
    among = sum(unit) - 1
    return [Fraction(one * (other - (i == j)), among) for i, one in enumerate(unit) for j, other in enumerate(unit)]


def alpha_of_sums(sums: Row, distance: Distance = ordinal) -> Value | None:
    """Return alpha of a summed coincidence matrix, None where nothing could have disagreed."""
    # Alpha is 1 less what people differ over what they would differ if their ratings were dealt out
    # by chance. Ranks are as far apart as there are ratings between them. Three items, rated 2 and 2,
    # 2 and 3, 0 and 0: of 6 ratings two are 0, three 2 and one 3. The one difference has distance
    # (3 + 1 - 4/2)² = 4. By chance: 2·3·2.5² + 2·1·4.5² + 3·1·2² = 90. Alpha = 1 - 5·4/90 = 7/9.
    size = round(len(sums) ** 0.5)
    used = [sum(sums[i * size : (i + 1) * size]) for i in range(size)]
    cells = [(i, j, distance(used, i, j)) for i in range(size) for j in range(i)]
    expected = sum(used[i] * used[j] * far for i, j, far in cells)
    observed = sum(sums[i * size + j] * far for i, j, far in cells)
    return 1 - (sum(used) - 1) * observed / expected if expected > 0 else None


def gwet_row(unit: Sequence[int], *, quadratic: bool = True) -> list[Fraction]:
    """Return what one unit adds to AC2: 1 and its weighted agreement if rated twice, 1 and its shares of categories."""
    among, size = sum(unit), len(unit)
    weighted = sum(
        one * (_weight(i, j, size, quadratic=quadratic) * other - (i == j))
        for i, one in enumerate(unit)
        for j, other in enumerate(unit)
    )
    paired = [Fraction(1), weighted / (among * (among - 1))] if among > 1 else [Fraction(0)] * 2
    return [*paired, Fraction(1), *(Fraction(one, among) for one in unit)]


def gwet_of_sums(sums: Row, *, quadratic: bool = True) -> Value | None:
    """Return Gwet's AC2 (AC1 where not ``quadratic``) of summed rows, None where nothing was rated twice."""
    pairs, agreed, units, *used = sums
    if not pairs:
        return None
    size = len(used)
    weights = _all_weights(size, quadratic=quadratic)
    chance = weights * sum(one / units * (1 - one / units) for one in used) / (size * (size - 1))
    return (agreed / pairs - chance) / (1 - chance)


def pair_row(unit: Sequence[int], steps: int) -> list[Fraction]:
    """Return how many pairs of ratings of one unit lie at most ``steps`` apart, and how many pairs there are."""
    among = sum(unit)
    near = sum(
        one * (other - (i == j)) for i, one in enumerate(unit) for j, other in enumerate(unit) if abs(i - j) <= steps
    )
    return [Fraction(near, 2), Fraction(among * (among - 1), 2)]


def ratio(sums: Row) -> Value | None:
    return sums[0] / sums[1] if sums[1] else None


def _weight(one: int, other: int, size: int, *, quadratic: bool) -> Fraction:
    if not quadratic:
        return Fraction(one == other)
    return 1 - Fraction((one - other) ** 2, (size - 1) ** 2)


@cache
def _all_weights(size: int, *, quadratic: bool) -> Fraction:
    """Return the sum of all weights: it is the same for every sample of a bootstrap."""
    ranks = range(size)
    return Fraction(sum(_weight(i, j, size, quadratic=quadratic) for i in ranks for j in ranks))


def _leniency_rows(panel: Panel, reviewers: Sequence[str], who: str) -> list[list[Fraction]]:
    rows = []
    for item, rank in sorted(panel.ratings[who].items()):
        ranks = [panel.ratings[one][item] for one in reviewers if item in panel.ratings[one]]
        if len(ranks) > 1:
            share = Fraction(sum(one >= LEAST_ACCEPTABLE for one in ranks), len(ranks))
            rows.append([(rank >= LEAST_ACCEPTABLE) - share, Fraction(1)])
    return rows


@dataclass(frozen=True, slots=True)
class _Bootstrap:
    """Values with intervals from resampled items; the seed is kept with each interval."""

    draws: int
    seed: int

    def of(self, rows: Sequence[Row], value_of: Callable[[Row], Value | None]) -> AgreementMeasure:
        if not rows:
            return AgreementMeasure(None, None, WhyNot.NO_OVERLAP)
        if (value := value_of([sum(column) for column in zip(*rows, strict=True)])) is None:
            return AgreementMeasure(None, None, WhyNot.UNANIMOUS)
        point = float(value)
        sums = resample(np.array(rows, dtype=np.float64), self.draws, self.seed)
        drawn = [float(one) for row in sums.tolist() if (one := value_of(row)) is not None]
        tail = 100 * (1 - LEVEL) / 2
        lower, upper = np.percentile(drawn or [point], [tail, 100 - tail])
        ends = min(float(lower), point), max(float(upper), point)
        return AgreementMeasure(point, Interval(*ends, LEVEL, len(drawn), self.seed, "percentile bootstrap"))
