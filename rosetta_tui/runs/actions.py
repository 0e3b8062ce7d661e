"""What a person does with a run, from the list or from the screen that watched it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Button, Input, Static, TextArea

from harness.core.failures import UsageError
from harness.store.attachments import change_words, tidy_note, tidy_tags
from harness.store.live_runs import spent_usd
from harness.store.run_list import RunSummary, list_runs
from harness.store.runs import find_trashed, read_run
from harness.store.sqlite.database import opened
from rosetta_tui.runs.table import beside_words
from rosetta_tui.session.run_sources import may_resume, may_retry
from rosetta_tui.show import figures
from rosetta_tui.show.run_facts import run_label
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit import messages
from rosetta_tui.toolkit.background import COVERED, AnsweringScreen, Found, Work, background, in_thread, telling
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import answers, confirm
from rosetta_tui.toolkit.ordered_table import OrderedTable

if TYPE_CHECKING:
    from harness.setup.plan import Resumption
    from rosetta_tui.request.draft import RunDraft
    from rosetta_tui.runs.resume import RetryScreen, ScoreAgainScreen, ScoredAgain, Stop


# ---- A person's own words beside a run: tags to find it by, and a note ----


@dataclass(frozen=True, slots=True)
class NoteChange:
    note: str | None = None  # none: it stays as it is, anyone who else changed it
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()  # tags that go; others that were added elsewhere stay


AT_HOME = "They stay on this computer: no card and no export holds them."
OTHERWISE = (
    "The note holds signs that act on a terminal; here others stand for them. If you change the note, it is "
    "kept as it is shown."
)

Keep = Callable[[NoteChange], None]  # writes the words in a thread; raises HarnessError


class NotesScreen(AnsweringScreen[bool]):
    """Stays until what was typed is kept or thrown away; gives whether anything was changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+s", "save", "Save", priority=True),
    ]

    def __init__(self, run: str, tags: Sequence[str], note: str, keep: Keep) -> None:
        super().__init__()
        self._run = run
        self._tags = {plain(tag): tag for tag in tags}  # tag as it is shown → as it is kept
        self._shown = "\n".join(map(plain, note.split("\n")))
        self._otherwise = self._shown != note
        self._keep = keep
        self._writing = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.assemble(("Tags and note\n", "bold"), show(self._run, "$quiet")))
            yield Input(
                " ".join(self._tags),
                placeholder="tags: single words, with spaces between them",
                id="tags",
                select_on_focus=False,
            )
            yield TextArea(self._shown, soft_wrap=True, tab_behavior="focus", placeholder="a note", id="note")
            yield Static(Content.styled(AT_HOME, "$quiet"), id="said")
            yield from answers("Save (^s)", "save")

    def on_mount(self) -> None:
        if self._otherwise:
            self._say(OTHERWISE)
        self.query_one("#tags").focus()

    def _changes(self) -> NoteChange:
        """Return what was changed; a tag or note that was only shown otherwise stays as it was."""
        field = self.query_one("#tags", Input).value.replace(",", " ").split()
        tags = {self._tags.get(tag, tag) for tag in field}
        before = set(self._tags.values())
        text = self.query_one("#note", TextArea).text
        note = None if text == self._shown else text
        return NoteChange(note, tuple(sorted(tags - before)), tuple(sorted(before - tags)))

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        words = self._changes()
        if words == NoteChange():
            self.dismiss(False)
            return
        try:
            tidy_note(words.note or "")
            tidy_tags({*self._tags.values(), *words.add} - {*words.remove})
        except UsageError as error:
            self._say(str(error))
        else:

            def kept(_: None) -> None:
                self.answer(True)

            def cannot(why: str) -> None:
                self._writing = False
                self._say(why)

            if not self._writing:
                self._writing = True
                in_thread(self, "words", partial(self._keep, words), kept, cannot)

    def _say(self, why: str) -> None:
        self.query_one("#said", Static).update(show(why, "$warn"))

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        """Change nothing; what was typed goes only after a question, and not while it is being written."""
        if self._writing:
            self._say("Being kept …")
            return
        if self._changes() == NoteChange():
            self.dismiss(False)
            return
        question = Content.styled("Throw away what you typed?", "bold")
        confirm(self.app, question, "Throw away", partial(self.dismiss, False))


ACTS = frozenset({"mark", "compare", "notes", "trash", "like", "report", "sort", "filter", "search"})

SOMETIMES = ACTS | {"resume", "retry", "score_again", "bring_back"}
"""What cannot always be done on a screen with a list of runs."""


def possible(run: RunSummary | None, *, deleted: bool, any_run: bool) -> frozenset[str]:
    """Return what of SOMETIMES can be done now; ``deleted``: a run can be brought back, ``any_run``: there is a run at all."""
    can = {"bring_back"} if deleted else set()
    can |= {"search"} if any_run else set()
    if run is not None:
        can |= ACTS
        can |= {"resume"} if may_resume(run) else {"retry"} if may_retry(run) else set()
        can |= {"score_again"} if run.card is not None else set()
    return frozenset(can)


class RunActions:
    """Belongs to a screen, which reads its list again after each act."""

    def __init__(self, screen: Screen[None], path: Path, after: Callable[[], None]) -> None:
        self._screen, self._path, self._after = screen, path, after

    def trash(self, run: RunSummary) -> None:
        """Delete a run so that it can be brought back; one with secret texts only for good, after a question."""

        def said(words: str) -> None:
            if words:
                self._done(words)
            elif self._screen.is_active:
                self._ask_to_erase(run)
            else:
                self._screen.notify(COVERED, markup=False)

        def trash(store: sqlite3.Connection) -> str:
            """Return the words about it; nothing where the run holds secrets and stays."""
            from harness.store import deletion

            try:
                deletion.trash(store, run.number)
            except deletion.HoldsSecrets:
                return ""
            return f"Deleted: {run_label(run)}. For a week, Undo brings it back."

        self._do("Delete", trash, said)

    def _ask_to_erase(self, run: RunSummary) -> None:
        question = Content.assemble(
            ("Erase this run for good?\n\n", "bold"),
            show(run_label(run)),
            f"\nIt holds secret texts, so it is not kept for an undo: {figures.count(run.done)} outputs, their scores",
            " and the sealed card" if run.card is not None else "",
            " go at once.",
        )

        def erase(store: sqlite3.Connection) -> str:
            from harness.store import deletion

            deletion.erase(store, read_run(store, run.number))
            return f"Erased: {run_label(run)}."

        confirm(self._screen.app, question, "Erase", partial(self._do, "Delete", erase))

    def bring_back(self) -> None:
        """Restore the run that was deleted last."""

        def undo(store: sqlite3.Connection) -> str:
            from harness.store.deletion import bring_back

            run = find_trashed(store, "last")
            bring_back(store, run.id)
            return f"Brought back: {run.dataset_id} · {run.run_id[:8]}."

        self._do("Undo", undo)

    def notes(self, run: RunSummary) -> None:
        """Prompt for tags and a note."""

        def answered(kept: bool | None) -> None:
            if kept:
                self._screen.notify("Tags and note are kept.", markup=False)
                self._after()

        def keep(words: NoteChange) -> None:
            with opened(self._path) as store:
                change_words(store, run.number, note=words.note, add=words.add, remove=words.remove)

        self._screen.app.push_screen(NotesScreen(run_label(run), run.tags, run.note, keep), answered)

    def score_again(self, run: RunSummary) -> None:
        """Prompt for the metrics with which a run's outputs are scored again; no method is called."""

        def scored(made: ScoredAgain | None) -> None:
            if made is None:
                return
            self._after()
            message = "\n".join(["Scored again: this is a new run that names the old one.", *made.notes])
            self._screen.notify(plain(message), markup=False)
            self._screen.post_message(messages.RunChosen(made.run_id, True))

        def make(store: sqlite3.Connection) -> ScoreAgainScreen:
            from harness.setup.plan import scoring_of
            from rosetta_tui.runs.resume import ScoreAgainScreen, fields_of

            before = fields_of(scoring_of(read_run(store, run.number)))
            return ScoreAgainScreen(self._path, run.number, run_label(run), before)

        self._open("Score again", make, scored)

    def resume(self, run_id: str, reason: str = "") -> None:
        """Continue a run that stopped (``reason``: why, if known); ask first about failed entries and the budget."""

        def answered(how: Resumption | None) -> None:
            if how is not None:
                self._screen.post_message(messages.RunResumed(run_id, how.options, how.retry_failed))

        def ask(stop: Stop) -> None:
            from harness.setup.plan import AS_BEFORE
            from rosetta_tui.runs.resume import GoOnScreen

            if stop.asks:
                self._screen.app.push_screen(GoOnScreen(stop), answered)
            else:
                answered(AS_BEFORE)

        self._ask("Continue", partial(stop_of_run, run_id, reason), ask)

    def report(self, run: RunSummary) -> None:
        """Prompt for where the page of a run is written."""
        self._screen.post_message(messages.ReportAsked("run", run.run_id, f"run-{run.run_id[:8]}"))

    def retry(self, run_id: str) -> None:
        """Prompt for how the failed entries of a run are to be asked for again."""

        def answered(changes: dict[str, str | None] | None) -> None:
            if changes is not None:
                self._screen.post_message(messages.RunRetried(run_id, changes))

        def make(store: sqlite3.Connection) -> RetryScreen:
            from harness.run.final_scores import changed_plan
            from harness.setup.plan import plan_of
            from rosetta_tui.runs.resume import RetryScreen, settings_of

            run = _summary(store, run_id)
            before = plan_of(read_run(store, run.number))
            kept = run.total - run.failed
            return RetryScreen(run_label(run), run.failed, kept, settings_of(before), partial(changed_plan, before))

        self._open("Retry", make, answered)

    def like(self, run: RunSummary) -> None:
        """Open the form of a new run with everything as in this one."""

        def read(store: sqlite3.Connection) -> RunDraft:
            from rosetta_tui.request.draft_of_run import draft_of

            return draft_of(read_run(store, run.number), store)

        self._ask("New run", read, lambda draft: self._screen.post_message(messages.NewRunAsked(draft)))

    def _open(self, title: str, make: Work[Screen[Found]], answered: Callable[[Found | None], None]) -> None:
        """Open a dialog that is made with the store."""
        self._ask(title, make, lambda screen: self._screen.app.push_screen(screen, answered))

    def _ask(self, title: str, read: Work[Found], then: Callable[[Found], object]) -> None:
        """Read what a question is about, then ask it; of several questions the last."""
        here, cannot = self._screen, telling(self._screen, title)
        background(here, self._path, "asks", read, then, cannot, asks=True)

    def _do(self, title: str, work: Work[str], then: Callable[[str], object] | None = None) -> None:
        """Change the store and show the words about it; what was begun before continues."""
        here, cannot = self._screen, telling(self._screen, title)
        background(here, self._path, "acts", work, then or self._done, cannot, exclusive=False)

    def _done(self, words: str) -> None:
        self._screen.notify(plain(words), markup=False)
        self._after()


def _summary(store: sqlite3.Connection, run_id: str) -> RunSummary:
    """Return the line of a run; UsageError where another process deleted it meanwhile."""
    for run in list_runs(store, run_id=run_id, brief=True):
        return run
    raise UsageError("This run is gone: it was deleted meanwhile.")


def stop_of_run(run_id: str, reason: str, store: sqlite3.Connection) -> Stop:
    """Collect the words about a run that has stopped, for the question how to continue."""
    from harness.setup.plan import run_options_of
    from rosetta_tui.runs.resume import Stop

    run = _summary(store, run_id)
    return Stop(
        run_id=run_id,
        name=run_label(run),
        waiting=run.total - run.done,
        failed=run.failed,
        budget_usd=run_options_of(read_run(store, run.number)).budget_usd,
        spent_usd=spent_usd(store, run.number),
        reason=reason or (run.live and run.live.reason) or "",
        unconnected=run.failures.get("connection", 0),
    )


class RunEnd:
    """Belongs to a screen; ``changed`` is called when it is known what can be done."""

    def __init__(self, screen: Screen[None], store_path: Path, changed: Callable[[], None]) -> None:
        self._screen, self._path, self._changed = screen, store_path, changed
        self._acts = RunActions(screen, store_path, self.read)
        self._run_id = ""
        self.summary: RunSummary | None = None  # what the store says; None until it was read

    @property
    def words(self) -> str:
        return beside_words(self.summary) if self.summary else ""

    def watch(self, run_id: str) -> None:
        """Read what the store says of a run, now and after each act."""
        self._run_id = run_id
        self.read()

    def read(self) -> None:
        """Read it again; where that fails the screen has no notes, and anyone who acts on the run sees what is wrong."""

        def find(store: sqlite3.Connection) -> RunSummary | None:
            return next(iter(list_runs(store, run_id=self._run_id)), None)

        def take(summary: RunSummary | None) -> None:
            self.summary = summary
            self._changed()

        background(self._screen, self._path, "summary", find, take, lambda _: None)

    def can(self, act: str, *, over: bool) -> bool:
        """Return whether something can be done now: ``notes`` always, the rest when the run is over."""
        if self.summary is None:
            return False
        if act == "report":
            return over and self.summary.card is not None
        if act == "bench":
            return self.summary.done > 0 and not (self.summary.imported or self.summary.submission)
        now = possible(self.summary, deleted=False, any_run=False)
        return act in now and (over or act == "notes")

    def do(self, act: str, reason: str = "") -> None:
        """Carry out the act; ``reason`` says why the run stopped, where it did."""
        run = self.summary
        if run is None:
            return
        match act:
            case "report":
                self._acts.report(run)
            case "resume":
                self._acts.resume(run.run_id, reason)
            case "retry":
                self._acts.retry(run.run_id)
            case "score_again":
                self._acts.score_again(run)
            case "notes":
                self._acts.notes(run)
            case "bench":
                self._open_bench(run)

    def _open_bench(self, run: RunSummary) -> None:
        """Open the bench with the worst of the entries that the screen shows."""
        rows = self._screen.query_one("#entries", OrderedTable).entries
        places = [] if rows is None else list(rows.order)
        self._screen.post_message(messages.BenchAsked(run.run_id, places, worst=True))
