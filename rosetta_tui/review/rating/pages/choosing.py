"""Which review: those on sticks and those kept here; and the page on which a code is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from review.session import opening_words
from review.session.choice import Choice
from review.session.words.catalogue import Words
from review.session.words.troubles import Trouble
from rosetta_tui.review.rating.pages.page import NO_TROUBLE, Hint, Page, paragraph
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.toolkit.content import show


class ChoosePage(Page[Choice | str]):
    """Gives the review to open; ``LOOK_AGAIN`` or ``LANGUAGE`` where the person asks for that first."""

    LOOK_AGAIN: ClassVar = "look again"
    LANGUAGE: ClassVar = "language"
    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "look", show=False),
        Binding("l", "language", show=False),
        Binding("enter", "open", show=False),
    ]

    def __init__(
        self,
        opening: TerminalOpening,
        choices: Sequence[Choice],
        trouble: Trouble = NO_TROUBLE,
        said: str = "",
    ) -> None:
        """``said`` is one quiet sentence about what led here."""
        super().__init__(opening.words, opening.words(opening_words.REVIEW_TRANSLATIONS), trouble)
        self._said = said
        self._choices = tuple(choices)

    def body(self) -> ComposeResult:
        """List the reviews, or say what to do where there is none."""
        words = self.words
        yield from self._damaged()
        if self._said:
            yield paragraph(self._said)
        if self._choices:
            yield paragraph(words(opening_words.WHICH_SENTENCES), "bold")
            yield OptionList(*(Option(self._row(choice)) for choice in self._choices))
            return
        yield paragraph(words(opening_words.NOTHING_YET), "bold")
        yield paragraph(
            words("Put the stick that you were given into this computer, then press Enter.")
        )
        yield paragraph(opening_words.what_it_is_called(words), "$quiet")

    def _damaged(self) -> ComposeResult:
        for damaged_word in opening_words.damaged_words(self.words):
            yield paragraph(damaged_word, "$warn")

    def _row(self, choice: Choice) -> Content:
        return Content.assemble(
            show(choice.title, "bold"), "\n  ", show(opening_words.where(self.words, choice))
        )

    def on_mount(self) -> None:
        if self._choices:
            self.query_one(OptionList).highlighted = 0

    def hints(self) -> Sequence[Hint]:
        """Return the keys."""
        words = self.words
        first = words("open") if self._choices else words("look again")
        again = [Hint("r", words("look again"), "look")] if self._choices else []
        return [
            Hint(words("Enter"), first, "open"),
            *again,
            Hint("l", words("language"), "language"),
            Hint("q", words("stop"), "leave"),
        ]

    def action_open(self) -> None:
        """Open what is under the cursor, or look again."""
        at = self.query_one(OptionList).highlighted if self._choices else None
        self.dismiss(self.LOOK_AGAIN if at is None else self._choices[at])

    @on(OptionList.OptionSelected)
    def _chosen(self) -> None:
        self.action_open()

    def action_look(self) -> None:
        self.dismiss(self.LOOK_AGAIN)

    def action_language(self) -> None:
        """Choose another language first."""
        self.dismiss(self.LANGUAGE)


class LanguagePage(Page[str]):
    """Gives the tag of a language, None where it stays."""

    AUTO_FOCUS = "OptionList"

    def __init__(self, opening: TerminalOpening) -> None:
        super().__init__(opening.words, opening.words("Language"))
        self._languages = opening.languages

    def body(self) -> ComposeResult:
        """List the languages, each by its name."""
        yield OptionList(*(Option(show(name)) for name in self._languages.values()))

    def on_mount(self) -> None:
        tags = list(self._languages)
        now = self.words.chosen
        self.query_one(OptionList).highlighted = tags.index(now) if now in tags else 0

    def hints(self) -> Sequence[Hint]:
        """Return the keys."""
        return [
            Hint(self.words("Enter"), self.words("choose"), "choose"),
            Hint(self.words("Esc"), self.words("back"), "leave"),
        ]

    def action_choose(self) -> None:
        """Choose the one under the cursor."""
        at = self.query_one(OptionList).highlighted
        self.dismiss(None if at is None else list(self._languages)[at])

    @on(OptionList.OptionSelected)
    def _chosen(self) -> None:
        self.action_choose()


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the reviewer's language."""

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
        super().__init__(words, question.place, Trouble(question.trouble, ""))
        self._question = question

    def body(self) -> ComposeResult:
        """Compose the question and its box."""
        question = self._question
        yield paragraph(question.asked, "bold")
        box = Input(question.answer, max_length=400, select_on_focus=True)
        yield box.add_class("wide") if question.wide else box
        yield paragraph(question.about, "$quiet")

    def hints(self) -> Sequence[Hint]:
        """Return the keys."""
        words = self.words
        return [
            Hint(words("Enter"), words("go on"), "submit"),
            Hint(words("Esc"), words("back"), "leave"),
        ]

    def action_submit(self) -> None:
        self.dismiss(self.query_one(Input).value)

    @on(Input.Submitted)
    def _submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.action_submit()
