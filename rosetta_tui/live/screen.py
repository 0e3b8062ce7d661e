"""A run, live: every entry as it is scored, and what the whole is worth, costs and how fast it goes."""

from __future__ import annotations

import gc
import sqlite3
import time
from collections.abc import Hashable
from functools import cached_property, partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Key

from harness.core.failures import RunState, StoreError
from harness.run.events import Control, EventSource, Failed
from harness.run.following import ControlRequest
from harness.store.runs import Run, find_run, read_card, under_way
from harness.store.sqlite.database import store_path
from harness.store.sqlite.trouble import worded
from rosetta_tui.entry.explaining import EntryExplanation, Explaining
from rosetta_tui.entry.page import EntryFacts, RunPages, page_lines
from rosetta_tui.entry.pane import GONE, PANE, EntryPage, EntryPane, RowsAndPane
from rosetta_tui.entry.reasons import REASONS, ReasonsTable
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.entry.table import EntryTable
from rosetta_tui.live.answers import asks_for_answers
from rosetta_tui.live.examining import (
    AGAINST,
    EXAMINED_SECONDS,
    PARTS,
    STILL_SECONDS,
    AgainstLine,
    ExaminedScreen,
    WhyPanel,
)
from rosetta_tui.live.panels import CostPanel, CountLine, RunBanner, RunHeader, SpeedPanel, notify_terminal
from rosetta_tui.live.scores import InputsLine, QualityPanel, ScoresScreen
from rosetta_tui.live.steering import LocalRunControl, RunControl, steer
from rosetta_tui.report.card import first_looks
from rosetta_tui.runs.actions import RunEnd
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.recorded import seal
from rosetta_tui.session.run_sources import PrefetchedSource
from rosetta_tui.show.card_fields import references_accepted
from rosetta_tui.toolkit.background import in_thread
from rosetta_tui.toolkit.content import DetailLine
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, RunWentOn
from rosetta_tui.toolkit.ordered_table import MATCHES, RowOrder
from rosetta_tui.toolkit.pages import readable
from rosetta_tui.toolkit.query_line import QueryLine
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.textual_inside import still_mounted

LOOKS_PER_SECOND = 6  # how often the screen takes in what happened
WALKING_SECONDS = 0.6  # time between two looks while keys move the cursor
_TURNS = frozenset({ControlRequest.PAUSE, ControlRequest.GO_ON})  # two wishes of one key

STEERING = {
    "space": ControlRequest.PAUSE,
    "c": ControlRequest.LIMIT,
    "d": ControlRequest.DRAIN,
    "x": ControlRequest.STOP,
}
"""Keys that need a run under way, and what they ask of it."""

TOO_LATE = _TURNS | {ControlRequest.DRAIN}  # what changes nothing any more in a run that drains
FOLLOWED_SECONDS = 0.5  # time between two moves of the cursor to the newest entry
AFTERWARDS_SECONDS = 2.0  # how often is looked whether a run that stopped continues elsewhere


class LiveScreen(ExaminedScreen):
    """Watches one run, and steers it by a ``control`` of this process or another ``helm``; closes its ``store``."""

    TITLE = "Run"
    HELP = (
        "✓ done   ✗ failed   ↻ waits for its next try   ● asked   … waiting for its turn\n"
        "◆◆◆◇◇ tier, from baseline to fluent. ├─●─┤ a value with its 95 % interval;\n"
        "╿ what the best worthless method reaches (such as copied, constant or random outputs);\n"
        "! a part of the outputs fails: one text, too short, too long, untranslated."
    )
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (150, "-roomy")]  # noqa: RUF012  Textual's own form
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-tall")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("R", "end('resume')", "Continue", id="home.again"),
        Binding("R", "end('retry')", "Retry failed", id="home.again"),
        PANE,
        REASONS,
        *MATCHES,
        Binding("s", "sort", "Sort", tooltip="Columns and order", id="sort"),
        Binding("space", "steer('pause')", "Pause", id="run.pause"),
        Binding("space", "steer('go_on')", "Continue", id="run.pause"),
        Binding("d", "steer('drain')", "Drain", tooltip="Drain: begin nothing more", id="run.drain"),
        Binding("x", "steer('stop')", "Stop", id="run.stop"),
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "back", "Back", key_display="q", id="back"),
        PARTS,
        AGAINST,
        Binding("m", "scores", "Metrics", id="run.metrics"),
        Binding("F", "follow", "Follow", tooltip="Follow the newest entry", id="run.follow"),
        Binding("c", "steer('limit')", "Calls", id="run.calls"),
        Binding("B", "end('bench')", "Bench", tooltip="Ask the worst entries again in another way", id="bench"),
        Binding("E", "end('report')", "Report", tooltip="Write a page of the run", id="report"),
        Binding("S", "end('score_again')", "Score again", show=False, id="home.score_again"),
        Binding("t", "end('notes')", "Tags and note", show=False, id="home.notes"),
        Binding("ctrl+c", "interrupt", "Copy, or drain, then stop", show=False, id="run.interrupt"),
    ]

    _store: sqlite3.Connection

    def __init__(
        self,
        source: EventSource,
        store: sqlite3.Connection,
        control: Control | None,
        *,
        helm: RunControl | None = None,
        order: RowOrder | None = None,
        run_id: str = "",
    ) -> None:
        """``order``: sorting and selection at the beginning; ``run_id``: where it is known before the first event."""
        super().__init__()
        self.live = LiveRun()
        self.control = control
        self.superseded = False  # true once a newer screen shows the same run
        self._helm = helm if control is None else LocalRunControl(control)
        self._order, self._run_id = order, run_id
        self.following = order is None  # until a key moves the cursor or orders the rows
        self._source, self._store = source, store
        self._run: Run | None = None
        self._explaining: Explaining | None = None
        self._pages: RunPages | None = None
        self._find_from = time.monotonic() + EXAMINED_SECONDS
        self._looked_at = 0.0  # when the screen looked last (monotonic)
        self._followed_at = 0.0  # when the cursor last followed the run (monotonic)
        self.store_path = store_path(store)
        self._end_acts = RunEnd(self, self.store_path, self._acts_changed)
        self._over = False
        self._over_since = 0.0  # unix time at which the screen saw the run end
        self._painted_done = 0
        self._steered = (False, False)  # whether it was paused and draining when last painted

    def compose(self) -> ComposeResult:
        yield RunHeader()
        with Horizontal(id="panels"):
            yield QualityPanel(classes="panel")
            yield WhyPanel(classes="panel")
            yield CostPanel(classes="panel")
            yield SpeedPanel(classes="panel")
        yield InputsLine()
        yield AgainstLine(id="against")
        yield RunBanner()
        yield DetailLine(id="why", classes="-none")
        yield ReasonsTable()
        yield ResultTable((), id="parts")
        yield CountLine()
        yield QueryLine('chrf<30 tier:baseline -why:quotes "two words"', lambda: self.table.fields)
        with RowsAndPane():
            yield self.table
            yield EntryPane()
        yield KeyLine(palette_from=130)

    def on_mount(self) -> None:
        self.call_after_refresh(self.table.focus)
        self.set_interval(1 / LOOKS_PER_SECOND, self.look_in_turn)
        self.set_interval(AFTERWARDS_SECONDS, self.look_afterwards)
        # what the app consists of need not be walked at each look
        self.call_after_refresh(gc.freeze)
        self.call_after_refresh(self.look)

    @property
    def run_id(self) -> str:
        """Id of the run, "" where nobody told it yet."""
        return self.live.started.run_id if self.live.started else self._run_id

    @cached_property
    def table(self) -> EntryTable:
        """The entries; it is made before the screen shows it, which a part of another part does last."""
        made = EntryTable(self.live, self._store, id="entries")
        made.order = self._order or made.order
        return made

    # What happens

    def look_in_turn(self) -> None:
        """Process what happened, less often while somebody walks through the rows: a key waits for a look."""
        now = time.monotonic()
        if now - self.moved > STILL_SECONDS or now - self._looked_at > WALKING_SECONDS:
            self._looked_at = now
            self.look()

    def look(self) -> None:
        """Process what happened since the last look, and show it; a store that fails is shown as a fault."""
        # a screen that goes has lost its parts before its clock stops
        if not still_mounted(self.table):
            return
        try:
            with worded(self.store_path):
                before = self.live.started
                remembered = self.live.done != self._painted_done
                events = self._source.drain()
                self.baseline.hear(events)
                if self.live.fold(events) or remembered:
                    if self.live.started is not before:
                        self._begin()
                    if self.live.over is not self._over:
                        self._end()
                    notify_terminal(self.app, self.run_id, self.live)
                    self.paint()
        except StoreError as error:
            why = str(error)
            self.live.fold([Failed(self.run_id, why)])
            self._over, self._over_since = True, time.time()
            self._read_acts()
            self.paint()
        self.table.look()
        self.show_entry()
        self._examine()

    def _begin(self) -> None:
        started = self.live.started
        if started is not None:
            run = find_run(self._store, started.run_id)
            kept = self._keep(run)
            self._explaining = Explaining(self.store_path, run.run_id)
            self._pages = RunPages(self._store, kept, started.missing)
            self._end_acts.watch(run.run_id)
            self.set_class(not asks_for_answers(self.live), "-translations")
            self.table.begin(kept, started.positions, done=started.done)

    def _keep(self, run: Run) -> Run:
        """Cache what the store says of the run; its places are in the event, and twice would cost memory."""
        kept = self._run = run._replace(positions=())
        self.live.references = references_accepted(run.opening.scoring)
        return kept

    def _end(self) -> None:
        self.following = self.following and not self.live.over
        self._over, self._over_since = self.live.over, time.time()
        if self._run is None and self.run_id:
            self._end_acts.watch(self.run_id)  # it could not even begin
        if self.live.complete and self._run is not None:
            card = read_card(self._store, self._run.id)
            if card is not None:
                self._keep(find_run(self._store, self._run.run_id))
                seal(self.live, card)
                self.live.looks = first_looks(card)
                self.table.read_again()
        self._read_acts()

    def _read_acts(self) -> None:
        self._end_acts.read()
        self.refresh_bindings()

    def look_afterwards(self) -> None:
        """Check whether a run that stopped was resumed meanwhile, here or in another process."""
        if self._over and not self.live.complete and self.is_current:
            self._end_acts.read()

    def _acts_changed(self) -> None:
        summary = self._end_acts.summary
        if summary is not None and self._over and not self.live.complete:
            beat = 0.0 if summary.live is None else summary.live.at
            gone_on = under_way(summary) and beat > self._over_since
            if (gone_on or summary.card is not None) and self.is_current:
                self.post_message(RunWentOn(summary.run_id, summary.card is not None))
        self.refresh_bindings()
        for header in self.query(RunHeader):
            header.show_run(self.live, notes=self._end_acts.words)
        for banner in self.query(RunBanner):
            banner.show_run(self.live)

    def paint(self) -> None:
        """Show the picture as it is now."""
        compact = self.size.width < 100 or self.size.height < 30
        self._painted_done = self.live.done
        self.query_one(RunHeader).show_run(self.live, notes=self._end_acts.words)
        self.query_one(QualityPanel).show_run(self.live, compact=compact)
        self.query_one(CostPanel).show_run(self.live, compact=compact)
        self.query_one(SpeedPanel).show_run(self.live, compact=compact)
        self.query_one(InputsLine).show_run(self.live)
        self.query_one(AgainstLine).show_run(self.live, self.baseline.found())
        self.query_one(RunBanner).show_run(self.live)
        parts = [
            self.table.order.by_words,
            "following" if self.following and self.size.width >= 100 else "",
        ]
        notes = " · ".join(part for part in parts if part)
        self.query_one(CountLine).show_run(self.live, notes=notes)
        due = time.monotonic() - self._followed_at >= FOLLOWED_SECONDS
        if self.following and due and self.live.newest is not None:
            self._followed_at = time.monotonic()
            self.table.move_to_place(self.live.newest)
        if self._steered != (steered := (self.paused, self.live.draining)):
            self._steered = steered
            self.refresh_bindings()

    @property
    def paused(self) -> bool:
        """Return whether no further entries are begun until a key lets the run continue."""
        progress = self.live.progress
        shown = progress.state if progress else RunState.RUNNING
        return self._helm is not None and self._helm.paused(shown)

    def on_resize(self) -> None:
        self.call_after_refresh(self.paint)

    def on_screen_resume(self) -> None:
        """Show what happened meanwhile; a screen in whose place there is another is left at once."""
        if self.superseded:
            self.post_message(BackRequested())
        else:
            self.look_afterwards()
            self.call_after_refresh(self.paint)

    # The entry under the cursor

    def entry_key(self) -> Hashable:
        place = self.table.place
        if place is None or self._pages is None or self._explaining is None:
            return None
        return (place, self.live.state(place), place in self._explaining.known, self.found_in(place))

    def _facts(self, place: int) -> EntryFacts | None:
        pages, heard = self._pages, self.live.recent.get(place)
        return None if pages is None else readable(lambda: pages.facts(place, heard=heard))

    def entry_page(self) -> EntryPage:
        place = self.table.place
        facts = None if place is None else self._facts(place)
        if facts is None or place is None or self._explaining is None:
            return GONE
        lines = page_lines(facts, self._explaining.known.get(place), {"prompt"}, self.found_in(place))
        return EntryPage(facts.entry, lines)

    def explain_entry(self) -> None:
        explaining, place = self._explaining, self.table.place
        if explaining is None or place is None or place in explaining.known or explaining.why_not is not None:
            return
        facts = self._facts(place)
        if facts is None or facts.result is None or facts.result.failed:
            return
        entry, result = facts.entry, facts.result

        def explained(found: EntryExplanation | None) -> None:
            if found is not None:
                explaining.known[place] = found
                self.show_entry()

        explain = partial(explaining.explain, entry, result)
        in_thread(self, "explain", explain, explained, lambda _: None)

    # Sort, filter, follow

    def wish(self, order: RowOrder) -> None:
        if self.following:
            self.following = False
            self.table.move_to(0)
        super().wish(order)
        self.paint()

    def action_follow(self) -> None:
        self.following = not self.following
        self.paint()

    @on(ResultTable.Moved, "#entries")
    def _moved(self) -> None:
        self.moved = time.monotonic()
        if self.following:
            self.action_follow()

    @on(ResultTable.Chosen, "#entries")
    def _open(self, event: ResultTable.Chosen) -> None:
        rows, started = self.table.entries, self.live.started
        if rows is None or started is None or self._run is None or self._explaining is None:
            return
        screen = EntryScreen(self._store, self._run, rows.order[:], event.index, started.missing, self._explaining)

        def back(position: int | None) -> None:
            if position is not None:
                self.table.move_to_place(position)

        self.app.push_screen(screen, back)

    def action_scores(self) -> None:
        self.app.push_screen(ScoresScreen(self.live))

    # Steering

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "end":
            return self._end_acts.can(str(parameters[0]), over=self.live.over)
        if action == "against":
            return not self.live.over
        if action == "steer":
            wish = str(parameters[0])
            if self.live.over or self._helm is None or (self.live.draining and wish in TOO_LATE):
                return False
            return wish not in _TURNS or self.paused is (wish == ControlRequest.GO_ON)
        return super().check_action(action, parameters)

    def on_key(self, event: Key) -> None:
        wish = STEERING.get(event.key)
        why = ""
        if wish in TOO_LATE and self.live.draining:
            why = "It is draining: what is under way is finished, then it stops."
        elif wish and self.live.over:
            why = "The run is over."
        elif wish and self._helm is None:
            why = "It cannot be steered from here: the store can only be read."
        if why:
            self.notify(why, markup=False)

    def action_end(self, act: str) -> None:
        finished = self.live.finished
        self._end_acts.do(act, (finished.reason or "") if finished else "")

    def action_steer(self, wish: str) -> None:
        """Request something of the run; where it may not be taken back, after a question."""
        progress = self.live.progress
        if self._helm is not None:
            chosen = self.control.most_concurrency if self.control else None
            most = chosen or (progress.most_concurrency if progress else 1)
            steer(self, self._helm, ControlRequest(wish), most)

    def action_interrupt(self) -> None:
        """Copy what is selected; else drain, then stop, as in a plain run, and what is over as on any screen."""
        if self.get_selected_text() or self.control is None or self.live.over:
            self.action_copy_text()
        elif self.control.state is RunState.DRAINING:
            self.control.stop()
        else:
            self.action_steer(ControlRequest.DRAIN)

    def on_unmount(self) -> None:
        if self._explaining is not None:
            self._explaining.close()
        if isinstance(self._source, PrefetchedSource):
            self._source.close()

    def action_back(self) -> None:
        super().action_back()
        self.paint()
