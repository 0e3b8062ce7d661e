"""Main effects of a sweep: what each value of an axis adds over the first one, whatever the other axes are.

Two set-ups form a pair where they differ in one axis alone. The effect of a value is the mean difference over its pairs.
All set-ups see the same resamples of the entries, so the interval of the mean takes their common entries into account.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from harness.compare.against_best import SharedRuns
from harness.sweep.state import SweepSetup
from scoring.core.metric import FloatArray
from scoring.core.metric_rows import direction
from scoring.statistics.intervals import LEVEL


class AxisEffect(BaseModel):
    """What one value of an axis adds to the metric, on its own scale."""

    model_config = ConfigDict(frozen=True)

    axis: str
    value: str
    """Label of the value."""
    reference: str
    """Label of the value that it is compared with: the first of the axis."""
    pairs: int
    """Pairs of set-ups that differ in this axis alone."""
    difference: float
    lower: float
    upper: float
    """95 % interval, over resamples of the entries."""


def axis_effects(
    shared: SharedRuns, setups: Sequence[SweepSetup], metric: str
) -> tuple[AxisEffect, ...]:
    """Return the effects of all axes with two values or more, in the order of the plan.

    A set-up that does not compare with the first one takes no part. UsageError where entries are secret.
    """
    places, points, drawn = shared.drawn([_run_ids(setup) for setup in setups])
    sign = -1.0 if direction(metric) == "lower" else 1.0
    kept = [setups[place] for place in places]
    return tuple(_effects(kept, sign * points, sign * drawn))


def _run_ids(setup: SweepSetup) -> list[str]:
    return [cell.run_id for cell in setup.complete if cell.run_id is not None]


def _effects(
    setups: Sequence[SweepSetup], points: FloatArray, drawn: FloatArray
) -> Iterator[AxisEffect]:
    for axis in dict.fromkeys(name for setup in setups for name in setup.labels):
        rests = _by_rest(setups, axis)
        values = list(dict.fromkeys(setup.labels[axis] for setup in setups if axis in setup.labels))
        for value in values[1:]:
            pairs = [(rest[values[0]], rest[value]) for rest in rests if {values[0], value} <= rest.keys()]  # fmt: skip
            if pairs:
                first, second = np.array(pairs).T
                draws = (drawn[second] - drawn[first]).mean(axis=0)
                tail = 100 * (1 - LEVEL) / 2
                lower, upper = np.nanpercentile(draws, [tail, 100 - tail])
                difference = float((points[second] - points[first]).mean())
                yield AxisEffect(
                    axis=axis, value=value, reference=values[0], pairs=len(pairs),
                    difference=difference, lower=float(lower), upper=float(upper),
                )  # fmt: skip


def _by_rest(setups: Sequence[SweepSetup], axis: str) -> list[Mapping[str, int]]:
    """Group set-ups that are alike but for an axis: of each group, label → place."""
    groups: dict[tuple[tuple[str, str], ...], dict[str, int]] = {}
    for place, setup in enumerate(setups):
        if axis in setup.labels:
            rest = tuple((name, label) for name, label in setup.labels.items() if name != axis)
            groups.setdefault(rest, {})[setup.labels[axis]] = place
    return list(groups.values())
