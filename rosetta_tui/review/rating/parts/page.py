"""A page of plain words: where one is, what to read, and the keys that lead on; and the page of all keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Center, Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from review.session.words.catalogue import Words
from review.session.words.keys import ACT_WORDS, BACKSPACE, KEYS, RATING_OF, Act
from review.session.words.labels import rating_label, rating_meaning
from review.session.words.page import Given
from rosetta_tui.review.rating.parts.key_line import Hint, RatingKeyLine
from rosetta_tui.review.rating.parts.render import told
from rosetta_tui.review.rating.parts.trouble import TroubleLine
from rosetta_tui.toolkit.content import show_lines

Result = TypeVar("Result")

_GAP = 1
"""Lines of nothing under the last paragraph."""
STYLES = Path(__file__).parent / "review.tcss"


class Page(Screen[Result]):
    """Long words scroll; the keys stay."""

    CSS_PATH = STYLES
    AUTO_FOCUS = ".body"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "leave", show=False),
        Binding("question_mark", "help", show=False),
    ]

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.words = words

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        with Horizontal(classes="head"):
            yield Static(told(self.place(), "bold"), classes="place")
            yield Static(classes="said")
        with Center(classes="middle"), VerticalScroll(classes="body"):
            yield from self.body()
        yield Static(classes="more")
        yield TroubleLine()
        yield RatingKeyLine(self.hints())

    def on_mount(self) -> None:
        """Tell from the first moment whether there is more to read than is seen."""
        body = self.query_one(".body")
        for reached in ("scroll_y", "virtual_size", "show_vertical_scrollbar"):
            self.watch(body, reached, self._tell_more, init=False)

    def _tell_more(self) -> None:
        body = self.query_one(".body")
        rest = body.max_scroll_y - body.scroll_offset.y
        below = body.show_vertical_scrollbar and rest > _GAP
        said = told(self.words("↓ The text goes on below")) if below else ""
        self.query_one(".more", Static).update(said)

    def place(self) -> str:
        """Say where the person is."""
        raise NotImplementedError

    def body(self) -> ComposeResult:
        """Return what is to be read, as widgets."""
        raise NotImplementedError

    def hints(self) -> Sequence[Hint]:
        """Return the keys."""
        raise NotImplementedError

    def action_help(self) -> None:
        """Show every key."""
        self.app.push_screen(HelpPage(self.words))

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)


def given_text(given: Given) -> ComposeResult:
    """Yield what the organisation wrote, and before it that it is in another language than the person's."""
    if given.note:
        yield paragraph(given.note, "$quiet")
    yield Static(show_lines(given.text))


def paragraph(words: str | Content, style: str = "") -> Static:
    """Return one paragraph of a page."""
    return Static(told(words, style) if isinstance(words, str) else words)


NOTHING = Given("")
"""Where the organisation wrote no guide."""
_WIDTH = 9
"""Cells for the names of keys."""


class HelpPage(Page[None]):
    """Any of its keys goes back."""

    BINDINGS = [("enter,question_mark", "leave")]  # noqa: RUF012  Textual's form

    def __init__(self, words: Words, guide: Given = NOTHING) -> None:
        super().__init__(words)
        self._guide = guide

    def place(self) -> str:
        """Say where the person is."""
        return self.words("Help")

    def body(self) -> ComposeResult:
        """List the keys."""
        words = self.words
        yield paragraph(
            words("One key gives your answer, saves it and shows the next sentence."), "bold"
        )
        yield Static(Content("\n").join(self._keys()))
        if self._guide.text:
            yield paragraph(words("How to judge"), "bold")
            yield from given_text(self._guide)

    def _keys(self) -> list[Content]:
        words = self.words
        lines = [
            _line(
                _keys(words, act),
                f"{rating_label(words, rating)} – {rating_meaning(words, rating)}",
            )
            for act, rating in RATING_OF.items()
        ]
        lines += [
            _line(_keys(words, act), words(said))
            for act, said in ACT_WORDS.items()
            if act not in {Act.LARGER, Act.SMALLER}
        ]
        lines.append(_line("↑ ↓", words("Read on in a long text")))
        if hasattr(self.app, "action_colours"):
            lines.append(_line("F2", words("Other colours")))
        return lines

    def hints(self) -> Sequence[Hint]:
        """Return the keys."""
        return [Hint(self.words("Esc"), self.words("back"), "leave")]


def _keys(words: Words, act: Act) -> str:
    names = (words("Backspace") if key == BACKSPACE else key for key in KEYS[act])
    return " ".join(names)


def _line(keys: str, said: str) -> Content:
    gap = " " * max(1, _WIDTH - len(keys))
    return Content.assemble(told(keys, "bold $mark"), gap, told(said))
