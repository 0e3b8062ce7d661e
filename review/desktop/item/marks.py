"""What a person added to an item before: an answer that was taken back, a comment, a better translation, a flag.

Words of their own stand in panes, which break even a word that is wider than the page.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from review.desktop.look.missing_letters import shown
from review.desktop.parts.emptying import empty
from review.desktop.parts.labels import Line
from review.desktop.parts.whole_text import WholeText
from review.session.words.item import Mark


class Marks(QWidget):
    """Hidden where there is none."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Mark, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.hide()

    def show_marks(self, marks: Sequence[Mark]) -> None:
        """Show these, in their order."""
        if tuple(marks) == self._shown:
            return
        self._shown = tuple(marks)
        empty(self._column)
        for mark in marks:
            self._add(mark)
        self.setVisible(bool(marks))

    def _add(self, mark: Mark) -> None:
        said = Line(mark.said, "warn" if mark.warns else "quiet")
        self._column.addWidget(said)
        if mark.text:
            pane = WholeText()
            said.name_of(pane)
            pane.setAccessibleName(mark.said)
            pane.show_text(shown(mark.text))
            self._column.addWidget(pane)
