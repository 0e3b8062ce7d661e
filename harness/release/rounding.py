"""Scores in steps as wide as the data can tell apart: more digits would tell of single entries and of nothing else.

A step is 10, or for shares 0.1, halved or doubled as often as needed. So of two steps one is a multiple of the other,
and the difference of two scores is a multiple of the smaller: steps of 20 and 50 would tell tens. It is not narrower than half of the score's 95 % interval, nor than half of
the interval that a set of this size is expected to have: a method that gives every entry the same output has a narrow
interval, and would be told finely else.

Where somebody chose what was scored (``by_chance``), a border of these steps that everybody knows would tell more than a
step does: who lies their choice upon it learns on which side it is. There the steps are wider, and chance decides where
they lie.
"""

from __future__ import annotations

from math import ceil, floor, inf, isfinite, log2, sqrt
from typing import Final

from harness.release.records import ReleasedScore

EXPECTED_SPREAD: Final = 0.25
"""Standard deviation of the values of entries that is expected, as a share of the metric's range, or of the value where it has none."""
LEAST_STEP: Final = 24.0
"""Narrowest step of ``by_chance``, in ranges of the metric / entries.

A border that lies anywhere within a step is crossed by a choice with a standard deviation of σ as often as keeps its gain to
2σ²/step at most. With σ = a quarter of the range / √entries that is 0.52 % of the range: half a point of chrF++.
"""
UNIT_BY_CHANCE: Final = 25.0
"""Steps of ``by_chance`` are halves and doubles of this; for shares, of a hundredth of it. With ``LEAST_STEP`` 96 entries have this one."""
PLACES: Final = range(-4, 5)
"""By how many tenths of a step its borders may lie aside; never on a multiple of it, so a difference that one entry can make is told as none is."""
Z: Final = 1.96
"""Half of a 95 % interval, in standard errors."""
Range = tuple[float, float]
"""Lowest and highest value of a metric; infinite where it has none."""
NO_ENDS: Final[Range] = (-inf, inf)


def expected_half(entries: int, ends: Range, value: float) -> float:
    """Return half of the interval that a mean over so many entries is expected to have.

    The spread of a metric without ends, such as a ratio of lengths, is expected by the size of its value.
    """
    return Z * EXPECTED_SPREAD * _span(ends, value) / sqrt(entries) if entries else 0.0


def _span(ends: Range, value: float) -> float:
    span = ends[1] - ends[0]
    return span if isfinite(span) else abs(value)


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


def by_chance(
    value: float,
    lower: float,
    upper: float,
    *,
    entries: int,
    ends: Range,
    draw: float,
    difference: bool = False,
) -> ReleasedScore | None:
    """Return a score of somebody's choice and its interval in a step that lies where chance, ``draw`` from 0 up to 1, puts it.

    None where it has no width that a step could be chosen from. The step is not narrower than the whole interval, so the
    value told, which lies half a step from the true one at most, and a step to both sides hold the interval. Its ends tell
    nothing that the value does not. ``ends`` are the metric's; ``difference``: of two values of it.
    """
    half = max(value - lower, upper - value, expected_half(entries, ends, value))
    if not half > 0:
        return None
    step = max(step_for(2 * half, _unit_by_chance(ends)), least_step(entries, ends, value))
    ends = (-ends[1], ends[1]) if difference else ends
    aside = PLACES[floor(draw * len(PLACES))] * step / 10
    told = _within(ends, rounded(value - aside, step) + aside)
    low, high = _within(ends, told - step), _within(ends, told + step)
    return ReleasedScore(value=told, lower=low, upper=high, step=step)


def least_step(entries: int, ends: Range, value: float = 0.0) -> float:
    """Return the narrowest step of ``by_chance`` for so many entries; ``value`` matters where a metric has no ends alone."""
    wide = max(2 * expected_half(entries, ends, value), LEAST_STEP * _span(ends, value) / entries)
    return step_for(wide, _unit_by_chance(ends))


def _unit_by_chance(ends: Range) -> float:
    return UNIT_BY_CHANCE * unit_of(ends) / 10


def says_something(told: ReleasedScore, ends: Range) -> bool:
    """Tell whether there are two steps in a metric's range at least."""
    return 2 * told.step <= _span(ends, inf)


def coarse(
    value: float,
    lower: float,
    upper: float,
    *,
    entries: int = 0,
    ends: Range = NO_ENDS,
) -> ReleasedScore | None:
    """Return a score and its interval in steps; None where it has no width that a step could be chosen from.

    The interval's ends go outward, and at least a step from the value: a rate of exactly 0 or 1 tells of each entry.
    ``ends`` are the metric's lowest and highest value.
    """
    half = max(value - lower, upper - value, expected_half(entries, ends, value))
    if not half > 0:
        return None
    step = step_for(half, unit_of(ends))
    told = _within(ends, rounded(value, step))
    return ReleasedScore(
        value=told,
        lower=_within(ends, min(floor(lower / step + 1e-9) * step, told - step)),
        upper=_within(ends, max(ceil(upper / step - 1e-9) * step, told + step)),
        step=step,
    )


def _within(ends: Range, value: float) -> float:
    return _clean(min(ends[1], max(ends[0], value)))


def _clean(value: float) -> float:
    """Return a multiple of a step without the last digits of binary numbers; no minus zero."""
    return float(f"{value:.12g}") + 0.0
