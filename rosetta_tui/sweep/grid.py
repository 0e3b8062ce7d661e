"""A sweep as a map of two of its axes: which set-ups are in each cell, and what is shown of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

from corpora.text.messages import counted
from harness.sweep.record import CellRecord, SweepRecord
from harness.sweep.state import CellMeasure, SweepSetup, best, best_baseline, effort_of, front, setups_of, usual_inputs
from rosetta_tui.report.sweep import cell_line, claimed, headline_words, trouble_words
from rosetta_tui.show import figures
from rosetta_tui.show.figures import value as metric_value
from scoring.core.inventory import short_title

NO_VALUE = "–"  # is on an axis for the set-ups to whose method it means nothing
ALL = "all runs"  # stands where a sweep has not two axes
BARS = "▁▂▃▄▅▆▇█"
STATES = {"stopped": "!", "running": "▶", "waiting": "…", "raced-out": "■"}  # most urgent first
STATE_ORDER = ("running", "waiting", "stopped", "raced-out", "complete")  # in which they are counted in words


@dataclass(frozen=True)
class HeatCell:
    """What is in one cell of the map: every set-up that has its two values."""

    setups: tuple[SweepSetup, ...]
    shown: SweepSetup | None  # the best of them by what is shown; None where none has a value yet
    value: float | None  # of it, the mean of its complete repetitions
    is_best_baseline: bool
    on_front: bool  # of each of the two whether a set-up of the cell is

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
    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[int, int], HeatCell]  # by row and column, without excluded ones
    measure: CellMeasure
    headline: str = ""  # metric that `CellMeasure.HEADLINE` stands for; empty of translations
    ranks: bool = True  # whether one cell is better than another; repeats differ by chance alone

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
        return next((setup.rises(self.measure) for setup in shown), self.measure.is_quality)

    def level(self, cell: HeatCell) -> int | None:
        """Return how good a value is beside the others shown, 0 to 7; None without one, or where it does not compare."""
        if not self.ranks or cell.value is None or cell.shown is None or not cell.shown.compares_by(self.measure):
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
        self.is_of_repeats = len(self.setups) == 1 and len(found.cells) > 1
        """Whether it is one set-up, so that each repeat has a row."""

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The axes that part its set-ups, else all that are stated."""
        several = [axis for axis in self.record.axes if len(self.labels(axis)) > 1]
        return tuple(several or self.record.axes)

    def labels(self, axis: str) -> tuple[str, ...]:
        """Return an axis' values with runs in order, last that of methods without it; one place where it has no name."""
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
        if self.is_of_repeats:
            return self._of_repeats(measure)
        rows, columns = self.labels(down), self.labels(across)
        places: dict[tuple[int, int], list[SweepSetup]] = {}
        for setup in self.setups:
            row, column = rows.index(label_of(setup, down)), columns.index(label_of(setup, across))
            places.setdefault((row, column), []).append(setup)
        baseline, unbeaten = self.best_baseline(quality), self.front(quality)
        cells = {}
        for place, setups in places.items():
            shown = best(setups, measure)
            cells[place] = HeatCell(
                setups=tuple(setups),
                shown=shown,
                value=None if shown is None else shown.value(measure),
                is_best_baseline=any(setup is baseline for setup in setups),
                on_front=any(setup is other for setup in setups for other in unbeaten),
            )
        return HeatGrid(down, across, rows, columns, cells, measure, self.headline)

    def _of_repeats(self, measure: CellMeasure) -> HeatGrid:
        cells = {}
        for row, run in enumerate(self.record.cells):
            repeat = replace(self.setups[0], cells=(run,))
            shown = repeat if repeat.complete else None
            value = None if shown is None else shown.value(measure)
            cells[row, 0] = HeatCell((repeat,), shown, value, is_best_baseline=False, on_front=False)
        rows = tuple(run.name for run in self.record.cells)
        titles = (title_of(measure, self.headline),)
        return HeatGrid("repeat", "", rows, titles, cells, measure, self.headline, ranks=False)


# ---- What the map of a sweep says in words and numbers ----

TITLES = {
    CellMeasure.COMPOSITE: "composite",
    CellMeasure.CHRF: "chrF++",
    CellMeasure.COST: "US dollars for 1,000 entries",
    CellMeasure.SECONDS: "seconds an entry took",
}
"""What each measure is called where it is chosen, but for that which ranks runs of another task (``title_of``)."""

LESS_EFFORT = {CellMeasure.COST: "cheaper", CellMeasure.SECONDS: "faster"}  # words for less effort
INTERVALS = {
    CellMeasure.COMPOSITE: "composite_interval",
    CellMeasure.CHRF: "chrf_plus_plus_interval",
    CellMeasure.HEADLINE: "headline_interval",
}
"""Measure → field of ``CellRecord`` that holds its interval."""


def title_of(measure: CellMeasure, headline: str) -> str:
    """Return what a measure is called; ``headline``: metric that ranks the runs of another task than translation."""
    return short_title(headline) if measure is CellMeasure.HEADLINE else TITLES[measure]


def value_words(measure: CellMeasure, value: float | None, headline: str = "") -> str:
    """Return a value as it is in a cell; ``headline`` as for ``title_of``."""
    match measure:
        case CellMeasure.HEADLINE:
            return metric_value(headline, value)
        case CellMeasure.COMPOSITE:
            return figures.number(value, 2)
        case CellMeasure.CHRF:
            return figures.number(value, 1)
        case CellMeasure.COST:
            return figures.money(None if value is None else value * 1000)
        case CellMeasure.SECONDS:
            return figures.seconds(value)


def cell_words(grid: HeatGrid, cell: HeatCell) -> str:
    """Return the number of a cell, or in its place how far its runs are."""
    if cell.value is not None:
        return value_words(grid.measure, cell.value, grid.headline)
    if cell.state == "running":
        share = fmean(run.done / run.total if run.total else 0.0 for run in cell.runs)
        return f"{int(share * 100)} %"
    return "none" if cell.state == "complete" else cell.state


def together_words(found: SweepMap, grid: HeatGrid) -> str:
    """Return what a number of the map is: how repetitions and the axes not shown are taken together."""
    what = title_of(grid.measure, grid.headline)
    parts = [f"{what}, the mean of the complete repetitions"] if found.record.replicates > 1 else [what]
    hidden = [axis for axis in found.axes if axis not in (grid.down, grid.across)]
    if hidden and any(len(cell.setups) > 1 for cell in grid.cells.values()):
        which = "highest" if grid.rises else "lowest"
        parts.append(f"of several set-ups ({', '.join(hidden)}) the {which}")
    return "; ".join(parts)


def standing_words(found: SweepMap, quality: CellMeasure) -> str:
    """Return which baseline is the best, and how many set-ups are on the front."""
    baseline, unbeaten = found.best_baseline(quality), found.front(quality)
    best = (
        "★ no baseline is complete"
        if baseline is None
        else f"★ best baseline {value_words(quality, baseline.value(quality), found.headline)} {name_words(found, baseline)}"
    )
    effort = LESS_EFFORT[effort_of(found.setups)]
    return f"{best} · ◆ none better and {effort}: {counted(len(unbeaten), 'set-up')} (by {title_of(quality, found.headline)})"


def name_words(found: SweepMap, setup: SweepSetup) -> str:
    """Name a set-up by the axes that part it from the others."""
    labels = [setup.labels[axis] for axis in found.axes if axis in setup.labels]
    return " · ".join(labels) or found.record.name


def chosen_words(found: SweepMap, cell: HeatCell) -> Iterator[str]:
    """Yield the lines about the cell under the cursor: which set-up, its numbers, and what else is to be known."""
    shown = cell.shown or cell.setups[0]
    if found.is_of_repeats:
        yield shown.cells[0].name
        yield setup_numbers(shown)
        yield cell_line(shown.cells[0])
        return
    others = f" · the best of {len(cell.setups)} set-ups here" if len(cell.setups) > 1 else ""
    yield name_words(found, shown) + (others if cell.shown else "")
    yield setup_numbers(shown)
    yield " · ".join(_notes(found, cell))


def setup_numbers(setup: SweepSetup) -> str:
    """Return what the complete repetitions of a set-up came to in every measure, and what may be said of it."""
    done = setup.complete
    if not done:
        return f"no complete run of {len(setup.cells)}"
    qualities = [_quality(setup, measure) for measure in (CellMeasure.COMPOSITE, CellMeasure.CHRF)]
    parts = [
        *(map(headline_words, done) if done[0].headline else qualities),
        f"{value_words(CellMeasure.COST, setup.value(CellMeasure.COST))} for 1,000",
        f"{value_words(CellMeasure.SECONDS, setup.value(CellMeasure.SECONDS))} s",
        claimed(done[0]) if len(done) == 1 else f"mean of {len(done)} runs",
    ]
    return " · ".join(part for part in parts if part)


def _quality(setup: SweepSetup, measure: CellMeasure) -> str:
    words = f"{TITLES[measure]} {value_words(measure, setup.value(measure))}"
    values = setup.values(measure)
    if len(values) > 1:
        ends = (min(values), max(values))
        return f"{words} (runs {'–'.join(value_words(measure, end) for end in ends)})"
    interval = getattr(setup.complete[0], INTERVALS[measure])
    return words if interval is None else f"{words} ({'–'.join(value_words(measure, end) for end in interval)})"


def _notes(found: SweepMap, cell: HeatCell) -> Iterator[str]:
    if cell.is_best_baseline:
        yield "★ the best baseline"
    if cell.on_front:
        yield "◆ on the front"
    if any(setup.other_inputs for setup in cell.setups):
        yield f"≠ its composite does not compare: {_inputs(found, cell)}"
    states = Counter[str](run.state for run in cell.runs)
    yield from (f"{states[state]} {state}" for state in STATE_ORDER if states[state])
    for run in cell.runs:
        if words := trouble_words(run):
            yield f"{run.name}: {words}"
            break


def _inputs(found: SweepMap, cell: HeatCell) -> str:
    usual = set(usual_inputs(found.record))
    odd = next(run for setup in cell.setups if setup.other_inputs for run in setup.cells if run.composite_inputs and set(run.composite_inputs) != usual)  # fmt: skip
    more, less = (sorted(set(odd.composite_inputs) - usual), sorted(usual - set(odd.composite_inputs)))
    parts = [f"it weighs {', '.join(more)}" if more else "", f"not {', '.join(less)}" if less else ""]
    return ", ".join(filter(None, parts))


def run_words(run: CellRecord) -> str:
    """Name a run of a cell where several are offered."""
    state = f"{run.state}, {run.done} of {run.total}" if run.state != "complete" else "complete"
    if run.headline:
        return f"{run.name} · {state} · {headline_words(run)}"
    return f"{run.name} · {state} · composite {figures.number(run.composite, 2)} · chrF++ {figures.number(run.chrf_plus_plus, 1)}"
