"""A page of plain words: where one is, what to read, and the keys that lead on."""

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

from review.session.page_words import Given
from review.session.words import Words
from rosetta_tui.review.key_line import Hint, KeyLine
from rosetta_tui.review.told import told
from rosetta_tui.review.trouble import TroubleLine
from rosetta_tui.text import show_lines

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
        yield KeyLine(self.hints())

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
        """Give what is to be read, as widgets."""
        raise NotImplementedError

    def hints(self) -> Sequence[Hint]:
        """Give the keys."""
        raise NotImplementedError

    def action_help(self) -> None:
        """Show every key."""
        from rosetta_tui.review.helping import HelpPage

        self.app.push_screen(HelpPage(self.words))

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)


def given_text(given: Given) -> ComposeResult:
    """Give what the organisation wrote, and before it that it is in another language than the person's."""
    if given.note:
        yield paragraph(given.note, "$quiet")
    yield Static(show_lines(given.text))


def paragraph(words: str | Content, style: str = "") -> Static:
    """Give one paragraph of a page."""
    return Static(told(words, style) if isinstance(words, str) else words)
