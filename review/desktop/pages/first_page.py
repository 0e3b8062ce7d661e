"""The pages before the first sentence: on each of them whoever does not read it finds their own language first.

The other languages that can be chosen, each by its name: whoever reads none of this page finds theirs.

A page before the first sentence that asks one question: a digit or a click answers, Enter alone does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk
from review.desktop.parts.answers import Answers
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout
from review.session.words.item import Answer


class LanguageRow(QWidget):
    """Buttons that wrap; empty where there is one language."""

    chosen = Signal(str)
    """Tag of a language."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        row = FlowLayout(self)
        for tag, name in desk.opening.languages.items():
            if tag != desk.words.chosen:
                button = Button(name)
                button.clicked.connect(partial(self._choose, tag))
                row.addWidget(button)

    def _choose(self, tag: str) -> None:
        self.chosen.emit(tag)


class FirstPage(Page):
    """Has the other languages at the top, where they are seen whatever the length of the page.

    Where something is agreed to, Enter and the button read on until all of it was shown, and then agree.
    """

    language = Signal(str)
    """Tag of the language that the person reads."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._agree: tuple[Button, str, Callable[[], object]] | None = None
        languages = LanguageRow(desk)
        languages.chosen.connect(self.language)
        self.add(languages)

    def agree_by(self, said: str, act: Callable[[], object]) -> None:
        """Add the button that agrees to what stands on the page, which Enter presses, too."""
        button = self.button(said, self.enter, self.words("Enter"), main=True)
        self._agree = button, said, act
        bar = self._scroll.verticalScrollBar()
        bar.valueChanged.connect(self._say_agree)
        bar.rangeChanged.connect(self._say_agree)

    def enter(self) -> None:
        """Agree, or first show the next part of what there is to read."""
        if self._agree is None:
            super().enter()
        elif not self._scroll.read_on():
            self._agree[2]()

    def _say_agree(self) -> None:
        if self._agree is not None and isValid(self):
            button, said, _ = self._agree
            button.setText(said if self._scroll.end_shown else self.words("Read on"))


class QuestionPage(FirstPage):
    """Words to read, then numbered answers."""

    def ask(
        self, told: Mapping[str, object], of_key: Callable[[str], object], slip: str
    ) -> Answers:
        """Put the answers below the words: what is said → what it means; their numbers are their keys, from 1 on.

        ``of_key`` tells what a key means, None for nothing; ``slip`` is said where Enter alone is pressed.
        """
        answers = Answers([Answer(str(number), said) for number, said in enumerate(told, 1)])
        answers.picked.connect(lambda number: self.answered.emit(list(told.values())[number]))
        self._of_key, self._slip = of_key, slip
        self.hold(answers)
        self.way_back()
        return answers

    def typed(self, character: str) -> bool:
        """Take the answer that a digit names."""
        given = self._of_key(character)
        if given is not None:
            self.answered.emit(given)
        return given is not None

    def enter(self) -> None:
        """Say that an answer is wanted: nobody says this by a slip."""
        self.say(self._slip)
