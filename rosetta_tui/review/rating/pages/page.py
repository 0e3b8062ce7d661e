"""A page of plain words: where one is, what to read, what could not be saved, and the keys that lead on.

``Choices`` are answers side by side, each with its key: the four ratings, the reasons, why one cannot judge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Center, Grid, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from review.session.words.catalogue import Words
from review.session.words.item import Answer
from review.session.words.keys import ACT_WORDS, BACKSPACE, KEYS, RATING_OF, Act, rating_label, rating_meaning
from review.session.words.page import ONE_KEY, OrganiserText
from review.session.words.troubles import Trouble, for_whoever_helps
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import show_lines

_KEY_GAP = 3  # cells between two keys


@dataclass(frozen=True, slots=True)
class Hint:
    """One key."""

    key: str  # as it stands on the keyboard, in the reviewer's language
    words: str
    action: str  # of the screen; run when the words are clicked

    def content(self) -> Content:
        """Return key and words, pressable."""
        words = Content.assemble(told(self.key, "bold $mark"), " ", told(self.words, "$quiet"))
        return words.stylize(Style.from_meta({"@click": f"screen.{self.action}"}))


class RatingKeyLine(Widget):
    """As many lines as the keys need; one key never breaks over two lines."""

    def __init__(self, hints: Sequence[Hint] = ()) -> None:
        super().__init__(classes="keys")
        self._hints = tuple(hints)

    def offer(self, hints: Sequence[Hint]) -> None:
        """Show these keys."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  Textual's form
        return len(self._lines(width))

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        gap = Content(" " * _KEY_GAP)
        lines: list[Content] = []
        for hint in self._hints:
            piece = hint.content()
            if lines and lines[-1].cell_length + _KEY_GAP + piece.cell_length <= width:
                lines[-1] = Content.assemble(lines[-1], gap, piece)
            else:
                lines.append(piece)
        return lines or [Content("")]


NO_TROUBLE = Trouble("", "")


class TroubleLine(Static):
    """Hidden until something is wrong; the item and every typed word stay where they are."""

    def tell(self, words: Words, said: str, detail: str = "") -> None:
        """Show what is wrong, with one technical line to copy; nothing said hides the banner."""
        self.display = bool(said)
        lines = [told(said, "bold $bad")]
        if detail:
            lines.append(told(for_whoever_helps(words, detail), "$quiet"))
        self.update(Content("\n").join(lines))


def typed(event: Key) -> str:
    """Return the character of a key, empty for one that has none."""
    if event.key == "backspace":
        return BACKSPACE
    return event.character if event.is_printable and event.character else ""


_SPACE_THAT_HOLDS = re.compile("([\u00a0\u202f])")  # no-break spaces of French typography
_HOLDS = "\u00a0"


def told(words: str, style: str = "") -> Content:
    """Return words of the catalogue as harmless Content, with their line breaks and no-break spaces."""
    lines = []
    for line in words.split("\n"):
        parts = _SPACE_THAT_HOLDS.split(line)
        harmless = "".join(_HOLDS if _SPACE_THAT_HOLDS.fullmatch(part) else plain(part) for part in parts)
        lines.append(Content.styled(harmless, style))
    return Content("\n").join(lines)


Result = TypeVar("Result")

_GAP = 1  # lines of nothing under the last paragraph
STYLES = Path(__file__).parent / "review.tcss"


class Page(Screen[Result]):
    """Long words scroll; the keys stay."""

    CSS_PATH = STYLES
    AUTO_FOCUS = ".body"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "leave", show=False),
        Binding("question_mark", "help", show=False),
    ]

    def __init__(self, words: Words, place: str, trouble: Trouble = NO_TROUBLE) -> None:
        """``place`` says where the person is, ``trouble`` why they are there once more."""
        super().__init__()
        self.words, self._place, self._trouble = words, place, trouble

    def compose(self) -> ComposeResult:
        with Horizontal(classes="head"):
            yield Static(told(self._place, "bold"), classes="place")
            yield Static(classes="said")
        with Center(classes="middle"), VerticalScroll(classes="body"):
            yield from self.body()
        yield Static(classes="more")
        yield TroubleLine()
        yield RatingKeyLine(self.hints())

    def on_mount(self) -> None:
        self.query_one(TroubleLine).tell(self.words, *self._trouble)
        body = self.query_one(".body")
        for reached in ("scroll_y", "virtual_size", "show_vertical_scrollbar"):
            self.watch(body, reached, self._tell_more, init=False)

    def _tell_more(self) -> None:
        body = self.query_one(".body")
        rest = body.max_scroll_y - body.scroll_offset.y
        below = body.show_vertical_scrollbar and rest > _GAP
        message = told(self.words("↓ The text continues below")) if below else ""
        self.query_one(".more", Static).update(message)

    def body(self) -> ComposeResult:
        """Return what is to be read, as widgets."""
        raise NotImplementedError

    def hints(self) -> Sequence[Hint]:
        raise NotImplementedError

    def action_help(self) -> None:
        self.app.push_screen(HelpPage(self.words))

    def action_leave(self) -> None:
        self.dismiss(None)


def given_text(given: OrganiserText) -> ComposeResult:
    """Yield what the organisation wrote, and before it that it is in another language than the person's."""
    if given.note:
        yield paragraph(given.note, "$quiet")
    yield Static(show_lines(given.text))


def paragraph(words: str | Content, style: str = "") -> Static:
    return Static(told(words, style) if isinstance(words, str) else words)


NOTHING = OrganiserText("")  # where the organisation wrote no guide


class HelpPage(Page[None]):
    """Any of its keys goes back."""

    BINDINGS = [("enter,question_mark", "leave")]  # noqa: RUF012  Textual's form

    def __init__(self, words: Words, guide: OrganiserText = NOTHING) -> None:
        super().__init__(words, words("Help"))
        self._guide = guide

    def body(self) -> ComposeResult:
        words = self.words
        yield paragraph(words(ONE_KEY), "bold")
        yield Static(Content("\n").join(self._keys()))
        if self._guide.text:
            yield paragraph(words("How to judge"), "bold")
            yield from given_text(self._guide)

    def _keys(self) -> list[Content]:
        words = self.words
        lines = [
            (_keys(words, act), f"{rating_label(words, rating)} – {rating_meaning(words, rating)}")
            for act, rating in RATING_OF.items()
        ]
        lines += [
            (_keys(words, act), words(label))
            for act, label in ACT_WORDS.items()
            if act not in {Act.LARGER, Act.SMALLER}
        ]
        lines.append(("↑ ↓", words("Read on in a long text")))
        if hasattr(self.app, "action_colours"):
            lines.append(("F2", words("Other colours")))
        width = max(len(keys) for keys, _ in lines) + 2
        return [Content.assemble(told(keys.ljust(width), "bold $mark"), told(label)) for keys, label in lines]

    def hints(self) -> Sequence[Hint]:
        return [Hint(self.words("Esc"), self.words("back"), "leave")]


def _keys(words: Words, act: Act) -> str:
    names = (words("Backspace") if key == BACKSPACE else key for key in KEYS[act])
    return " ".join(names)


class Choices(Vertical):
    """Stays in its place at the foot of the page, whatever the length of the texts above it."""

    @dataclass
    class Picked(Message):
        """An answer was clicked."""

        choices: Choices
        number: int

        @property
        def control(self) -> Choices:
            """Return the choices, by whose id handlers are selected."""
            return self.choices

    def __init__(self, answers: Sequence[Answer], *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._answers = tuple(answers)

    def compose(self) -> ComposeResult:
        yield Static(classes="title")
        with Grid():
            for number, answer in enumerate(self._answers):
                yield _Cell(number, answer)

    def ask(self, title: Content | None, marked: Sequence[int] = ()) -> None:
        """Show the answers under this title, with those marked that were given before."""
        line = self.query_one(".title", Static)
        line.display = title is not None
        line.update(title or "")
        for cell in self.query(_Cell):
            cell.mark(cell.number in marked)


class _Cell(Horizontal):
    """One answer; where it has no second line, its key is in its own column."""

    def __init__(self, number: int, answer: Answer) -> None:
        super().__init__()
        self.number, self._answer = number, answer
        self._marked = False

    def compose(self) -> ComposeResult:
        if not self._answer.meaning:
            yield Static(_key(self._answer), classes="key")
        yield Static(self._words(), classes="words")

    def mark(self, marked: bool) -> None:
        """Show whether this answer was given before."""
        if marked != self._marked:
            self._marked = marked
            self.set_class(marked, "-marked")
            self.query_one(".words", Static).update(self._words())

    def _words(self) -> Content:
        answer, sign = self._answer, " ✓" if self._marked else ""
        words = told(f"{answer.word}{sign}", "bold")
        if not answer.meaning:
            return words
        return Content.assemble(_key(answer), " ", words, "\n", told(answer.meaning, "$quiet"))

    def on_click(self) -> None:
        choices = self.parent.parent if self.parent else None
        if isinstance(choices, Choices):
            self.post_message(Choices.Picked(choices, self.number))


def _key(answer: Answer) -> Content:
    return told(f" {answer.key} ", "bold $on-cursor on $cursor")
