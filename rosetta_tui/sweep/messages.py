"""What the map of a sweep says in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from harness.sweep.record import CellRecord
from harness.sweep.state import CellMeasure, SweepSetup, effort_of, usual_inputs
from rosetta_tui.report.sweep import headline_words, trouble_words
from rosetta_tui.show import figures
from rosetta_tui.show.metric_words import value as metric_value
from rosetta_tui.sweep.grid import HeatCell, HeatGrid, SweepMap
from scoring.core.messages import counted
from scoring.core.metric_rows import short_title

TITLES = {
    CellMeasure.COMPOSITE: "composite",
    CellMeasure.CHRF: "chrF++",
    CellMeasure.COST: "US dollars for 1,000 entries",
    CellMeasure.SECONDS: "seconds an entry took",
}
"""What each measure is called where it is chosen, but for that which ranks runs of another task (``title_of``)."""

LESS_EFFORT = {CellMeasure.COST: "cheaper", CellMeasure.SECONDS: "faster"}
"""What a set-up is of which less of a measure is spent."""
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
    parts = (
        [f"{what}, the mean of the complete repetitions"] if found.record.replicates > 1 else [what]
    )
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
    others = f" · the best of {len(cell.setups)} set-ups here" if len(cell.setups) > 1 else ""
    yield name_words(found, shown) + (others if cell.shown else "")
    yield setup_numbers(shown)
    yield " · ".join(_notes(found, cell))


def setup_numbers(setup: SweepSetup) -> str:
    """Return what the complete repetitions of a set-up came to in every measure, and what may be said of it."""
    done = setup.complete
    if not done:
        return f"no complete run of {len(setup.cells)}"
    parts = [
        *(map(headline_words, done) if done[0].headline else _qualities(setup)),
        f"{value_words(CellMeasure.COST, setup.value(CellMeasure.COST))} for 1,000",
        f"{value_words(CellMeasure.SECONDS, setup.value(CellMeasure.SECONDS))} s",
        done[0].claimable_tier or "" if len(done) == 1 else f"mean of {len(done)} runs",
    ]
    return " · ".join(part for part in parts if part)


def _qualities(setup: SweepSetup) -> Iterator[str]:
    yield _quality(setup, CellMeasure.COMPOSITE)
    yield _quality(setup, CellMeasure.CHRF)


def _quality(setup: SweepSetup, measure: CellMeasure) -> str:
    words = f"{TITLES[measure]} {value_words(measure, setup.value(measure))}"
    values = setup.values(measure)
    if len(values) > 1:
        ends = (min(values), max(values))
        return f"{words} (runs {'–'.join(value_words(measure, end) for end in ends)})"
    interval = getattr(setup.complete[0], INTERVALS[measure])
    return words if interval is None else f"{words} ({'–'.join(value_words(measure, end) for end in interval)})"  # fmt: skip


def _notes(found: SweepMap, cell: HeatCell) -> Iterator[str]:
    if cell.is_best_baseline:
        yield "★ the best baseline"
    if cell.on_front:
        yield "◆ on the front"
    if any(setup.other_inputs for setup in cell.setups):
        yield f"≠ its composite does not compare: {_inputs(found, cell)}"
    for state, n in _states(cell.runs):
        yield f"{n} {state}"
    for run in cell.runs:
        if words := trouble_words(run):
            yield f"{run.name}: {words}"
            break


def _inputs(found: SweepMap, cell: HeatCell) -> str:
    usual = set(usual_inputs(found.record))
    odd = next(run for setup in cell.setups if setup.other_inputs for run in setup.cells if run.composite_inputs and set(run.composite_inputs) != usual)  # fmt: skip
    more, less = (
        sorted(set(odd.composite_inputs) - usual),
        sorted(usual - set(odd.composite_inputs)),
    )
    parts = [
        f"it weighs {', '.join(more)}" if more else "",
        f"not {', '.join(less)}" if less else "",
    ]
    return ", ".join(filter(None, parts))


def _states(runs: Sequence[CellRecord]) -> Iterator[tuple[str, int]]:
    for state in ("running", "waiting", "stopped", "raced-out", "complete"):
        if n := sum(run.state == state for run in runs):
            yield state, n


def run_words(run: CellRecord) -> str:
    """Name a run of a cell where several are offered."""
    state = f"{run.state}, {run.done} of {run.total}" if run.state != "complete" else "complete"
    if run.headline:
        return f"{run.name} · {state} · {headline_words(run)}"
    return f"{run.name} · {state} · composite {figures.number(run.composite, 2)} · chrF++ {figures.number(run.chrf_plus_plus, 1)}"
