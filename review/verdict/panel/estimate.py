"""The T rule: how often the community would accept the method's translations, and how surely we know.

Items vary and so do people; a bound that forgets the people passes a method at the level in one of three cases
when three reviewers rate 150 items. Shares and variances are exact fractions; only roots and quantiles round.

Beta and Student t quantiles and the bounds made of them, with the standard library alone.

A verdict must come out the same on any machine, so it rests on no numerical library. The incomplete beta
function is the continued fraction of Abramowitz and Stegun 26.5.8, evaluated by Lentz's method.

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

_TINY = 1e-300
_TURNS = 10_000
"""Convergents at most; the fraction needs about the square root of the larger parameter."""


def beta_probability(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) for a, b > 0: P(X ≤ x) of Beta(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(_log_density(x, a, b) + math.log(x) + math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return x with I_x(a, b) = probability (0–1), by Newton's method kept within a shrinking bracket."""
    if probability <= 0 or probability >= 1:
        return float(probability >= 1)
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        error = beta_probability(x, a, b) - probability
        low, high = (low, x) if error > 0 else (x, high)
        density = math.exp(min(_log_density(x, a, b), 700.0))
        step = x - error / density if density else low
        step = step if low < step < high else (low + high) / 2
        if abs(step - x) <= 4e-16 * x:
            return step
        x = step
    return x


def student_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t for a probability of at least one half and any real df > 0.

    df / (df + t²) and its complement are beta variables; the smaller of the two keeps all its digits.
    """
    far = beta_quantile(2 * probability - 1, 0.5, df / 2)
    if far < 0.5:
        return math.sqrt(df * far / (1 - far))
    near = beta_quantile(2 * (1 - probability), df / 2, 0.5)
    return math.sqrt(df * (1 - near) / near)


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


def _log_density(x: float, a: float, b: float) -> float:
    beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - beta


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function, for x below its mean."""
    d = 1 / _away(1 - (a + b) * x / (a + 1))
    c, value = 1.0, d
    for turn in range(1, _TURNS):
        place = a + 2 * turn
        even = turn * (b - turn) * x / ((place - 1) * place)
        odd = -(a + turn) * (a + b + turn) * x / (place * (place + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            value *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return value


def _away(value: float) -> float:
    """Keep a denominator from zero, as Lentz's method asks."""
    return value if abs(value) > _TINY else _TINY


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
        {stratum: (len(found), mean(found)) for stratum, found in strata.items()},
        weights,
        own,
        _spread(share, strata, weights, list(own.values())) if len(own) > 1 else None,
    )


def _item_shares(marks: Iterable[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """Return for each item the share of those who rated it that accept it (m_i)."""
    found: dict[str, list[Fraction]] = {}
    for mine in marks:
        for item, mark in mine.items():
            found.setdefault(item, []).append(mark)
    return {item: mean(values) for item, values in found.items()}


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
    return sum((weights[stratum] * mean(found) for stratum, found in strata.items()), Fraction(0))


def _spread(
    share: Fraction,
    strata: Mapping[int, Sequence[Fraction]],
    weights: Mapping[int, Fraction],
    own: Sequence[Fraction],
) -> Spread:
    items = sum(map(len, strata.values()))
    spreads = {
        stratum: variance(found) if len(found) > 1 else WIDEST for stratum, found in strata.items()
    }
    return Spread(
        share,
        items,
        sum(
            (weights[each] ** 2 * spreads[each] / len(strata[each]) for each in strata), Fraction(0)
        ),
        max(items - len(strata), 1),
        variance(own) / len(own),
        len(own) - 1,
    )
