"""Home: what continues, what waits, what came out of every run, and what to do first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from corpora.text.messages import counted
from harness.compare import MOST_RUNS
from harness.core.failures import StoreError
from harness.store.run_list import RunSummary
from rosetta_tui.home import panels
from rosetta_tui.runs.actions import SOMETIMES, RunActions, possible
from rosetta_tui.runs.table import SORT_WORDS, UNDER_WAY, RunReader, RunsFound, RunTable, order_words, run_words
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import TALL, score_bars
from rosetta_tui.toolkit import messages
from rosetta_tui.toolkit.background import bring, in_thread
from rosetta_tui.toolkit.content import EmptyState, StatusBar, show, show_lines
from rosetta_tui.toolkit.dialogs.choose import choose_columns
from rosetta_tui.toolkit.key_line import KeyLine, key_of
from rosetta_tui.toolkit.query_line import QueryLine
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from rosetta_tui.review.organiser.service import OrganiserService

REFRESH_SECONDS = 2.0  # how often runs of other processes are read again
REVIEWS_SECONDS = 60.0  # how often reviews and sticks are examined again


class HomeScreen(Screen[None]):
    """The list of runs; reads the store in a thread, so that the first frame waits for nothing."""

    TITLE = "Home"
    HELP = panels.ABOUT
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012  Textual's own form
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = panels.KEYS
    table = getters.query_one(RunTable)

    def __init__(self, store_path: Path) -> None:
        super().__init__()
        self._path = store_path
        self._reader = RunReader(store_path)
        self._begun = False  # whether the first frame stands, after which the runs are read
        self._trouble = False  # whether the list could not be read
        self._deleted = False  # whether there is a run that can be brought back
        self._can: frozenset[str] = frozenset()  # what can be done now, of what not always can
        self._back = False  # true from coming back until the list is read: a new run is chosen
        self.acts = RunActions(self, store_path, self.action_read)

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield panels.FirstSteps()
        yield panels.WaitingList(self._path.parent)
        yield Static(id="query")
        yield QueryLine('state:failed model:"gpt 5" chrf>40', lambda: self.table.fields)
        yield RunTable()
        yield EmptyState("")
        yield Static(id="chosen")
        yield KeyLine(palette_from=110)

    def on_mount(self) -> None:
        for hidden in ("FirstSteps", "EmptyState", "#query", "#chosen", "#runs"):
            self.query_one(hidden).display = False
        self.query_one(StatusBar).say(Content.styled("reading …", "$quiet"))
        self.set_interval(REFRESH_SECONDS, self.look_again)
        self.set_interval(REVIEWS_SECONDS, self._look_at_reviews)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """Read the runs, unless the app was opened on another screen: then when it is left."""
        self._begun = True
        if self.is_active:  # a screen on top counts as transparent until it has its style
            self.action_read()
            self._look_at_reviews()

    def on_screen_resume(self) -> None:
        if self._begun:
            self._back = self.table.every is not None
            self._look_at_runs()
            self._look_at_reviews()

    def on_resize(self) -> None:
        self.query_one(panels.WaitingList).fit()
        self.call_after_refresh(self._moved)

    @property
    def chosen(self) -> RunSummary | None:
        return self.table.chosen

    @property
    def awaits_rows(self) -> bool:
        """Return whether the runs are being read for the first time: keys for a row wait for them (``TerminalApp``)."""
        return self.table.every is None and not self._trouble

    # Reading

    def action_read(self) -> None:
        self._reader.forget()
        self._look_at_runs()

    def look_again(self) -> None:
        """Refresh, unless a refresh is under way: a slow disk takes longer over it than we wait, and must come to its end."""
        looks = (w for w in self.workers if w.node is self and w.group == "runs")
        if all(look.is_finished for look in looks):
            self._look_at_runs()

    def _look_at_runs(self) -> None:
        """Read the list again where the store has changed, or where what is there may be out of date."""
        if self.is_current:
            going = any(run.state in UNDER_WAY for run in self.table.every or ())
            self._read(first=self.table.every is None, anyway=going or self._trouble)

    @work(thread=True, exclusive=True, group="runs")
    def _read(self, *, first: bool, anyway: bool) -> None:

        try:
            runs_found = self._reader.look(anyway=anyway)
            bring(self, self._take, runs_found)
            if first and runs_found is not None and runs_found.deleted:
                self._reader.purge()
        except StoreError as error:
            bring(self, self._cannot, str(error))

    def _look_at_reviews(self) -> None:
        if self.is_current:
            take = self.query_one(panels.WaitingList).take_reviews
            in_thread(self, "waiting", lambda: panels.waiting_reviews(self._desk()), take, self._unread)

    def _unread(self, why: str) -> None:
        item = panels.WaitingItem(panels.Lead.REVIEW, "", f"The reviews cannot be read: {why}")
        self.query_one(panels.WaitingList).take_reviews([item])

    def _desk(self) -> OrganiserService:
        from rosetta_tui.review.organiser.service import OrganiserService

        return OrganiserService(self._path.parent, self._path)

    def _cannot(self, why: str) -> None:
        """Show why there is no list and what to do, instead of the list; it is tried again all the time."""
        self._trouble = True
        self.query_one(StatusBar).say(Content.styled("the runs cannot be read", "$bad"))
        self.table.display = self.query_one(panels.FirstSteps).display = False
        words = self.query_one(EmptyState)
        words.say("The runs cannot be read.", show(why))
        words.display = True

    # Showing

    def _take(self, found: RunsFound | None) -> None:
        back, self._back = self._back, False
        if found is None:
            return
        runs, self._deleted = found.runs, found.deleted
        self._reader.taken(found)
        mended, self._trouble = self._trouble, False
        if mended or runs != self.table.every:
            self.table.take(runs, newest=back)
            self.query_one(panels.WaitingList).take_runs(runs)
            self._show()
        self._see_what_can_be_done()

    def _show(self) -> None:
        """Show what belongs to the runs that the table shows now."""
        table, every = self.table, bool(self.table.every)
        steps, words = self.query_one(panels.FirstSteps), order_words(table.order)
        begins = not every and not steps.display
        steps.display = not every
        table.display = bool(table.runs)
        empty = self.query_one(EmptyState)
        empty.display = every and not table.runs
        if empty.display:
            empty.say("No run matches the filter.", f"{key_of(self, 'end_search')} shows all runs.")
        line = self.query_one("#query", Static)
        line.display = every and bool(words)
        line.update(show(words, "$mark"))
        if table.order.where:
            self.query_one(QueryLine).say(
                f"{figures.count(len(table.runs))} of {figures.count(len(table.every or ()))}"
            )
        if begins:
            steps.name_keys({action: key_of(self, action) for action in panels.STEPS})
            steps.begin()
        elif table.runs:
            here = self.focused  # a button of the first steps keeps the focus when they go
            if here is None or not all(node.display for node in here.ancestors_with_self):
                table.focus()
        self._title()
        self._moved()

    def _title(self) -> None:
        runs, marked = self.table.every or (), len(self.table.marked)
        going = sum(run.state in UNDER_WAY for run in runs)
        many = counted(len(runs), "run")
        self.query_one(StatusBar).say(
            Content.assemble(
                (many if runs else "", "$quiet"),
                (f" · {going} under way" if going else "", "$mark"),
                (f" · {marked} marked" if marked else "", "$mark"),
                (" · can only be read here" if self._reader.only_reads else "", "$warn"),
            )
        )

    @on(ResultTable.Moved, "#runs")
    def _moved(self) -> None:
        line = self.query_one("#chosen", Static)
        line.display = self.chosen is not None
        if self.chosen is not None:
            other = self.chosen.run_id in self.table.others
            name, numbers = run_words(self.chosen, other=other)
            content = show(name, "$quiet").truncate(max(1, self.size.width - 2), ellipsis=True)
            tall = self.size.height >= TALL and self.chosen.card is not None
            bars = score_bars(self.chosen.card or {}, self.size.width - 2) if tall else ""
            parts = [content, show(numbers), *([show_lines(bars, "$quiet")] if bars else [])]
            line.update(Content("\n").join(parts))
        self._see_what_can_be_done()

    def _see_what_can_be_done(self) -> None:
        """Work out what the keys can do now; the footer is drawn again only where that changed."""
        can = possible(self.chosen, deleted=self._deleted, any_run=bool(self.table.every))
        if can != self._can:
            self._can = can
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        cannot = action in SOMETIMES and action not in self._can
        if cannot:
            return False
        if action == "end_search":
            return self.query_one(QueryLine).display
        return super().check_action(action, parameters)

    # Which runs, in which order

    def action_search(self) -> None:
        self.query_one(QueryLine).display = True
        self.set_focus(self.query_one("#search"))

    @on(Input.Changed, "#search")
    def _search(self, event: Input.Changed) -> None:
        self._filter(event.value)

    def _filter(self, text: str, *, typing: bool = True) -> bool:
        line = self.query_one(QueryLine)
        where = line.read(text, typing=typing)
        if where is not None:
            line.say("")
            self.table.wish(replace(self.table.order, where=where))
            self._show()
        return where is not None

    @on(Input.Submitted, "#search")
    def _searched(self, event: Input.Submitted) -> None:
        if self._filter(event.value, typing=False):
            self.query_one(QueryLine).display = bool(event.value.strip())
            self.set_focus(self.table)

    def action_end_search(self) -> None:
        self.query_one("#search", Input).value = ""
        self.query_one(QueryLine).display = False
        self.table.focus()
        self.refresh_bindings()

    def action_sort(self) -> None:
        choose_columns(self.app, self.table, SORT_WORDS, self.table.order.sort, self._sort)

    def _sort(self, sort: str) -> None:
        if sort in SORT_WORDS:
            self.table.wish(self.table.order.by(sort))
            self._show()

    @on(ResultTable.TitleChosen, "#runs")
    def _title_chosen(self, event: ResultTable.TitleChosen) -> None:
        self._sort(event.key)

    # What is done with runs

    @on(ResultTable.Chosen, "#runs")
    def _open(self) -> None:
        if self.chosen is not None:
            self.post_message(messages.RunChosen(self.chosen.run_id, self.chosen.state == "complete"))

    @on(ResultTable.Chosen, "#waiting")
    def _see_to(self, event: ResultTable.Chosen) -> None:
        item = self.query_one(panels.WaitingList).item(event.index)
        panels.see_to(item, self, self.acts, self._desk())

    def action_mark(self) -> None:
        self.table.mark()
        self._title()

    def action_compare(self) -> None:
        pair = self.table.pair()
        if len(pair) < 2:
            mark = key_of(self, "mark")
            why = f"There is no other run of this corpus to compare with. {mark} marks runs."
            self.notify(why, markup=False)
        elif len(pair) > MOST_RUNS:
            why = f"{len(pair)} runs are marked; at most {MOST_RUNS} stand side by side."
            self.notify(why, severity="warning", markup=False)
        else:
            self.post_message(messages.RunsCompared(pair))

    def action_plots(self) -> None:
        self.post_message(messages.RunsPlotted(self.table.listed))

    def _with_chosen(self, act: Callable[[RunSummary], object]) -> None:
        if self.chosen is not None:
            act(self.chosen)

    def action_resume(self) -> None:
        self._with_chosen(lambda run: self.acts.resume(run.run_id))

    def action_retry(self) -> None:
        self._with_chosen(lambda run: self.acts.retry(run.run_id))

    def action_trash(self) -> None:
        self._with_chosen(self.acts.trash)

    def action_bring_back(self) -> None:
        self._back = True
        self.acts.bring_back()

    def action_notes(self) -> None:
        self._with_chosen(self.acts.notes)

    def action_report(self) -> None:
        self._with_chosen(self.acts.report)

    def action_score_again(self) -> None:
        self._with_chosen(self.acts.score_again)

    def action_like(self) -> None:
        self._with_chosen(self.acts.like)

    def action_demo(self) -> None:
        self.post_message(messages.DemoAsked())

    def action_put_aside(self) -> None:
        self.query_one(panels.WaitingList).put_runs_aside()

    def action_review(self) -> None:
        from rosetta_tui.review.rating.visit import sit_from_home

        self.app.run_worker(sit_from_home(self.app, self._path.parent), group="review", exclusive=True)

    def action_reviews(self) -> None:
        panels.open_reviews(self, self._desk())

    def action_leave(self) -> None:
        self.post_message(messages.BackRequested())
