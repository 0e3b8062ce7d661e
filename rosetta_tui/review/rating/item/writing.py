"""The box for a comment or a better wording: Enter saves, Esc goes back, and nothing typed is lost."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static, TextArea

from review.log.payloads import MOST_TEXT
from review.session.drafts import as_kept, harmless

PAUSE_SECONDS = 0.4
"""So long a silence of the keys is a typing pause: the draft is kept then."""


class Writing(Vertical):
    """A title and the box; hidden until somebody wants to write."""

    @dataclass
    class Paused(Message):
        """The person stopped typing for a moment; the draft can be kept."""

        text: str

    @dataclass
    class Saved(Message):
        """The text is ready."""

        text: str

    @dataclass
    class Left(Message):
        """The person went back without saving; the draft stays."""

        text: str

    def compose(self) -> ComposeResult:
        """Lay out the box."""
        yield Static(classes="title")
        yield Box()

    def begin(self, title: Content, text: str, start: str = "") -> None:
        """Let the person write on from this text; ``start`` is what the up key brings into an empty box."""
        self.query_one(".title", Static).update(title)
        self.display = True
        self.query_one(Box).begin(text, start)

    def take(self, event: events.Key) -> None:
        """Take a key that came before the box had the focus, or after a click took it away."""
        if event.key in {"enter", "escape"} or event.is_printable:
            event.stop()
            box = self.query_one(Box)
            self.screen.set_focus(box)
            box.post_message(events.Key(event.key, event.character))

    def end(self) -> None:
        """Put the box away."""
        self.display = False

    def begin_with_start(self) -> None:
        """Bring the start into an empty box."""
        self.query_one(Box).begin_with_start()

    @property
    def text(self) -> str:
        """What stands in the box."""
        return self.query_one(Box).written


class Box(TextArea):
    """Takes digits as text; lets no character in that would act on the terminal instead of showing."""

    def __init__(self) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, compact=True)
        self._pause: Timer | None = None
        self._start = ""

    @property
    def written(self) -> str:
        """The text in the form in which it is kept: composed letters, no blanks around it."""
        return as_kept(self.text)

    def begin(self, text: str, start: str) -> None:
        """Take the keys."""
        self._start = harmless(start)
        self.load_text(harmless(text)[:MOST_TEXT])
        self._rest()
        self.move_cursor(self.document.end)
        self.screen.set_focus(self)  # at once: the next key may be a letter already

    def begin_with_start(self) -> None:
        """Bring the start into an empty box."""
        if not self.text:
            self.insert(self._start[:MOST_TEXT])

    def on_key(self, event: events.Key) -> None:
        """Save, go back, or refuse what would be too long; everything else is text."""
        empty_up = event.key == "up" and not self.text and bool(self._start)
        full = event.is_printable and len(self.text) >= MOST_TEXT
        if event.key in {"enter", "escape"}:
            self._rest()
            ended = Writing.Saved if event.key == "enter" else Writing.Left
            self.post_message(ended(self.written))
        elif empty_up:
            self.begin_with_start()
        if event.key in {"enter", "escape"} or empty_up or full:
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Take pasted text in without what would act on the terminal."""
        event.stop()
        event.prevent_default()
        room = max(0, MOST_TEXT - len(self.text))
        self.replace(harmless(event.text)[:room], *self.selection)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Wait for the next pause."""
        event.stop()
        self._rest()
        if self.has_focus:
            self._pause = self.set_timer(PAUSE_SECONDS, self._paused)

    def _rest(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None

    def _paused(self) -> None:
        self.post_message(Writing.Paused(self.written))
