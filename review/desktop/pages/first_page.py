"""The pages before the first sentence: on each of them whoever does not read it finds their own language first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from shiboken6 import isValid

from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import Offers


class FirstPage(Page):
    """Has the other languages at the top, where they are seen whatever the length of the page.

    Where something is agreed to, Enter and the button read on until all of it was shown, and then agree.
    """

    language = Signal(str)
    """Tag of the language that the person reads."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._agree: tuple[Button, str, Callable[[], object]] | None = None
        languages = Offers()
        for tag, name in desk.opening.languages.items():
            if tag != desk.words.chosen:
                languages.offer(name, partial(self.language.emit, tag))
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
