"""Runs side by side: who is better and how sure that is, and the entries on which they differ."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, Static
from textual.worker import get_current_worker

from rosetta_tui.compare_order import (
    ComparedOrder,
    View,
    filter_choices,
    ordered_places,
    sort_words,
)
from rosetta_tui.compare_rows import ComparedRows, PairRows, entry_columns, pair_columns
from rosetta_tui.compare_words import command_of, count_words, metric_note, refused, said
from rosetta_tui.compared_texts import ComparedTexts
from rosetta_tui.comparison_text import ordered
from rosetta_tui.comparison_words import name, run_words
from rosetta_tui.messages import Copied, Left
from rosetta_tui.screens.choose import ChooseScreen
from rosetta_tui.text import plain, show
from rosetta_tui.widgets.diff_text import diff_content
from rosetta_tui.widgets.difference_axis import DifferenceAxis
from rosetta_tui.widgets.empty_state import EmptyState
from rosetta_tui.widgets.result_table import ResultTable
from rosetta_tui.widgets.where import Where

if TYPE_CHECKING:
    from harness.comparing import Comparison
    from harness.comparing_pairs import Pair
    from harness.store.runs import RunSummary

LEAST, MOST = 2, 6
"""Runs that a comparison takes."""

LOOK_SECONDS = 2.0
"""Time between two looks at a run that goes on."""

PATIENCE = 4
"""A look that takes long is repeated after so many times as long, so that keys keep their time."""

MOST_PAIRS = 4
"""Pairs seen at once where the screen is small."""


class CompareScreen(Screen[None]):
    """Two to six runs; the values come first, the tests as soon as they are worked out."""

    TITLE = "Compare"
    HELP = (
        "├─●─┤  a run's value with its interval. B − A: what B has more than A. wins: entries on which\n"
        "the second run is better. p: how often chance alone shows as much; p Holm: all pairs counted.\n"
        "effect: mean difference over its spread. better: both tests agree and the interval has no zero.\n"
        "While a run goes on, only an interval that stays right however often one looks is shown."
    )
    CSS_PATH = "../styles/compare.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012  Textual's own form
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-roomy")]  # noqa: RUF012  Textual's own form

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "metric", "Metric", id="compare.metric"),
        Binding("left,h", "turn(-1)", "Pair before", show=False, id="previous"),
        Binding("right,l", "turn(1)", "Pair after", show=False, id="next"),
        Binding("s", "sort", "Sort", id="sort"),
        Binding("f", "filter", "Filter", id="filter"),
        Binding("slash", "search", "Search", key_display="/", id="search"),
        Binding("d", "parts", "Parts", tooltip="By difficulty, register …", id="compare.parts"),
        Binding("a", "add", "Add", tooltip="Compare one more run", id="compare.add"),
        Binding("x", "remove", "Take out", show=False, id="compare.remove"),
        Binding("B", "baseline", "Base", tooltip="Compare all with one run", id="compare.baseline"),
        Binding("C", "command", "Copy command", show=False, id="compare.command"),
        Binding("r", "read", "Refresh", show=False, id="refresh"),
        Binding("q,escape", "back", "Back", key_display="q", id="back"),
    ]

    def __init__(self, store_path: Path, run_ids: tuple[str, ...]) -> None:
        super().__init__()
        self._path = store_path
        self._runs = tuple(dict.fromkeys(run_ids))
        self._baseline: str | None = None
        self._store: sqlite3.Connection | None = None
        self._reading = False
        self._next_look = 0.0
        self.comparison: Comparison | None = None
        self.tested = False
        """True when the tests are worked out."""
        self.metric = ""
        self.order = ComparedOrder()
        self.rows: ComparedRows | None = None
        self._texts: ComparedTexts | None = None
        self._tags: Mapping[str, Sequence[str | None]] = {}
        self._found: frozenset[int] | None = None
        """Places of the entries that the search found; None where nothing is looked for."""
        self._pair_ids: tuple[str, str] | None = None

    def compose(self) -> ComposeResult:
        """Lay out where am I, what is found, runs, pairs, entries, the one under the cursor, and the keys."""
        yield Where()
        yield EmptyState("Comparing …")
        yield Static(id="said")
        with Container(id="top"):
            with Vertical(id="runs"):
                yield DifferenceAxis()
            yield ResultTable((), id="pairs")
        yield Static(id="notes")
        yield Input(placeholder="text in id, source, reference or an output", id="search")
        yield ResultTable((), id="entries")
        yield Static(id="chosen")
        yield Static(id="how")
        yield Footer(compact=True)

    _PARTS = ("#said", "#top", "#notes", "#entries", "#chosen")

    def on_mount(self) -> None:
        """Compare, and look again every now and then while a run goes on."""
        for each in (*self._PARTS, "#search"):
            self.query_one(each).display = False
        self.action_read()
        self.set_interval(LOOK_SECONDS, self.look)

    def on_resize(self) -> None:
        """Leave the room of a narrow footer to the keys of this screen, and share out the height."""
        self.query_one(Footer).show_command_palette = self.size.width >= 120
        self._share_height()

    def _share_height(self) -> None:
        if self.comparison is not None:
            pairs = len(self.comparison.pairs)
            most = pairs if self.size.height >= 36 else MOST_PAIRS
            self.query_one("#pairs").styles.height = min(pairs, most) + 1
            self.query_one(DifferenceAxis).refresh(layout=True)

    @property
    def table(self) -> ResultTable:
        """The entries."""
        return self.query_one("#entries", ResultTable)

    @property
    def pairs(self) -> ResultTable:
        """The pairs."""
        return self.query_one("#pairs", ResultTable)

    @property
    def holds_secret(self) -> bool:
        """Whether text of a secret entry may be shown, which no selection may take to the clipboard."""
        return self.comparison is not None and bool(self.comparison.entries.secret.any())

    @property
    def pair(self) -> Pair | None:
        """The pair that is spoken of."""
        if self.comparison is None or not self.comparison.pairs:
            return None
        return self.comparison.pairs[min(self.pairs.cursor, len(self.comparison.pairs) - 1)]

    @property
    def view(self) -> View | None:
        """By what entries are looked at; where single entries have no such value, by one that they have."""
        if self.comparison is None or self.pair is None:
            return None
        there = self.comparison.entries.values
        metric = next((m for m in (self.metric, *ordered(list(there))) if m in there), None)
        if metric is None:
            return None
        letters = [run.letter for run in self.comparison.runs]
        first, second = (letters.index(r.letter) for r in (self.pair.first, self.pair.second))
        return View(metric, first, second)

    # Reading

    def look(self) -> None:
        """Compare again where a run goes on, unless that is happening or was just done."""
        found = self.comparison
        going_on = found is not None and any(run.under_way for run in found.runs)
        if going_on and not self._reading and time.monotonic() >= self._next_look:
            self._compare(quick_first=False)

    def action_read(self) -> None:
        """Compare again."""
        self._compare(quick_first=True)

    def _compare(self, *, quick_first: bool) -> None:
        self._reading = True
        self._work(self._runs, self._baseline, quick_first)

    @work(thread=True, exclusive=True, group="compare")
    def _work(self, runs: tuple[str, ...], baseline: str | None, quick_first: bool) -> None:
        """Give the values at once, then the tests, which take longer; a run under way is not tested."""
        from harness.comparing import compare_runs
        from harness.comparing_breakdowns import part_tags
        from harness.failures import HarnessError
        from harness.store.database import opened
        from scoring.significance import TRIALS

        worker, began = get_current_worker(), time.monotonic()
        tell = self.app.call_from_thread
        try:
            with opened(self._path) as store:
                quick = None
                if quick_first:
                    quick = compare_runs(store, runs, baseline=baseline, draws=1, trials=1)
                    if not worker.is_cancelled:
                        tell(self._show, quick, part_tags(quick), tested=False)
                told = quick or self.comparison
                untested = told is not None and all(pair.under_way for pair in told.pairs)
                trials = 1 if untested else TRIALS
                found = compare_runs(store, runs, baseline=baseline, trials=trials)
                if untested and not all(pair.under_way for pair in found.pairs):
                    found = compare_runs(store, runs, baseline=baseline)
        except HarnessError as error:
            if not worker.is_cancelled:
                tell(self._cannot, str(error))
        else:
            if not worker.is_cancelled:
                tell(self._show, found, part_tags(found), tested=True)
                self._next_look = time.monotonic() + PATIENCE * (time.monotonic() - began)
        finally:
            if not worker.is_cancelled:
                self._reading = False

    def _cannot(self, why: str) -> None:
        self._nothing("These runs cannot be compared.", show(why))

    def _nothing(self, title: str, words: Content) -> None:
        empty = self.query_one(EmptyState)
        empty.display = True
        for each in self._PARTS:
            self.query_one(each).display = False
        keys = Content.styled("\n\na adds a run · x takes one out · q goes back", "$quiet")
        empty.say(title, words.append(keys))

    def _show(
        self, found: Comparison, tags: Mapping[str, Sequence[str | None]], *, tested: bool
    ) -> None:
        if not self.is_attached:
            return
        self.comparison, self.tested, self._tags = found, tested, tags
        if not found.pairs or not found.metrics:
            self._nothing("These runs do not compare.", refused(found))
            return
        from harness.store.database import open_store

        first_time = self._store is None
        if self._store is None:
            self._store = open_store(self._path)
        self._texts = ComparedTexts(self._store, found)
        self.query_one(EmptyState).display = False
        for each in self._PARTS:
            self.query_one(each).display = True
        if self.metric not in found.metrics:
            self.metric = ordered(found.metrics)[0]
        self._share_height()
        self._fill_pairs()
        self._fill_entries()
        if first_time:
            self.table.focus()

    def _fill_pairs(self) -> None:
        found = self.comparison
        if found is None:
            return
        ids = [(pair.first.run_id, pair.second.run_id) for pair in found.pairs]
        cursor = ids.index(self._pair_ids) if self._pair_ids in ids else 0
        self.pairs.show_columns(pair_columns(found))
        self.pairs.show_rows(PairRows(found, self.metric, tested=self.tested), cursor)
        self.pairs.can_focus = len(found.pairs) > 1
        self._tell()

    def _tell(self) -> None:
        """Say everything that is said about the pair under the cursor."""
        found, pair = self.comparison, self.pair
        if found is None or pair is None:
            return
        self._pair_ids = (pair.first.run_id, pair.second.run_id)
        chosen = frozenset({pair.first.letter, pair.second.letter})
        self.query_one(DifferenceAxis).show_runs(found, self.metric, chosen, tested=self.tested)
        self.query_one("#said", Static).update(said(found, pair, self.metric, tested=self.tested))
        self.query_one("#how", Static).update(show(self._command, "$quiet"))
        where = f"by {name(self.metric)} · {count_words(found)}"
        if self._baseline is not None and found.baseline is not None:
            where += f" · against {_letter(found, found.baseline)}"
        self.query_one(Where).say(show(where, "$quiet"))

    @property
    def _command(self) -> str:
        return command_of(self._runs, self._baseline)

    # Entries

    def _fill_entries(self, *, top: bool = False) -> None:
        found, view, texts = self.comparison, self.view, self._texts
        if found is None or texts is None:
            return
        if view is None:
            self.rows = None
            self.table.display = self.query_one("#chosen").display = False
            self.query_one("#notes", Static).update("No entry has a value of its own to show here.")
            return
        here = self.place
        places = ordered_places(found, view, self.order, self._tags, self._found)
        self.rows = ComparedRows(found, view, places, texts)
        self.table.show_columns(entry_columns(found, view))
        at = None if here is None else self.rows.find(here)
        self.table.show_rows(self.rows, 0 if top else at)
        self._note(found, view)
        self._moved()

    def _note(self, found: Comparison, view: View) -> None:
        letters = [run.letter for run in found.runs]
        words = self.order.words(letters[view.first], letters[view.second])
        total, shown = len(found.entries), self.rows.count if self.rows else 0
        number = f"{total:,} entries" if shown == total else f"{shown:,} of {total:,} entries"
        note = metric_note(self.metric, view.metric)
        tone = "$quiet" if shown == total and not note else "$mark"
        line = " · ".join(
            part for part in (number if shown else "nothing found", words, note) if part
        )
        self.query_one("#notes", Static).update(show(line, tone))

    @property
    def place(self) -> int | None:
        """Place among the compared entries of the one under the cursor."""
        if self.rows is None or not self.rows.count:
            return None
        return self.rows.places[min(self.table.cursor, self.rows.count - 1)]

    @on(ResultTable.Moved, "#entries")
    def _moved(self) -> None:
        """Show the source, and how the outputs of the pair differ from each other."""
        place, view, texts, line = (
            self.place,
            self.view,
            self._texts,
            self.query_one("#chosen", Static),
        )
        if place is None or view is None or texts is None or self.comparison is None:
            line.update("")
            return
        outputs = [texts.result(run, place) for run in (view.first, view.second)]
        letters = [self.comparison.runs[run].letter for run in (view.first, view.second)]
        first, second = ("" if each is None else each.output or "" for each in outputs)
        if any(each is None or each.failed for each in outputs):
            differs = show(" · ".join(
                f"{letter} {'failed' if each is None or each.failed else plain(each.output or '')}"
                for letter, each in zip(letters, outputs, strict=True)
            ))  # fmt: skip
        else:
            differs = Content("the same output") if first == second else diff_content(first, second)
        head = (f"{letters[0]}→{letters[1]} ", "$quiet")
        line.update(
            Content.assemble(show(texts.entry(place).source, "$quiet"), "\n", head, differs)
        )

    @on(ResultTable.Moved, "#pairs")
    def _pair_moved(self) -> None:
        self._tell()
        self._fill_entries(top=True)

    @on(ResultTable.Chosen, "#pairs")
    def _pair_chosen(self) -> None:
        self.table.focus()

    @on(ResultTable.Chosen, "#entries")
    def _open(self, event: ResultTable.Chosen) -> None:
        from rosetta_tui.screens.compared_entry import ComparedEntryScreen

        if self.rows is None or self.comparison is None or self._texts is None or self.view is None:
            return

        def back(place: int | None) -> None:
            index = None if place is None or self.rows is None else self.rows.find(place)
            if index is not None:
                self.table.move_to(index)
                self._moved()

        screen = ComparedEntryScreen(
            self.comparison, self._texts, self.rows.places, event.index, self.view
        )
        self.app.push_screen(screen, back)

    # Metric, pair, order

    def action_metric(self) -> None:
        """Ask by which metric to compare."""
        if self.comparison is None or not self.metric:
            return

        def chosen(metric: str | None) -> None:
            if metric is not None:
                self.metric = metric
                self._fill_pairs()
                self._fill_entries(top=True)

        words = {id_: plain(name(id_)) for id_ in ordered(self.comparison.metrics)}
        self.app.push_screen(ChooseScreen("Compare by", words, self.metric), chosen)

    def action_turn(self, by: int) -> None:
        """Go to the pair before or after."""
        if self.comparison is not None and len(self.comparison.pairs) > 1:
            self.pairs.move_to((self.pairs.cursor + by) % len(self.comparison.pairs))
            self._pair_moved()

    @property
    def _letters(self) -> tuple[str, str]:
        return (
            ("A", "B") if self.pair is None else (self.pair.first.letter, self.pair.second.letter)
        )

    def wish(self, order: ComparedOrder) -> None:
        """Show entries in another order or selection."""
        searched = order.search != self.order.search
        self.order = order
        if searched:
            self._look_for(order.search)
        else:
            self._fill_entries(top=True)

    def action_sort(self) -> None:
        """Ask what to sort by; the same once more turns the order round."""

        def chosen(sort: str | None) -> None:
            if sort is not None:
                self.wish(self.order.by(sort))

        title = "Sort by (the same again turns it round)"
        words = sort_words(*self._letters)
        self.app.push_screen(ChooseScreen(title, words, self.order.sort), chosen)

    @on(ResultTable.TitleChosen, "#entries")
    def _title_chosen(self, event: ResultTable.TitleChosen) -> None:
        one, other = self._letters
        sorts = {"difference": "apart", "better": "second gains", one: "first", other: "second"}
        key = sorts.get(event.key, event.key)
        if key in sort_words(one, other):
            self.wish(self.order.by(key))

    def action_filter(self) -> None:
        """Ask which entries to show."""
        choices = filter_choices(self.order, *self._letters, self._tags)

        def chosen(key: str | None) -> None:
            if key is not None:
                self.wish(choices[int(key)][0])

        now = (str(i) for i, (wish, _) in enumerate(choices) if wish == self.order)
        words = {str(i): each for i, (_, each) in enumerate(choices)}
        title = "Show (filters of different kinds add up)"
        self.app.push_screen(ChooseScreen(title, words, next(now, "0")), chosen)

    def action_search(self) -> None:
        """Ask for text to look for."""
        field = self.query_one("#search", Input)
        field.display = True
        field.focus()

    @on(Input.Changed, "#search")
    def _search(self, event: Input.Changed) -> None:
        self.wish(replace(self.order, search=event.value))

    @on(Input.Submitted, "#search")
    def _searched(self) -> None:
        self.table.focus()

    @work(thread=True, exclusive=True, group="search")
    def _look_for(self, search: str) -> None:
        from rosetta_tui.compared_search import places_with

        worker, found = get_current_worker(), self.comparison
        places = None
        if search and found is not None:
            places = places_with(self._path, found, search, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_found, search, places)

    def _show_found(self, search: str, places: frozenset[int] | None) -> None:
        if search == self.order.search:
            self._found = places
            self._fill_entries(top=True)

    def action_parts(self) -> None:
        """Show where the difference lies: by difficulty, provenance, register; a part leads to its entries."""
        from rosetta_tui.screens.compared_parts import ComparedPartsScreen

        found = self.comparison
        if found is None or not self.tested or self.pair is None:
            self.notify("The runs are still being compared.", markup=False)
            return

        def chosen(part: tuple[str, str] | None) -> None:
            if part is not None:
                self.wish(replace(self.order, only={part[0]: part[1]}))
                self.table.focus()

        self.app.push_screen(ComparedPartsScreen(found, self.pair, self.metric), chosen)

    # Which runs

    def _take(self, runs: tuple[str, ...], baseline: str | None) -> None:
        self._runs, self._baseline = runs, baseline
        self.action_read()

    @work(thread=True, exclusive=True, group="others")
    def action_add(self) -> None:
        """Ask for one more run to compare."""
        from harness.failures import HarnessError
        from harness.store.database import opened
        from harness.store.runs import list_runs
        from rosetta_tui.compare_words import addable

        try:
            with opened(self._path) as store:
                others = addable(list_runs(store), self._runs)
        except HarnessError as error:
            self.notify(plain(str(error)), severity="error", markup=False)
        else:
            self.app.call_from_thread(self._ask_other, others)

    def _ask_other(self, others: Sequence[RunSummary]) -> None:
        from rosetta_tui.run_facts import setup_words, when

        if len(self._runs) >= MOST:
            self.notify(f"At most {MOST} runs are compared; x takes one out.", markup=False)
            return
        if not others:
            self.notify("There is no other run of this corpus.", markup=False)
            return

        def chosen(run_id: str | None) -> None:
            if run_id is not None:
                self._take((*self._runs, run_id), self._baseline)

        words = {r.run_id: plain(f"{when(r.created)}  {setup_words(r)}  {r.state}") for r in others}
        self.app.push_screen(ChooseScreen("Compare with", words, others[0].run_id), chosen)

    def _named(self) -> dict[str, str]:
        """Give the runs by id, each with its letter and what it is where it compares."""
        runs = () if self.comparison is None else self.comparison.runs
        known = {run.run_id: plain(f"{run.letter}  {run_words(run)}") for run in runs}
        return {id_: known.get(id_, f"–  {id_[:8]}, not compared") for id_ in self._runs}

    def action_remove(self) -> None:
        """Ask which run to take out."""
        if len(self._runs) <= LEAST:
            self.notify("A comparison needs two runs.", markup=False)
            return

        def chosen(run_id: str | None) -> None:
            if run_id is not None:
                left = tuple(each for each in self._runs if each != run_id)
                self._take(left, self._baseline if self._baseline in left else None)

        named = self._named()
        self.app.push_screen(ChooseScreen("Take out", named, next(reversed(named))), chosen)

    def action_baseline(self) -> None:
        """Ask with which run the others are compared; none: every pair is."""

        def chosen(run_id: str | None) -> None:
            if run_id is not None:
                self._take(self._runs, run_id or None)

        words = {"": "every pair", **self._named()}
        self.app.push_screen(ChooseScreen("Compare with", words, self._baseline or ""), chosen)

    def action_command(self) -> None:
        """Copy the command that prints the same."""
        self.post_message(Copied(self._command, "Command"))

    # Leaving

    def on_unmount(self) -> None:
        """Let the store go: the connection is this screen's own."""
        if self._store is not None:
            self._store.close()

    def action_back(self) -> None:
        """End the search, then the filter, then leave."""
        field = self.query_one("#search", Input)
        if field.display:
            field.display = False
            field.value = ""
            self.table.focus()
        elif self.order != self.order.everything:
            self.wish(self.order.everything)
        else:
            self.post_message(Left())


def _letter(found: Comparison, run_id: str) -> str:
    return next((run.letter for run in found.runs if run.run_id == run_id), run_id[:8])
