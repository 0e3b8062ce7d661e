"""What a plan is worth before anybody rates, and what would settle an open verdict.

Simulated from a probit model of items that differ in difficulty and people who differ in leniency, and judged by
the T rule. What the model assumes is stated with each number: a panel of friends is no random sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import sqrt
from operator import ge
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from corpora.text.messages import percent
from review.verdict.gate.panel import WIDEST, clopper_pearson
from review.verdict.gate.policy import GatePolicy
from review.verdict.gate.verdict import Code, GateVerdict, Numbers
from scoring.statistics.distributions import student_quantile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.floating[Any]]

TRIALS = 5000  # Simulated reviews a number; its standard error is 0.7 points at most
SEED = 12345
STRATA = 5
_AT_ONCE = 2_000_000  # Simulated ratings held at once, 4 bytes each, a few times


@dataclass(frozen=True, slots=True)
class RatingPlan:
    """Who rates how much, and how much items and people differ (probit scale)."""

    reviewers: int
    strata: Mapping[int, int]  # Stratum → items of it, each rated by everyone
    # Stratum → share of the corpus; all alike where empty
    weights: Mapping[int, float] = field(default_factory=dict)
    reviewer_sd: float = 0.5
    item_sd: float = 1.2
    # How much easier the first and harder the last stratum is than the middle
    stratum_shift: float = 1.2

    @classmethod
    def even(cls, items: int, reviewers: int, **assumed: float) -> RatingPlan:
        """Spread the items evenly over five difficulties."""
        strata = {h + 1: len(range(h, items, STRATA)) for h in range(min(STRATA, items))}
        return cls(reviewers, strata, **assumed)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Chances:
    """How often a plan ends how, if the method truly has a given share; each 0–1."""

    level: float  # The lower bound reaches the level: the T rule alone
    # The same, and no stratum and no reviewer is in the way. Rejections and harm are not foreseen.
    # 0, as is `no_go`, where the policy asks for more items or people than the plan has.
    go: float
    no_go: float  # The upper bound is below the level


def power(
    items: int,
    reviewers: int,
    true_share: float,
    policy: GatePolicy,
    *,
    reviewer_sd: float = 0.5,
    item_sd: float = 1.2,
    look: int = 1,
) -> float:
    plan = RatingPlan.even(items, reviewers, reviewer_sd=reviewer_sd, item_sd=item_sd)
    return chances(plan, true_share, policy, look=look).level


def chances(plan: RatingPlan, true_share: float, policy: GatePolicy, *, look: int = 1, trials: int = TRIALS) -> Chances:
    """Simulate a plan; the same plan gives the same numbers. ``true_share`` lies inside 0–1.

    Raises ValueError for a plan of fewer than two reviewers or with a stratum without items.
    """
    import numpy as np

    if plan.reviewers < 2 or min(plan.strata.values(), default=0) < 1 or not 0 < true_share < 1:
        raise ValueError("a plan needs two reviewers, items in each stratum, and a share inside 0–1")
    # Whether there could be a verdict at all (rule 1).
    sizes, need = plan.strata.values(), policy.enough
    there = (plan.reviewers, sum(sizes), min(sizes))
    is_enough = all(map(ge, there, (need.reviewers, need.items, need.per_stratum)))
    counted, enough = np.zeros(3), is_enough
    for accepted in simulated_reviews(plan, true_share, trials, SEED):
        lower, upper, strata, people = _judged(accepted, plan, float(policy.confidence(look)))
        level, stops = float(policy.level.share), policy.stops
        reached, missed = lower >= level, upper < level
        strong = strata.min(axis=1) >= level - float(stops.weak_stratum_margin) - 1e-9
        go = reached & strong & (people.min(axis=1) >= level - float(stops.reviewer_margin) - 1e-9)
        counted += [reached.sum(), enough * go.sum(), enough * missed.sum()]
    return Chances(*(float(count) / trials for count in counted))


@dataclass(frozen=True, slots=True)
class PlanRow:
    reviewers: int
    items: int
    true_share: float
    chances: Chances

    def words(self) -> str:
        """Return it as one sentence for an organiser."""
        return (
            f"{self.reviewers} people × {self.items} items: {percent(self.chances.level)} chance to see it "
            f"if the method is truly at {self.true_share:.2f}, {percent(self.chances.go)} for a go without "
            "a weak difficulty or a dissenting reviewer"
        )


def promises(
    policy: GatePolicy,
    reviewers: Sequence[int] = (3, 5, 8),
    items: Sequence[int] = (50, 80, 100),
    true_share: float = 0.85,
) -> list[PlanRow]:
    return [
        PlanRow(p, size, true_share, chances(RatingPlan.even(size, p), true_share, policy))
        for p in reviewers
        for size in items
    ]


def simulated_reviews(plan: RatingPlan, true_share: float, trials: int, seed: int) -> Iterator[npt.NDArray[np.bool_]]:
    """Simulate ratings block by block: acceptable or better, shape (trials of the block, items, reviewers)."""
    import numpy as np

    random = np.random.default_rng(seed)
    # Probit mean of each stratum so that the whole has the true share (bisection).
    normal, wide = NormalDist(), sqrt(1 + plan.item_sd**2 + plan.reviewer_sd**2)
    last = max(len(plan.strata) - 1, 1)
    shifts = [
        plan.stratum_shift * (1 - 2 * place / last) if len(plan.strata) > 1 else 0.0
        for place in range(len(plan.strata))
    ]
    low, high = -50.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        shares = [normal.cdf((middle + shift) / wide) for shift in shifts]
        reached = sum(w * share for w, share in zip(_weights(plan), shares, strict=True))
        low, high = (middle, high) if reached < true_share else (low, middle)
    centre = np.repeat([low + shift for shift in shifts], list(plan.strata.values()))
    size = (len(centre), plan.reviewers)
    block = max(1, _AT_ONCE // (size[0] * size[1]))
    for start in range(0, trials, block):
        rows = min(block, trials - start)
        item = centre + plan.item_sd * random.standard_normal((rows, size[0]), dtype=np.float32)
        person = plan.reviewer_sd * random.standard_normal((rows, 1, size[1]), dtype=np.float32)
        yield random.standard_normal((rows, *size), dtype=np.float32) < item[:, :, None] + person


def _weights(plan: RatingPlan) -> list[float]:
    weights = [plan.weights.get(stratum, 0.0) if plan.weights else 1.0 for stratum in plan.strata]
    return [weight / sum(weights) for weight in weights]


def _judged(
    accepted: npt.NDArray[np.bool_], plan: RatingPlan, confidence: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Apply the T rule to many reviews at once: lower, upper, shares of strata and of reviewers."""
    import numpy as np

    sizes, weights = np.array(list(plan.strata.values())), np.array(_weights(plan))
    ends = np.cumsum(sizes)
    parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    own = np.stack([accepted[:, part].mean(axis=1) for part in parts], axis=2) @ weights
    items = accepted.mean(axis=2)
    strata = np.stack([items[:, part].mean(axis=1) for part in parts], axis=1)
    widest = np.full(len(accepted), float(WIDEST))
    spread = np.stack([items[:, p].var(axis=1, ddof=1) if p.stop - p.start > 1 else widest for p in parts], axis=1)
    variances = spread @ (weights**2 / sizes), own.var(axis=1, ddof=1) / plan.reviewers
    count = int(sizes.sum())
    dfs = (max(count - len(sizes), 1), plan.reviewers - 1)
    return *_bounds(strata @ weights, variances, dfs, count, confidence), strata, own


def _bounds(
    share: Floats, parts: tuple[Floats, Floats], dfs: tuple[int, int], items: int, confidence: float
) -> tuple[Floats, Floats]:
    import numpy as np

    total, rest = parts[0] + parts[1], share * (1 - share)
    smooth = (total > 1e-12) & (rest > 1e-12)
    size = np.divide(rest, total, out=np.full_like(share, items), where=smooth)
    below = parts[0] ** 2 / dfs[0] + parts[1] ** 2 / dfs[1]
    df = np.divide(total**2, below, out=np.full_like(share, dfs[0]), where=smooth)
    # Student's quantiles from a table over 1/df, in which they are nearly straight (error below 0.001)
    square = np.interp(1 / df, *_table(confidence)) ** 2 / size
    half = np.sqrt(square * (rest + square / 4))
    lower, upper = ((share + square / 2 + sign * half) / (1 + square) for sign in (-1, 1))
    for row in np.flatnonzero(~smooth):
        events = float(np.clip(share[row], 0, 1)) * items
        lower[row], upper[row] = clopper_pearson(events, items, confidence)
    return lower, upper


@lru_cache(maxsize=8)
def _table(confidence: float) -> tuple[Sequence[float], Sequence[float]]:
    inverse = [place / 256 for place in range(257)]
    normal = NormalDist().inv_cdf(confidence)
    return inverse, [student_quantile(confidence, 1 / one) if one else normal for one in inverse]


# ---- What would settle an open verdict: how many more people, how many more items, or how many
# of both.
#
# Worked out from the spread that this panel itself shows. More ratings narrow the bounds and may
# move the share; how far it may still move is just the uncertainty that they would take away. A
# few people show their own spread badly, so it is mixed with that of the planner's model.

CHANCE = 0.8
MOST_REVIEWERS = 20
MOST_ITEMS = 500
# How many reviewers' worth of evidence the planner's model is for the spread between people
MODEL_DF = 4


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
    """What to add so that in ``CHANCE`` of cases the level no longer lies between the bounds."""

    # People alone, on the same items; None where no number up to 20 would do
    reviewers: More | None
    items: More | None  # Items alone, for the same people; None where no number up to 500 would do
    # Both, with the fewest ratings; None where one alone takes fewer, or nothing would do
    both: More | None
    # Chance with twice the people and twice the items: the measure where nothing gives `CHANCE`
    doubled: float

    def words(self) -> str:
        """Return it in one sentence for an organiser."""
        ways = [way.words() for way in (self.reviewers, self.items, self.both) if way is not None]
        if not ways:
            return (
                "Twice the people and twice the items would settle it in "
                f"{self.doubled * 10:.0f} of 10 cases: the share seems to lie near the level."
            )
        return f"{', or '.join(ways)} would settle it in {CHANCE * 10:.0f} of 10 cases."


def settling(verdict: GateVerdict, policy: GatePolicy) -> RequiredData | None:
    """Return what would settle a verdict whose level lies between the bounds; None for any other.

    What stops a go for another reason, such as harm, is no matter of more ratings.
    """
    if all(finding.code is not Code.LEVEL_OPEN for finding in verdict.findings):
        return None
    confidence = float(policy.confidence(verdict.look + 1))
    outlook = Forecast.of(verdict.numbers, float(policy.level.share), confidence)
    people = _fewest(lambda more: outlook.chance(more, 0), MOST_REVIEWERS, CHANCE)
    items = _fewest(lambda more: outlook.chance(0, more), MOST_ITEMS, CHANCE)
    # The people and items that together give the chance with the fewest ratings
    together = [
        More(count, more)
        for count in range(1, MOST_REVIEWERS + 1)
        if (more := _fewest(partial(outlook.chance, count), MOST_ITEMS, CHANCE))
    ]
    cheapest = min(together, key=outlook.ratings, default=None)
    ways = (More(people, 0) if people else None, More(0, items) if items else None, cheapest)
    cost = [outlook.ratings(way) if way else float("inf") for way in ways]
    both = cheapest if cost[2] < min(cost[:2]) else None
    doubled = outlook.chance(outlook.reviewers, outlook.items)
    return RequiredData(ways[0], ways[1], both, doubled)


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
        # Variance of reviewers' own shares in the planner's model, for a panel's share inside 0–1.
        plan, normal = RatingPlan.even(50, 2), NormalDist()
        wide = sqrt(1 + plan.item_sd**2 + plan.reviewer_sd**2 + (plan.stratum_shift**2 / 2))
        slope = normal.pdf(normal.inv_cdf(min(max(share, 1e-6), 1 - 1e-6))) / wide
        model_variance = (plan.reviewer_sd * slope) ** 2
        return cls(
            share,
            level,
            confidence,
            numbers.items,
            sum(stratum_share.items > 0 for stratum_share in numbers.strata.values()),
            float(numbers.item_error or 0) ** 2,
            reviewers,
            (own + model_variance / reviewers * MODEL_DF) / (reviewers - 1 + MODEL_DF),
        )

    def ratings(self, more: More) -> int:
        """Count the ratings that this would add."""
        now = self.items * self.reviewers
        return (self.items + more.items) * (self.reviewers + more.reviewers) - now

    def chance(self, more_reviewers: int, more_items: int) -> float:
        """Return the chance that the level lies outside the bounds with that many more."""
        items, reviewers = self.items + more_items, self.reviewers + more_reviewers
        parts = (self.item_variance * self.items / items, self.reviewer_variance * self.reviewers / reviewers)
        left, rest = sum(parts), self.share * (1 - self.share)
        if not left or not rest:
            return 0.0
        below = parts[0] ** 2 / max(items - self.strata, 1) + parts[1] ** 2 / (reviewers - 1)
        t = student_quantile(self.confidence, left * left / below)
        margin = t * sqrt(self.level * (1 - self.level) * left / rest)
        moves = sqrt(max(self.item_variance + self.reviewer_variance - left, 1e-12))
        where = NormalDist(self.share, moves)
        return 1 - where.cdf(self.level + margin) + where.cdf(self.level - margin)


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
