"""A person's own words beside a run: tags to find it by, and a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static, TextArea

from harness.core.failures import UsageError
from harness.store.notes import tidy_note, tidy_tags
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import AnsweringScreen, in_thread
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import answers, confirm


@dataclass(frozen=True, slots=True)
class NoteChange:
    """What is changed beside a run."""

    note: str | None = None
    """None: it stays as it is, anyone who else changed it."""
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    """Tags that go; others that were added elsewhere stay."""


AT_HOME = "They stay on this computer: no card and no export holds them."
OTHERWISE = (
    "The note holds signs that act on a terminal; here others stand for them. If you change the note, it is "
    "kept as it is shown."
)

Keep = Callable[[NoteChange], None]
"""Writes the words; called in a thread, raises HarnessError where they cannot be kept."""


class NotesScreen(AnsweringScreen[bool]):
    """Stays until what was typed is kept or thrown away; gives whether anything was changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+s", "save", "Save", priority=True),
    ]

    def __init__(self, run: str, tags: Sequence[str], note: str, keep: Keep) -> None:
        super().__init__()
        self._run = run
        self._tags = {plain(tag): tag for tag in tags}
        """Tag as it is shown → as it is kept."""
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
            yield TextArea(self._shown, soft_wrap=True, tab_behavior="focus", id="note")
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
        """Store what was typed; where that cannot be, say so and stay."""
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
            self._write(words)

    def _write(self, words: NoteChange) -> None:
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
