"""Several repetitions of one set-up: how much of a value is the choice of entries, how much the repetition.

Every repetition has the same entries, so both are crossed: a value of an entry in a repetition is the whole's,
plus the entry's own, plus the repetition's own, plus what is left (the repetition's chance on that entry). The
analysis of variance of two crossed random factors without repeated cells parts them (Cornfield & Tukey 1956;
Brennan, *Generalizability Theory*, 2001, chapter 2). Corpus values are no means of entries, so the analysis is
made of Tukey's pseudo-values: what the corpus value changes by where an entry is left out, times the number of
entries. Values 1 2 3 and 2 3 5 of three entries in two repetitions have mean squares of 3.17 (entries), 2.67
(repetitions) and 0.17 (remainder): the variance between repetitions is (2.67 - 0.17) / 3 = 0.83, and the mean 2.67 holds
for other entries within ± 3.13, for other repetitions within ± 8.47.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from scoring.core.inventory import composites
from scoring.core.metric import FloatArray, Table
from scoring.statistics.distributions import student_quantile
from scoring.statistics.intervals import LEVEL
from scoring.statistics.significance import COMPOSITE, known_values, shared_profile


class Holding(StrEnum):
    """For what an interval of repeated runs holds."""

    ENTRIES = "other entries, these repetitions"
    REPETITIONS = "other repetitions, these entries"
    BOTH = "other entries and other repetitions"


@dataclass(frozen=True, slots=True)
class RepeatedInterval:
    """An interval of the mean of the repetitions, on the metric's own scale."""

    lower: float
    upper: float
    level: float
    holds: Holding
    df: float
    """Degrees of freedom of Student's t; of both sources together Satterthwaite's."""


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The components of variance of N entries in R repetitions, each as a variance of one value."""

    mean: float
    """Mean of the corpus values of the repetitions."""
    entries: int
    repetitions: int
    between_entries: float
    between_repetitions: float
    """0 where repetitions differ no more than their chance on single entries explains."""
    remainder: float
    """Of an entry in a repetition: the interaction of both, and all other chance."""
    squares: tuple[float, float, float]
    """Mean squares of entries, of repetitions and of the remainder."""

    def interval(self, holds: Holding, level: float = LEVEL) -> RepeatedInterval:
        """Return the interval of the mean that holds for other entries, other repetitions, or both."""
        of_entries, of_repetitions, left = self.squares
        n, r = self.entries - 1, self.repetitions - 1
        match holds:
            case Holding.ENTRIES:
                square, df = of_entries, float(n)
            case Holding.REPETITIONS:
                square, df = of_repetitions, float(r)
            case Holding.BOTH:
                # never narrower than either source alone: the difference of squares may fall below both
                square = max(of_entries + of_repetitions - left, of_entries, of_repetitions)
                parts = of_entries**2 / n + of_repetitions**2 / r + left**2 / (n * r)
                df = max(square**2 / parts, 1.0) if parts else float(n)
        error = float((square / (self.entries * self.repetitions)) ** 0.5)
        half = student_quantile((1 + level) / 2, df) * error
        return RepeatedInterval(self.mean - half, self.mean + half, level, holds, df)


def repetitions(tables: Sequence[Table], metric: str = COMPOSITE) -> Repetitions:
    """Decompose the variance of two or more repetitions, rows of all the same entries in one order.

    ValueError where there are fewer than two repetitions or entries, where the tables do not fit together, or where a
    repetition has no value of the metric.
    """
    if len(tables) < 2 or len(tables[0]) < 2 or len({len(table) for table in tables}) > 1:
        raise ValueError("two repetitions or more, on the same two entries or more, are wanted")
    rows = (_pseudo_values(table, tables[0], metric) for table in tables)
    values, pseudo = zip(*rows, strict=True)
    return of_values(np.stack(pseudo), float(np.mean(values)))


def of_values(values: FloatArray, mean: float | None = None) -> Repetitions:
    """Decompose the variance of values of shape (repetitions, entries); ``mean`` where it is not theirs."""
    r, n = values.shape
    whole = values.mean()
    entries, runs = values.mean(axis=0), values.mean(axis=1)
    of_entries = r * float(((entries - whole) ** 2).sum()) / (n - 1)
    of_runs = n * float(((runs - whole) ** 2).sum()) / (r - 1)
    rest = values - entries - runs[:, None] + whole
    left = float((rest**2).sum()) / ((n - 1) * (r - 1))
    return Repetitions(
        mean=float(whole) if mean is None else mean,
        entries=n,
        repetitions=r,
        between_entries=max(0.0, (of_entries - left) / r),
        between_repetitions=max(0.0, (of_runs - left) / n),
        remainder=left,
        squares=(of_entries, of_runs, left),
    )


def _pseudo_values(table: Table, first: Table, metric: str) -> tuple[float, FloatArray]:
    """Return the corpus value, and the entries' pseudo-values: n times the whole less n - 1 times the rest.

    Of three entries and a whole of 25 %, 20 % without the first: its pseudo-value is 3 · 25 - 2 · 20 = 35.
    """
    whole = _values(table, first, metric, table.totals())
    rest = _values(table, first, metric, table.totals() - table.matrix)
    if np.isnan(whole).any() or np.isnan(rest).any():
        raise ValueError(f"a repetition has no value of {metric}, or loses it with an entry")
    n = len(table)
    return float(whole[0]), n * whole[0] - (n - 1) * rest


def _values(table: Table, first: Table, metric: str, sums: FloatArray) -> FloatArray:
    values_by_metric = table.values(sums)
    if metric != COMPOSITE:
        return values_by_metric[metric]
    known = known_values(table)
    profile = shared_profile(first, table)
    if profile is None:
        raise ValueError("the composites of these repetitions do not weigh the same inputs")
    used = {id_: values for id_, values in values_by_metric.items() if id_ in known}
    return composites(used, profile, complete=True, weighing=table.weighing)


# ---- Whether a repeated run confirms the first: scores within ±2 % (benchmark-specification §1.3) ----
# The tolerance is relative to the score that was claimed. The composite and chrF++ decide, by which runs are ranked
# and which always stand together (DESIGN T3); the other scores are shown next to them. A claimed composite of 0.70 is
# confirmed by 0.686 to 0.714.

TOLERANCE = 0.02
DECIDING = ("composite", "chrf_plus_plus")
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Deviation:
    """One score of the first run and of its repetition."""

    claimed: float
    repeated: float
    share: float | None
    """How far the repeated score is from the claimed one, as a share of it, signed; None: the claim is 0."""
    within: bool


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What a repetition says of a run."""

    reproduced: bool | None
    """None where neither deciding score has a value in both runs."""
    deviations: Mapping[str, Deviation]
    """By metric id, of every score that both have."""
    missing: tuple[str, ...]
    """Scores that only one of the two has, which decide against it where they are deciding ones."""

    @property
    def outside(self) -> tuple[str, ...]:
        """Scores further away than the tolerance."""
        return tuple(id_ for id_, deviation in self.deviations.items() if not deviation.within)


def verdict(
    claimed: Mapping[str, float | None], repeated: Mapping[str, float | None], *, tolerance: float = TOLERANCE
) -> Reproduction:
    """Compare the scores of a repetition, by metric id and ``composite``, with those of the first run.

    It is for two runs of one set-up on the same entries; whether they are, the caller knows.
    """
    both, missing = {}, []
    for id_ in dict.fromkeys([*claimed, *repeated]):
        first, second = claimed.get(id_), repeated.get(id_)
        if first is not None and second is not None:
            away = second - first
            within = abs(away) <= tolerance * abs(first) * (1 + _ROUNDING)
            both[id_] = Deviation(first, second, away / first if first else None, within)
        elif first is not None or second is not None:
            missing.append(id_)
    deciding = [both[id_].within for id_ in DECIDING if id_ in both]
    lacking = any(id_ in missing for id_ in DECIDING)
    reproduced = all(deciding) and not lacking if deciding or lacking else None
    return Reproduction(reproduced, both, tuple(missing))
