"""Numbers as they are told of secret entries: in steps, each with an interval that contains the exact one."""

from __future__ import annotations

from math import ceil, floor, isfinite, log2, log10, sqrt
from typing import Final

from harness.release.records import ReleasedScore

EXPECTED_SPREAD: Final = 0.25
"""Standard deviation of the values of entries that is expected, as a share of the metric's range, or of the value where it has none."""
Z: Final = 1.96
"""Half of a 95 % interval, in standard errors."""
Range = tuple[float, float]
"""Lowest and highest value of a metric; infinite where it has none."""


def stepped(value: float, lower: float | None, upper: float | None, step: float, ends: Range) -> ReleasedScore:  # fmt: skip
    """Return a score to the nearest multiple of ``step``; the ends of its interval go outward to the next ones.

    So the interval contains the exact one, the exact value and the value told. Without ends the score has no interval.
    """
    told = _within(ends, rounded(value, step))
    if lower is None or upper is None:
        return ReleasedScore(value=told, lower=None, upper=None, step=step)
    low, high = (_outward(end, step, way) for end, way in ((min(lower, value), -1), (max(upper, value), 1)))  # fmt: skip
    return ReleasedScore(value=told, lower=_within(ends, min(low, told)), upper=_within(ends, max(high, told)), step=step)  # fmt: skip


def one_two_five(value: float) -> float:
    """Return 1, 2 or 5 times a power of ten, the nearest by ratio; 0 stays 0."""
    if not value > 0:
        return 0.0
    power = 10.0 ** floor(log10(value))
    return clean(min((each * power for each in (1, 2, 5, 10)), key=lambda each: abs(log10(each / value))))  # fmt: skip


def bits(told: ReleasedScore, ends: Range) -> float:
    """Return how many bits a score tells at most, its interval included: the logarithm of what it could have been."""
    span = _span(ends, 0.0) or max(1.0, abs(told.value))
    numbers = 1 if told.lower is None else 3
    return numbers * log2(span / told.step + 1)


def expected_half(entries: int, ends: Range, value: float) -> float:
    """Return half of the interval that a mean over that many entries is expected to have.

    The spread of a metric without ends, such as a ratio of lengths, is expected by the size of its value.
    """
    return Z * EXPECTED_SPREAD * _span(ends, value) / sqrt(entries) if entries else 0.0


def rounded(value: float, step: float) -> float:
    """Return the multiple of ``step`` that is nearest."""
    return clean(round(value / step) * step)


def _outward(end: float, step: float, way: int) -> float:
    """Return the nearest multiple of ``step`` that is not inside of ``end``."""
    place = floor(end / step) if way < 0 else ceil(end / step)
    found = clean(place * step)
    return found if way * (found - end) >= 0 else clean((place + way) * step)


def _span(ends: Range, value: float) -> float:
    span = ends[1] - ends[0]
    return span if isfinite(span) else abs(value)


def _within(ends: Range, value: float) -> float:
    return clean(min(ends[1], max(ends[0], value)))


def clean(value: float) -> float:
    """Return a multiple of a step without the last digits of binary numbers; no minus zero."""
    return float(f"{value:.12g}") + 0.0
