"""Submitters who climb, and those who subtract, against what is told by the real mechanism and the real scorer."""

import random
from collections.abc import Callable

import numpy as np
import pytest

from harness.release.budget import COUNT, NotReleased
from harness.release.records import Rule
from tests.harness.release.attackers import (
    ATTACKS,
    STEP_OF_96,
    Board,
    Choice,
    HiddenSet,
    by_level,
    by_steps,
    demo_statistics,
    difference_told,
)
from tests.review.thorough import times

SUBMISSIONS = 1_000
WORLDS = times(6, 60)
FAILING = 0.1
"""Of each system; a choice by coin then has a standard deviation of about one point of chrF++ on 96 entries."""


@pytest.fixture(scope="module")
def statistics() -> np.ndarray:
    return demo_statistics()


def gain(
    statistics: np.ndarray, name: str, ask: Callable[[HiddenSet], object], tries: int
) -> float:
    """Return the mean gain of an attack over many hidden sets, in points of chrF++."""
    gains = []
    for seed in range(WORLDS):
        world = HiddenSet.drawn(statistics, seed, FAILING)
        choice = ATTACKS[name](ask(world), world.entries, tries, seed + 5000)  # type: ignore[arg-type]
        gains.append(world.value(choice) - world.by_coin())
        while world.asked and world.asked < SUBMISSIONS:  # on and on, which gives nothing more
            assert world.told(choice) is None
        assert len(world.history.answers) <= COUNT
    return float(np.mean(gains))


@pytest.mark.parametrize("name", ATTACKS)
def test_a_thousand_adaptive_submissions_gain_less_than_a_point(
    statistics: np.ndarray, name: str
) -> None:
    assert gain(statistics, name, lambda world: world.told, COUNT) < 1


@pytest.mark.parametrize("failing", [0.1, 0.5])
def test_who_knows_the_level_and_begins_low_gains_less_than_a_point(
    statistics: np.ndarray, failing: float
) -> None:
    """With a border that everybody knows this gains 1.1 and 2.1 points (``benchmarks/ladder.py``)."""
    gains = []
    for seed in range(4 * WORLDS):
        world = HiddenSet.drawn(statistics, seed, failing)
        choice = by_level(
            world.told, world, seed + 5000, spread=1 - STEP_OF_96
        )  # on average it lies two steps off
        gains.append(world.value(choice) - world.by_coin())
    assert float(np.mean(gains)) < 1


def worst(statistics: np.ndarray, attack: Callable[[HiddenSet, int], Choice]) -> float:
    """Return the mean gain where of every entry one output is good and one poor: there most is to be gained."""
    gains = []
    for seed in range(120):
        world = HiddenSet.opposed(statistics, seed)
        gains.append(world.value(attack(world, seed + 5000)) - world.by_coin(200))
    return float(np.mean(gains))


@pytest.mark.parametrize("low", [False, True])
@pytest.mark.parametrize("aside", [0.0, 0.1, 0.5])
def test_who_lies_a_choice_on_a_border_of_the_steps_gains_less_than_a_point(
    statistics: np.ndarray, aside: float, low: bool
) -> None:
    assert worst(statistics, lambda world, seed: by_steps(world.told, world, seed, aside, low=low)) < 1  # fmt: skip


def test_with_steps_that_lie_where_everybody_knows_it_the_same_gains_more(
    statistics: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.release.rounding.PLACES", range(1))
    assert worst(statistics, lambda world, seed: by_steps(world.told, world, seed, 0.0)) > 1.5


@pytest.mark.parametrize("name", ["regression", "climbing"])
def test_without_the_ladder_the_same_attack_gains_more(statistics: np.ndarray, name: str) -> None:
    assert gain(statistics, name, lambda world: world.exact, SUBMISSIONS) > 2


@pytest.mark.thorough
@pytest.mark.parametrize("known", [True, False])
def test_without_a_count_either_border_lets_somebody_gain(
    statistics: np.ndarray, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """Who begins low gains where the border is known, who climbs where it is at 0 by chance at times; docs/released.md says it."""
    if known:
        monkeypatch.setattr("harness.release.budget.border", lambda step, _: step)
    gains = {}
    for name in ("climbing", "sandbags"):
        found = []
        for seed in range(12):
            world = HiddenSet.drawn(statistics, seed, FAILING)
            world.history = world.history.after(Rule(count=10_000), "2026-01-01T00:00:00Z")
            choice = ATTACKS[name](world.told, world.entries, 200, seed + 5000)
            found.append(world.value(choice) - world.by_coin())
        gains[name] = float(np.mean(found))
    assert (gains["climbing"] < 0.5) is known
    assert (gains["sandbags"] > 0.6) is known


# One entry's score


def reconstructed(seed: int, *, exact: bool) -> bool:
    """Try to learn one entry's score: it fails in a run, is asked for again, and the two told scores are subtracted."""
    source = random.Random(seed)
    count = source.randint(5, 60)
    scores = np.array([source.uniform(0, 100) for _ in range(count)])
    victim = source.randrange(count)
    scores[victim] = source.uniform(20, 90)
    failed = scores.copy()
    failed[victim] = 0
    board = Board(count, exact)
    names = source.choice([("Ann", "Ann"), ("Ann", "Ben")])
    try:
        before, after = board.told(names[0], "first", failed), board.told(names[1], "again", scores)
    except NotReleased:
        return False
    if before is None or after is None:
        return False
    return abs((after - before) * count - float(scores[victim])) <= 5


def test_no_score_of_an_entry_is_found_by_a_retry_or_a_second_name() -> None:
    tries = times(200, 10_000)
    assert sum(reconstructed(seed, exact=False) for seed in range(tries)) == 0
    assert sum(reconstructed(seed, exact=True) for seed in range(100)) > 30


def test_a_difference_on_one_entry_tells_the_same_whatever_it_changed_by() -> None:
    tries, found = times(300, 10_000), {True: 0, False: 0}
    for seed in range(tries):
        one, other = (random.Random(seed + n).uniform(5, 100) for n in (0, tries))
        for guarded in found:
            told = [difference_told(each, seed, guarded=guarded) for each in (one, other)]
            found[guarded] += told[0] != told[1]
    assert found[True] == 0
    assert found[False] > tries / 4
