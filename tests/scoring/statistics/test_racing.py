"""Races: who is stopped is behind in the end, capital is that of single bets, and bad blocks are refused."""

from __future__ import annotations

from itertools import permutations
from math import exp, inf, log

import numpy as np
import pytest

from scoring.core.metric import FloatArray
from scoring.statistics.confidence_sequence import WAGERS
from scoring.statistics.racing import Race, highest_log_capital, shuffled
from tests.review.thorough import times


def capitals(differences: list[float], mean: float, entries: int) -> list[float]:
    """What bets on more than ``mean`` make of 1, after each difference, bet by bet."""
    purses = [1 / len(WAGERS)] * len(WAGERS)
    history, total = [1.0], 0.0
    for seen, each in enumerate(differences):
        rest = (entries * mean - total) / (entries - seen)
        for place, wager in enumerate(WAGERS):
            purses[place] *= 1 + min(wager, 0.95 / (1 + rest)) * (each - rest)
        total += each
        history.append(sum(purses))
    return history


def test_capital_is_that_of_single_bets_and_one_on_average() -> None:
    seen = [0.3, -0.2, 0.5, 0.1, 0.0, 0.4]
    for mean in (-0.4, 0.0, 0.2):
        expected = max(capitals(seen, mean, 20)[1:])
        assert exp(highest_log_capital(np.array(seen), mean, 20)) == pytest.approx(expected)
    # the proof's heart, by enumeration: against the true mean no time has more than 1 on average
    values = [0.5, -0.5, 0.25, -0.25, 0.1, -0.1]
    histories = np.array([capitals(list(order)[:5], 0.0, 6) for order in permutations(values)])
    assert histories.mean(axis=0) == pytest.approx(np.ones(6))
    assert highest_log_capital(np.array([1.0, 1.0, 1.0]), 0.0, 5) == inf
    assert highest_log_capital(np.array([1.0, 1.0]), 0.0, 4) < inf  # two losses would make it even


def raced(values: FloatArray, block: int = 10, level: float = 0.95) -> Race:
    """Race rows of composites over their columns, in the order in which they stand."""
    race = Race([str(row) for row in range(len(values))], values.shape[1], level=level)
    for start in range(0, values.shape[1], block):
        race.add({name: values[int(name), start : start + block].tolist() for name in race.running})
    return race


def drawn(random: np.random.Generator, setups: int, spread: float) -> FloatArray:
    means = random.normal(0.5, spread, (setups, 1))
    return np.clip(
        means + random.normal(0, 0.15, 150) + random.normal(0, 0.15, (setups, 150)), 0, 1
    )


def test_who_is_stopped_is_behind_in_the_end_and_its_interval_holds() -> None:
    random = np.random.default_rng(1)
    for _ in range(times(4, 200)):
        values = drawn(random, 12, 0.12)
        race = raced(values)
        ends = values.mean(axis=1)
        assert str(ends.argmax()) in race.running
        assert race.out
        for name, out in race.out.items():
            real = ends[int(out.leader)] - ends[int(name)]
            assert 0 < out.lower <= real <= out.upper
            seen = values[int(out.leader), : out.entries] - values[int(name), : out.entries]
            assert out.difference == pytest.approx(seen.mean())
            assert out.entries < 150


def test_equal_set_ups_seldom_lose_one_that_would_have_come_out_ahead() -> None:
    """All pairs together: in races of alike set-ups hardly one is stopped by one that ends behind it."""
    random = np.random.default_rng(2)
    races, wrong = times(15, 2000), 0
    for _ in range(races):
        values = drawn(random, 6, 0.0)
        ends, race = values.mean(axis=1), raced(values, 5, level=0.8)
        wrong += any(ends[int(name)] >= ends[int(out.leader)] for name, out in race.out.items())
    assert wrong <= 0.2 * races


def test_what_has_all_entries_is_a_whole_run_and_never_stopped() -> None:
    values = np.vstack([np.full(10, 0.9), np.full(10, 0.1)])
    whole = raced(values, block=10)
    assert whole.running == ("0", "1")
    early = raced(np.repeat(values, 5, axis=1), block=10)
    assert early.running == ("0",)
    assert early.out["1"].entries < 50


def test_the_level_is_shared_by_all_pairs() -> None:
    """With more set-ups in the race the same two need more capital: K (K - 1) ends share alpha."""
    for setups in (2, 36):
        race = Race([str(row) for row in range(setups)], 100)
        ahead = np.full(100, 0.3)
        stop = next(n for n in range(1, 100) if highest_log_capital(ahead[:n], 0.0, 100) >= log(setups * (setups - 1) / 0.05))  # fmt: skip
        scores = dict.fromkeys(race.running, 0.5) | {"0": 0.8}
        for _ in range(stop - 1):
            race.add({name: [score] for name, score in scores.items()})
        assert not race.out
        race.add({name: [score] for name, score in scores.items()})
        assert len(race.out) == setups - 1
        assert race.leader == "0"


def test_a_set_up_can_leave_without_being_raced_out() -> None:
    race = Race(["a", "b", "c"], 20)
    race.add({"a": [0.5], "b": [0.4], "c": [0.3]})
    race.leave("a")
    assert (race.running, race.leader, race.out) == (("b", "c"), "b", {})
    race.leave("b")
    race.leave("c")
    assert race.add({}) == ()
    with pytest.raises(ValueError, match="no set-up 'a'"):
        race.leave("a")


def test_bad_blocks_are_refused_and_leave_the_race_as_it_was() -> None:
    for scores, words in [
        ({"a": [0.5]}, "exactly the set-ups"),
        ({"a": [0.5], "b": [0.5], "c": [0.5]}, "exactly the set-ups"),
        ({"a": [0.5, 0.1], "b": [0.5]}, "same entries"),
        ({"a": [0.5] * 4, "b": [0.5] * 4}, "no more than there are"),
        ({"a": [1.5], "b": [0.5]}, "between 0 and 1"),
        ({"a": [float("nan")], "b": [0.5]}, "empty output"),
    ]:
        race = Race(["a", "b"], 3)
        with pytest.raises(ValueError, match=words):
            race.add(scores)
        assert (race.seen, race.add({"a": [0.5] * 3, "b": [0.4] * 3})) == (0, ("a", "b"))


def test_race_needs_two_names_and_has_a_seeded_order() -> None:
    for setups, entries, level in ((["a"], 5, 0.95), (["a", "a"], 5, 0.95), (["a", "b"], 0, 0.95), (["a", "b"], 5, 1.0)):  # fmt: skip
        with pytest.raises(ValueError, match="two set-ups"):
            Race(setups, entries, level=level)
    assert shuffled(50, 3) == shuffled(50, 3) != shuffled(50, 4)
    assert sorted(shuffled(50, 3)) == list(range(50))
