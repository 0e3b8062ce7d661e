"""What official scores are good for, and what they reveal, by policy: one table.

Run from the repository: ``python -P -m benchmarks.official [HIDDEN SETS]``. Ten honest methods lie two points of chrF++
apart; each set of sentences is drawn from the demonstration's, and what is told of the methods is held against their
true order: by the composite, by which official lists rank, and by chrF++. The attackers, who choose between two outputs
for each sentence, are those of the tests (``tests/harness/release/attackers.py``) and use all answers that they get.
"today" of earlier versions, steps of 25 shifted by chance, ranked 35 % of the pairs of 50 sentences the wrong way round.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from typing import Final
from unittest.mock import patch

import numpy as np
from scipy.stats import kendalltau

from corpora.formats.load import load
from corpora.samples import DEMO_CORPUS, sample_path
from harness.card.withholding import expected_half, rounded
from harness.release import budget
from scoring.core.metric import Table
from scoring.core.specification import COMPOSITE
from scoring.metrics.inventory import make_scorer, surface_setup
from scoring.words.source_words import Resources
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
    "all to 0.1, ten answers": ({COMPOSITE: 0.001, CHRF: 0.1}, 10, False),
    "official: to 1, Ladder, three answers": ({COMPOSITE: 0.01, CHRF: 1.0}, 3, True),
    "official with ten answers": ({COMPOSITE: 0.01, CHRF: 1.0}, 10, True),
    "strict: steps of 5, one answer": ({CHRF: 5.0}, 1, True),
}
"""Steps of composite and chrF++, answers, and whether a new score must beat the best one told."""
METHODS: Final = 10
GAP: Final = 2.0
SIZES: Final = (50, 100, 150)
REPETITIONS: Final = 20


class Demo:
    """The demonstration's sentences with what all surface metrics take from a good and a poor output of each."""

    def __init__(self) -> None:
        entries = load(sample_path(DEMO_CORPUS)).reveal_here()
        self.scorer = make_scorer(Resources(surface_setup("en", "eo", entries)))
        self.statistics = demo_statistics(self.scorer)[:2]
        self.table = Table(self.scorer.metrics, self.statistics[0], np.ones((len(entries), len(self.scorer.metrics))))
        # how often each method has the good output, so that their true scores lie a gap apart
        good, poor = self.statistics.sum(axis=1)
        grid = np.linspace(0, 1, 401)
        values = self.values(np.array([share * good + (1 - share) * poor for share in grid]))[CHRF]
        self.truth = [values[-1] - GAP * place for place in range(METHODS)]
        self.shares = [float(np.interp(each, values, grid)) for each in self.truth]

    def values(self, sums: np.ndarray) -> dict[str, list[float]]:
        """Return chrF++ and composite of each row of sums."""
        values = self.table.with_rows(sums).values(sums)
        rows = [{id_: float(column[place]) for id_, column in values.items()} for place in range(len(sums))]
        return {CHRF: [row[CHRF] for row in rows], COMPOSITE: [self.scorer.composite(row).value or 0.0 for row in rows]}

    def ranked(self, entries: int, steps: Mapping[str, float], repetitions: int) -> dict[str, tuple[float, float]]:
        """Return by metric the share of pairs told the wrong way round, and Kendall's tau of what is told against the truth."""
        found = {id_: list[tuple[float, float]]() for id_ in steps}
        for seed in range(repetitions):
            random = np.random.default_rng(seed)
            places = random.integers(0, self.statistics.shape[1], entries)
            poor = [(random.random(entries) > share).astype(int) for share in self.shares]
            exact = self.values(np.array([self.statistics[each, places].sum(axis=0) for each in poor]))
            for id_, step in steps.items():
                told = [rounded(value, step) for value in exact[id_]]
                pairs = combinations(zip(self.truth, told, strict=True), 2)
                inverted = np.mean([(one[0] - two[0]) * (one[1] - two[1]) < 0 for one, two in pairs])
                found[id_].append((float(inverted), float(kendalltau(self.truth, told).statistic)))
        return {id_: (float(np.mean(shares)), float(np.mean(taus))) for id_, (shares, taus) in
                ((id_, zip(*each, strict=True)) for id_, each in found.items())}  # fmt: skip


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


def visible(make: Callable[[int], HiddenSet], tries: int = 400) -> tuple[float, float, float]:
    """Return how often another output for one sentence is seen: in a first answer, by the same submitter's next one, and by
    the third of who first hands in so little that the border lies where a choice by coin does."""
    first, later, aimed = 0, 0, 0
    for seed in range(tries):
        random, (one, other, third) = np.random.default_rng(seed + 5000), (make(seed) for _ in "123")
        choice = random.integers(0, 2, one.entries)
        changed = choice.copy()
        changed[random.integers(one.entries)] ^= 1
        before = one.told(choice)
        first += before != other.told(changed)
        later += one.told(changed) not in {None, before, (before and before[0], False)}
        aim = third.by_coin(200) - expected_half(third.entries, ENDS, 0)
        low = random.integers(0, 2, third.entries)
        for place in random.permutation(third.entries):
            if third.value(low) <= aim:
                break
            low[place] = 2
        answers = [third.told(low), third.told(choice), third.told(changed)]
        aimed += answers[2] is not None and answers[2][1] and answers[1] != answers[2]
    return first / tries, later / tries, aimed / tries


def main(sets: int) -> None:
    """Print a line for each policy."""
    demo, statistics = Demo(), demo_statistics()
    for name, (steps, count, ladder) in POLICIES.items():
        print(name)
        for entries in SIZES:
            for id_, (inverted, tau) in demo.ranked(entries, steps, REPETITIONS).items():
                print(f"  {entries} sentences by {id_}: {inverted:.1%} of the pairs inverted, tau {tau:.2f}")
        chosen = partial(budget.Policy, count=count, climbs=not ladder)
        with (
            patch.object(budget, "Policy", chosen),
            patch.dict(budget.OFFICIAL, {CHRF: steps[CHRF]}),  # of no other policy in this block
        ):
            for world, make in worlds(statistics).items():
                for informed in (False, True):
                    attack, gain, error = worst_gain(make, count, sets, informed=informed)
                    print(f"  {world}: {gain:.1f} ± {error:.1f} points by {attack}", flush=True)
                first, later, aimed = visible(make)
                print(f"  {world}: one output of 96 seen in {first:.1%} of first answers, {later:.1%} of next ones, {aimed:.1%} of aimed third ones", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
