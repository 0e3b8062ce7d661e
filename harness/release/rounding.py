"""Scores in steps as wide as the data can tell apart: more digits would tell of single entries and of nothing else.

A step is 10, or for shares 0.1, halved or doubled as often as needed. So of two steps one is a multiple of the other,
and the difference of two scores is a multiple of the smaller: steps of 20 and 50 would tell tens. It is not narrower than half of the score's 95 % interval, nor than half of
the interval that a set of this size is expected to have: a method that gives every entry the same output has a narrow
interval, and would be told finely else.
"""

from __future__ import annotations

from math import ceil, floor, inf, isfinite, log2, sqrt
from typing import Final

from harness.release.records import ReleasedScore

EXPECTED_SPREAD: Final = 0.25
"""Standard deviation of the values of entries that is expected, as a share of the metric's range, or of the value where it has none."""
Z: Final = 1.96
"""Half of a 95 % interval, in standard errors."""
Range = tuple[float, float]
"""Lowest and highest value of a metric; infinite where it has none."""
NO_ENDS: Final[Range] = (-inf, inf)


def expected_half(entries: int, ends: Range, value: float) -> float:
    """Return half of the interval that a mean over so many entries is expected to have.

    The spread of a metric without ends, such as a ratio of lengths, is expected by the size of its value.
    """
    span = ends[1] - ends[0]
    if not isfinite(span):
        span = abs(value)
    return Z * EXPECTED_SPREAD * span / sqrt(entries) if entries else 0.0


def of_one_entry(entries: int, ends: Range) -> float:
    """Return how far one of so many entries can move the end of a difference's interval; 0 for a metric without ends.

    A difference that lies on one entry is its change / entries; 97.5 % of the resamples have that entry three times at
    most, or four where they are few. Steps of this width tell the same of it whatever it changed by.
    """
    span = ends[1] - ends[0]
    return 4 * span / entries if entries and isfinite(span) else 0.0


def unit_of(ends: Range) -> float:
    """Return what steps of a metric are halves and doubles of: 0.1 for shares, 10 for all others."""
    return 0.1 if ends[1] - ends[0] <= 1 else 10.0


def step_for(half: float, unit: float = 10.0) -> float:
    """Return the smallest step that is not narrower than ``half``; ValueError where that is no width."""
    if not (isfinite(half) and half > 0):
        raise ValueError("a step is chosen from a width above 0")
    return _clean(unit * 2.0 ** ceil(log2(half / unit) - 1e-9))


def rounded(value: float, step: float) -> float:
    """Return the multiple of ``step`` that is nearest."""
    return _clean(round(value / step) * step)


def coarse(
    value: float,
    lower: float,
    upper: float,
    *,
    entries: int = 0,
    ends: Range = NO_ENDS,
    unit: float | None = None,
    least: float = 0.0,
) -> ReleasedScore | None:
    """Return a score and its interval in steps; None where it has no width that a step could be chosen from.

    The interval's ends go outward, and at least a step from the value: a rate of exactly 0 or 1 tells of each entry.
    ``ends`` are the metric's lowest and highest value; ``unit`` is that of its steps where they are not known. The step is
    not below ``least``.
    """
    half = max(value - lower, upper - value, expected_half(entries, ends, value))
    if not half > 0:
        return None
    step = step_for(max(half, least), unit or unit_of(ends))
    told = min(ends[1], max(ends[0], rounded(value, step)))
    return ReleasedScore(
        value=told,
        lower=_clean(max(ends[0], min(floor(lower / step + 1e-9) * step, told - step))),
        upper=_clean(min(ends[1], max(ceil(upper / step - 1e-9) * step, told + step))),
        step=step,
    )


def _clean(value: float) -> float:
    """Return a multiple of a step without the last digits of binary numbers; no minus zero."""
    return float(f"{value:.12g}") + 0.0
