"""Why a run is worse: the most frequent findings of its outputs in a line, all of them in a table that filters."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content

from corpora.text.messages import percent, shortened
from harness.compare.parts import RunFindings
from harness.core.query import QueryTerm
from harness.store.runs import Run, read_run
from rosetta_tui.entry.pane import PanedScreen
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.request.draft_of_run import draft_values
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Record, Rows, Value
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import background, telling
from rosetta_tui.toolkit.content import DetailLine, show
from rosetta_tui.toolkit.messages import NewRunAsked
from rosetta_tui.toolkit.result_table import ResultTable, TableMessage
from scoring.findings.content import STRIPPED_BY
from scoring.findings.finding import FindingCode, OutputFinding, finding_name

REASONS = Binding("w", "reasons", "Why", tooltip="What is wrong with the outputs, counted", id="reasons")
BOTH = 30  # lines of a screen below which reasons go when parts or entries are wanted, so that entries are seen
MOST_ROWS = 8  # reasons that the open table shows at once
IN_LINE = 4  # reasons that the line names
QUOTED = 26  # characters of an example in the line
_QUOTING = frozenset({FindingCode.BEGINNING, FindingCode.ENDING, FindingCode.LETTERS})  # named by their example alone


class ReasonRow(NamedTuple):
    """One kind of finding, in one run or in each of two."""

    code: FindingCode
    found: tuple[OutputFinding | None, ...]  # by run; None where it has none
    counts: tuple[int, ...]
    totals: tuple[int, ...]
    fixes: tuple[float | None, ...] = ()  # points of chrF++ that stripping gains each run

    @property
    def example(self) -> str:
        """Return what shows it, of the first run that has it. Hostile text."""
        return next((plain(text) for one in self.found if one is not None for text in one.examples), "")

    def cost(self, side: int) -> float | None:
        """Return the points of chrF++ that it costs a run, below 0; None where that cannot be computed."""
        one = self.found[side]
        return None if one is None or one.cost is None else -one.cost


def reasons_of(sides: Sequence[tuple[RunFindings, Collection[int] | None]]) -> list[ReasonRow]:
    """Return the findings of runs side by side, those first whose counts differ most, of one run the most frequent.

    With each run go the places in the corpus that count; None: all.
    """
    reasons = []
    for code in FindingCode:
        in_runs = tuple(next((one for one in run.findings if one.code is code), None) for run, _ in sides)
        counts = tuple(
            sum(wanted is None or place in wanted for place in run.positions.get(code, ())) for run, wanted in sides
        )
        totals = tuple(run.done if wanted is None else len(wanted) for run, wanted in sides)
        if any(counts):
            reasons.append(ReasonRow(code, in_runs, counts, totals, tuple(run.fixes.get(code) for run, _ in sides)))
    if len(sides) == 1:
        return sorted(reasons, key=lambda reason: -reason.counts[0])
    return sorted(reasons, key=lambda reason: (min(reason.counts) - max(reason.counts), -max(reason.counts)))


class ReasonRows(Rows[ReasonRow]):
    """One row for each reason."""

    def key(self, index: int) -> Hashable:
        reason = self.items[index]
        return (reason.code, reason.counts)

    def cells(self, index: int) -> Sequence[Cell]:
        reason = self.items[index]
        numbers = []
        for side, (count, total) in enumerate(zip(reason.counts, reason.totals, strict=True)):
            cost = reason.cost(side)
            numbers += [
                Cell(figures.count(count)),
                Cell(percent(count / total) if total else figures.NONE, "quiet"),
                Cell(
                    "" if cost is None else figures.signed(cost, 1), "bad" if cost is not None and cost < 0 else "quiet"
                ),
            ]
        gains = [figures.signed(gain, 1) for gain in reason.fixes if gain is not None]
        fix = Cell(f"a: strip, {' '.join(gains)}" if gains else "", "good")
        return (Cell(finding_name(reason.code)), *numbers, fix, Cell(reason.example, "quiet"))

    def record(self, index: int) -> Record:
        """Return the numbers of one row; examples are texts and stay here."""
        reason = self.items[index]
        record: dict[str, Value] = {"reason": reason.code.value}
        for side, count in enumerate(reason.counts, 1):
            record |= {
                f"count_{side}": count,
                f"of_{side}": reason.totals[side - 1],
                f"cost_{side}": reason.cost(side - 1),
            }
        return record


def _columns(letters: Sequence[str]) -> tuple[Column, ...]:
    sides = [
        (
            Column(f"count {letter}", f"in {letter}" if letter else "entries", 7, right=True),
            Column(f"share {letter}", "share", 6, right=True, drop=3),
            Column(f"cost {letter}", "chrF++", 6, right=True, drop=2),
        )
        for letter in letters
    ]
    return (
        Column("reason", "why (enter: these entries)", 26),
        *(column for side in sides for column in side),
        Column("fix", "can be taken off", 17, drop=1),
        Column("example", "such as", 12, share=1),
    )


class ReasonsTable(ResultTable):
    """The reasons, away until a key opens them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "adopt", "Strip", tooltip="A new run that takes this off outputs", id="reasons.adopt"),
        Binding("escape", "screen.reasons", "Close", show=False, id="reasons.leave"),
    ]

    def __init__(self) -> None:
        super().__init__(_columns(("",)), id="reasons")
        self.display = False

    @dataclass
    class Adopted(TableMessage):
        """A new run is wanted that takes off what a reason is about."""

        index: int

    def action_adopt(self) -> None:
        self.post_message(self.Adopted(self, self.cursor))

    def show_reasons(self, reasons: Sequence[ReasonRow], letters: Sequence[str]) -> None:
        """Show the reasons of one run, or of runs with these letters."""
        self.show_columns(_columns(letters))
        self.show_rows(ReasonRows(reasons), self.cursor)
        self.styles.height = 1 + min(len(reasons), MOST_ROWS, max(3, self.screen.size.height // 5))


class ReasonedScreen(PanedScreen):
    """Has entries, their pane, and the reasons why they are not better; a reason filters the entries."""

    store_path: Path
    reasons: Sequence[ReasonRow] = ()
    examined = ""  # where they are counted in a part of the outputs: how many

    def show_reasons(self, reasons: Sequence[ReasonRow], letters: Sequence[str]) -> None:
        """Show reasons in line and table."""
        self.reasons = reasons
        self.query_one("#why", DetailLine).tell(reasons_line(reasons, self.examined))
        self.query_one("#why").set_class(not reasons, "-none")
        self.query_one(ReasonsTable).show_reasons(reasons, letters)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "reasons":
            return bool(self.reasons)
        return super().check_action(action, parameters)

    def action_reasons(self) -> None:
        table = self.query_one(ReasonsTable)
        table.display = not table.has_focus
        self.set_focus(table if table.display else self.table)  # at once: the next key is meant for it

    @on(ResultTable.Chosen, "#reasons")
    def _reason_chosen(self, event: ResultTable.Chosen) -> None:
        self.toggle(QueryTerm("why", ":", self.reasons[event.index].code))
        if self.app.size.height < BOTH:
            self.query_one(ReasonsTable).display = False
            self.table.focus()

    def run_of(self, reason: ReasonRow) -> Run | None:
        """Return the run whose outputs show a reason most."""
        raise NotImplementedError

    @on(ReasonsTable.Adopted)
    def _adopt(self, event: ReasonsTable.Adopted) -> None:
        """Open the form of a new run like this one, with the option that takes off what the reason is about."""
        reason = self.reasons[event.index]
        step, run = STRIPPED_BY.get(reason.code), self.run_of(reason)
        if run is None or step is None or not any(gain is not None for gain in reason.fixes):
            self.notify("No rule takes this off an output.", markup=False)
            return

        def read(store: sqlite3.Connection) -> RunDraft:
            values = draft_values(read_run(store, run.id), store)
            before = values.get("strip", ())
            steps = {step, *((before,) if isinstance(before, str) else before)}
            return RunDraft.of({**values, "strip": tuple(sorted(steps))})

        cannot = telling(self, "New run")
        background(self, self.store_path, "adopt", read, lambda draft: self.post_message(NewRunAsked(draft)), cannot)


def reason_words(reason: ReasonRow, *, width: int = 0) -> Content:
    """Return a reason with its counts, in two runs "35 → 0", and its cost, at the end of ``width`` cells if told."""
    counts = " → ".join(map(figures.count, reason.counts))
    cost = reason.cost(len(reason.counts) - 1) if len(reason.counts) == 1 else None
    points = "" if cost is None else f" {figures.signed(cost, 1)}"
    quoted = shortened(reason.example, QUOTED) if reason.code in _QUOTING else ""
    words = show(f" “{quoted}”" if quoted else "", "$quiet")
    head = Content.assemble((f"{counts:>4}" if width else counts, "bold"), f" {finding_name(reason.code)}", words)
    head = head.truncate(width - len(points), ellipsis=True, pad=True) if width else head
    return head.append(Content.styled(points, "$bad"))


def reasons_line(reasons: Sequence[ReasonRow], examined: str = "") -> Content:
    """Return the first reasons in a line, after how many outputs were ``examined`` if not all, and the key for the rest."""
    parts = [reason_words(reason) for reason in reasons[:IN_LINE]]
    more = len(reasons) - len(parts)
    tail = f"   {more} more: w" if more > 0 else "   w lists them"
    return Content.assemble(
        (f"Why  {examined}", "$quiet"), Content.styled(" · ", "$quiet").join(parts), (tail, "$quiet")
    )
