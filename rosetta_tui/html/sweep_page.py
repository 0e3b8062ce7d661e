"""The page of a sweep: what was swept, a map of two axes, quality against cost, and every run with its interval."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpora.text.messages import counted
from harness.store.runs import find_by_id
from harness.store.sweeps import StoredSweep
from harness.sweep.record import CellRecord, SweepRecord, sweep_record
from harness.sweep.state import CellMeasure, SweepSetup, effort_of, usual_inputs
from rosetta_tui.html.chart import Scatter, ScoreLine, score_chart
from rosetta_tui.html.chart import scatter as scatter_chart
from rosetta_tui.html.page import Fact, render, shortened
from rosetta_tui.plots.points import PlotKind, PlotPicture, Point
from rosetta_tui.report.sweep import claimed, headline_words, inside_words, progress_lines, trouble_words
from rosetta_tui.show import figures
from rosetta_tui.sweep.grid import (
    INTERVALS,
    LESS_EFFORT,
    TITLES,
    HeatGrid,
    SweepMap,
    cell_words,
    name_words,
    setup_numbers,
    standing_words,
    title_of,
    together_words,
    value_words,
)


@dataclass(frozen=True, slots=True)
class MapCell:
    """Where two values meet."""

    words: str  # the number, or how far its runs are; empty where the plan has no run
    level: int | None  # how good it is beside the others, 1 to 8; None where nothing is drawn
    signs: str


@dataclass(frozen=True, slots=True)
class MapRow:
    """One value of the axis that goes down."""

    name: str
    cells: tuple[MapCell, ...]


@dataclass(frozen=True, slots=True)
class SweptRow:
    """The words about one run next to its bar."""

    claim: str
    beside: tuple[Fact, ...]
    notes: tuple[str, ...]


def sweep_page(connection: sqlite3.Connection, sweep: StoredSweep) -> str:
    """Return the page of what a sweep has come to so far."""
    record = sweep_record(connection, sweep)
    begun = next((cell.run_id for cell in record.cells if cell.run_id is not None), "")
    run = find_by_id(connection, begun)
    corpus = "" if run is None else f"{run.dataset_id} · {run.language_pair}"
    return page_of_sweep(record, corpus)


def page_of_sweep(found: SweepRecord, corpus: str) -> str:
    """Return the page of what a sweep has come to; ``corpus`` is empty where no run has begun."""
    of = SweepMap(found)
    # Show quality by what ranks the runs, or by chrF++ where no translation has a composite.
    scored = any(setup.values(CellMeasure.COMPOSITE) for setup in of.setups)
    quality = CellMeasure.HEADLINE if of.headline else CellMeasure.COMPOSITE if scored else CellMeasure.CHRF
    by_size = sorted(of.axes, key=lambda axis: -len(of.labels(axis)))
    down, across = (*by_size, "", "")[:2]
    grid = of.grid(down, across, quality, quality)
    # Draw every run in the order of the plan, with a line at the best baseline.
    baseline = of.best_baseline(quality)
    reached = None if baseline is None else baseline.value(quality)
    words = "" if baseline is None else f"the best baseline, {name_words(of, baseline)}: {value_words(quality, reached, of.headline)}"  # fmt: skip
    usual = usual_inputs(of.record)
    lines = [_line(cell, quality, usual) for cell in of.record.cells]
    caption = f"Every run by {title_of(quality, of.headline)}"
    metric = of.headline if quality is CellMeasure.HEADLINE else quality.value
    chart = score_chart(caption, "run", metric, lines, line=reached, line_words=words)
    effort = effort_of(of.setups)
    return render(
        "sweep.html.j2",
        name=found.name,
        id=found.id,
        progress=tuple(progress_lines(found)),
        swept=tuple(_swept(found, corpus)),
        standing=inside_words(found) if found.inside else standing_words(of, quality),
        grid=grid,
        rows=tuple(_rows(grid)),
        together=together_words(of, grid),
        scatter=_scatter(of, quality, effort),
        filled=f"no set-up is both better and {LESS_EFFORT[effort]}",
        chart=chart,
        runs=tuple(zip(chart.bars, map(_beside, found.cells), strict=True)),
    )


def _swept(found: SweepRecord, corpus: str) -> Iterator[Fact]:
    """Yield what was swept over what, and what it cost."""
    entries = counted(max((cell.total for cell in found.cells), default=0), "entry", "entries")
    yield Fact("corpus", f"{corpus or 'no run has begun'} · {entries} a run")
    yield Fact("plan", Path(found.plan).name)
    for axis, labels in found.axes.items():
        yield Fact(axis, shortened(", ".join(labels)))
    yield Fact("replicates", str(found.replicates))
    costs = [cell.cost_usd for cell in found.cells if cell.state == "complete"]
    known = sum(cost for cost in costs if cost is not None)
    if costs:
        total = None if None in costs else known
        yield Fact("cost of the complete runs", figures.cost(total, known))


def _rows(grid: HeatGrid) -> Iterator[MapRow]:
    for row, name in enumerate(grid.rows):
        cells = []
        for column in range(len(grid.columns)):
            if (cell := grid.cells.get((row, column))) is None:
                cells.append(MapCell("", None, ""))
                continue
            level = grid.level(cell)
            cells.append(MapCell(cell_words(grid, cell), None if level is None else level + 1, cell.signs))
        yield MapRow(name, tuple(cells))


def _scatter(of: SweepMap, quality: CellMeasure, effort: CellMeasure) -> Scatter | None:
    """Draw the set-ups that have both and compare; None where there are fewer than two."""
    unbeaten, baseline = of.front(quality), of.best_baseline(quality)
    points = tuple(
        Point(
            setup.cells[0].name,
            ("★ " if setup is baseline else "") + name_words(of, setup),
            took,
            setup_numbers(setup),
            up=reached,
            up_ends=_ends(setup, quality),
            front=any(setup is other for other in unbeaten),
        )
        for setup in of.setups
        if setup.compares_by(quality)
        and (reached := setup.value(quality)) is not None
        and (took := setup.value(effort)) is not None
    )
    if len(points) < 2:
        return None
    paid = [point.across for point in points if point.across > 0]
    left = len(of.setups) - len(points)
    picture = PlotPicture(
        PlotKind.COST,
        TITLES[effort],
        title_of(quality, of.headline),
        points,
        lambda at: value_words(effort, at),
        lambda at: value_words(quality, at, of.headline),
        logarithmic=bool(paid) and max(paid) > 20 * min(paid),
        beside=f"Not drawn: {counted(left, 'set-up')} without both numbers, or that does not compare." if left else "",
    )  # fmt: skip
    return scatter_chart(f"{title_of(quality, of.headline)} against {TITLES[effort]}", picture)


def _ends(setup: SweepSetup, quality: CellMeasure) -> tuple[float, float] | None:
    """Return the interval of a single run; of repetitions the least and the greatest value."""
    values = setup.values(quality)
    if len(values) > 1:
        return min(values), max(values)
    return next((getattr(cell_record, INTERVALS[quality]) for cell_record in setup.complete), None)


def _line(each: CellRecord, quality: CellMeasure, usual: tuple[str, ...]) -> ScoreLine:
    """Return what a run reached; what does not compare, or is not complete, is named and not drawn."""
    ends, score = getattr(each, INTERVALS[quality]), getattr(each, quality.value)
    other = quality is CellMeasure.COMPOSITE and each.composite_inputs not in ((), usual)
    words = value_words(quality, score, each.headline) + (" ≠" if other else "")
    if ends is not None:
        words += f" ({'–'.join(value_words(quality, end, each.headline) for end in ends)})"
    if score is not None and each.state != "complete":
        words += " so far"
    drawn = each.state == "complete" and not other
    return ScoreLine(each.name, score if drawn else None, ends if drawn else None, words)


def _beside(each: CellRecord) -> SweptRow:
    state = each.state if each.state == "complete" else f"{each.state}, {each.done} of {each.total}"
    measures = (CellMeasure.CHRF, CellMeasure.COST, CellMeasure.SECONDS)
    facts = (
        Fact("state", f"{state} (the store had it)" if each.reused else state),
        *([Fact("score", headline_words(each))] if each.headline else []),
        *(
            Fact(TITLES[measure], value_words(measure, reached))
            for measure in measures
            if (reached := getattr(each, measure.value)) is not None
        ),
        Fact("run", (each.run_id or "–")[:8]),
    )
    return SweptRow(claimed(each), facts, tuple(filter(None, [shortened(trouble_words(each))])))
