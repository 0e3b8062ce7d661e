"""What official scores are good for, and what they reveal, by policy: one table.

Run from the repository: ``python -P -m benchmarks.official [HIDDEN SETS]``. Ten honest methods lie two points of chrF++
apart; each set of sentences is drawn from the demonstration's, and what is told of the methods is held against their
true order. The attackers, who choose between two outputs for each sentence, are those of the tests
(``tests/harness/release/attackers.py``) and use all answers that they get. "today" of earlier versions, steps of 25
shifted by chance, ranked 35 % of the pairs of 50 sentences the wrong way round.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Final
from unittest.mock import patch

import numpy as np
from scipy.stats import kendalltau

from harness.card.withholding import expected_half, rounded
from harness.release import budget
from scoring.core.metric import Table
from scoring.metrics.inventory import surface_metrics
from tests.harness.release.attackers import (
    ATTACKS,
    CHRF,
    ENDS,
    Choice,
    HiddenSet,
    by_level,
    by_turning,
    demo_statistics,
)

POLICIES: Final = {
    "all to 0.1, ten answers": (0.1, 10, False),
    "official: to 1, Ladder, three answers": (1.0, 3, True),
    "official with ten answers": (1.0, 10, True),
    "strict: steps of 5, one answer": (5.0, 1, True),
}
"""Step of chrF++, answers, and whether a new score must beat the best one told."""
METHODS: Final = 10
GAP: Final = 2.0
SIZES: Final = (50, 100, 150)
REPETITIONS: Final = 20


def ranked(statistics: np.ndarray, entries: int, step: float, repetitions: int) -> tuple[float, float]:
    """Return the share of pairs told the wrong way round, and Kendall's tau of what is told against the truth."""
    metrics = [each for each in surface_metrics() if each.info.id == CHRF]
    table = Table(metrics, statistics[0], np.ones((statistics.shape[1], 1)))
    shares, truth = _shares(statistics, table)
    inverted, tau = [], []
    for seed in range(repetitions):
        random = np.random.default_rng(seed)
        places = random.integers(0, statistics.shape[1], entries)
        told = []
        for share in shares:
            poor = (random.random(entries) > share).astype(int)
            value = float(table.values(statistics[poor, places].sum(axis=0)[None])[CHRF][0])
            told.append(rounded(value, step))
        pairs = [(truth[a] - truth[b]) * (told[a] - told[b]) for a, b in combinations(range(METHODS), 2)]
        inverted.append(np.mean([each < 0 for each in pairs]))
        tau.append(kendalltau(truth, told).statistic)
    return float(np.mean(inverted)), float(np.mean(tau))


def _shares(statistics: np.ndarray, table: Table) -> tuple[list[float], list[float]]:
    """Return how often each method has the good output, so that their true scores lie a gap apart, and these scores."""
    good, poor = statistics[0].sum(axis=0), statistics[1].sum(axis=0)
    grid = np.linspace(0, 1, 401)
    values = table.values(np.array([share * good + (1 - share) * poor for share in grid]))[CHRF]
    truth = [float(values[-1]) - GAP * place for place in range(METHODS)]
    return [float(np.interp(each, values, grid)) for each in truth], truth


def worlds(statistics: np.ndarray) -> dict[str, Callable[[int], HiddenSet]]:
    """Return how hidden sets are drawn, by what differs between the two outputs of a sentence."""
    return {
        "10 %": partial(HiddenSet.drawn, statistics, failing=0.1),
        "50 %": partial(HiddenSet.drawn, statistics, failing=0.5),
        "opposed": partial(HiddenSet.opposed, statistics),
    }


def worst_gain(make: Callable[[int], HiddenSet], count: int, sets: int, *, informed: bool) -> tuple[str, float, float]:
    """Return which attack gains most in the mean, that in points over a choice by coin, and its standard error.

    ``informed``: attackers who know beforehand what a choice by coin reaches are among them.
    """

    def known(above: float) -> Callable[[HiddenSet, int], Choice]:
        return lambda world, seed: by_level(world.told, world, seed, above)

    attacks: dict[str, Callable[[HiddenSet, int], Choice]] = {
        name: lambda world, seed, attack=attack: attack(world.told, world.entries, count, seed)  # type: ignore[misc]
        for name, attack in ATTACKS.items()
    }
    if informed:
        attacks["knows its level, turns"] = lambda world, seed: by_turning(world.told, world, seed)
    attacks |= {f"knows its level, border {above:g} above": known(above) for above in (0.0, 1.0, 2.0) if informed}
    found = {}
    for name, attack in attacks.items():
        gains = [(world := make(seed)).value(attack(world, seed + 5000)) - world.by_coin(200) for seed in range(sets)]
        found[name] = (float(np.mean(gains)), float(np.std(gains, ddof=1) / np.sqrt(sets)))
    name = max(found, key=lambda each: found[each][0])
    return name, *found[name]


def visible(statistics: np.ndarray, step: float, tries: int = 400) -> float:
    """Return how often another output for one sentence changes the first answer's number; later ones are held back by the Ladder."""
    random, seen = np.random.default_rng(5), 0
    for seed in range(tries):
        world = HiddenSet.drawn(statistics, seed, 0.5)
        choice = random.integers(0, 2, world.entries)
        other = choice.copy()
        other[random.integers(world.entries)] ^= 1
        seen += rounded(world.value(choice), step) != rounded(world.value(other), step)
    return seen / tries


def main(sets: int) -> None:
    """Print a line for each policy."""
    statistics = demo_statistics()
    for name, (step, count, ladder) in POLICIES.items():
        held = expected_half(96, ENDS, 0) if ladder else 0.0
        print(name)
        for entries in SIZES:
            inverted, tau = ranked(statistics, entries, step, REPETITIONS)
            print(f"  {entries} sentences: {inverted:.1%} of the pairs inverted, tau {tau:.2f}")
        chosen = partial(budget.Policy, count=count, climbs=not ladder)
        with (
            patch.object(budget, "Policy", chosen),
            patch.dict(budget.OFFICIAL, {CHRF: step}),  # of no other policy in this block
        ):
            for world, make in worlds(statistics).items():
                for informed in (False, True):
                    attack, gain, error = worst_gain(make, count, sets, informed=informed)
                    print(f"  {world}: {gain:.1f} ± {error:.1f} points by {attack}", flush=True)
        later = "never after it" if ladder else "each time"
        print(f"  one output of 96 seen: {visible(statistics, step):.0%} in a first answer, {later} (the Ladder holds {held:.1f} points)")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
