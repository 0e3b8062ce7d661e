"""A sweep as a map of two of its axes: which set-ups are in each cell, and what is shown of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.sweep.record import CellRecord, SweepRecord
from harness.sweep.state import (
    CellMeasure,
    SweepSetup,
    best,
    best_baseline,
    front,
    setups_of,
)

NO_VALUE = "–"
"""Is on an axis for the set-ups to whose method it means nothing."""

ALL = "all runs"
"""Stands where a sweep has not two axes."""

BARS = "▁▂▃▄▅▆▇█"

STATES = {"stopped": "!", "running": "▶", "waiting": "…", "raced-out": "■"}
"""Sign of a state, that which asks most for a person first; a complete run has none."""


@dataclass(frozen=True)
class HeatCell:
    """What is in one cell of the map: every set-up that has its two values."""

    setups: tuple[SweepSetup, ...]
    shown: SweepSetup | None
    """The best of them by what is shown; None where none has a value yet."""
    value: float | None
    """Of it, the mean of its complete repetitions."""
    is_best_baseline: bool
    on_front: bool
    """Of each of the two whether a set-up of the cell is."""

    @cached_property
    def runs(self) -> tuple[CellRecord, ...]:
        """The runs of all its set-ups, those of the one that is shown first."""
        ordered = sorted(self.setups, key=lambda setup: setup is not self.shown)
        return tuple(run for sweep_setup in ordered for run in sweep_setup.cells)

    @cached_property
    def state(self) -> str:
        """The state that asks most for a person: ``stopped``, ``running``, ``waiting``, ``raced-out``, ``complete``; empty without runs."""
        there = {run.state for run in self.runs}
        return next((state for state in (*STATES, "complete") if state in there), "")

    @property
    def failed(self) -> int:
        """Entries of its runs that failed."""
        return sum(run.failed for run in self.runs)

    @cached_property
    def signs(self) -> str:
        """Return the marks: ★ best baseline, ◆ on the front, ≠ other inputs, ✗ failed entries, and the state."""
        marks = (
            ("★", self.is_best_baseline),
            ("◆", self.on_front),
            ("≠", any(setup.other_inputs for setup in self.setups)),
            ("✗", self.failed > 0),
        )
        return "".join(sign for sign, holds in marks if holds) + STATES.get(self.state, "")


@dataclass(frozen=True)
class HeatGrid:
    """Two axes of a sweep, and what stands where their values meet."""

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[int, int], HeatCell]
    """By row and column; a combination that the plan excludes is not among them."""
    measure: CellMeasure
    headline: str = ""
    """Metric that ``CellMeasure.HEADLINE`` stands for; empty of translations."""

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest value that compares; (0, 0) where there is none."""
        values = [
            cell.value
            for cell in self.cells.values()
            if cell.value is not None and cell.shown and cell.shown.compares_by(self.measure)
        ]
        return (min(values), max(values)) if values else (0.0, 0.0)

    @property
    def rises(self) -> bool:
        """Return whether more of what is shown is better."""
        shown = (cell.shown for cell in self.cells.values() if cell.shown)
        return next(
            (sweep_setup.rises(self.measure) for sweep_setup in shown), self.measure.is_quality
        )

    def level(self, cell: HeatCell) -> int | None:
        """Return how good a value is beside the others shown, 0 to 7; None without one, or where it does not compare."""
        if cell.value is None or cell.shown is None or not cell.shown.compares_by(self.measure):
            return None
        low, high = self.ends
        share = (cell.value - low) / (high - low) if high > low else 1.0
        share = share if cell.shown.rises(self.measure) or high == low else 1.0 - share
        return min(7, int(share * 8))


def label_of(setup: SweepSetup, axis: str) -> str:
    """Return where a set-up is on an axis."""
    return setup.labels.get(axis, NO_VALUE) if axis else ALL


class SweepMap:
    """A sweep with what any map of it needs, worked out once."""

    def __init__(self, found: SweepRecord) -> None:
        self.record = found
        self.setups = setups_of(found)

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The axes that part its set-ups, else all that are stated."""
        several = [axis for axis in self.record.axes if len(self.labels(axis)) > 1]
        return tuple(several or self.record.axes)

    def labels(self, axis: str) -> tuple[str, ...]:
        """Return the values of an axis that have runs, in order; last that of methods to which it means nothing.

        An axis without a name stands for none: all runs are at one place of it.
        """
        there = {label_of(setup, axis) for setup in self.setups}
        stated = [label for label in self.record.axes.get(axis, ()) if label in there]
        return (*stated, *sorted(there.difference(stated)))

    @cached_property
    def headline(self) -> str:
        """Metric by which its runs are ranked; empty of translations, and before one has begun."""
        return next((setup.headline for setup in self.setups if setup.headline), "")

    @property
    def measures(self) -> tuple[CellMeasure, ...]:
        """Return the measures by which its runs can be seen, first the one that ranks them."""
        effort = (CellMeasure.COST, CellMeasure.SECONDS)
        if self.headline:
            return (CellMeasure.HEADLINE, *effort)
        return (CellMeasure.COMPOSITE, CellMeasure.CHRF, *effort)

    def best_baseline(self, quality: CellMeasure) -> SweepSetup | None:
        """Return the best baseline; None where none is complete."""
        return best_baseline(self.setups, quality)

    def front(self, quality: CellMeasure) -> tuple[SweepSetup, ...]:
        """Return the set-ups that none beats in quality and effort."""
        return front(self.setups, quality)

    def grid(self, down: str, across: str, measure: CellMeasure, quality: CellMeasure) -> HeatGrid:
        """Arrange the set-ups by two axes, empty for none; ``quality`` decides about the best baseline and the front."""
        rows, columns = self.labels(down), self.labels(across)
        places: dict[tuple[int, int], list[SweepSetup]] = {}
        for setup in self.setups:
            row, column = rows.index(label_of(setup, down)), columns.index(label_of(setup, across))
            places.setdefault((row, column), []).append(setup)
        baseline, unbeaten = self.best_baseline(quality), self.front(quality)
        marked = [] if baseline is None else [baseline]
        cells = {
            place: _cell(setups, measure, marked, unbeaten) for place, setups in places.items()
        }
        return HeatGrid(down, across, rows, columns, cells, measure, self.headline)


def _cell(
    setups: Sequence[SweepSetup],
    measure: CellMeasure,
    baseline: Sequence[SweepSetup],
    unbeaten: Sequence[SweepSetup],
) -> HeatCell:
    shown = best(setups, measure)
    ours = set(map(id, setups))
    return HeatCell(
        setups=tuple(setups),
        shown=shown,
        value=None if shown is None else shown.value(measure),
        is_best_baseline=any(id(sweep_setup) in ours for sweep_setup in baseline),
        on_front=any(id(sweep_setup) in ours for sweep_setup in unbeaten),
    )
