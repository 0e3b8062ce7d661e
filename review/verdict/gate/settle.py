"""What would settle an open verdict: how many more people, how many more items, or how many of both.

Worked out from the spread that this panel itself shows. More ratings narrow the bounds and may move the share;
how far it may still move is just the uncertainty that they would take away. A few people show their own spread
badly, so it is mixed with that of the planner's model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from statistics import NormalDist

from review.verdict.gate.planner import RatingPlan
from review.verdict.gate.policy import GatePolicy
from review.verdict.gate.verdict import Code, GateVerdict, Numbers
from scoring.statistics.quantiles import student_quantile

CHANCE = 0.8
MOST_REVIEWERS = 20
MOST_ITEMS = 500
MODEL_DF = 4
"""How many reviewers' worth of evidence the planner's model is for the spread between people."""


@dataclass(frozen=True, slots=True)
class More:
    """How many more people and items are needed."""

    reviewers: int
    items: int

    def words(self) -> str:
        """Return it in a few words: ``3 more reviewers and 24 more items``."""
        parts = ((self.reviewers, "reviewer"), (self.items, "item"))
        return " and ".join(f"{n} more {what}{'s' * (n > 1)}" for n, what in parts if n)


@dataclass(frozen=True, slots=True)
class RequiredData:
    """What to add so that in ``chance`` of cases the level no longer lies between the bounds."""

    reviewers: More | None
    """People alone, on the same items; None where no number up to 20 would do."""
    items: More | None
    """Items alone, for the same people; None where no number up to 500 would do."""
    both: More | None
    """Both, with the fewest ratings; None where one alone takes fewer, or nothing would do."""
    chance: float
    doubled: float
    """Chance with twice the people and twice the items: the measure where nothing gives ``chance``."""

    def words(self) -> str:
        """Return it in one sentence for an organiser."""
        ways = [way.words() for way in (self.reviewers, self.items, self.both) if way is not None]
        if not ways:
            return (
                "Twice the people and twice the items would settle it in "
                f"{self.doubled * 10:.0f} of 10 cases: the share seems to lie near the level."
            )
        return f"{', or '.join(ways)} would settle it in {self.chance * 10:.0f} of 10 cases."


def settling(
    verdict: GateVerdict, policy: GatePolicy, chance: float = CHANCE
) -> RequiredData | None:
    """Return what would settle a verdict whose level lies between the bounds; None for any other.

    What stops a go for another reason, such as harm, is no matter of more ratings.
    """
    if all(finding.code is not Code.LEVEL_OPEN for finding in verdict.findings):
        return None
    confidence = float(policy.confidence(verdict.look + 1))
    outlook = Forecast.of(verdict.numbers, float(policy.level.share), confidence)
    people = _fewest(lambda more: outlook.chance(more, 0), MOST_REVIEWERS, chance)
    items = _fewest(lambda more: outlook.chance(0, more), MOST_ITEMS, chance)
    ways = (
        More(people, 0) if people else None,
        More(0, items) if items else None,
        _both(outlook, chance),
    )
    cost = [outlook.ratings(way) if way else float("inf") for way in ways]
    both = ways[2] if cost[2] < min(cost[:2]) else None
    doubled = outlook.chance(outlook.reviewers, outlook.items)
    return RequiredData(ways[0], ways[1], both, chance, doubled)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is known now, and how sure it would be with more ratings."""

    share: float
    level: float
    confidence: float
    items: int
    strata: int
    item_variance: float
    reviewers: int
    reviewer_variance: float

    @classmethod
    def of(cls, numbers: Numbers, level: float, confidence: float) -> Forecast:
        share, reviewers = float(numbers.share or 0), len(numbers.reviewers)
        own = float(numbers.reviewer_error or 0) ** 2 * (reviewers - 1)
        return cls(
            share,
            level,
            confidence,
            numbers.items,
            sum(stratum_share.items > 0 for stratum_share in numbers.strata.values()),
            float(numbers.item_error or 0) ** 2,
            reviewers,
            (own + _model_variance(share) / reviewers * MODEL_DF) / (reviewers - 1 + MODEL_DF),
        )

    def ratings(self, more: More) -> int:
        """Count the ratings that this would add."""
        now = self.items * self.reviewers
        return (self.items + more.items) * (self.reviewers + more.reviewers) - now

    def chance(self, more_reviewers: int, more_items: int) -> float:
        """Return the chance that the level lies outside the bounds with that many more."""
        items, reviewers = self.items + more_items, self.reviewers + more_reviewers
        parts = (
            self.item_variance * self.items / items,
            self.reviewer_variance * self.reviewers / reviewers,
        )
        left, rest = sum(parts), self.share * (1 - self.share)
        if not left or not rest:
            return 0.0
        below = parts[0] ** 2 / max(items - self.strata, 1) + parts[1] ** 2 / (reviewers - 1)
        t = student_quantile(self.confidence, left * left / below)
        margin = t * sqrt(self.level * (1 - self.level) * left / rest)
        moves = sqrt(max(self.item_variance + self.reviewer_variance - left, 1e-12))
        where = NormalDist(self.share, moves)
        return 1 - where.cdf(self.level + margin) + where.cdf(self.level - margin)


def _model_variance(share: float) -> float:
    """Return the variance of reviewers' own shares in the planner's model, for a panel's share inside 0–1."""
    plan, normal = RatingPlan.even(50, 2), NormalDist()
    shifts = plan.stratum_shift**2 / 2
    wide = sqrt(1 + plan.item_sd**2 + plan.reviewer_sd**2 + shifts)
    slope = normal.pdf(normal.inv_cdf(min(max(share, 1e-6), 1 - 1e-6))) / wide
    return (plan.reviewer_sd * slope) ** 2


def _both(outlook: Forecast, chance: float) -> More | None:
    """Find the people and items that together give the chance with the fewest ratings."""
    candidates = []
    for people in range(1, MOST_REVIEWERS + 1):
        items = _fewest(partial(outlook.chance, people), MOST_ITEMS, chance)
        if items:
            candidates.append(More(people, items))
    return min(candidates, key=outlook.ratings, default=None)


def _fewest(chance_of: Callable[[int], float], most: int, chance: float) -> int | None:
    """Find by halving a number from 1 on that gives the chance where one less does not; None where ``most`` does not.

    It is the smallest one wherever more is not worse. More items alone can be: then the spread between the few
    people weighs more, and the t of few is wide.
    """
    if chance_of(most) < chance:
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance_of(middle) >= chance else (middle, high)
    return high
