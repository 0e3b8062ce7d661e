"""Some answers side by side, each with its key: the four ratings, the reasons, why one cannot judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from rosetta_tui.review.told import told


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the answers."""

    key: str
    """As it stands on the keyboard."""
    words: str
    meaning: str = ""
    """One line that explains the words."""


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

    def tell(self, answers: Sequence[Answer]) -> None:
        """Put the same answers in other words."""
        self._answers = tuple(answers)
        for cell, answer in zip(self.query(_Cell), answers, strict=True):
            cell.tell(answer)


class _Cell(Static):
    """One answer."""

    def __init__(self, number: int, answer: Answer) -> None:
        super().__init__()
        self.number = number
        self._answer = answer
        self._marked = False

    def on_mount(self) -> None:
        self._draw()

    def mark(self, marked: bool) -> None:
        if marked != self._marked:
            self._marked = marked
            self._draw()

    def tell(self, answer: Answer) -> None:
        self._answer = answer
        self._draw()

    def _draw(self) -> None:
        answer = self._answer
        self.set_class(self._marked, "-marked")
        sign = " ✓" if self._marked else ""
        words = Content.assemble(told(f" {answer.key} ", "bold $on-cursor on $cursor"), " ")
        words += told(f"{answer.words}{sign}", "bold")
        if answer.meaning:
            words += Content("\n") + told(answer.meaning, "$quiet")
        self.update(words)

    def on_click(self) -> None:
        """Pick it."""
        choices = self.parent.parent if self.parent else None
        if isinstance(choices, Choices):
            self.post_message(Choices.Picked(choices, self.number))
