"""The screen of a sweep: a map of two of its axes, read again while its workers continue."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from corpora.text.messages import counted
from harness.compare import MOST_RUNS
from harness.store.sqlite.database import Mark, mark_of
from harness.store.sweeps import StoredSweep, list_sweeps
from harness.sweep.record import sweep_record, with_missed
from harness.sweep.state import CellMeasure
from rosetta_tui.report.sweep import inside_words, missed_entry_words, missed_line, progress_lines
from rosetta_tui.show.text import plain
from rosetta_tui.sweep.grid import (
    BARS,
    HeatCell,
    HeatGrid,
    SweepMap,
    cell_words,
    chosen_words,
    run_words,
    standing_words,
    title_of,
    together_words,
)
from rosetta_tui.toolkit.background import background
from rosetta_tui.toolkit.content import EmptyState, StatusBar, show
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, ReportAsked, RunChosen, RunsCompared
from rosetta_tui.toolkit.result_table import crop

# ---- The map itself: a cell is a bar, a number and signs, so that it is read without colours.

MOST_TITLE = 16  # cells that the title of a column takes at most
GAP = 2  # cells between two columns

_TONES = ("$bad", "$bad", "$warn", "$warn", "", "", "$good", "$good")
"""Of the eighths from the worst to the best; the bar says the same."""


@dataclass(frozen=True, slots=True)
class HeatLayout:
    """How many rows and columns of a map are seen, and how wide they are."""

    names: int  # cells for the titles of the rows
    number: int  # cells for the number, or the words in its place
    width: int  # cells of a column, without the gap
    columns: int
    rows: int

    @classmethod
    def of(cls, grid: HeatGrid, width: int, height: int) -> HeatLayout:
        """Share out the room; at least one row and one column."""
        names = min(max(cell_len(plain(label)) for label in (grid.down, *grid.rows)), width // 3)
        number = max(len(cell_words(grid, cell)) for cell in grid.cells.values())
        signs = max(len(cell.signs) for cell in grid.cells.values())
        title = max(min(cell_len(plain(column)), MOST_TITLE) for column in grid.columns)
        column = min(max(2 + number + (signs + 1 if signs else 0), title), max(1, width - names - GAP))
        fitting = (width - names) // (column + GAP)
        return cls(names, number, column, max(1, fitting), max(1, height - 2))


class HeatView(Widget, can_focus=True):
    """Draws as many rows and columns as there is room for, around the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", id="open"),
        Binding("up,k", "move(-1, 0)", "Up", show=False, id="table.up"),
        Binding("down,j", "move(1, 0)", "Down", show=False, id="table.down"),
        Binding("left,h", "move(0, -1)", "Left", show=False, id="sweep.left"),
        Binding("right,l", "move(0, 1)", "Right", show=False, id="sweep.right"),
        Binding("home,g", "move(-1000000, -1000000)", "First cell", show=False, id="table.first"),
        Binding("end,G", "move(1000000, 1000000)", "Last cell", show=False, id="table.last"),
    ]

    class CellMoved(Message):
        """Another cell has the cursor."""

    @dataclass
    class CellChosen(Message):
        cell: HeatCell

    def __init__(self) -> None:
        super().__init__(id="map")
        self.grid: HeatGrid | None = None
        self.row = self.column = 0  # of the cursor
        self._top = self._first = 0  # row and column that are seen first

    @property
    def cell(self) -> HeatCell | None:
        """The cell under the cursor; None where the plan excludes it."""
        return None if self.grid is None else self.grid.cells.get((self.row, self.column))

    def show_grid(self, grid: HeatGrid) -> None:
        """Draw another map; the cursor keeps its place where the axes are the same."""
        old, self.grid = self.grid, grid
        if old is None or (old.down, old.across) != (grid.down, grid.across):
            self.row, self.column = next(iter(grid.cells), (0, 0))
        self._stay()
        self.refresh()

    def _stay(self) -> None:
        if self.grid is not None:
            self.row = max(0, min(self.row, len(self.grid.rows) - 1))
            self.column = max(0, min(self.column, len(self.grid.columns) - 1))

    def render(self) -> Content:
        grid, (width, height) = self.grid, self.size
        if grid is None or not grid.cells or width < 20 or height < 3:
            return Content("")
        seen = HeatLayout.of(grid, width, height)
        self._top = _in_view(self.row, self._top, seen.rows, len(grid.rows))
        self._first = _in_view(self.column, self._first, seen.columns, len(grid.columns))
        columns = range(self._first, min(self._first + seen.columns, len(grid.columns)))
        rows = range(self._top, min(self._top + seen.rows, len(grid.rows)))
        # Name both axes, and say which part of them is seen.
        down = f"{grid.down} ↓{_part(rows, len(grid.rows))}" if grid.down else ""
        across = f"{grid.across} →{_part(columns, len(grid.columns))}" if grid.across else ""
        words = "   ".join(filter(None, (down, across, "▁ worst … █ best" if grid.ranks else "")))
        axis = Content.styled(crop(words, self.size.width), "$quiet")
        parts = [" " * seen.names]
        parts += [" " * GAP + crop(grid.columns[column], seen.width) for column in columns]
        titles = Content.styled("".join(parts), "bold")
        lines = [axis, titles]
        lines += [self._line(grid, seen, row, columns) for row in rows]
        return Content("\n").join(lines)

    def _line(self, grid: HeatGrid, seen: HeatLayout, row: int, columns: range) -> Content:
        here = row == self.row
        parts = [Content.styled(crop(grid.rows[row], seen.names), "bold" if here else "")]
        for column in columns:
            cursor = here and column == self.column
            parts.append(Content("▸".rjust(GAP) if cursor else " " * GAP))
            cell = grid.cells.get((row, column))
            if cell is None:
                parts.append(Content.styled(crop("·", seen.width), "reverse" if cursor else "$quiet"))
                continue
            level = grid.level(cell)
            tone = "$quiet" if level is None else _TONES[level]
            words = crop(f" {cell_words(grid, cell):>{seen.number}} {cell.signs}", seen.width - 1)
            parts.append(Content.styled(" " if level is None else BARS[level], tone))
            parts.append(Content.styled(words, f"bold reverse {tone}".strip() if cursor else tone))
        return Content("").join(parts)

    # What happens to it

    def action_move(self, down: int, across: int) -> None:
        self.row += down
        self.column += across
        self._stay()
        self.refresh()
        self.post_message(self.CellMoved())

    def action_choose(self) -> None:
        if self.cell is not None:
            self.post_message(self.CellChosen(self.cell))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if self.grid is None or offset is None or offset.y < 2:
            return
        seen = HeatLayout.of(self.grid, *self.size)
        row = self._top + offset.y - 2
        column = self._first + max(0, offset.x - seen.names) // (seen.width + GAP)
        if row < len(self.grid.rows) and column < len(self.grid.columns):
            self.action_move(row - self.row, column - self.column)
            if event.chain >= 2:
                self.action_choose()

    def on_mouse_scroll_down(self) -> None:
        self.action_move(1, 0)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-1, 0)


def _in_view(here: int, first: int, room: int, count: int) -> int:
    """Return the first of ``count`` that is seen, so that ``here`` is among the ``room`` that are."""
    return max(0, min(max(first, here - room + 1), here, count - room))


def _part(seen: range, count: int) -> str:
    return "" if len(seen) == count else f" {seen.start + 1}–{seen.stop} of {count}"


REFRESH_SECONDS = 2.0  # how often the store is examined again


class SweepsFound(NamedTuple):
    sweeps: list[StoredSweep]  # all there are, the newest first
    shown: SweepMap | None  # the one that is wanted; None where there is none
    mark: Mark  # how the store's files looked before


class SweepScreen(Screen[None]):
    """One sweep at a time, the newest first."""

    TITLE = "Sweeps"
    HELP = (
        "A cell holds every set-up that has its two values. Of one set-up the complete repetitions count as their mean; of "
        "several set-ups, which differ in axes that are not shown, the best one by what is shown is there.\n"
        "▁ … █ from the worst to the best of this map   · excluded by the plan   – the axis means nothing to the method\n"
        "★ the best baseline: a model as it comes (raw-llm), a copy of the source, a constant.\n"
        "◆ no set-up is both better and cheaper; where all are free, both better and faster.\n"
        "≠ its composite weighs other metrics than most, so it does not compare; chrF++ does.\n"
        "✗ entries failed   ! a run stopped   ▶ runs, with the share that is done   … waits   ■ raced out"
    )
    CSS_PATH = "sweep.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "measure", "Value", tooltip="Quality, cost or speed", id="sweep.measure"),
        Binding("x", "across", "Across", tooltip="The axis that goes across", id="sweep.across"),
        Binding("d", "down", "Down", tooltip="The axis that goes down", id="sweep.down"),
        Binding("e", "missed", "Missed", tooltip="Entries that all runs miss", id="sweep.missed"),
        Binding("L", "sweeps", "Sweeps", tooltip="Another sweep", id="sweep.list"),
        Binding("c", "compare", "Compare", tooltip="Compare the complete repeats", id="sweep.compare"),
        Binding("E", "report", "Report", tooltip="Write a page of the sweep", id="report"),
        Binding("r", "read", "Refresh", show=False, id="refresh"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "leave", "Back", key_display="q", id="back"),
    ]
    view = getters.query_one(HeatView)

    def __init__(self, store_path: Path, sweep_id: str | None = None) -> None:
        """Show the sweep of this id, the newest where it is None."""
        super().__init__()
        self._path, self._id = store_path, sweep_id
        self._sweeps: list[StoredSweep] = []
        self._map: SweepMap | None = None
        self._mark: Mark | None = None
        self._measure = self._quality = CellMeasure.COMPOSITE
        self._axes: dict[str, str] = {}  # `down` and `across` → the axis that a person chose

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield EmptyState("Reading …")
        yield Static(id="head")
        yield HeatView()
        yield Static(id="chosen")
        yield KeyLine(palette_from=110)

    def on_mount(self) -> None:
        self._show_map(there=False)
        self.set_interval(REFRESH_SECONDS, self.look_again)
        self.call_after_refresh(self.action_read)  # the first frame waits for no reading

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if self._map is None:
            return action in {"leave", "read"}
        repeats = self._map.is_of_repeats
        if action == "compare":
            return repeats and bool(self._comparable)
        return not (repeats and action in {"across", "down"})

    # Reading

    def action_read(self) -> None:
        background(self, self._path, "sweep", self._read, self._take, self._cannot)

    def look_again(self) -> None:
        """Read again what continues, or changed; nothing while a look is under way."""
        going = self._map is not None and self._map.record.state in {"running", "stopping"}
        looks = (w for w in self.workers if w.node is self and w.group == "sweep")
        if not self.is_current or not all(look.is_finished for look in looks):
            return
        if going or mark_of(self._path) != self._mark:
            self.action_read()

    def _read(self, store: sqlite3.Connection) -> SweepsFound:
        mark, sweeps = mark_of(self._path), list_sweeps(store)
        wanted = next((sweep for sweep in sweeps if sweep.id == self._id), None)
        wanted = wanted or next(iter(sweeps), None)
        if wanted is None:
            return SweepsFound(sweeps, None, mark)
        # What all its complete runs miss is read again when another run is complete.
        record, before = sweep_record(store, wanted), self._map
        if before is None or before.record.complete != record.complete:
            record = with_missed(store, record)
        else:
            record = record.model_copy(update={"missed": before.record.missed})
        return SweepsFound(sweeps, SweepMap(record), mark)

    def _cannot(self, why: str) -> None:
        self.query_one(EmptyState).say("The sweeps cannot be read.", show(why))
        self._show_map(there=False)

    def _show_map(self, *, there: bool) -> None:
        """Show the map, or the words in its place."""
        self.query_one(EmptyState).display = not there
        for name in ("#head", "HeatView", "#chosen"):
            self.query_one(name).display = there

    def _take(self, found: SweepsFound) -> None:
        self._sweeps, self._map, self._mark = found
        self.query_one(EmptyState).say(
            "There is no sweep yet.",
            "A sweep runs every combination of a plan's models, temperatures, prompts, coaching and tools.\n\n"
            "rosetta sweep demo.toml  begins one: no key, no network\n"
            "q  goes back",
        )
        first = not self.view.display
        self._show_map(there=self._map is not None)
        if self._map is None:
            self.query_one(StatusBar).say(Content())
            return
        if first:
            self.view.focus()
        self._show()

    # Showing

    @property
    def _shown_axes(self) -> tuple[str, str]:
        """The axes down and across: as chosen, else the first two; empty where there are not that many."""
        axes = () if self._map is None else self._map.axes
        down = self._axes.get("down", "")
        down = down if down in axes else next(iter(axes), "")
        across = self._axes.get("across", "")
        others = [axis for axis in axes if axis != down]
        return down, across if across in others else next(iter(others), "")

    def _show(self) -> None:
        if self._map is None:
            return
        first, *_ = offered = self._map.measures
        self._measure = self._measure if self._measure in offered else first
        self._quality = self._quality if self._quality in offered else first
        grid = self._map.grid(*self._shown_axes, self._measure, self._quality)
        self.view.show_grid(grid)
        record = self._map.record
        which = f"{record.name} · {record.id}"
        more = f" · one of {len(self._sweeps)}, L" if len(self._sweeps) > 1 else ""
        self.query_one(StatusBar).say(show(which + more, "$quiet"))
        lines = [show(line, "$quiet") for line in progress_lines(record)]
        if record.inside:
            lines.append(show(inside_words(record)))
        elif self._map.is_of_repeats:
            complete = sum(run.state == "complete" for run in record.cells)
            then = " · c compares them" if complete > 1 else ""
            lines.append(show(f"{complete} of {counted(len(record.cells), 'repeat')} complete{then}", "bold"))
        else:
            lines.append(show(f"{together_words(self._map, grid)}."))
            lines.append(show(standing_words(self._map, self._quality)))
        if record.missed is not None:
            lines.append(show(f"{missed_line(record.missed)}{' · e' if record.missed.missed else ''}"))
        self.query_one("#head", Static).update(Content("\n").join(lines))
        self._moved()

    @on(HeatView.CellMoved)
    def _moved(self) -> None:
        cell, line = self.view.cell, self.query_one("#chosen", Static)
        self.refresh_bindings()
        if self._map is None or cell is None:
            line.update(Content.styled("The plan has no run here.\n\n", "$quiet"))
            return
        name, numbers, notes = chosen_words(self._map, cell)
        asks = cell.state == "stopped" or "≠" in cell.signs or cell.failed
        contents = [show(name, "$quiet"), show(numbers), show(notes, "$warn" if asks else "$quiet")]
        line.update(Content("\n").join(contents))

    # Keys

    def action_measure(self) -> None:
        def chosen(name: str) -> None:
            self._measure = CellMeasure(name)
            self._quality = self._measure if self._measure.is_quality else self._quality
            self._show()

        if self._map is None:
            return
        words = {measure.value: title_of(measure, self._map.headline) for measure in self._map.measures}
        choose(self.app, "Show in the cells", words, self._measure.value, chosen)

    def action_across(self) -> None:
        self._ask_axis("across")

    def action_down(self) -> None:
        self._ask_axis("down")

    def _ask_axis(self, way: str) -> None:
        axes = () if self._map is None else self._map.axes
        down, across = self._shown_axes
        if len(axes) < 2:
            self.notify("This sweep has one axis with several values.", markup=False)
            return

        def chosen(axis: str) -> None:
            now = {"down": down, "across": across}
            other = "across" if way == "down" else "down"
            self._axes = {way: axis, other: now[way] if now[other] == axis else now[other]}
            self._show()

        words = {axis: plain(axis) for axis in axes}
        choose(self.app, f"Axis that goes {way}", words, down if way == "down" else across, chosen)

    def action_missed(self) -> None:
        missed = None if self._map is None else self._map.record.missed
        if missed is None or not missed.listed:
            self.notify("There is no entry that two complete runs or more all miss.", markup=False)
            return
        more = missed.missed - len(missed.listed)
        title = "Entries that all runs miss" + (f" (and {more:,} more)" if more else "")
        words = {str(n): missed_entry_words(entry) for n, entry in enumerate(missed.listed)}

        def chosen(number: str) -> None:
            self.post_message(RunChosen(missed.listed[int(number)].best_run, complete=True))

        choose(self.app, title, words, "0", chosen)

    def action_sweeps(self) -> None:
        words = {sweep.id: plain(f"{sweep.name} · {sweep.id}") for sweep in self._sweeps}
        if self._map is None or not words:
            return
        now = next(sweep for sweep in self._sweeps if sweep.id == self._map.record.id)

        def chosen(sweep_id: str) -> None:
            self._id = sweep_id
            self.action_read()

        choose(self.app, "Sweeps", words, now.id, chosen)

    @on(HeatView.CellChosen)
    def _open(self, message: HeatView.CellChosen) -> None:
        """Open the run of a cell; of several, ask which."""
        begun = {run.run_id: run for run in message.cell.runs if run.run_id is not None}
        if not begun:
            self.notify("No run of this cell has begun yet.", markup=False)
        elif len(begun) == 1:
            self._open_run(next(iter(begun)), message)
        else:
            words = {run_id: plain(run_words(cell_record)) for run_id, cell_record in begun.items()}
            choose(self.app, "Runs of this cell", words, next(iter(begun)), lambda run_id: self._open_run(run_id, message))  # fmt: skip

    def _open_run(self, run_id: str, message: HeatView.CellChosen) -> None:
        run = next(run for run in message.cell.runs if run.run_id == run_id)
        self.post_message(RunChosen(run_id, run.state == "complete"))

    @property
    def _comparable(self) -> tuple[str, ...]:
        """The complete runs of the cell under the cursor, or all repeats, as many as a comparison takes."""
        cell = self.view.cell
        is_of_repeats = self._map is not None and self._map.is_of_repeats
        runs = self._map.record.cells if self._map and is_of_repeats else () if cell is None else cell.runs
        complete = [run.run_id for run in runs if run.run_id is not None and run.state == "complete"]
        return tuple(complete[:MOST_RUNS]) if len(complete) > 1 else ()

    def action_compare(self) -> None:
        self.post_message(RunsCompared(self._comparable))

    def action_report(self) -> None:
        if self._map is not None:
            of = self._map.record.id
            self.post_message(ReportAsked("sweep", of, f"sweep-{of}"))

    def action_leave(self) -> None:
        self.post_message(BackRequested())
