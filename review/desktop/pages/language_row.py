"""The other languages that can be chosen, each by its name: whoever reads none of this page finds theirs."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from review.desktop.frame.desk import Desk
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout


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
