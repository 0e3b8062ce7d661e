"""How often a method is said to beat the best of 36 baselines where it does not.

Run from the repository: ``python -P -m benchmarks.best_baseline [SIMULATIONS]``. In every world at least one baseline is
in truth as good as the method. Three tests see the same entries: the one of the program (against every baseline), the
naive one (the paired test against the baseline that came out first), and White's reality check turned round (all systems
centred at one value, method against maximum).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Callable

import numpy as np

from scoring.core.metric import FloatArray, RateMetric, Statistics, Table
from scoring.core.setup import Translation
from scoring.core.specification import metric_info
from scoring.statistics.clusters import AgainstBest, against_best, drawn_values
from scoring.statistics.significance import COMPOSITE

BASELINES, LEVEL, MOST_FALSE = 36, 0.95, 0.05
TRIALS = 1_000
Random = np.random.Generator


class Mean(RateMetric):
    """A score that is the mean of values that are given."""

    info = metric_info("semantic_score")
    signature = "given"

    def stats(self, translation: Translation) -> Statistics | None:
        """Take the value that an output states."""
        return (float(translation.output or 0), 1)


def mean_table(values: FloatArray) -> Table:
    """Lay out the values of one run's entries."""
    return Table([Mean()], np.column_stack([values, np.ones(len(values))]), np.ones((len(values), 1)))


def alike(random: Random, entries: int = 150) -> FloatArray:
    """Draw a method and its baselines as equal systems with errors of their own."""
    return random.normal(0.5, 0.2, (BASELINES + 1, entries))


def few(random: Random) -> FloatArray:
    """Draw the same over 20 entries."""
    return alike(random, 20)


def correlated(random: Random) -> FloatArray:
    """Draw equal systems, most of whose errors are on the same entries."""
    return random.normal(0.0, 0.25, 150) + random.normal(0.5, 0.1, (BASELINES + 1, 150))


def uneven(random: Random) -> FloatArray:
    """Draw equal systems whose errors are from small to large, larger on the hard half of the entries."""
    spread = np.linspace(0.02, 0.4, BASELINES + 1)[random.permutation(BASELINES + 1), None]
    spreads: FloatArray = spread * np.repeat([0.5, 1.5], 75)
    return random.normal(0.5, spreads)


def rounded(random: Random) -> FloatArray:
    """Draw equal systems that are right or wrong on 40 entries."""
    return (random.random((BASELINES + 1, 40)) < 0.3).astype(np.float64)


def one_stands_out(random: Random) -> FloatArray:
    """Draw one baseline as good as the method and 35 far behind."""
    values = alike(random)
    values[2:] -= 0.3
    return values


def near_copies(random: Random) -> FloatArray:
    """Draw one baseline as good as the method, and 35 that copy the method but are a little worse."""
    values = alike(random)
    values[2:] = values[0] - 0.01 + random.normal(0, 0.005, (BASELINES - 1, 150))
    return values


WORLDS: dict[str, Callable[[Random], FloatArray]] = {
    "36 equal, 150 entries": alike,
    "36 equal, 20 entries": few,
    "36 equal, errors shared": correlated,
    "36 equal, uneven errors": uneven,
    "36 equal, right or wrong, 40 entries": rounded,
    "1 equal, 35 far behind": one_stands_out,
    "1 equal, 35 near copies of the method": near_copies,
}


def reality_check(tables: list[Table]) -> bool:
    """Say whether White's reality check, turned round, sees the method above the best."""
    points, drawn = drawn_values(tables, COMPOSITE)
    centred = drawn - points[:, None]
    chance = centred[0] - centred[1:].max(axis=0)
    return float((chance >= points[0] - points[1:].max()).mean()) < 1 - LEVEL


def naive(found: AgainstBest) -> bool:
    """Say whether the pair of the method and the picked baseline alone differs."""
    return found.pairs[found.picked].better == "second"


def main() -> None:
    """Print how often each test is wrong in each world, and how often the interval holds the truth."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for name, world in WORLDS.items():
        random = np.random.default_rng(11)
        wrong = np.zeros(4)
        for _ in range(simulations):
            tables = [mean_table(values) for values in world(random)]
            found = against_best(tables[0], tables[1:], trials=TRIALS, level=LEVEL)
            held = found.lower <= 0 <= found.upper  # in every world the best baseline equals the method
            wrong += [found.beats, naive(found), reality_check(tables), not held]
        ours, picked, white, missed = wrong / simulations
        print(
            f"{name}: false claims {ours:.1%}, goal ≤ 5 % {'met' if ours <= MOST_FALSE else 'MISSED'}; "
            f"naive {picked:.1%}; reality check {white:.1%}; interval without the truth {missed:.1%}"
        )


if __name__ == "__main__":
    main()
