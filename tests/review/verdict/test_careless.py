"""Signs of haste: the exact test against every deal and against scipy, each sign at its limit, and rates of false alarm."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from review.verdict.gate.careless import (
    MOST_PAIRS,
    Carelessness,
    Sign,
    Tally,
    carelessness,
    longest_run,
    not_worse_p,
)
from review.verdict.gate.policy import proposed
from review.verdict.panel.key import ControlKind
from review.verdict.panel.panel import ControlItem, Panel
from tests.review.thorough import examples, times

RULE = proposed()[0].careless
RANKS = st.lists(st.integers(0, 3), min_size=1, max_size=6)


@examples(30, 100)
@given(RANKS, RANKS)
def test_p_is_the_share_of_deals_with_such_a_sum(bad: list[int], originals: list[int]) -> None:
    pooled = [*bad, *originals]
    ranks = stats.rankdata(pooled)
    sums = [sum(ranks[list(deal)]) for deal in combinations(range(len(pooled)), len(bad))]
    few = sum(one <= sum(ranks[: len(bad)]) + 1e-9 for one in sums)
    assert not_worse_p(bad, originals) == Fraction(few, len(sums))


@pytest.mark.thorough
def test_with_many_ties_p_is_near_the_permutation_test_of_scipy() -> None:
    bad, originals = [0, 0, 1, 1, 2, 0, 3, 1], [2, 3, 3, 1, 2, 3, 2, 0]

    def statistic(x: Sequence[float], y: Sequence[float]) -> float:
        return float(stats.mannwhitneyu(x, y, method="asymptotic").statistic)

    found = stats.permutation_test(
        (bad, originals), statistic, alternative="less", n_resamples=4000,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert float(not_worse_p(bad, originals)) == pytest.approx(found.pvalue, abs=0.01)


def panel(
    bad: Sequence[tuple[int, int]] = (),
    repeats: Sequence[tuple[int, int]] = (),
    anchors: Sequence[int] = (),
    sequence: Sequence[int] = (),
    ms: Sequence[int] = (),
) -> Panel:
    """Make a panel of one person: pairs are (control, partner)."""
    controls = {f"b{n:03}": ControlItem(ControlKind.BAD, f"o{n:03}") for n in range(len(bad))}
    controls |= {f"r{n}": ControlItem(ControlKind.REPEAT, f"f{n}") for n in range(len(repeats))}
    controls |= {f"a{n}": ControlItem(ControlKind.ANCHOR) for n in range(len(anchors))}
    given = [*(one for one, _ in bad), *(one for one, _ in repeats), *anchors]
    partners = {f"o{n:03}": two for n, (_, two) in enumerate(bad)}
    partners |= {f"f{n}": two for n, (_, two) in enumerate(repeats)}
    return Panel(
        {}, {}, {"p": {}}, frozenset(),
        controls=controls,
        control_ratings={"p": dict(zip(controls, given, strict=True))},
        partner_ratings={"p": partners},
        sequences={"p": tuple(sequence)},
        times_ms={"p": tuple(ms)},
    )  # fmt: skip


def signs(found: Carelessness) -> set[Sign]:
    return set(found.reviewers["p"].signs)


CAREFUL = [(0, 3)] * 8


def test_who_reads_shows_no_sign_and_one_key_shows_three() -> None:
    found = carelessness(panel(CAREFUL, [(2, 3)] * 8, [3] * 4, [3, 0] * 50), RULE)
    assert (signs(found), found.advised) == (set(), ())
    found = carelessness(panel([(3, 3)] * 8, [(3, 3)] * 8, [3] * 4, [3] * 100), RULE)
    assert signs(found) == {Sign.NOT_WORSE, Sign.BAD_ACCEPTED, Sign.LONG_RUN}
    assert found.advised == ("p",)


LIMITS = [
    (panel([(2, 3)] * 3 + [(0, 3)] * 6), Sign.BAD_ACCEPTED, False),  # one in three is allowed
    (panel([(2, 3)] * 4 + [(0, 3)] * 7), Sign.BAD_ACCEPTED, True),
    (panel(repeats=[(0, 3)] * 2 + [(1, 2)] * 6), Sign.INCONSISTENT, False),  # three in four will do
    (panel(repeats=[(0, 3)] * 3 + [(1, 2)] * 6), Sign.INCONSISTENT, True),
    (panel(sequence=[3] * 14 + [2] * 14), Sign.LONG_RUN, False),
    (panel(sequence=[2] + [3] * 15), Sign.LONG_RUN, True),
    (panel([(3, 3)] * 3), Sign.NOT_WORSE, False),  # too few to tell
    (panel([(3, 3)] * 4), Sign.NOT_WORSE, True),
    (panel([(0, 1)] * 2 + [(1, 1)] * 3), Sign.NOT_WORSE, True),
]


def test_each_sign_begins_where_the_policy_says() -> None:
    for number, (one, sign, shown) in enumerate(LIMITS):
        assert (sign in signs(carelessness(one, RULE))) == shown, number


def test_one_sign_is_no_advice_and_the_policy_may_say_otherwise() -> None:
    one = panel(CAREFUL, sequence=[3] * 20)
    assert carelessness(one, RULE).advised == ()
    assert carelessness(one, RULE.model_copy(update={"signs": 1})).advised == ("p",)


def test_what_was_never_asked_shows_nothing() -> None:
    found = carelessness(panel(), RULE).reviewers["p"]
    assert (found.not_worse_p, found.bad_accepted, found.longest_run) == (None, Tally(0, 0), 0)
    without = replace(panel(CAREFUL), partner_ratings={})
    care = carelessness(without, RULE).reviewers["p"]
    assert (care.not_worse_p, care.bad_accepted) == (None, Tally(0, 8))


def test_quick_ratings_and_low_anchors_are_counted() -> None:
    found = carelessness(panel(anchors=[0, 1, 2, 3], ms=[4000] * 9 + [999, 1000]), RULE)
    care = found.reviewers["p"]
    assert (care.quick, care.anchors_low, care.signs) == (Tally(1, 11), Tally(2, 4), ())


def several(ranks: Sequence[int], kind: ControlKind, partner: int | None = None) -> Panel:
    people = [f"p{n}" for n in range(len(ranks))]
    return Panel(
        {}, {}, {who: {} for who in people}, frozenset(),
        controls={"c": ControlItem(kind, None if partner is None else "f")},
        control_ratings={who: {"c": rank} for who, rank in zip(people, ranks, strict=True)},
        partner_ratings={} if partner is None else {who: {"f": partner} for who in people},
    )  # fmt: skip


def test_control_that_most_people_fail_is_dropped() -> None:
    for one, dropped in (
        (several([3, 3, 0, 0], ControlKind.BAD), ()),  # half
        (several([3, 3, 2, 0, 0], ControlKind.BAD), ("c",)),
        (several([3, 3], ControlKind.BAD), ()),  # two people
        (several([0, 1, 1, 3], ControlKind.ANCHOR), ("c",)),
        (several([0, 0, 0, 3], ControlKind.REPEAT, 3), ("c",)),
        (several([2, 2, 2, 3], ControlKind.REPEAT, 3), ()),  # near
        (several([0, 0, 0, 3], ControlKind.REPEAT), ()),  # no first showing
    ):
        found = carelessness(one, RULE)
        assert found.dropped == dropped
        assert not (dropped and any(care.bad_accepted.of for care in found.reviewers.values()))


def test_a_thousand_controls_take_no_longer_than_fifty() -> None:
    draw = random.Random(2)
    pairs = [(draw.randint(0, 3), draw.randint(0, 3)) for _ in range(1000)]
    found = carelessness(panel(pairs), RULE).reviewers["p"]
    first = pairs[:MOST_PAIRS]
    assert found.not_worse_p == not_worse_p([a for a, _ in first], [b for _, b in first])


@examples(40, 100)
@given(st.lists(st.integers(0, 3), max_size=40))
def test_the_longest_run_is_the_longest_window_of_one_rank(ranks: list[int]) -> None:
    windows = [ranks[a:b] for a, b in combinations(range(len(ranks) + 1), 2)]
    assert longest_run(ranks) == max((len(w) for w in windows if len(set(w)) == 1), default=0)


def person(draw: np.random.Generator, kind: str) -> Panel:
    """Rate 80 items, 8 bad ones, 8 repeats: a person with noise and leniency, who may stop reading."""
    truth, lenient = draw.normal(1.1, 1.2, 80), draw.normal(0, 0.4)

    def rate(quality: float, reads: bool) -> int:
        if not reads:
            return int(draw.integers(0, 4))
        return int(np.searchsorted([-1, 0, 1], quality + lenient + draw.normal(0, 0.7)))

    def reads() -> bool:
        return kind == "honest" or (kind == "half" and draw.random() < 0.5)

    first = [rate(one, reads()) for one in truth]
    bad = [(rate(truth[n] - 3, reads()), first[n]) for n in range(8)]
    repeats = [(rate(truth[n], reads()), first[n]) for n in range(20, 28)]
    sequence = [*first, *(one for one, _ in bad), *(one for one, _ in repeats)]
    draw.shuffle(sequence)
    return panel(bad, repeats, sequence=sequence)


@pytest.mark.parametrize(("kind", "least", "most"), [("honest", 0, 0.02), ("clicks", 0.85, 1), ("half", 0.25, 0.8)])  # fmt: skip
def test_honest_are_seldom_noticed_clickers_mostly(kind: str, least: float, most: float) -> None:
    draw, count = np.random.default_rng(3), times(100, 4000)
    seen = sum(bool(carelessness(person(draw, kind), RULE).advised) for _ in range(count))
    print(f"{kind}: {seen / count:.3f} of {count} advised")
    assert least <= seen / count <= most
