"""Beta and Student t quantiles, with the standard library alone.

A verdict must come out the same on any machine, so it rests on no numerical library. The incomplete beta
function is the continued fraction of Abramowitz and Stegun 26.5.8, evaluated by Lentz's method.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

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
    """Bound a denominator away from zero, as Lentz's method asks."""
    return value if abs(value) > _TINY else _TINY


# ---- How likely so uneven a division is by chance: Fisher's exact test, one-sided, with whole
# numbers.


def chance_of_so_many(right: int, of: int, right_beside: int, of_beside: int) -> float:
    """Return the probability that ``right`` or more of ``of`` are right where both groups are right equally often.

    The sums of both groups are taken as given (hypergeometric distribution). 3 of 3 beside 0 of 3: of the C(6, 3) = 20
    ways to be right three times one is this, 0.05. Raises ValueError for counts that cannot be.
    """
    if not (0 <= right <= of and 0 <= right_beside <= of_beside):
        raise ValueError("counts of right ones lie between 0 and their group")
    every, all_right = of + of_beside, right + right_beside
    most = min(of, all_right)
    ways = sum(comb(of, k) * comb(of_beside, all_right - k) for k in range(right, most + 1))
    return float(Fraction(ways, comb(every, all_right)))
