"""The screen of the bench: the changes, what they would cost, and the entries before and now."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer

from corpora.model.entry import Entry
from corpora.text.messages import counted
from harness.method.method import Result
from harness.run.events import EntryScored
from harness.store.results import shown_results
from harness.store.runs import find_run
from rosetta_tui.compare.bench import (
    CHANGED,
    COLUMNS,
    BenchFacts,
    BenchRows,
    BenchTable,
    chance_words,
    outcome_line,
    read_facts,
    value_of,
)
from rosetta_tui.compare.detail_screens import SIGNS, output_content, outputs_between
from rosetta_tui.compare.sentences import name, number
from rosetta_tui.entry.pane import GONE, PANE, EntryPage, EntryPane, PanedScreen, RowsAndPane
from rosetta_tui.entry.record import asked, text_of
from rosetta_tui.report.cost import cost_words, time_words
from rosetta_tui.report.run import sentence
from rosetta_tui.request import suggesting
from rosetta_tui.request.draft import RunDraft, Value
from rosetta_tui.request.fields import FIELDS, FieldKind, applicable
from rosetta_tui.request.look import DraftLook, FormCache, examine_draft
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.run_sources import WatchedRun, begin
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import background, in_thread, telling
from rosetta_tui.toolkit.content import DetailLine, EmptyState, PageLine, StatusBar, show
from rosetta_tui.toolkit.dialogs.choose import confirm
from rosetta_tui.toolkit.form.form_line import FormLine
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, NewRunAsked
from rosetta_tui.toolkit.ordered_table import RowOrder
from rosetta_tui.toolkit.query_line import QueryLine
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from rosetta_tui.session.engine import Engine

QUIET_SECONDS = 0.25  # how long nothing must be typed before it is estimated
LOOKS_PER_SECOND = 12


class BenchScreen(PanedScreen):
    """Asks a few entries of a run again, with another prompt, model, temperature or coaching."""

    TITLE = "Bench"
    HELP = (
        "Change the prompt, the coaching, the model or the temperature: ^s asks the entries again.\n"
        "Each try is a run of these entries alone, with the tag bench; the budget of the run holds for it.\n"
        "a opens the form of a new run over all entries with what was changed here."
    )
    AUTO_FOCUS = "#entries"
    CSS_PATH: ClassVar = ["../toolkit/form/form.tcss", "compare.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012  Textual's own form

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "ask", "Ask", tooltip="Ask these entries again", id="bench.ask"),
        Binding("a", "adopt", "Adopt", tooltip="A new run over all entries, with these changes", id="bench.adopt"),
        Binding("x", "stop", "Stop", id="run.stop"),
        PANE,
        Binding("question_mark", "app.keys", "Help", key_display="?", id="help"),
        Binding("q,escape", "back", "Back", key_display="esc", id="back"),
    ]

    def __init__(
        self,
        store_path: Path,
        run_id: str,
        places: Sequence[int],
        start: Callable[[Callable[[Path], Engine]], WatchedRun],
        *,
        worst: bool,
    ) -> None:
        """``start`` starts what it is given, in the background; ``worst``: only the worst of the places are meant."""
        super().__init__()
        self.store_path, self._run_id, self._places = store_path, run_id, tuple(places)
        self._start, self._worst = start, worst
        self.facts: BenchFacts | None = None
        self.typed: dict[str, Value] = {}
        self._known = FormCache()
        self._beginning = False  # true while a run is being started
        self._timer: Timer | None = None
        self.session: WatchedRun | None = None
        self.live = LiveRun()  # of the entries that are asked again

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield EmptyState("Reading …")
        yield Vertical(id="changes")
        yield DetailLine(id="estimate")
        yield DetailLine(id="outcome")
        yield QueryLine("", dict)  # away: these rows are chosen already
        with RowsAndPane():
            yield BenchTable(COLUMNS, id="entries")
            yield EntryPane()
        yield KeyLine()

    def on_mount(self) -> None:
        read = partial(read_facts, run_id=self._run_id, places=self._places, worst=self._worst)
        background(self, self.store_path, "facts", read, self._begin, self._nothing)
        self.set_interval(1 / LOOKS_PER_SECOND, self.look_at_run)

    def _nothing(self, why: str) -> None:
        self.query("#estimate, #outcome, RowsAndPane").set(display=False)
        self.query_one(EmptyState).say("Nothing can be asked again here.", show(why).append("\n\nesc goes back"))

    async def _begin(self, facts: BenchFacts) -> None:
        self.facts = facts
        self.query_one(EmptyState).display = False
        chosen = f"the {len(facts.entries)} worst" if self._worst else counted(len(facts.entries), "entry", "entries")
        self.query_one(StatusBar).say(show(f"{chosen} of run {self._run_id[:8]} · {facts.what}", "$quiet"))
        taken = applicable(str(facts.values.get("method", "")))
        self.typed = {option: facts.values.get(option, "") for option in CHANGED if option in taken}
        lines = [FormLine(FIELDS[option], value, suggest=self._suggest(option)) for option, value in self.typed.items()]
        await self.query_one("#changes").mount_all(lines)
        self.table.show_entries(BenchRows(facts), top=True)
        lines[0].take_focus()
        self._paint()
        self._estimate()

    def _suggest(self, option: str) -> suggesting.Suggest | None:
        facts = self.facts
        if FIELDS[option].kind is not FieldKind.SUGGESTED or facts is None:
            return None
        known = partial(suggesting.models, self.store_path, str(facts.values.get("endpoint", "")))
        special = {
            "model": suggesting.choices(known),
            "prompt": suggesting.with_paths(suggesting.choices(suggesting.prompts)),
        }
        return special.get(option, suggesting.paths)

    @property
    def table(self) -> BenchTable:
        return self.query_one(BenchTable)

    @property
    def holds_secret(self) -> bool:
        """Return whether text of a secret entry may be shown, which no selection may take to the clipboard."""
        return self.facts is not None and any(entry.secret for entry in self.facts.entries.values())

    @property
    def asking_session(self) -> WatchedRun | None:
        """Return the run of the entries that are being asked again; None while none are."""
        return None if self.live.over else self.session

    @property
    def asking(self) -> bool:
        """Return whether entries are being asked again."""
        return self.asking_session is not None

    def wish(self, order: RowOrder) -> None:
        """The rows stay as they were chosen."""

    # The entry under the cursor

    def entry_key(self) -> Hashable:
        place = self.table.place
        return None if place is None or self.facts is None else (place, self.facts.now.get(place))

    def entry_page(self) -> EntryPage:
        facts, place = self.facts, self.table.place
        entry = None if facts is None or place is None else facts.entries.get(place)
        if facts is None or place is None or entry is None:
            return GONE
        return EntryPage(entry, self._page_lines(facts, place, entry))

    def _page_lines(self, facts: BenchFacts, place: int, entry: Entry) -> Iterator[PageLine]:
        yield from asked(entry, facts.task, text_of(entry.reference, facts.task))
        results = [facts.before.get(place), facts.now.get(place)]
        outputs = [None if r is None or r.failed else r.output or "" for r in results]
        for label, result, output in zip(("Before → ref.", "Now → ref."), results, outputs, strict=True):
            if result is not None:
                value = value_of(result)
                score = "" if value is None else f"   {name(facts.metric)} {number(facts.metric, value)}"
                shown = output_content(result, output, entry.reference, facts.task)
                yield PageLine(label, shown.append(Content.styled(score, "$quiet")))
        if results[1] is not None:
            yield outputs_between(("Before", "now"), (outputs[0], outputs[1]))
            yield PageLine("", show(SIGNS, "$quiet"))

    @on(ResultTable.Chosen, "#entries")
    def _enter_pane(self) -> None:
        self.pane.focus()

    # What is changed, and what that would cost

    @on(FormLine.Changed)
    def _changed(self, event: FormLine.Changed) -> None:
        self.typed[event.line.field.name] = event.line.value
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(QUIET_SECONDS, self._estimate)

    @on(FormLine.Agreed)
    def _next(self, event: FormLine.Agreed) -> None:
        lines = [*self.query(FormLine)]
        after = lines.index(event.line) + 1
        if after < len(lines):
            lines[after].take_focus()
        else:
            self.table.focus()

    def _estimate(self, *, ask: bool = False) -> None:
        if self._timer is not None:
            self._timer.stop()
        if (facts := self.facts) is not None:
            draft = facts.draft(self.typed, few=True)
            examine = partial(examine_draft, self.store_path, draft, self._known)
            done = partial(self._examined, draft=draft, ask=ask)
            in_thread(self, "look", examine, done, telling(self, "No estimate"))

    def _examined(self, found: DraftLook, draft: RunDraft, *, ask: bool) -> None:
        line = self.query_one("#estimate", DetailLine)
        if found.troubles:
            line.tell(show(f"✗ {' '.join(sentence(trouble.words) for trouble in found.troubles)}", "$bad"))
            return
        words = "what it costs is seen when it is asked"
        if (estimate := found.estimate) is not None:
            budget = f" · ! {estimate.budget}" if estimate.budget else ""
            words = f"cost {cost_words(estimate)} · time {time_words(estimate)}{budget}"
        same = "no_cache" in draft.values and self.facts is not None and not self.facts.changes(self.typed)
        note = "nothing is changed, so the cache is not used · " if same else ""
        line.tell(Content.assemble(("^s asks again  ", "$mark"), show(f"{note}{words}", "$quiet")))
        if ask and not self._beginning:
            self._beginning = True
            begin_run = partial(self._start, partial(begin, draft=draft, keep_form=True))
            in_thread(self, "ask", begin_run, self._begun, self._not_begun, unwanted=lambda run: run.control.stop())

    # Asking

    def action_ask(self) -> None:
        if self.asking or self._beginning:
            self.notify("These entries are being asked: x stops that.", markup=False)
        else:
            self._estimate(ask=True)

    def _not_begun(self, why: str) -> None:
        self._beginning = False
        self.notify(plain(why), title="Nothing was asked", severity="error", markup=False)

    def _begun(self, session: WatchedRun) -> None:
        self._beginning = False
        if self.facts is not None:
            self.facts.now.clear()
        self.session, self.live = session, LiveRun()
        self.table.focus()
        self._paint()

    def look_at_run(self) -> None:
        """Process what came since the last look."""
        facts, session = self.facts, self.session
        if facts is None or session is None or self.live.over:
            return
        events = session.source.drain()
        if not self.live.fold(events):
            return
        facts.now |= {event.result.position: event.result for event in events if isinstance(event, EntryScored)}
        if self.live.finished is not None:
            self._read_again(facts, self.live.finished.run_id)
        self._paint()

    def _read_again(self, facts: BenchFacts, run_id: str) -> None:
        """Read the results as they were stored at the end, when metrics that need all outputs are there."""

        def read(store: sqlite3.Connection) -> Collection[Result]:
            return [*shown_results(store, find_run(store, run_id).id)]

        def take(results: Collection[Result]) -> None:
            facts.now |= {result.position: result for result in results}
            self._paint()

        background(self, self.store_path, "results", read, take, telling(self, "The answers cannot be read"))

    def _paint(self) -> None:
        facts = self.facts
        if facts is None:
            return
        parts = [] if self.asking and not facts.now else [outcome_line(facts)]
        if self.live.failed is not None:
            parts.append(show(f"✗ {self.live.failed.message}", "$bad"))
        elif self.live.finished is not None and self.live.finished.reason:
            parts.append(show(f"! Stopped: {self.live.finished.reason}", "$warn"))
        elif self.asking:
            parts.append(show(f"asking … {self.live.done} of {len(facts.entries)}   x stops", "$mark"))
        parts.append(show(f"! {chance_words(facts, worst=self._worst)}", "$warn" if facts.now else "$quiet"))
        self.query_one("#outcome", DetailLine).tell(Content("\n").join(parts))
        self.table.refresh_changed()
        self.show_entry()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self.asking
        if action in {"ask", "adopt", "pane"} and self.facts is None:
            return False
        return super().check_action(action, parameters)

    def action_stop(self) -> None:
        if self.session is not None:
            self.session.control.stop()

    def action_adopt(self) -> None:
        if self.facts is not None:
            self.post_message(NewRunAsked(self.facts.draft(self.typed, few=False)))

    def action_back(self) -> None:
        if not self.asking:
            self.post_message(BackRequested())
            return

        def stop() -> None:
            self.action_stop()
            self.post_message(BackRequested())

        question = Content.assemble(
            ("Entries are being asked.\n\n", "bold"), "Leaving stops that; what is done is stored."
        )
        confirm(self.app, question, "Stop and leave", stop)
