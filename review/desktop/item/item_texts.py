"""The original, its translation where there is one, and what the person added: all there is to read about an item.

What a person added to an item before: an answer that was taken back, a comment, a better translation, a flag.

Words of their own are in panes, which break even a word that is wider than the page.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QVBoxLayout, QWidget

from review.desktop.look.fonts import shown
from review.desktop.parts.flow import empty
from review.desktop.parts.texts import Line, OneLine, WholeText
from review.session.view import ShownItem
from review.session.words import item as item_words
from review.session.words.catalogue import Words
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
        behind = f" {shown(mark.text)}" if mark.in_line and mark.text else ""
        line = Line(mark.said + behind, "warn" if mark.warns else "quiet")
        self._column.addWidget(line)
        if mark.text and not mark.in_line:
            pane = WholeText()
            line.name_of(pane)
            pane.setAccessibleName(mark.said)
            pane.show_text(shown(mark.text))
            self._column.addWidget(pane)


DECIDED_SCALE = 1.35
"""What is judged, or translated, stands in larger letters than the rest."""


class ItemTexts(QWidget):
    """Tells when an item was really painted, and whether its translation was."""

    painted = Signal()
    """What was shown last is on the screen, as far as there is room."""

    def __init__(self, words: Words, *, translation: bool = True) -> None:
        """``translation`` tells whether there is one to read."""
        super().__init__()
        self._words, self._translation = words, translation
        self.source, self.candidate = WholeText(), WholeText()
        self._source_seen = self._translation_seen = False
        self._shown = ("", "", "")
        """Item, original and translation."""
        self._names: list[Line] = []
        self._marks = Marks()
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for title, pane in (
            (item_words.ORIGINAL, self.source),
            (item_words.TRANSLATION, self.candidate),
        ):
            name = OneLine(words(title), "quiet").name_of(pane)
            self._names.append(name)
            pane.setAccessibleName(words(title))
            column.addWidget(name)
            column.addWidget(pane)
            for part in (name, pane):
                part.setVisible(translation or pane is self.source)
        column.addWidget(self._marks)
        self.source.drawn.connect(self._source_drawn)
        self.candidate.drawn.connect(self._translation_drawn)

    def put_under(self, asked: QWidget) -> None:
        """Insert a question about the texts right under them, above what is next to them."""
        self._column.insertWidget(self._column.indexOf(self._marks), asked)

    def show_names_in(self, letters: QFont, gap: int) -> None:
        """Set the font of the names above the texts, and the gap between the lines in pixels."""
        self._column.setSpacing(gap)
        for name in self._names:
            name.setFont(letters)

    @property
    def seen(self) -> bool:
        """Return whether the item was on the screen."""
        return self._source_seen or self._translation_seen

    @property
    def translation_seen(self) -> bool:
        """Return whether its translation, or the beginning of it, was."""
        return self._translation_seen

    def show_item(self, item: ShownItem) -> None:
        """Show an item's texts; those that are shown already stay as they are, and count as seen."""
        texts = (item.id, item.source, item.candidate)
        if texts == self._shown:
            self._drawn()
            return
        self._shown = texts
        self._source_seen = self._translation_seen = False
        name = shown(item_words.original_name(self._words, item))
        self._names[0].setText(name)
        self.source.setAccessibleName(name)
        self.source.show_text(shown(item.source), 1.0 if self._translation else DECIDED_SCALE)
        self.candidate.show_text(shown(item.candidate), DECIDED_SCALE)

    def read(self, item: ShownItem) -> list[str]:
        """Return the texts of an item that are read."""
        return [item.source, item.candidate] if self._translation else [item.source]

    def spoken(self, item: ShownItem) -> list[str]:
        """Return the same for one who hears them, each with its name."""
        named = zip((self.source, self.candidate), self.read(item), strict=False)
        return [f"{pane.accessibleName()}: {shown(text)}" for pane, text in named]

    def forget(self) -> None:
        """Wait for the item to be painted again: something else was in its place."""
        self._shown = ("", "", "")

    def show_marks(self, marks: list[Mark]) -> None:
        """Show what the person added to the item."""
        self._marks.show_marks(marks)

    def _drawn(self) -> None:
        QTimer.singleShot(0, self, self.painted.emit)  # both texts are painted in one go

    def _source_drawn(self) -> None:
        self._source_seen = True
        self._drawn()

    def _translation_drawn(self) -> None:
        self._translation_seen = True
        self._drawn()
