"""Runs side by side: who is better and how sure that is, and the entries on which they differ."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from harness.compare.comparing import compare_runs
from harness.compare.comparison import Comparison
from harness.compare.parts import RunFindings, run_findings
from harness.core.failures import HarnessError
from harness.core.query import Query, QueryTerm
from harness.store.runs import Run
from harness.store.sqlite.database import open_store, opened
from rosetta_tui.compare import difference_panel
from rosetta_tui.compare.actions import RunChoice
from rosetta_tui.compare.detail_screens import (
    ComparedEntryScreen,
    ComparedPartsScreen,
    EntryOfRuns,
    entry_of_runs,
    page_lines,
)
from rosetta_tui.compare.lines import ordered
from rosetta_tui.compare.sentences import lettered, name
from rosetta_tui.compare.table import ComparedTable, ComparedTexts, ComparisonView, sort_words
from rosetta_tui.entry.page import RunPages, findings_line, how_made, prompts
from rosetta_tui.entry.pane import GONE, PANE, EntryPage, EntryPane, RowsAndPane
from rosetta_tui.entry.reasons import REASONS, ReasonedScreen, ReasonRow, ReasonsTable, reasons_of
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import background, bring
from rosetta_tui.toolkit.content import DetailLine, EmptyState, PageLine, StatusBar, show
from rosetta_tui.toolkit.dialogs.choose import choose
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import Copied
from rosetta_tui.toolkit.ordered_table import MATCHES
from rosetta_tui.toolkit.pages import readable
from rosetta_tui.toolkit.query_line import QueryLine
from rosetta_tui.toolkit.result_table import ResultTable


@dataclass(frozen=True, slots=True)
class Stage:
    """What is known so far."""

    comparison: Comparison
    tested: bool  # false where no interval and no p of a finished pair is worth anything yet


def stages(
    path: Path, runs: Sequence[str], baseline: str | None, *, quick: bool, earlier: Comparison | None = None
) -> Iterator[Stage]:
    """Compare runs of the store at a path; for its own thread.

    With ``quick`` values and entries come first, in a tenth of the time. Where every pair is under way nothing
    is tested: what may be said of it needs no shuffles. Of what was compared ``earlier`` only what is new is
    read. Raises HarnessError as ``compare_runs`` does.
    """
    known, untested = earlier, True
    with opened(path) as store:
        if quick:
            known = compare_runs(store, runs, baseline=baseline, draws=1, trials=1, earlier=known)
            untested = _is_all_under_way(known)
            yield Stage(known, tested=False)
        comparison = None
        if untested:
            comparison = known = compare_runs(store, runs, baseline=baseline, trials=1, earlier=known)
        if comparison is None or not _is_all_under_way(comparison):
            comparison = compare_runs(store, runs, baseline=baseline, earlier=known)
        yield Stage(comparison, tested=True)


def _examined(comparison: Comparison, side: int) -> tuple[int, int]:
    """Return the number of a compared run in the store, and how many entries it had then."""
    return comparison.sides[side].rows.run.id, comparison.runs[side].done


def _is_all_under_way(found: Comparison) -> bool:
    return bool(found.pairs) and all(pair.under_way for pair in found.pairs)


LOOK_SECONDS = 2.0  # time between two looks at a run that continues
PATIENCE = 4  # a look that takes long is repeated after that many times as long
_PARTS = ("#differences", "#notes", "RowsAndPane")  # shown only where something is compared

_OF_COMPARED = frozenset({"details", "metric", "turn", "sort", "search", "parts", "baseline", "pane"})
"""What can be done only where something is compared."""


class CompareScreen(ReasonedScreen):
    """Two to six runs; the values come first, the tests as soon as they are worked out."""

    TITLE = "Compare"
    HELP = (
        "├─●─┤  a run's value with its interval. B − A: what B has more than A.\n"
        "wins: entries on which the second run is better. effect: mean difference over its spread.\n"
        "p: how often chance alone shows as much; p Holm: all pairs counted.\n"
        "better: both tests agree and the interval has no zero.\n"
        "While a run continues, only an interval that stays right however often one looks is shown."
    )
    CSS_PATH = "compare.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (140, "-wide")]  # noqa: RUF012  Textual's own form
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        PANE,
        REASONS,
        Binding("m", "metric", "Metric", id="compare.metric"),
        Binding("left,h", "turn(-1)", "Pair before", show=False, id="previous"),
        Binding("right,l", "turn(1)", "Pair after", show=False, id="next"),
        Binding("s", "sort", "Sort", tooltip="Columns and order", id="sort"),
        *MATCHES,
        Binding("i", "details", "More", tooltip="All about the runs, or only what decides", id="compare.details"),
        Binding("d", "parts", "Parts", tooltip="By difficulty, register …", id="compare.parts"),
        Binding("a", "add", "Add", tooltip="Compare one more run", id="compare.add"),
        Binding("x", "remove", "Take out", show=False, id="compare.remove"),
        Binding("B", "baseline", "Compare all with one run", show=False, id="compare.baseline"),
        Binding("C", "command", "Copy command", show=False, id="compare.command"),
        Binding("r", "read", "Refresh", show=False, id="refresh"),
        Binding("q,escape", "back", "Back", key_display="q", id="back"),
    ]

    def __init__(self, store_path: Path, run_ids: tuple[str, ...]) -> None:
        super().__init__()
        self.store_path = store_path
        self.choice = RunChoice(self, store_path, run_ids, self.action_read)
        self._reading = False
        self._next_look = 0.0
        self.comparison: Comparison | None = None
        self._findings: dict[tuple[int, int], RunFindings | None] = {}  # by run and its entries then
        self._pages: dict[int, RunPages] = {}  # of the runs that the pane has shown, by their number in the store
        self.tested = False  # true when the tests are worked out
        self.metric = ""

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield EmptyState("Comparing …")
        yield difference_panel.DifferencePanel()
        yield DetailLine(id="why", classes="-none")
        yield ReasonsTable()
        yield Static(id="notes")
        yield QueryLine("better:B why:quotes A.chrf<30 -state:failed", lambda: self.table.fields)
        with RowsAndPane():
            yield ComparedTable(self.store_path)
            yield EntryPane()
        yield Static(id="how")
        yield KeyLine(palette_from=120)

    def on_mount(self) -> None:
        for part in _PARTS:
            self.query_one(part).display = False
        self.action_read()
        self.set_interval(LOOK_SECONDS, self.look)

    def on_resize(self) -> None:
        self.call_after_refresh(self.panel.share_height)

    @property
    def table(self) -> ComparedTable:
        return self.query_one(ComparedTable)

    @property
    def panel(self) -> difference_panel.DifferencePanel:
        """The sentence, the runs and the pairs."""
        return self.query_one(difference_panel.DifferencePanel)

    @property
    def compares(self) -> bool:
        """Return whether at least two of the runs compare by at least one metric."""
        comparison = self.comparison
        return comparison is not None and bool(comparison.pairs and comparison.metrics)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in _OF_COMPARED and not self.compares:
            return False
        return super().check_action(action, parameters)

    @property
    def holds_secret(self) -> bool:
        """Return whether text of a secret entry may be shown, which no selection may take to the clipboard."""
        return self.comparison is not None and bool(self.comparison.entries.secret.any())

    @property
    def view(self) -> ComparisonView | None:
        """By what entries are examined; where single entries have no such value, by one that they have."""
        pair = self.panel.pair
        if self.comparison is None or pair is None:
            return None
        there = self.comparison.entries.values
        metric = next((m for m in (self.metric, *ordered(list(there))) if m in there), None)
        if metric is None:
            return None
        letters = [run.letter for run in self.comparison.runs]
        first, second = (letters.index(r.letter) for r in (pair.first, pair.second))
        return ComparisonView(metric, first, second)

    # Reading

    def look(self) -> None:
        """Compare again where a run continues, unless that is happening or was just done."""
        comparison = self.comparison
        going_on = comparison is not None and any(run.under_way for run in comparison.runs)
        if going_on and not self._reading and time.monotonic() >= self._next_look:
            self._compare(quick_first=False)

    def action_read(self) -> None:
        self._compare(quick_first=True)

    def _compare(self, *, quick_first: bool) -> None:
        self._reading = True
        self._work(self.choice.runs, self.choice.baseline, quick_first)

    @work(thread=True, exclusive=True, group="compare")
    def _work(self, runs: tuple[str, ...], baseline: str | None, quick_first: bool) -> None:
        """Compute the values first, then the tests, which take longer."""
        worker, began, known = get_current_worker(), time.monotonic(), self.comparison
        try:
            for stage in stages(self.store_path, runs, baseline, quick=quick_first, earlier=known):
                if worker.is_cancelled:
                    return
                bring(self, self._show, stage)
        except HarnessError as error:
            if worker.is_cancelled:
                return
            why = show(str(error))
            bring(self, self._nothing, "These runs cannot be compared.", why)
        self._next_look = time.monotonic() + PATIENCE * (time.monotonic() - began)
        self._reading = False

    def _nothing(self, title: str, words: Content) -> None:
        empty = self.query_one(EmptyState)
        empty.display = True
        for part in _PARTS:
            self.query_one(part).display = False
        out = " · x takes one out" if self.choice.can_take_out else ""
        keys = Content.styled(f"\n\na adds a run{out} · q goes back", "$quiet")
        empty.say(title, words.append(keys))
        self.set_focus(None)
        self.refresh_bindings()

    def _show(self, stage: Stage) -> None:
        if not self.is_attached:
            return
        comparison = self.comparison = stage.comparison
        self.tested = stage.tested
        if not self.compares:
            self._nothing("These runs do not compare.", difference_panel.refused(comparison))
            return
        first_time = self._store is None
        self._store = self._store or open_store(self.store_path)
        self.table.take(comparison, ComparedTexts(self._store, comparison))
        self.query_one(EmptyState).display = False
        for part in _PARTS:
            self.query_one(part).display = True
        if self.metric not in comparison.metrics:
            self.metric = ordered(comparison.metrics)[0]
        self._fill_panel()
        self._fill_entries()
        self._look_for_reasons()
        if first_time or self.focused is None:
            self.table.focus()
        self.refresh_bindings()

    def _fill_panel(self) -> None:
        comparison = self.comparison
        if comparison is None:
            return
        self.panel.show_runs(comparison, self.metric, tested=self.tested)
        self.query_one("#how", Static).update(show(self._command, "$quiet"), layout=False)
        self.query_one(StatusBar).say(show(difference_panel.where_words(comparison, self.metric), "$quiet"))

    @property
    def _command(self) -> str:
        return difference_panel.command_of(self.choice.runs, self.choice.baseline)

    # Entries

    def _fill_entries(self, *, top: bool = False) -> None:
        """Show the entries by the metric; where none of them has its own value, say so."""
        view = self.view
        self.query_one(RowsAndPane).display = view is not None
        if view is None:
            self.query_one("#notes", Static).update("No entry has its own value to show here.")
        else:
            self.table.look_by(view, top=top)

    @on(ComparedTable.EntriesShown)
    def _note(self) -> None:
        table, comparison = self.table, self.comparison
        if table.entries is None or table.view is None or comparison is None:
            return
        words = sort_words(*self.panel.letters)[table.order.sort] + (", turned round" if table.order.turned else "")
        note = difference_panel.metric_note(self.metric, table.view.metric)
        line = difference_panel.entries_line(table.entries.count, len(comparison.entries), words, note)
        self.query_one("#notes", Static).update(line, layout=False)
        self.show_entry()

    def entry_key(self) -> Hashable:
        place, view = self.table.place, self.table.view
        return None if place is None else (place, view, id(self.comparison), len(self._findings))

    def entry_page(self) -> EntryPage:
        comparison, texts, view, place = self.comparison, self.table.texts, self.table.view, self.table.place
        if comparison is None or texts is None or view is None or place is None:
            return GONE
        facts = entry_of_runs(comparison, texts, view, place)
        return GONE if facts is None else EntryPage(facts.entry, self._page_lines(facts))

    def _page_lines(self, facts: EntryOfRuns) -> Iterator[PageLine]:
        """Yield what the screen of the entry shows, and how the outputs of the pair came about."""
        yield from page_lines(facts)
        for side, findings in self._sides():
            if codes := findings.of_entry(int(facts.comparison.entries.positions[side, facts.place])):
                yield findings_line(codes, f"{facts.comparison.runs[side].letter} Findings")
        for side in (facts.view.first, facts.view.second):
            run, letter = facts.comparison.sides[side].rows.run, facts.comparison.runs[side].letter
            pages = self._pages.get(run.id)
            if pages is None and self._store is not None:
                pages = self._pages[run.id] = RunPages(self._store, run, run.opening.missing)
            position = int(facts.comparison.entries.positions[side, facts.place])
            facts_of_run = None if pages is None else readable(partial(pages.facts, position))
            for label, text in () if facts_of_run is None else (*how_made(facts_of_run), *prompts(facts_of_run)):
                yield PageLine(f"{letter} {label}", text)

    @on(difference_panel.DifferencePanel.PairChanged)
    def _pair_changed(self) -> None:
        self._fill_entries(top=True)
        self._look_for_reasons()

    @on(ResultTable.Chosen, "#pairs")
    def _pair_chosen(self) -> None:
        self.table.focus()

    @on(ResultTable.Chosen, "#entries")
    def _open(self, event: ResultTable.Chosen) -> None:
        table = self.table
        entries, view, texts = table.entries, table.view, table.texts
        if entries is None or view is None or texts is None or self.comparison is None:
            return

        def back(place: int | None) -> None:
            if place is not None:
                table.move_to_place(place)
                self.show_entry()

        screen = ComparedEntryScreen(self.comparison, texts, entries.order, event.index, view)
        self.app.push_screen(screen, back)

    # Why

    def _look_for_reasons(self) -> None:
        """Examine the outputs of the pair, each run once for as many entries as it has."""
        comparison, view = self.comparison, self.view
        if comparison is None or view is None or not self.tested:
            return
        keys = {side: _examined(comparison, side) for side in (view.first, view.second)}
        wanted = [(comparison.sides[side].rows.run, key) for side, key in keys.items() if key not in self._findings]

        def find(store: sqlite3.Connection) -> dict[tuple[int, int], RunFindings | None]:
            return {key: run_findings(store, run) for run, key in wanted}

        def take(findings: dict[tuple[int, int], RunFindings | None]) -> None:
            self._findings |= findings
            self._show_reasons()

        background(self, self.store_path, "findings", find, take, lambda _: None)

    def _sides(self) -> list[tuple[int, RunFindings]]:
        """Return the runs of the pair by their place in the comparison, with what was found in them."""
        comparison, view = self.comparison, self.view
        if comparison is None or view is None:
            return []
        examined = [(side, self._findings.get(_examined(comparison, side))) for side in (view.first, view.second)]
        return [(side, findings) for side, findings in examined if findings is not None]

    def _show_reasons(self) -> None:
        comparison, sides = self.comparison, self._sides()
        if comparison is None or len(sides) < 2:
            return
        for side, findings in sides:
            self.table.set_groups(comparison.runs[side].letter, findings.groups)
        counted = [(findings, frozenset(comparison.entries.positions[side].tolist())) for side, findings in sides]
        self.show_reasons(reasons_of(counted), [comparison.runs[side].letter for side, _ in sides])
        self.show_entry()

    def run_of(self, reason: ReasonRow) -> Run | None:
        sides, comparison = self._sides(), self.comparison
        most = max(range(len(sides)), key=lambda at: reason.counts[at], default=0)
        return comparison.sides[sides[most][0]].rows.run if comparison and sides else None

    # Metric, pair, order

    def action_details(self) -> None:
        self.toggle_class("-details")
        self.panel.show_again()

    def action_metric(self) -> None:
        if self.comparison is not None and self.metric:
            words = {id_: plain(name(id_)) for id_ in ordered(self.comparison.metrics)}
            choose(self.app, "Compare by", words, self.metric, self.compare_by)

    def compare_by(self, metric: str) -> None:
        self.metric = metric
        self._fill_panel()
        self._fill_entries(top=True)

    def action_turn(self, by: int) -> None:
        self.panel.turn(by)

    @property
    def sorts(self) -> Mapping[str, str]:
        return sort_words(*self.panel.letters)

    def sort_of(self, column: str) -> str:
        one, other = self.panel.letters
        sorts = {"difference": "apart", "better": "second gains", one: "first", other: "second"}
        return sorts.get(column, column)

    def action_parts(self) -> None:
        comparison = self.comparison
        pair = self.panel.pair
        if comparison is None or not self.tested or pair is None:
            self.notify("The runs are still being compared.", markup=False)
            return

        def chosen(part: tuple[str, str] | None) -> None:
            if part is not None:
                self.filter_by(Query((QueryTerm(part[0], ":", part[1]),)))
                self.table.focus()

        self.app.push_screen(ComparedPartsScreen(comparison, pair, self.metric), chosen)

    # Which runs

    @property
    def _names(self) -> dict[str, str]:
        """Return the words for each run, by id."""
        runs = () if self.comparison is None else self.comparison.runs
        return {id_: plain(words) for id_, words in lettered(runs).items()}

    def action_add(self) -> None:
        self.choice.add()

    def action_remove(self) -> None:
        self.choice.take_out(self._names)

    def action_baseline(self) -> None:
        self.choice.choose_baseline(self._names)

    def action_command(self) -> None:
        self.post_message(Copied(self._command, "Command", cleared=True))
