"""A page with one line to type: the code on the reviewer's card, or the words that open a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from review.session.words.catalogue import Words
from rosetta_tui.review.rating.parts.key_line import Hint
from rosetta_tui.review.rating.parts.page import Page, paragraph
from rosetta_tui.review.rating.parts.trouble import TroubleLine


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, in the reviewer's language."""

    place: str
    asked: str
    about: str
    answer: str = ""
    """What stands in the box at first."""
    trouble: str = ""
    """Why the answer before was none."""
    wide: bool = False
    """True where the answer has several words."""


class AskPage(Page[str]):
    """Gives what was typed, None where the person went back."""

    AUTO_FOCUS = "Input"

    def __init__(self, words: Words, question: Question) -> None:
        super().__init__(words)
        self._question = question

    def place(self) -> str:
        """Say where the person is."""
        return self._question.place

    def body(self) -> ComposeResult:
        """Ask."""
        question = self._question
        yield paragraph(question.asked, "bold")
        box = Input(question.answer, max_length=400, select_on_focus=True)
        yield box.add_class("wide") if question.wide else box
        yield paragraph(question.about, "$quiet")

    def on_mount(self) -> None:
        """Say why it is asked again."""
        self.query_one(TroubleLine).tell(self.words, self._question.trouble)

    def hints(self) -> Sequence[Hint]:
        """Return the keys."""
        words = self.words
        return [
            Hint(words("Enter"), words("go on"), "submit"),
            Hint(words("Esc"), words("back"), "leave"),
        ]

    def action_submit(self) -> None:
        """Give the answer."""
        self.dismiss(self.query_one(Input).value)

    @on(Input.Submitted)
    def _submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.action_submit()
