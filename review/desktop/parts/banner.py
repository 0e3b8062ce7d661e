"""What went wrong, on the page and not over it: it stays until it is over, and takes no key away.

Below the plain words stands one line for anyone who helps, which can be copied.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QVBoxLayout, QWidget

from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import Line, TextPane, announce
from review.session.words.catalogue import Words
from review.session.words.troubles import Trouble

_BESIDE = 2.5
"""So many times as wide as its button must the banner be to have it beside its words."""


class Banner(QFrame):
    """Hidden while nothing is wrong."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.trouble: Trouble | None = None
        """What it says, None while it is hidden."""
        self._said = Line(role="warn")
        self._detail = TextPane()
        self._copy = Button("")
        self._copy.clicked.connect(self._copy_detail)
        self._lay_out()
        self.hide()

    def tell(self, words: Words, trouble: Trouble | None) -> None:
        """Show what went wrong, aloud too; None takes the banner away."""
        self.trouble = trouble
        self.setVisible(trouble is not None)
        if trouble is None:
            return
        self._said.setText(trouble.said)
        self._detail.show_text(trouble.detail, 0.85)
        self._detail.setAccessibleName(words("For whoever helps you"))
        self._copy.setText(words("Copy the detail"))
        for widget in (self._detail, self._copy):
            widget.setVisible(bool(trouble.detail))
        self.setAccessibleName(trouble.said)
        announce(self, trouble.said)

    def _copy_detail(self) -> None:
        QGuiApplication.clipboard().setText(self._detail.toPlainText())

    def _lay_out(self) -> None:
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self._said)
        column.addWidget(self._detail)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.addLayout(column, 1)
        self._row.addWidget(self._copy, alignment=Qt.AlignmentFlag.AlignBottom)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the button beside the words, or below them where they would be squeezed."""
        beside = event.size().width() >= _BESIDE * self._copy.sizeHint().width()
        way = QBoxLayout.Direction
        self._row.setDirection(way.LeftToRight if beside else way.TopToBottom)
        super().resizeEvent(event)
