"""The page of an item: two texts, four answers, what the next key means, and a training item's lesson.

``Writing`` is the box for a comment or a better wording: Enter saves, Esc goes back, nothing typed is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Center, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static, TextArea

from review.log.payloads import MOST_TEXT
from review.session.record import as_kept, harmless
from review.session.view import Lesson, ShownItem, TextField, View
from review.session.words import item as item_words
from review.session.words.catalogue import Words
from review.session.words.item import Mark, lesson_said, offers
from review.session.words.keys import KEYS
from rosetta_tui.review.rating.pages.page import STYLES, Choices, Hint, RatingKeyLine, TroubleLine, told
from rosetta_tui.review.rating.sitting import TerminalSitting
from rosetta_tui.toolkit.content import show_lines

PAUSE_SECONDS = 0.4  # so long a silence of the keys is a typing pause: the draft is kept then


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
    class GivenUp(Message):
        """The person went back without saving; the draft stays."""

        text: str

    def compose(self) -> ComposeResult:
        yield Static(classes="title")
        yield Box()

    def begin(self, title: Content, text: str, start: str = "") -> None:
        """Start writing on from this text; ``start`` is what the up key inserts into an empty box."""
        self.query_one(".title", Static).update(title)
        self.display = True
        self.query_one(Box).begin(text, start)

    def take(self, event: events.Key) -> None:
        """Pass on a key that came before the box had the focus, or after a click took it away."""
        if event.key in {"enter", "escape"} or event.is_printable:
            event.stop()
            box = self.query_one(Box)
            self.screen.set_focus(box)
            box.post_message(events.Key(event.key, event.character))

    def end(self) -> None:
        """Hide the box."""
        self.display = False

    def begin_with_start(self) -> None:
        """Insert the start into an empty box."""
        self.query_one(Box).begin_with_start()

    @property
    def text(self) -> str:
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
        self._start = harmless(start)
        self.load_text(harmless(text)[:MOST_TEXT])
        self._rest()
        self.move_cursor(self.document.end)
        self.screen.set_focus(self)  # at once: the next key may be a letter already

    def begin_with_start(self) -> None:
        """Insert the start into an empty box."""
        if not self.text:
            self.insert(self._start[:MOST_TEXT])

    def on_key(self, event: events.Key) -> None:
        """Save, go back, or refuse what would be too long; everything else is text."""
        empty_up = event.key == "up" and not self.text and bool(self._start)
        full = event.is_printable and len(self.text) >= MOST_TEXT
        if event.key in {"enter", "escape"}:
            self._rest()
            ended = Writing.Saved if event.key == "enter" else Writing.GivenUp
            self.post_message(ended(self.written))
        elif empty_up:
            self.begin_with_start()
        if event.key in {"enter", "escape"} or empty_up or full:
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        room = max(0, MOST_TEXT - len(self.text))
        self.replace(harmless(event.text)[:room], *self.selection)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._rest()
        if self.has_focus:
            paused = lambda: self.post_message(Writing.Paused(self.written))  # noqa: E731
            self._pause = self.set_timer(PAUSE_SECONDS, paused)

    def _rest(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None


FEWEST_LINES = 3  # lines of the texts that are in sight at least: in fewer, nobody reads a sentence


class Texts(VerticalScroll):
    """Scrolls where a text is long; the labels below stay where they are."""

    can_focus = False

    class Resized(Message):
        """There is more or less room to read now."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = self._read = ""  # ids of the item, and of the translation seen to its end

    def compose(self) -> ComposeResult:
        yield Static(id="source-name", classes="name")
        yield Static(id="source")
        yield Static(id="candidate-name", classes="name")
        yield Static(id="candidate")
        yield Static(id="marks")

    def name_them(self, original: str, translation: str) -> None:
        """Show which text is which, in the reviewer's language."""
        self.query_one("#source-name", Static).update(told(original))
        self.query_one("#candidate-name", Static).update(told(translation))

    def show_item(self, item: ShownItem, marks: Sequence[Mark], original: str) -> None:
        """Show an item from its beginning; ``original`` names its original."""
        self._shown = item.id
        self.query_one("#source-name", Static).update(told(original))
        self.query_one("#source", Static).update(show_lines(item.source))
        self.query_one("#candidate", Static).update(show_lines(item.candidate, "bold"))
        self.show_marks(marks)
        self.scroll_home(animate=False)

    def show_marks(self, marks: Sequence[Mark]) -> None:
        """Show what the person added to the item."""
        line = self.query_one("#marks", Static)
        line.display = bool(marks)
        lines = []
        for mark in marks:
            content = told(mark.said, "$warn" if mark.warns else "$quiet")
            lines.append(Content.assemble(content, " ", show_lines(mark.text)) if mark.text else content)
        line.update(Content("\n").join(lines))

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    def note_read(self) -> None:
        """Record that the translation was read to its end, where that is in sight; call it when all is arranged."""
        candidate = self.query_one("#candidate")
        end = candidate.virtual_region.bottom - candidate.styles.padding.bottom
        if self.has_room and end <= self.scroll_offset.y + self.size.height:
            self._read = self._shown

    @property
    def translation_seen(self) -> bool:
        """Return whether all of the translation was on the screen, at once or one part after the other."""
        return bool(self._shown) and self._read == self._shown

    @property
    def has_room(self) -> bool:
        """Return whether a sentence can be read, be it by scrolling."""
        return self.size.height >= FEWEST_LINES

    @property
    def more_below(self) -> bool:
        """Return whether a part of the texts is below what is seen."""
        return self.scroll_offset.y < self.max_scroll_y


class LessonBox(VerticalScroll):
    """Hidden until the person gave an answer."""

    can_focus = False

    def compose(self) -> ComposeResult:
        yield Static()

    def tell(self, words: Words, lesson: Lesson | None) -> None:
        """Show what the answer is; None hides the box."""
        self.display = lesson is not None
        if lesson is not None:
            # Whether both answers agree, and why the expected one is expected.
            agrees = lesson.given is lesson.expected
            first = told(lesson_said(words, lesson), "bold $good" if agrees else "bold")
            note = told(f"\n{lesson.note}" if lesson.note else "", "$quiet")
            lesson_words = Content.assemble(first, note, "\n", show_lines(lesson.explanation))
            self.query_one(Static).update(lesson_words)
            self.scroll_home(animate=False)


def hints(words: Words, view: View) -> list[Hint]:
    """Return the keys beside the ratings."""
    offered = [
        Hint(KEYS[offer.act][0], offer.said, f"act('{offer.act}')") for offer in offers(words, view) if offer.now
    ]
    if view.lesson is not None:
        return [Hint(words("Enter"), words("continue"), "enter"), *offered]
    if view.item is not None and view.item.stands:
        return [Hint(words("Enter"), words("back"), "enter"), *offered]
    return offered


def back(words: Words) -> list[Hint]:
    """Return the key that leads back to the ratings."""
    return [Hint(words("Esc"), words("back"), "back")]


def writing_hints(words: Words, field: TextField) -> list[Hint]:
    """Return the keys of the box; the up key begins with the translation."""
    hints = [
        Hint(words("Enter"), words("save"), "enter"),
        Hint(words("Esc"), words("back; your words are kept"), "back"),
    ]
    if field is TextField.SUGGESTION:
        hints.append(Hint("↑", words("copy the translation here"), "start"))
    return hints


class KeyMode(Enum):
    """What the next key means."""

    JUDGE = auto()
    REASONS = auto()
    WHY = auto()  # why the person cannot judge
    HARM = auto()
    WRITING = auto()


class ItemPage(Screen[None]):
    """Draws the session's view; the answers stay in their place, whatever the length of the texts."""

    CSS_PATH = STYLES
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-wide")]  # noqa: RUF012  Textual's own form
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-tall")]  # noqa: RUF012  Textual's own form

    def __init__(self, sitting: TerminalSitting) -> None:
        super().__init__()
        self.sitting = sitting
        self.words = sitting.words
        self.view = sitting.view
        self.mode = KeyMode.JUDGE
        self.field = TextField.COMMENT  # what is written in the box

    def compose(self) -> ComposeResult:
        with Horizontal(classes="head"):
            yield Static(classes="place")
            yield Static(classes="said")
        with Center(classes="middle"), Vertical(classes="desk"):
            yield Texts()
            yield Static(id="more")
            yield LessonBox()
            yield Writing()
            yield Static(id="harm")
            yield Choices(item_words.ratings(self.words), id="ratings")
            yield Choices(item_words.reasons(self.words), id="reasons")
            yield Choices(item_words.why_not(self.words), id="why")
        yield TroubleLine()
        yield RatingKeyLine()

    def on_mount(self) -> None:
        self.query_one(Texts).name_them(self.words(item_words.ORIGINAL), self.words(item_words.TRANSLATION))
        self.watch(self.query_one(Texts), "scroll_y", self._laid_out, init=False)
        self.enter(KeyMode.JUDGE)
        self.draw(self.view)

    def draw(self, view: View) -> None:
        """Show a view; one without an item leaves the page empty."""
        self.view = view
        self.set_class(view.item is None, "-away")
        self.query_one(TroubleLine).tell(self.words, view.trouble, view.detail)
        self.say(view.said)
        item = view.item
        if item is None:
            return
        self._read(view, item)
        self.query_one(LessonBox).tell(self.words, view.lesson)
        given = [item.rating.rank] if item.rating is not None and item.stands else []
        self.query_one("#ratings", Choices).ask(None, given)
        self._offer()
        self.call_after_refresh(self._painted, item.id)

    def _read(self, view: View, item: ShownItem) -> None:
        """Show what is read now: the sentence, or the one before while reasons are asked of it."""
        place = item_words.place(self.words, view)
        marks = item_words.marks(self.words, item)
        if practice := item_words.practice(self.words, view):
            marks = [item_words.Mark(practice), *marks]
        if self.mode is KeyMode.REASONS and view.last is not None:
            item, marks = view.last.item, []
            place = item_words.last_question(self.words, view.last).place
        self.query_one(".place", Static).update(told(place, "bold"))
        self.query_one(Texts).show_item(item, marks, item_words.original_name(self.words, item))

    def _painted(self, item: str) -> None:
        self._tell_more()
        shown = self.view.item
        if self.is_current and shown is not None and shown.id == item:
            self.sitting.session.painted(item)

    def on_screen_resume(self) -> None:
        if self.is_mounted and self.view.item is not None:
            self.call_after_refresh(self._painted, self.view.item.id)

    @on(Texts.Resized)
    def _laid_out(self) -> None:
        """Update what is in sight."""
        self.call_after_refresh(self._tell_more)

    def _tell_more(self) -> None:
        """Show plainly that an answer waits for the translation; nothing where all is in sight."""
        texts = self.query_one(Texts)
        if self.mode is not KeyMode.REASONS:
            texts.note_read()
        judges = self.mode is KeyMode.JUDGE and self.view.lesson is None
        below = item_words.GOES_ON_BELOW if texts.more_below else ""
        if judges and not texts.has_room:
            below = item_words.MAKE_LARGER
        elif judges and not texts.translation_seen:
            below = item_words.TRANSLATION_BELOW
        self.query_one("#more", Static).update(told(self.words(below)) if below else "")

    def say(self, words: str) -> None:
        self.query_one(".said", Static).update(told(words))

    def _offer(self) -> None:
        self.query_one(RatingKeyLine).offer(self._hints())

    def _hints(self) -> list[Hint]:
        match self.mode:
            case KeyMode.JUDGE:
                return hints(self.words, self.view)
            case KeyMode.HARM:
                # Answers to the question whether an item is harmful.
                return [
                    Hint(self.words("Enter"), self.words("yes"), "enter"),
                    Hint(self.words("Esc"), self.words("no"), "back"),
                ]
            case KeyMode.WRITING:
                return writing_hints(self.words, self.field)
            case _:
                return back(self.words)

    def enter(self, mode: KeyMode) -> None:
        """Switch what the next key means; what went wrong before it is over."""
        before, self.mode = self.mode, mode
        if KeyMode.REASONS in {before, mode} and self.view.item is not None:
            self._read(self.view, self.view.item)
        self._laid_out()
        self.query_one(TroubleLine).tell(self.words, "")
        for name, own in (("#reasons", KeyMode.REASONS), ("#why", KeyMode.WHY), ("#harm", KeyMode.HARM)):
            self.query_one(name).display = mode is own
        self.query_one("#ratings").display = mode in {KeyMode.JUDGE, KeyMode.WRITING}
        if mode is not KeyMode.WRITING:
            self.query_one(Writing).end()
            self.set_focus(None)
        self._offer()
