"""Pairs of reviewers whose ratings agree far beyond the panel: a warning for the organiser, never an exclusion.

Two people who fill in their ratings together, or one person at two laptops, agree on nearly everything. How often honest
people agree depends on the texts, so the rest of the panel says what is plausible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from math import exp, lgamma, log, log1p

from review.verdict.panel.estimate import clopper_pearson

MOST_CHANCE = 0.01
"""Largest chance, over all pairs together, at which a pair is named."""
TIMES_CLOSER = 10
"""A named pair differs this many times more seldom than the closest other pair."""
_CONFIDENCE = 0.975
_FEWEST_OTHERS = 2
"""Pairs to compare with."""
_FEWEST_ITEMS = 20
"""Items that both rated; pairs with fewer are left out, for nearly any agreement of theirs is plausible."""


@dataclass(frozen=True, slots=True)
class AlikePair:
    """Two reviewers whose ratings agree far beyond the panel."""

    reviewers: tuple[str, str]
    items: int
    """Items that both rated."""
    equal: int
    """Items of these with the same rating of both."""
    other_items: int
    """Of the other pair whose agreement may be highest: items that both rated."""
    other_equal: int
    chance: float
    """Probability that some pair of the panel agrees so often, 0 to ``MOST_CHANCE``."""

    def named(self, code: Callable[[str], str]) -> AlikePair:
        """Return the same pair with other names of the two."""
        one, other = self.reviewers
        return replace(self, reviewers=(code(one), code(other)))


@dataclass(frozen=True, slots=True)
class _Pair:
    reviewers: tuple[str, str]
    items: int
    equal: int

    @property
    def different(self) -> int:
        """Items with different ratings."""
        return self.items - self.equal

    @property
    def upper(self) -> float:
        """Highest plausible probability of the same rating, one-sided 97.5 %."""
        return _upper(self.equal, self.items)


@cache
def _upper(equal: int, items: int) -> float:
    return clopper_pearson(equal, items, _CONFIDENCE)[1]


def alike_pairs(ratings: Mapping[str, Mapping[str, int]]) -> list[AlikePair]:
    """Return the pairs that agree far beyond the panel, most striking first; ``ratings`` are reviewer → item → rank.

    A pair is named if two things hold. (1) Its count of equal ratings has a binomial tail, Holm-adjusted over all pairs,
    of at most ``MOST_CHANCE``, where the probability of an equal rating is the highest that any other pair makes
    plausible. (2) It differs ``TIMES_CLOSER`` times more seldom than that pair: two careful people may well differ three
    times more seldom than the rest. Pairs that agree on every item are no measure of the others, so three people who
    copy from each other do not hide one another. Not found are: copies in a panel of two, copies among which more than
    some in twenty were changed, several pairs that copy with changes, and copies where nearly everything is rated alike.
    Two people who judge almost without error among people who err often may be named, too.

    Example: 70 of 70 equal, where the closest other pair has 49 of 70. Its agreement is plausibly at most 0.804; the
    tail is 0.804 ** 70 = 2e-7, times 10 pairs of five people.
    """
    pairs = [
        pair
        for one, other in combinations(sorted(ratings), 2)
        if (pair := _compared(one, other, ratings)).items >= _FEWEST_ITEMS
    ]
    others = sorted(((p.upper, p) for p in pairs if p.equal < p.items), key=lambda bound: -bound[0])
    tested = []
    for pair in pairs:
        rest = [bound for bound in others[: _FEWEST_OTHERS + 1] if bound[1] is not pair]
        if len(rest) >= _FEWEST_OTHERS:
            upper, closest = rest[0]
            far = TIMES_CLOSER * pair.different * closest.items <= closest.different * pair.items
            tested.append(
                (binomial_tail(pair.equal, pair.items, upper) if far else 1.0, pair, closest)
            )
    alike_pairs, chance = [], 0.0
    for place, (tail, pair, closest) in enumerate(
        sorted(tested, key=lambda tested_pair: tested_pair[0])
    ):
        chance = max(chance, tail * (len(pairs) - place))
        if chance > MOST_CHANCE:
            break
        alike_pairs.append(
            AlikePair(pair.reviewers, pair.items, pair.equal, closest.items, closest.equal, chance)
        )
    return alike_pairs


def _compared(one: str, other: str, ratings: Mapping[str, Mapping[str, int]]) -> _Pair:
    both = ratings[one].keys() & ratings[other].keys()
    equal = sum(ratings[one][item] == ratings[other][item] for item in both)
    return _Pair((one, other), len(both), equal)


def binomial_tail(count: int, total: int, probability: float) -> float:
    """Return the probability of ``count`` or more successes of ``total``."""
    if count <= 0 or probability >= 1:
        return 1.0
    success, failure = log(probability), log1p(-probability)
    return sum(
        exp(
            lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1)
            + k * success + (total - k) * failure
        )
        for k in range(count, total + 1)
    )  # fmt: skip
