"""Buttons for the letters that a keyboard may lack: nobody depends on a keyboard layout to write their language."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from review.desktop.announcing import announce
from review.desktop.buttons import Button
from review.desktop.flow import FlowLayout
from review.desktop.own_words import said
from review.session.words import msgid

CAPITALS: Final = msgid("Capital letters")
SMALLS: Final = msgid("Lower-case letters")

_STEPS: Final = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class LetterRow(QWidget):
    """One stop for Tab; the arrow keys go from letter to letter. A click leaves the focus with what is typed in."""

    typed = Signal(str)

    def __init__(self, letters: Sequence[str]) -> None:
        super().__init__()
        self._letters = [unicodedata.normalize("NFC", letter) for letter in letters]
        self._capital = False
        row = FlowLayout(self)
        row.setSpacing(0)
        self._buttons = [Button(letter) for letter in self._letters]
        for number, button in enumerate(self._buttons):
            button.clicked.connect(lambda _=False, number=number: self._type(number))
        self._case = Button(_CASE[False])
        self._case.clicked.connect(self._change_case)
        self._case.setVisible(self._has_case())
        self._stops = [*self._buttons, *([self._case] if self._has_case() else [])]
        for button in (self._case, *self._buttons):
            row.addWidget(button)
        self._stop_at(0)
        self._say_case()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next letter with the arrow keys."""
        step = _STEPS.get(Qt.Key(event.key()), 0)
        at = next((n for n, each in enumerate(self._stops) if each.hasFocus()), None)
        if not step or at is None or event.modifiers():
            event.ignore()
            return
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            step = -step
        to = (at + step) % len(self._stops)
        self._stop_at(to)
        self._stops[to].setFocus(Qt.FocusReason.TabFocusReason)

    def _stop_at(self, number: int) -> None:
        """Let Tab come to one of the buttons only."""
        for n, button in enumerate(self._stops):
            here = n == number
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus if here else Qt.FocusPolicy.NoFocus)

    def _type(self, number: int) -> None:
        letter = self._buttons[number].text()
        if self._capital:
            self._change_case()
        self.typed.emit(letter)

    def _change_case(self) -> None:
        """Show the other letters; after one capital the small ones come back."""
        self._capital = not self._capital
        for letter, button in zip(self._letters, self._buttons, strict=True):
            button.setText(_upper(letter) if self._capital else letter)
        self._say_case()
        announce(self, said(CAPITALS if self._capital else SMALLS))

    def _say_case(self) -> None:
        self._case.setText(_CASE[self._capital])
        self._case.setAccessibleName(said(SMALLS if self._capital else CAPITALS))

    def _has_case(self) -> bool:
        return any(_upper(letter) != letter for letter in self._letters)


_CASE: Final = {False: "ABC", True: "abc"}
"""Whether capitals are shown → what the button that changes it leads to."""


def _upper(letter: str) -> str:
    return unicodedata.normalize("NFC", letter.upper())
