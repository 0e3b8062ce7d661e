"""The answer to a training item and why it is the answer."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout

from review.desktop.look.missing_letters import shown
from review.desktop.parts.labels import Line
from review.desktop.parts.whole_text import WholeText
from review.session.view import Lesson
from review.session.words.catalogue import Words
from review.session.words.item import lesson_said


class LessonBox(QFrame):
    """Hidden until the person gave an answer."""

    def __init__(self) -> None:
        super().__init__()
        self._said = Line()
        self._note = Line(role="quiet")
        self._why = WholeText()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._said)
        column.addWidget(self._note)
        column.addWidget(self._why)
        self.hide()

    def tell(self, words: Words, lesson: Lesson | None) -> None:
        """Say what the answer is; None hides the box."""
        self.setVisible(lesson is not None)
        if lesson is None:
            return
        agrees = lesson.given is lesson.expected
        self._said.setProperty("role", "good" if agrees else "strong")
        self._said.style().polish(self._said)
        self._said.setText(lesson_said(words, lesson))
        self._note.setText(lesson.note)
        self._note.setVisible(bool(lesson.note))
        self._why.setAccessibleName(self._said.text())
        self._why.setVisible(bool(lesson.explanation.strip()))
        self._why.show_text(shown(lesson.explanation))
