"""Pairs who agree far beyond the panel are named, and honest people are not."""

from math import comb
from random import Random

import pytest

from review.verdict.gate.careless import AlikePair, alike_pairs, binomial_tail
from tests.review.thorough import times


def panel(rng: Random, people: int, items: int, careful: int = 0) -> dict[str, dict[str, int]]:
    """Let honest people rate: each sees the quality of a text with an error and a leniency of their own."""
    quality = [rng.gauss(rng.uniform(0, 1.5), 1) for _ in range(items)]
    errors = [0.25 if who < careful else rng.uniform(0.4, 1.2) for who in range(people)]
    lenient = [0 if who < careful else rng.gauss(0, 0.4) for who in range(people)]
    return {
        f"p{who}": {
            f"i{n}": sum(true + rng.gauss(lenient[who], errors[who]) > step for step in (-1, 0, 1))
            for n, true in enumerate(quality)
        }
        for who in range(people)
    }


def agreeing(equal: int, items: int) -> dict[str, int]:
    """Rate like somebody who rates everything 0, for so many of the items."""
    return {f"i{n}": int(n >= equal) for n in range(items)}


def test_example_of_the_docstring() -> None:
    people = {"a": agreeing(70, 70), "b": agreeing(70, 70), "c": agreeing(49, 70)}
    people |= {"d": dict.fromkeys(people["a"], 2)}
    [pair] = alike_pairs(people)
    assert pair == AlikePair(("a", "b"), 70, 70, 70, 49, pair.chance)
    assert pair.chance == pytest.approx(6 * 2.287e-7, rel=1e-3)


def test_borders_of_a_named_pair() -> None:
    def named(different: int, other: int, items: int = 100) -> bool:
        people = {"a": agreeing(items, items), "b": agreeing(items - different, items)}
        people |= {"c": {f"i{n}": 0 if n < other else 3 for n in range(items)}}
        return bool(alike_pairs(people))

    assert named(4, 60)
    assert not named(5, 60), "a tenth of 40 differences is 4"
    assert named(0, 80)
    assert not named(0, 95), "nearly everybody agrees"
    assert not named(0, 5, items=19), "fewer than 20 items"
    assert named(0, 5, items=20)
    assert alike_pairs({"a": agreeing(70, 70), "b": agreeing(70, 70)}) == []


@pytest.mark.parametrize("copies", [(0, 1), (0, 1, 2), (0, 1, 4, 5)])
def test_people_who_copy_are_named_and_no_others(copies: tuple[int, ...]) -> None:
    people = panel(Random(3), 6, 100)
    for number, who in enumerate(copies):
        first = copies[0] if len(copies) == 3 else copies[number - number % 2]
        people[f"p{who}"] = people[f"p{first}"]
    named = {who for pair in alike_pairs(people) for who in pair.reviewers}
    assert named == {f"p{who}" for who in copies}


def test_honest_panels_raise_no_alarm() -> None:
    rng = Random(11)
    alarms = 0
    for _ in range(times(150, 3000)):
        people, items = rng.randint(3, 7), rng.choice((30, 70, 150))
        alarms += bool(alike_pairs(panel(rng, people, items)))
    assert alarms == 0
    careful = sum(bool(alike_pairs(panel(rng, 5, 70, careful=2))) for _ in range(100))
    assert careful <= 1, "two careful people among careless ones are seldom named"


def test_tail_is_the_binomial_one() -> None:
    for count, total, share in ((0, 5, 0.3), (3, 5, 0.3), (5, 5, 0.3), (60, 70, 0.8), (2, 3, 1.0)):
        exact = sum(comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(count, total + 1))
        assert binomial_tail(count, total, share) == pytest.approx(exact)
