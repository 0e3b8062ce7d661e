"""The T rule: how often the community would accept the method's translations, and how surely we know.

Items vary and so do people; a bound that forgets the people passes a method at the level in one of three cases
when three reviewers rate 150 items. Shares and variances are exact fractions; only roots and quantiles round.

Numbers of a verdict: six decimal places, so that what is compared is what is printed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import mean, variance

from review.rating import LEAST_ACCEPTABLE
from review.verdict.panel.panel import Panel
from scoring.statistics.quantiles import beta_quantile, student_quantile


def clopper_pearson(events: float, total: float, confidence: float) -> tuple[float, float]:
    """Return the one-sided lower and the one-sided upper bound of a rate, each at ``confidence``.

    ``events`` may be any real number in 0…total: a weighted share times its sample size. Clopper and
    Pearson 1934; Korn and Graubard 1998 for real counts.
    """
    misses = total - events
    lower = beta_quantile(1 - confidence, events, misses + 1) if events > 0 else 0.0
    upper = beta_quantile(confidence, events + 1, misses) if misses > 0 else 1.0
    return lower, upper


def wilson_bounds(share: float, total: float, quantile: float) -> tuple[float, float]:
    """Return both bounds of Wilson's score interval for a real effective ``total`` and any quantile.

    ``scoring.statistics.intervals.wilson`` is the two-sided normal case of whole counts; here the quantile is Student's.
    """
    square = quantile * quantile / total
    middle = share + square / 2
    half = quantile * math.sqrt(share * (1 - share) / total + square / (4 * total))
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))


Number = Fraction | Decimal | float | int


def round6(value: Number) -> Decimal:
    """Round to six decimal places, exact ties to the even digit; ``str`` of it always shows all six.

    A verdict that compared hidden digits could not be repeated from its own certificate. Raises
    ValueError or OverflowError for what is no finite number.
    """
    return Decimal(round(Fraction(value) * 1_000_000)).scaleb(-6)


WIDEST = Fraction(1, 4)
"""Variance taken for a stratum with one item, which shows none: the largest that shares can have."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Both one-sided bounds of the share, and the quantities they come from."""

    lower: float
    upper: float
    effective_items: float
    """Size of the simple sample that would be as sure (n_eff)."""
    df: float | None
    """Satterthwaite's degrees of freedom; None for bounds without a spread (Clopper–Pearson)."""
    t: float | None
    """Student's quantile at the confidence and ``df``; None likewise."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What the share was estimated from: two variances with their degrees of freedom."""

    share: Fraction
    items: int
    """Rated items (n)."""
    item_variance: Fraction
    """Of the share, from the choice of items."""
    item_df: int
    reviewer_variance: Fraction
    """Of the share, from the choice of reviewers."""
    reviewer_df: int

    def bounds(self, confidence: float) -> Bounds:
        """Return the bounds of the T rule, each one-sided at ``confidence``."""
        total = self.item_variance + self.reviewer_variance
        rest = self.share * (1 - self.share)
        if not total or not rest:
            events = float(self.share * self.items)
            return Bounds(*clopper_pearson(events, self.items, confidence), self.items, None, None)
        parts = self.item_variance**2 / self.item_df + self.reviewer_variance**2 / self.reviewer_df
        df, effective = float(total**2 / parts), float(rest / total)
        t = student_quantile(confidence, df)
        lower, upper = wilson_bounds(float(self.share), effective, t)
        return Bounds(lower, upper, effective, df, t)


@dataclass(frozen=True, slots=True)
class PanelEstimate:
    """The share of acceptable or better, by stratum, by reviewer and as a whole."""

    share: Fraction
    strata: Mapping[int, tuple[int, Fraction]]
    """Stratum → rated items and their share."""
    weights: Mapping[int, Fraction]
    """Stratum → weight; sums to 1 over the strata with rated items."""
    reviewers: Mapping[str, Fraction]
    """Reviewer → own share."""
    spread: Spread | None
    """None with one reviewer, whose leniency nothing tells from the method's quality."""


def estimate(panel: Panel, reviewers: Iterable[str]) -> PanelEstimate | None:
    """Estimate the share from what these reviewers rated; None where they rated nothing.

    Weights of strata without a rated item are spread over the others in proportion, for each reviewer as well.
    """
    marks = {
        who: {item: Fraction(rank >= LEAST_ACCEPTABLE) for item, rank in panel.ratings[who].items()}
        for who in sorted(reviewers)
        if panel.ratings.get(who)
    }
    if not marks:
        return None
    strata = _by_stratum(panel, _item_shares(marks.values()))
    weights = _weights(panel, strata)
    share = _weighted(panel, strata)
    own = {who: _weighted(panel, _by_stratum(panel, mine)) for who, mine in marks.items()}
    return PanelEstimate(
        share,
        {stratum: (len(shares), mean(shares)) for stratum, shares in strata.items()},
        weights,
        own,
        _spread(share, strata, weights, list(own.values())) if len(own) > 1 else None,
    )


def _item_shares(marks: Iterable[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """Return for each item the share of those who rated it that accept it (m_i)."""
    shares_of_items: dict[str, list[Fraction]] = {}
    for mine in marks:
        for item, mark in mine.items():
            shares_of_items.setdefault(item, []).append(mark)
    return {item: mean(values) for item, values in shares_of_items.items()}


def _by_stratum(panel: Panel, shares: Mapping[str, Fraction]) -> dict[int, list[Fraction]]:
    strata: dict[int, list[Fraction]] = {}
    for item, share in sorted(shares.items()):
        strata.setdefault(panel.strata[item], []).append(share)
    return dict(sorted(strata.items()))


def _weights(panel: Panel, strata: Iterable[int]) -> dict[int, Fraction]:
    """Return the weights of these strata, scaled to sum to 1; six places of each count, as a verdict shows them."""
    weights = {stratum: Fraction(round6(panel.weights[stratum])) for stratum in strata}
    total = sum(weights.values())
    return {stratum: weight / total for stratum, weight in weights.items()}


def _weighted(panel: Panel, strata: Mapping[int, Sequence[Fraction]]) -> Fraction:
    weights = _weights(panel, strata)
    return sum((weights[stratum] * mean(shares) for stratum, shares in strata.items()), Fraction(0))


def _spread(
    share: Fraction,
    strata: Mapping[int, Sequence[Fraction]],
    weights: Mapping[int, Fraction],
    own: Sequence[Fraction],
) -> Spread:
    items = sum(map(len, strata.values()))
    spreads = {
        stratum: variance(shares) if len(shares) > 1 else WIDEST
        for stratum, shares in strata.items()
    }
    return Spread(
        share,
        items,
        sum(
            (weights[stratum] ** 2 * spreads[stratum] / len(strata[stratum]) for stratum in strata),
            Fraction(0),
        ),
        max(items - len(strata), 1),
        variance(own) / len(own),
        len(own) - 1,
    )
