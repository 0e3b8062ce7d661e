"""What a plan is worth before anybody rates: the chance that that many people and items give a verdict.

Simulated from a probit model of items that differ in difficulty and people who differ in leniency, and judged by
the T rule. What the model assumes is stated with each number: a panel of friends is no random sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from review.verdict.gate.policy import GatePolicy
from review.verdict.panel.estimate import WIDEST, clopper_pearson
from scoring.core.messages import percent
from scoring.statistics.quantiles import student_quantile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.floating[Any]]

TRIALS = 5000
"""Simulated reviews a number; its standard error is 0.7 points at most."""
SEED = 12345
STRATA = 5
_AT_ONCE = 2_000_000
"""Simulated ratings held at once, 4 bytes each, a few times."""


@dataclass(frozen=True, slots=True)
class RatingPlan:
    """Who rates how much, and how much items and people differ (probit scale)."""

    reviewers: int
    strata: Mapping[int, int]
    """Stratum → items of it, each rated by everyone."""
    weights: Mapping[int, float] = field(default_factory=dict)
    """Stratum → share of the corpus; all alike where empty."""
    reviewer_sd: float = 0.5
    item_sd: float = 1.2
    stratum_shift: float = 1.2
    """How much easier the first and harder the last stratum is than the middle."""

    @classmethod
    def even(cls, items: int, reviewers: int, **assumed: float) -> RatingPlan:
        """Spread the items evenly over five difficulties."""
        strata = {h + 1: len(range(h, items, STRATA)) for h in range(min(STRATA, items))}
        return cls(reviewers, strata, **assumed)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Chances:
    """How often a plan ends how, if the method truly has a given share; each 0–1."""

    level: float
    """The lower bound reaches the level: the T rule alone."""
    go: float
    """The same, and no stratum and no reviewer is in the way. Rejections and harm are not foreseen.

    0, as is ``no_go``, where the policy asks for more items or people than the plan has.
    """
    no_go: float
    """The upper bound is below the level."""


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
    """Return the chance that the T rule sees the level reached if the method's share truly is ``true_share``."""
    plan = RatingPlan.even(items, reviewers, reviewer_sd=reviewer_sd, item_sd=item_sd)
    return chances(plan, true_share, policy, look=look).level


def chances(
    plan: RatingPlan,
    true_share: float,
    policy: GatePolicy,
    *,
    look: int = 1,
    trials: int = TRIALS,
    seed: int = SEED,
) -> Chances:
    """Simulate a plan; the same seed gives the same numbers. ``true_share`` lies inside 0–1.

    Raises ValueError for a plan of fewer than two reviewers or with a stratum without items.
    """
    import numpy as np

    if plan.reviewers < 2 or min(plan.strata.values(), default=0) < 1 or not 0 < true_share < 1:
        raise ValueError(
            "a plan needs two reviewers, items in each stratum, and a share inside 0–1"
        )
    counted, enough = np.zeros(3), _is_enough(plan, policy)
    for accepted in simulated_reviews(plan, true_share, trials, seed):
        lower, upper, strata, people = _judged(accepted, plan, float(policy.confidence(look)))
        level, stops = float(policy.level.share), policy.stops
        reached, missed = lower >= level, upper < level
        strong = strata.min(axis=1) >= level - float(stops.weak_stratum_margin) - 1e-9
        fair = people.min(axis=1) >= level - float(stops.reviewer_margin) - 1e-9
        go = reached & strong & fair
        counted += [reached.sum(), enough * go.sum(), enough * missed.sum()]
    return Chances(*(float(count) / trials for count in counted))


def _is_enough(plan: RatingPlan, policy: GatePolicy) -> bool:
    """Return whether there could be a verdict at all (rule 1)."""
    sizes, need = plan.strata.values(), policy.enough
    return (
        plan.reviewers >= need.reviewers
        and sum(sizes) >= need.items
        and min(sizes) >= need.per_stratum
    )


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One line of the planner's table."""

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
    """Return the table of what plans of several sizes are worth."""
    return [
        PlanRow(
            people, size, true_share, chances(RatingPlan.even(size, people), true_share, policy)
        )
        for people in reviewers
        for size in items
    ]


def simulated_reviews(
    plan: RatingPlan, true_share: float, trials: int, seed: int
) -> Iterator[npt.NDArray[np.bool_]]:
    """Simulate ratings block by block: acceptable or better, shape (trials of the block, items, reviewers)."""
    import numpy as np

    random = np.random.default_rng(seed)
    centre = np.repeat(_centres(plan, true_share), list(plan.strata.values()))
    size = (len(centre), plan.reviewers)
    block = max(1, _AT_ONCE // (size[0] * size[1]))
    for start in range(0, trials, block):
        rows = min(block, trials - start)
        item = centre + plan.item_sd * random.standard_normal((rows, size[0]), dtype=np.float32)
        person = plan.reviewer_sd * random.standard_normal((rows, 1, size[1]), dtype=np.float32)
        noise = random.standard_normal((rows, *size), dtype=np.float32)
        yield noise < item[:, :, None] + person


def _centres(plan: RatingPlan, true_share: float) -> list[float]:
    """Return the probit mean of each stratum so that the whole has the true share (bisection)."""
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
    return [low + shift for shift in shifts]


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
    spread = np.stack(
        [items[:, p].var(axis=1, ddof=1) if p.stop - p.start > 1 else widest for p in parts], axis=1
    )
    item_variance = spread @ (weights**2 / sizes)
    reviewer_variance = own.var(axis=1, ddof=1) / plan.reviewers
    dfs = (max(int(sizes.sum()) - len(sizes), 1), plan.reviewers - 1)
    lower, upper = _bounds(
        strata @ weights, (item_variance, reviewer_variance), dfs, int(sizes.sum()), confidence
    )
    return lower, upper, strata, own


def _bounds(
    share: Floats, parts: tuple[Floats, Floats], dfs: tuple[int, int], items: int, confidence: float
) -> tuple[Floats, Floats]:
    import numpy as np

    total, rest = parts[0] + parts[1], share * (1 - share)
    smooth = (total > 1e-12) & (rest > 1e-12)
    size = np.divide(rest, total, out=np.full_like(share, items), where=smooth)
    below = parts[0] ** 2 / dfs[0] + parts[1] ** 2 / dfs[1]
    df = np.divide(total**2, below, out=np.full_like(share, dfs[0]), where=smooth)
    square = _quantiles(df, confidence) ** 2 / size
    half = np.sqrt(square * (rest + square / 4))
    lower, upper = ((share + square / 2 + sign * half) / (1 + square) for sign in (-1, 1))
    for row in np.flatnonzero(~smooth):
        events = float(np.clip(share[row], 0, 1)) * items
        lower[row], upper[row] = clopper_pearson(events, items, confidence)
    return lower, upper


def _quantiles(df: Floats, confidence: float) -> Floats:
    """Return Student's quantiles from a table over 1/df, in which they are nearly straight (error below 0.001)."""
    import numpy as np

    inverse, quantiles = _table(confidence)
    return np.interp(1 / df, inverse, quantiles)


@lru_cache(maxsize=8)
def _table(confidence: float) -> tuple[Sequence[float], Sequence[float]]:
    inverse = [place / 256 for place in range(257)]
    normal = NormalDist().inv_cdf(confidence)
    return inverse, [student_quantile(confidence, 1 / one) if one else normal for one in inverse]
