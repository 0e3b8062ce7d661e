"""Submitters who climb, and those who subtract, against what is told by the real mechanism and the real scorer."""

import random
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from harness.release.budget import NotReleased, Policy
from tests.harness.release.attackers import ATTACKS, Board, Choice, HiddenSet, by_level, by_turning, demo_statistics
from tests.review.thorough import first, times

COUNT = Policy().count
SETS = times(12, 200)
"""Hidden sets of each world: 96 sentences of the demonstration."""
WORLDS: dict[str, tuple[Callable[[np.ndarray, int], HiddenSet], float, float]] = {
    "each fails on a tenth": (partial(HiddenSet.drawn, failing=0.1), 0.5, 0.9),
    "each fails on half": (partial(HiddenSet.drawn, failing=0.5), 1.0, 1.3),
    "a good and a poor output": (HiddenSet.opposed, 2.2, 2.2),
}
"""How a hidden set is drawn, and the points that may be gained on it in the mean; the last by who knows beforehand what a choice by coin reaches."""
CHANCE = 3.0
"""Standard errors that a mean over few hidden sets may lie above."""


@pytest.fixture(scope="module")
def statistics() -> np.ndarray:
    return demo_statistics()


def gains(make: Callable[[int], HiddenSet], attack: Callable[[HiddenSet, int], Choice]) -> np.ndarray:
    """What an attack gains on each hidden set, in points of chrF++ over a choice by coin."""
    worlds = [make(seed) for seed in range(SETS)]
    return np.array([each.value(attack(each, seed + 5000)) - each.by_coin() for seed, each in enumerate(worlds)])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", [*first(2, [*ATTACKS]), "knows its level", "turns"])
def test_three_answers_gain_little(statistics: np.ndarray, world: str, name: str) -> None:
    draw, most, informed = WORLDS[world]

    def attack(hidden: HiddenSet, seed: int) -> Choice:
        if name == "knows its level":
            return by_level(hidden.told, hidden, seed, above=1)
        if name == "turns":
            return by_turning(hidden.told, hidden, seed)
        return ATTACKS[name](hidden.told, hidden.entries, COUNT, seed)

    found = gains(lambda seed: draw(statistics, seed), attack)
    least = found.mean() - CHANCE * found.std(ddof=1) / len(found) ** 0.5
    assert least < (most if name in ATTACKS else informed)


def test_answers_end_and_exact_ones_without_end_gain_more(statistics: np.ndarray) -> None:
    world = HiddenSet.drawn(statistics, 1, 0.1)
    coin = np.random.default_rng(1).integers(0, 2, (COUNT + 20, world.entries))
    told = [world.told(each) for each in coin]
    assert [each is None for each in told] == [False] * COUNT + [True] * 20
    assert len(world.history.answers) == COUNT
    found = gains(
        partial(HiddenSet.drawn, statistics, failing=0.1),
        lambda hidden, seed: ATTACKS["regression"](lambda choice: (hidden.value(choice), True), hidden.entries, 400, seed),
    )  # fmt: skip
    assert found.mean() > 2


def learned(seed: int, *, exact: bool) -> bool:
    """Try to learn one entry's score: it fails in a run, is asked for again, and the two told scores are subtracted."""
    source = random.Random(seed)
    count = source.randint(5, 60)
    scores = np.array([source.uniform(0, 100) for _ in range(count)])
    victim = source.randrange(count)
    scores[victim] = source.uniform(20, 90)
    failed = scores.copy()
    failed[victim] = 0
    board = Board(count, exact)
    try:
        before, after = board.told("Ann", "first", failed), board.told("Ann", "again", scores)
    except NotReleased:
        return False
    if before is None or after is None:
        return False
    return abs((after - before) * count - float(scores[victim])) <= 5


def test_retry_finds_no_score_of_an_entry() -> None:
    assert sum(learned(seed, exact=False) for seed in range(times(300, 10_000))) == 0
    assert sum(learned(seed, exact=True) for seed in range(100)) == 100
