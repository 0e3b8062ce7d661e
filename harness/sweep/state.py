"""How the set-ups of a sweep stand to each other: repetitions taken together, the best baseline, the Pareto front.

A baseline is what is there without engineering for the language (benchmark-specification §6.3): a model as it comes
(class ``raw-llm``), a copy of the source, a constant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from harness.sweep.record import CellRecord, SweepRecord
from scoring.core.inventory import direction

_BASELINE_CLASS = "raw-llm"
_BASELINE_METHODS = frozenset({"copy-source", "constant"})


class CellMeasure(StrEnum):
    """What the runs of a sweep are seen by; each is a field of ``CellRecord``."""

    COMPOSITE = "composite"
    CHRF = "chrf_plus_plus"
    COST = "cost_per_entry_usd"
    SECONDS = "avg_latency_seconds"
    HEADLINE = "headline_value"
    """Of another task than translation: the metric by which its runs are ranked."""

    @property
    def is_quality(self) -> bool:
        """Return whether it says how good outputs are, and not what they took."""
        return self not in (CellMeasure.COST, CellMeasure.SECONDS)


@dataclass(frozen=True)
class SweepSetup:
    """One set-up of a sweep with its repetitions."""

    labels: Mapping[str, str]
    """Axis → label, of the axes that mean something to its method."""
    cells: tuple[CellRecord, ...]
    """Its repetitions, one or more, in order."""
    other_inputs: bool
    """Whether the composite of a repetition weighs other metrics than most of the sweep do."""

    @property
    def complete(self) -> tuple[CellRecord, ...]:
        """The repetitions that are at their end."""
        return tuple(cell for cell in self.cells if cell.state == "complete")

    @property
    def run_ids(self) -> list[str]:
        """Ids of its complete runs."""
        return [cell.run_id for cell in self.complete if cell.run_id is not None]

    @property
    def name(self) -> str:
        """Its labels, or the name of its first run."""
        return " · ".join(self.labels.values()) or self.cells[0].name

    @property
    def is_baseline(self) -> bool:
        """Return whether it is one; False before a repetition is complete."""
        return any(
            cell_record.method_class == _BASELINE_CLASS or cell_record.method in _BASELINE_METHODS
            for cell_record in self.complete
        )

    def values(self, measure: CellMeasure) -> tuple[float, ...]:
        """Return what the complete repetitions came to, of those that have a value."""
        values = (getattr(cell_record, measure.value) for cell_record in self.complete)
        return tuple(value for value in values if value is not None)

    def value(self, measure: CellMeasure) -> float | None:
        """Return the mean of the complete repetitions; None where none has a value."""
        values = self.values(measure)
        return fmean(values) if values else None

    @property
    def headline(self) -> str:
        """Metric by which its runs are ranked; empty of translations, and before one has begun."""
        return next((cell.headline for cell in self.cells if cell.headline), "")

    def rises(self, measure: CellMeasure) -> bool:
        """Return whether more of a measure is better: of cost, time and error rates less is."""
        if measure is CellMeasure.HEADLINE:
            return not self.headline or direction(self.headline) != "lower"
        return measure.is_quality

    def compares_by(self, measure: CellMeasure) -> bool:
        """Return whether its value may be next to those of the others."""
        return measure is not CellMeasure.COMPOSITE or not self.other_inputs


def setups_of(found: SweepRecord) -> tuple[SweepSetup, ...]:
    """Return the set-ups of a sweep in the order of its plan."""
    groups: dict[tuple[tuple[str, str], ...], list[CellRecord]] = {}
    for cell in found.cells:
        groups.setdefault(tuple(sorted(cell.labels.items())), []).append(cell)
    usual = usual_inputs(found)
    return tuple(
        SweepSetup(
            group[0].labels,
            tuple(group),
            any(
                (bool(cell_record.composite_inputs) and cell_record.composite_inputs != usual) for cell_record in group
            ),
        )
        for group in groups.values()
    )


def usual_inputs(found: SweepRecord) -> tuple[str, ...]:
    """Return the metrics that the composites of most complete runs weigh; of equally many the first in the plan."""
    known = Counter(cell.composite_inputs for cell in found.cells if cell.composite_inputs)
    return known.most_common(1)[0][0] if known else ()


def best(setups: Sequence[SweepSetup], measure: CellMeasure) -> SweepSetup | None:
    """Return the best of some set-ups; of equal ones the first. One that does not compare only where none else has a value."""
    known = [setup for setup in setups if setup.value(measure) is not None]

    def standing(each: SweepSetup) -> tuple[bool, float]:
        sign = 1 if each.rises(measure) else -1
        return each.compares_by(measure), sign * (each.value(measure) or 0.0)

    return max(known, key=standing, default=None)


def best_baseline(setups: Sequence[SweepSetup], quality: CellMeasure) -> SweepSetup | None:
    """Return the best baseline that compares; None where none is complete."""
    return best([setup for setup in setups if setup.is_baseline and setup.compares_by(quality)], quality)


def effort_of(setups: Sequence[SweepSetup]) -> CellMeasure:
    """Return what quality is held against: cost, or seconds where no set-up has cost anything."""
    paid = any(setup.value(CellMeasure.COST) for setup in setups)
    return CellMeasure.COST if paid else CellMeasure.SECONDS


def front(setups: Sequence[SweepSetup], quality: CellMeasure) -> tuple[SweepSetup, ...]:
    """Return the set-ups that no other beats: none is as good for less, nor better for as little.

    One whose quality or effort (``effort_of``) is unknown, or does not compare, is not among them.
    """
    effort = effort_of(setups)
    points = [
        (setup, good if setup.rises(quality) else -good, less)
        for setup in setups
        if setup.compares_by(quality)
        and (good := setup.value(quality)) is not None
        and (less := setup.value(effort)) is not None
    ]
    unbeaten: set[int] = set()
    last: tuple[float, float] | None = None
    for sweep_setup, good, less in sorted(points, key=lambda point: (point[2], -point[1])):
        if last is None or good > last[0] or (good, less) == last:
            last = (good, less)
            unbeaten.add(id(sweep_setup))
    return tuple(setup for setup in setups if id(setup) in unbeaten)
