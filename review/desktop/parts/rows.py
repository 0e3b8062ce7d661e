"""A column of things to choose from, each a button as wide as the page; a long one is shown piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from review.desktop.parts.buttons import Button
from review.session.words.catalogue import Words

_AT_ONCE = 40
_ONWARD = {Qt.Key.Key_Down: True, Qt.Key.Key_Up: False}


class _Row(Button):
    """One of them, its words where those of the others begin; the arrows go from one to the next."""

    centred = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move on by an arrow; every other key is that of a button."""
        onward = _ONWARD.get(Qt.Key(event.key()))
        if onward is None:
            super().keyPressEvent(event)
        else:
            event.accept()
            self.focusNextPrevChild(onward)


class ChoiceRows(QWidget):
    """Gives the number of the row that was chosen, from 0."""

    chosen = Signal(int)

    def __init__(
        self, words: Words, texts: Sequence[str], *, main: bool = False, keys: bool = False
    ) -> None:
        """``main`` marks the first row as what Enter does on the page; ``keys`` gives the first nine a digit each."""
        super().__init__()
        self._texts = texts
        self._keys = "123456789"[: len(texts)] if keys else ""
        self._rows: list[Button] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._more = Button(words("Show more"))
        self._more.clicked.connect(self._show_more)
        self._column.addWidget(self._more)
        self._show_next()
        if main and self._rows:
            self._rows[0].setProperty("role", "main")

    def typed(self, character: str) -> bool:
        """Choose the row whose key this is; False where none has it."""
        number = self._keys.find(character)
        if number >= 0:
            self._choose(number)
        return number >= 0

    def _show_more(self) -> None:
        """Add the next piece; the keys stay where the person is."""
        first = len(self._rows)
        self._show_next()
        self._rows[first].setFocus()

    def _show_next(self) -> None:
        first = len(self._rows)
        for number, text in enumerate(self._texts[first : first + _AT_ONCE], first):
            row = _Row(text, self._keys[number : number + 1])
            row.clicked.connect(partial(self._choose, number))
            self._column.insertWidget(number, row)
            row.show()
            self._rows.append(row)
        self._more.setVisible(len(self._rows) < len(self._texts))

    def _choose(self, number: int, _: bool = False) -> None:
        self.chosen.emit(number)
