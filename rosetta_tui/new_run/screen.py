"""A new run as a form: choose instead of type, see what it would cost and send, then start it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Button, Static
from textual.worker import Worker, get_current_worker

from corpora.files.problems import CorpusError
from harness.core.failures import HarnessError
from harness.endpoint.endpoints import list_models
from harness.settings import read_settings
from rosetta_tui.new_run.form import Measured, RunForm, beside, in_a_line, measured
from rosetta_tui.request.draft import RunDraft, Value, keep_draft, kept_draft
from rosetta_tui.request.fields import FIELDS, applicable, drafted
from rosetta_tui.request.look import DraftLook, FormCache, examine_draft
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import bring, in_thread, telling
from rosetta_tui.toolkit.content import DetailLine, show
from rosetta_tui.toolkit.form.form_line import FormLine
from rosetta_tui.toolkit.key_line import KeyLine
from rosetta_tui.toolkit.messages import BackRequested, Copied, RunBegun

QUIET_SECONDS = 0.25
"""How long nothing must be typed before the form is examined."""

TABLES = frozenset({".tsv", ".csv", ".txt"})
"""Endings of corpus files that hardly ever name their languages: the fields for them are there before the file
is read, so that who types on writes into them."""

ANEW = "begun again"
"""Stands at the title while the emptied form is on the screen."""

LANGUAGES = frozenset({"source_language", "target_language"})


class NewRunScreen(Screen[None]):
    """The form at the left, what follows from it at the right, or on a key where there is no room."""

    TITLE = "New run"
    HELP = (
        "Tab and enter lead from field to field, ↓ opens a list, space ticks a box.\n"
        "What is typed is kept when you leave, and stands here again when you come back.\n"
        "Beside the form: what the run would cost and where that is known from, the command that does the "
        "same in a shell, the metrics that will work, and the first prompt as it will be sent."
    )
    CSS_PATH = "../toolkit/form/form.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012  Textual's own form

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "start", "Start", id="new_run.start"),
        Binding("ctrl+g", "preview", "Preview", id="new_run.preview"),
        Binding("ctrl+t", "every", "More", tooltip="Show every option", id="new_run.every"),
        Binding("ctrl+y", "copy", "Copy", tooltip="Copy the command line", id="new_run.copy"),
        Binding("y", "copy", "Copy the command line", show=False, id="copy"),
        Binding("ctrl+r", "models", "Ask for local models", show=False, id="new_run.models"),
        Binding("ctrl+n", "empty", "Empty", tooltip="Empty the form, or bring back what was there", id="new_run.empty"),
        Binding("f1", "app.keys", "Help", key_display="F1", id="new_run.help"),
        Binding("question_mark", "app.keys", "Help", show=False, id="help"),
        Binding("escape", "leave", "Back", key_display="esc", id="back"),
    ]

    def __init__(self, store_path: Path, draft: RunDraft | None = None) -> None:
        super().__init__()
        self._path = store_path
        kept = kept_draft(store_path.parent) if draft is None else None
        self._which = "as you left it" if kept is not None else ""
        """Which draft is on the screen, in words."""
        self.typed: dict[str, Value] = dict((draft or kept or RunDraft()).values)
        self._put_aside: dict[str, Value] = {}
        """The other draft: what stood here before it was begun again, or what was begun then."""
        self._every = False
        self._wanted = False
        """True once somebody wished to start: from then on, what is missing is said too."""
        self._known = FormCache()
        self.found = DraftLook()
        self._measured: Measured | None = None
        self._timer: Timer | None = None
        self._keeping = Lock()

    def compose(self) -> ComposeResult:
        yield Static(id="where")
        with Horizontal(id="sides"):
            yield RunForm(self._path, self.typed)
            with VerticalScroll(id="beside"):
                yield DetailLine(id="facts")
        yield DetailLine(id="whole")
        yield Static(id="about")
        yield DetailLine(id="sum")
        yield KeyLine()

    def on_mount(self) -> None:
        self._title()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """Start at the first field that is empty, or at the start where none is."""
        self._arrange()
        empty = next((name for name in ("file", "method") if not self.typed.get(name)), None)
        if empty is None:
            self.query_one("#start").focus()
        else:
            self.form.focus_on(empty)
        self.look()

    @property
    def form(self) -> RunForm:
        """The fields."""
        return self.query_one(RunForm)

    @property
    def draft(self) -> RunDraft:
        """Return the form's present request."""
        return drafted(self.typed)

    @property
    def holds_secret(self) -> bool:
        """Return whether the prompt of a secret entry is shown, which no selection may take to the clipboard."""
        return self.found.secret and self.found.request is not None

    def _title(self) -> None:
        other = "brings back what stood here" if self._which == ANEW else "shows the one begun again"
        more = f"   {self._which} · ^n {other if self._put_aside else 'begins again'}" if self._which else ""
        self.query_one("#where", Static).update(Content.assemble(("New run", "bold $mark"), (more, "$quiet")))

    # Typing

    @on(FormLine.Changed)
    def _changed(self, event: FormLine.Changed) -> None:
        name = event.line.field.name
        if self.typed.get(name, "") == event.line.value:
            return
        self.typed[name] = event.line.value
        if name in {"file", "vault", "method", "endpoint"}:
            self._arrange()
        self._show_beside()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(QUIET_SECONDS, self.look)

    @on(FormLine.Agreed)
    def _go_on(self, event: FormLine.Agreed) -> None:
        self.form.go_on_from(event.line.field.name)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        line = next((ancestor for ancestor in event.widget.ancestors if isinstance(ancestor, FormLine)), None)
        about = line.field.about if line is not None else ""
        self.query_one("#about", Static).update(Content.styled(about, "$quiet"))

    def _arrange(self) -> None:
        """Show the fields that the method takes, and of the rare ones those that matter."""
        method = self.typed.get("method", "")
        taken = applicable(method if isinstance(method, str) else "")
        troubled = {trouble.field for trouble in self.found.troubles}
        matter = {
            name
            for name, field in FIELDS.items()
            if self._every or not field.rare or name in troubled or self.typed.get(name)
        }
        if Path(str(self.typed.get("file", ""))).suffix.lower() in TABLES:
            matter |= LANGUAGES
        if self.typed.get("vault"):
            matter |= {"purpose"}
        self.form.show_only(taken & matter)

    # Looking

    def look(self, *, start: bool = False) -> None:
        """Find out what is true of the form as it stands."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._look(self.draft, dict(self.typed), start=start)

    @work(thread=True, exclusive=True, group="look")
    def _look(self, draft: RunDraft, typed: dict[str, Value], *, start: bool) -> None:
        worker = get_current_worker()
        self._keep(typed, worker)
        if start:
            self._known.keys.clear()
        draft_look = examine_draft(self._path, draft, self._known)
        if worker.is_cancelled:
            return
        bring(self, self._show, draft_look, draft, start)
        if not start and not draft_look.troubles and draft_look.read is not None:
            try:
                facts = Measured(*measured(self._path, draft, draft_look.read, self._known))
            except (CorpusError, HarnessError, OSError) as error:
                facts = Measured(trouble=str(error))
            if not worker.is_cancelled:
                bring(self, self._show_metrics, facts)

    def _keep(self, typed: dict[str, Value], worker: Worker[Any] | None = None) -> None:
        """Write the draft down, unless newer work took the worker's place; it stays in the form where it cannot be."""
        try:
            with self._keeping:  # an older draft, or that of a run that was started, is never the last
                if worker is None or not worker.is_cancelled:
                    keep_draft(self._path.parent, RunDraft.of(typed))
        except (HarnessError, OSError) as error:
            self.notify(plain(str(error)), title="The draft is not kept", severity="warning", markup=False)

    def _show(self, found: DraftLook, draft: RunDraft, start: bool) -> None:
        if not self.is_attached:
            return
        self.found = found
        self._arrange()
        self.form.tell(found, missing=self._wanted)
        # Show what is wrong with no field alone.
        whole = [trouble.words for trouble in found.troubles if trouble.field not in FIELDS]
        line = self.query_one("#whole", DetailLine)
        line.display = bool(whole)
        line.tell(Content("\n").join([show(f"✗ {words}", "$bad") for words in whole]))
        self._show_beside()
        if start:
            self._start(found, draft)

    def _show_metrics(self, facts: Measured) -> None:
        if self.is_attached:
            self._measured = facts
            self._show_beside()

    def _show_beside(self) -> None:
        self.query_one("#facts", DetailLine).tell(beside(self.draft, self.found, self._measured))
        self.query_one("#sum", DetailLine).tell(in_a_line(self.found))

    # Acting

    def action_start(self) -> None:
        self._wanted = True
        self.look(start=True)

    @on(Button.Pressed, "#start")
    def _start_pressed(self) -> None:
        self.action_start()

    def _start(self, found: DraftLook, draft: RunDraft) -> None:
        if draft != self.draft:
            return  # it was changed meanwhile: what is seen now is not what was agreed to
        if not found.troubles:
            self.post_message(RunBegun(draft))
            self.post_message(BackRequested())
            return
        count = len(found.troubles)
        words = "One thing is" if count == 1 else f"{count} things are"
        self.notify(f"{words} not right yet.", severity="warning", markup=False)
        first = next((t.field for t in found.troubles if t.field in FIELDS), None)
        if first is not None:
            self.form.focus_on(first)

    def action_preview(self) -> None:
        shown = self.has_class("-preview") or self.focused is self.query_one("#beside")
        self.set_class(not shown, "-preview")
        if shown:
            self.form.focus_on("file")
        else:
            self.query_one("#beside").focus()

    def action_every(self) -> None:
        self._every = not self._every
        self._arrange()

    def action_copy(self) -> None:
        """Copy the command line; it holds names of files, never a text of a corpus."""
        self.post_message(Copied(self.draft.command(), "Command", cleared=True))

    def action_empty(self) -> None:
        """Empty the form; the same key brings back what was there."""
        self.typed, self._put_aside = self._put_aside, self.typed
        self._which = "brought back" if self._which == ANEW else ANEW
        self._wanted = False
        self.form.put(self.typed)
        self._measured = None
        self._title()
        self._arrange()
        self.form.focus_on("file")
        self.look()

    def action_models(self) -> None:
        endpoint = self.typed.get("endpoint", "")
        if not isinstance(endpoint, str) or not endpoint:
            self.notify("Choose an endpoint of this machine first.", markup=False)
        else:
            home, cannot = self._path.parent, telling(self, "No models")
            ask = lambda: list_models(read_settings(home).url_of(endpoint))  # noqa: E731
            in_thread(self, "models", ask, self.form.offer_models, cannot)

    def action_leave(self) -> None:
        """Return from the preview to the form, or close the form; what was typed is kept."""
        if self.focused is self.query_one("#beside"):
            self.action_preview()
            return
        self.workers.cancel_group(self, "look")
        self.app.run_worker(partial(self._keep, dict(self.typed)), thread=True, group="draft")
        self.post_message(BackRequested())
