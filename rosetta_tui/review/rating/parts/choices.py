"""Some answers side by side, each with its key: the four ratings, the reasons, why one cannot judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Grid, Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from review.session.words.item import Answer
from rosetta_tui.review.rating.parts.page import told


class Choices(Vertical):
    """Stays in its place at the foot of the page, whatever the length of the texts above it."""

    @dataclass
    class Picked(Message):
        """An answer was clicked."""

        choices: Choices
        number: int

        @property
        def control(self) -> Choices:
            """Let handlers be told by the id of the choices."""
            return self.choices

    def __init__(self, answers: Sequence[Answer], *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._answers = tuple(answers)

    def compose(self) -> ComposeResult:
        """Lay out the title and the answers."""
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
    """One answer; where it has no second line, its key stands in a column of its own."""

    def __init__(self, number: int, answer: Answer) -> None:
        super().__init__()
        self.number = number
        self._answer = answer
        self._marked = False

    def compose(self) -> ComposeResult:
        """Lay out key and words."""
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
        """Pick it."""
        choices = self.parent.parent if self.parent else None
        if isinstance(choices, Choices):
            self.post_message(Choices.Picked(choices, self.number))


def _key(answer: Answer) -> Content:
    return told(f" {answer.key} ", "bold $on-cursor on $cursor")
