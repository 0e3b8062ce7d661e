"""A confidence sequence for the mean paired difference of two runs that may be examined whenever one likes.

An ordinary interval is right once; who looks after every entry and stops when it looks good is wrong far more
often than it says. Here one bets on the differences at every wager of a list at once (Waudby-Smith & Ramdas 2024,
"Estimating means of bounded random variables by betting"): against a true mean no betting strategy makes
capital beyond 1/alpha at any time with a chance above alpha (Ville's inequality). Instead of every difference only
sums of their powers are kept: with them the logarithm of the capital is bounded from below by six terms of its
series, so adding and asking cost the same however long the run is.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, isfinite, log

import numpy as np

from scoring.core.metric import FloatArray
from scoring.core.specification import MetricInfo
from scoring.statistics.intervals import LEVEL

WAGERS = 0.95 * 2.0 ** (-np.arange(12) / 2)
"""Shares of the capital that are bet, from bold for few entries to timid for a hundred thousand."""

_TERMS = 6
"""Terms of ``log(1 + wager * y)``; an even number."""

_POWERS = np.arange(_TERMS + 1)

_FACTORS = np.stack(
    [(-1.0) ** (power + 1) * WAGERS**power / power for power in range(1, _TERMS)]
    + [np.log1p(-WAGERS) + sum(WAGERS**power / power for power in range(1, _TERMS))]
)
"""Factors of y, y², … in a lower bound for all y from -1 on, shape (terms, wagers). The last one is exact at -1:
what is left of the series, divided by an even power of y, rises with y, so that it is least there."""

_STEPS = 60

_LEAST_ROOM = 0.05
"""How near, as a share of the span, a mean may lie to the largest fall that there can be and still be refuted:
nearer, sums of powers have lost the digits that would tell."""


class ConfidenceSequence:
    """The interval of the mean of differences between ``-span`` and ``span``, right at all times at once.

    It supposes that each entry's difference has the same mean, whatever was seen before, as when the order of
    the entries has nothing to do with the difference. That zero is not left out by chance more often than
    ``1 - level`` needs less: it holds in any order, where no entry favours either run.
    """

    def __init__(self, span: float, *, level: float = LEVEL) -> None:
        if not (isfinite(span) and span > 0 and 0 < level < 1):
            raise ValueError("a confidence sequence needs bounded differences and a level below 1")
        self.span = span
        self.level = level
        self.entries = 0
        """How many differences were added."""
        self._powers = np.zeros(len(_POWERS))
        """Sums of the differences, as shares of the span, to the powers 0 to 6."""

    def add(self, differences: Iterable[float]) -> None:
        """Count some more differences in; NaN, an entry without a value, is passed over.

        ValueError for one beyond the span.
        """
        shares = np.fromiter(differences, np.float64) / self.span
        shares = shares[~np.isnan(shares)]
        if (np.abs(shares) > 1 + 1e-9).any():
            raise ValueError(f"a difference is larger than {self.span:g}")
        shares = np.clip(shares, -1.0, 1.0)
        self.entries += len(shares)
        self._powers += power_sums(shares)[-1] if len(shares) else 0.0

    @property
    def mean(self) -> float | None:
        """The mean so far, None before the first difference."""
        return float(self._powers[1]) / self.entries * self.span if self.entries else None

    def interval(self) -> tuple[float, float] | None:
        """Return both ends; None before the first difference. It always holds the mean so far."""
        if not self.entries:
            return None
        low = _lower(self._powers, self.level)
        # with all signs turned, odd powers change theirs: the upper end is a lower end
        high = -_lower(self._powers * (-1.0) ** _POWERS, self.level)
        return low * self.span, high * self.span


def span_of(info: MetricInfo) -> float | None:
    """Return how far apart two values of a metric can be; None where it has no end."""
    span = info.high - info.low
    return span if isfinite(span) else None


def power_sums(shares: FloatArray) -> FloatArray:
    """Sum the powers 0 to 6 up to each place: shape (differences, 7)."""
    return np.asarray(np.cumsum(shares[:, None] ** _POWERS, axis=0))


def log_capital(powers: FloatArray, mean: float) -> FloatArray:
    """Bound from below the logarithm of what betting on more than ``mean`` has made of 1.

    ``powers`` has the shape (..., 7), differences as shares of the span; ``mean`` lies between -1 and 1.
    """
    room = 1.0 + mean  # the most that a difference can fall below the mean
    moments = np.stack(
        [_about(powers, mean, power) / room**power for power in range(1, _TERMS + 1)], axis=-1
    )
    capitals = moments @ _FACTORS
    # the mean of the capitals of all wagers, taken from the largest one so that no exponential overflows
    most = capitals.max(axis=-1)
    return np.asarray(most + np.log(np.exp(capitals - most[..., None]).mean(axis=-1)))


def _about(powers: FloatArray, mean: float, power: int) -> FloatArray:
    """Sum a power of the differences from ``mean``, from the sums of their own powers."""
    parts = [comb(power, k) * (-mean) ** (power - k) * powers[..., k] for k in range(power + 1)]
    return np.asarray(sum(parts))


def enough(level: float) -> float:
    """Return the logarithm of the capital at which one side is refuted; both sides share ``1 - level``."""
    return log(2 / (1 - level))


def _lower(powers: FloatArray, level: float) -> float:
    """Find the largest mean that is refuted from below, as a share of the span; -1 where none is."""
    refuted, open_ = -1.0, float(powers[1] / powers[0])
    for _ in range(_STEPS):
        middle = (refuted + open_) / 2
        tells = 1 + middle > _LEAST_ROOM
        if tells and float(log_capital(powers, middle)) >= enough(level):
            refuted = middle
        else:
            open_ = middle
    return refuted
