"""Buttons for the letters that a keyboard may lack: nobody depends on a keyboard layout to write their language."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from review.desktop.look.own_words import said
from review.desktop.parts.announcing import announce
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout
from review.session.words.catalogue import msgid

CAPITALS: Final = msgid("Capital letters")
SMALLS: Final = msgid("Lower-case letters")
MORE: Final = msgid("More letters ({n} of {of})")

MOST_AT_ONCE: Final = 33
"""Letters beside which box and sentence stay in view; of more there are pages, which one button turns."""

_STEPS: Final = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class LetterRow(QWidget):
    """One stop for Tab; the arrow keys go from letter to letter. A click leaves the focus with what is typed in.

    A long alphabet comes in pages of one length, so that it is never a wall below the box.
    """

    typed = Signal(str)

    def __init__(self, letters: Sequence[str], *, capitals: bool = True) -> None:
        """``capitals`` tells whether there is a button for capital letters, where the letters have any."""
        super().__init__()
        self._letters = [unicodedata.normalize("NFC", letter) for letter in letters]
        self._capital = False
        self._pages = -(-len(self._letters) // MOST_AT_ONCE)
        self._page = 0
        row = FlowLayout(self)
        row.setSpacing(0)
        self._buttons = [Button(letter) for letter in self._letters]
        for number, button in enumerate(self._buttons):
            button.clicked.connect(lambda _=False, number=number: self._type(number))
        self._case = Button(said(CAPITALS))
        self._case.clicked.connect(self._change_case)
        self._case.setVisible(capitals and self._has_case())
        self._more = Button("")
        self._more.clicked.connect(self._turn)
        for button in (*self._buttons, self._more, self._case):  # its words change: no letter moves
            row.addWidget(button)
        self._show_page()
        self._stop_at(0)
        self._say_case()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next letter with the arrow keys."""
        step = _STEPS.get(Qt.Key(event.key()), 0)
        stops = self._stops()
        at = next((n for n, each in enumerate(stops) if each.hasFocus()), None)
        if not step or at is None or event.modifiers():
            event.ignore()
            return
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            step = -step
        to = (at + step) % len(stops)
        self._stop_at(to)
        stops[to].setFocus(Qt.FocusReason.TabFocusReason)

    def _stops(self) -> list[Button]:
        """Return the buttons that are shown now, in the order of the arrow keys."""
        return [each for each in (*self._buttons, self._more, self._case) if not each.isHidden()]

    def _stop_at(self, number: int) -> None:
        """Let Tab come to one of the buttons only."""
        here = self._stops()[number]
        for button in (*self._buttons, self._more, self._case):
            policy = Qt.FocusPolicy.TabFocus if button is here else Qt.FocusPolicy.NoFocus
            button.setFocusPolicy(policy)

    def _turn(self) -> None:
        """Show the next letters, after the last ones the first."""
        self._page = (self._page + 1) % self._pages
        self._show_page()
        self._stop_at(self._stops().index(self._more) if self._more.hasFocus() else 0)
        announce(self, self._more.text())

    def _show_page(self) -> None:
        """Show the letters of this page alone."""
        each_page = -(-len(self._letters) // max(1, self._pages))
        for number, button in enumerate(self._buttons):
            button.setVisible(number // each_page == self._page)
        self._more.setVisible(self._pages > 1)
        self._more.setText(said(MORE, n=str(self._page + 1), of=str(self._pages)))

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
        self._case.setText(said(SMALLS if self._capital else CAPITALS))

    def _has_case(self) -> bool:
        return any(_upper(letter) != letter for letter in self._letters)


def _upper(letter: str) -> str:
    return unicodedata.normalize("NFC", letter.upper())
