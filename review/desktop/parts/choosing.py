"""What a person chooses with: answers with their keys, a question with its answers, rows, and a box to tick.

Every word is shown in full, whatever the size of the letters. Answers are in one row, in two or one below the
other, by the room there is; a long column of rows is shown piece by piece.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QStyle, QVBoxLayout, QWidget

from review.desktop.look import TARGET
from review.desktop.parts.buttons import RADIUS, Button, Wrapped, key_said
from review.desktop.parts.flow import FlowColumns, Offers
from review.desktop.parts.texts import Line, announce, capital, said
from review.session.words.catalogue import Words, msgid
from review.session.words.item import Answer, ItemQuestion

__all__ = ["Answer", "Answers"]

CHOSEN: Final = msgid("Chosen.")

_SMALLEST = 15  # Pixels of the letters of a meaning, at least
_GIVEN_EDGE = 4  # Pixels
_ARROWS: Final = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}


class Answers(QWidget):
    """The arrow keys go from one to the next; Tab does, too."""

    picked = Signal(int)  # The number of the answer, from 0

    def __init__(self, answers: Sequence[Answer], sizes: Sequence[int] = ()) -> None:
        """``sizes`` are pixels of the letters of each word; without them all have those of the page."""
        super().__init__()
        self._columns = FlowColumns(self)
        zip_longest = itertools.zip_longest(answers, sizes[: len(answers)])
        self._buttons = [_AnswerButton(answer, size) for answer, size in zip_longest]
        for number, button in enumerate(self._buttons):
            button.clicked.connect(lambda _=False, number=number: self.picked.emit(number))
            self._columns.addWidget(button)

    def add_beside(self, button: Button) -> None:
        """Add a button that is not an answer after the last one."""
        self._columns.addWidget(button)

    def show_words(self, letters: QFont, *, meanings: bool) -> None:
        """Show the words in these letters; what they mean below them, or only on the help page."""
        for button in self._buttons:
            button.setFont(letters)
            button.show_meaning(meanings)

    def mark(self, indices: Collection[int]) -> None:
        for number, button in enumerate(self._buttons):
            button.mark(given=number in indices)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _ARROWS.get(Qt.Key(event.key()))
        at = next((n for n, button in enumerate(self._buttons) if button.hasFocus()), None)
        if step is None or at is None or event.modifiers():
            event.ignore()
            return
        aside, down = step
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            aside = -aside
        to = at + aside + down * self._columns.columns(self._columns.geometry().width())
        if 0 <= to < len(self._buttons):
            self._buttons[to].setFocus(Qt.FocusReason.TabFocusReason)


class _AnswerButton(Button):
    """A word, what it means below it, and a sign where it was given."""

    def __init__(self, answer: Answer, size: int | None = None) -> None:
        self._meaning = self._meaning_shown = answer.meaning
        self._size = size
        self._given = False
        super().__init__(answer.word, answer.key)
        self.setAccessibleName(f"{answer.word}. {answer.meaning}" if answer.meaning else answer.word)

    def mark(self, *, given: bool) -> None:
        if given is not self._given:
            self._given = given
            parts = [key_said(self.key), said(CHOSEN) if given else ""]
            self.setAccessibleDescription(". ".join(part for part in parts if part))
            self.updateGeometry()
            self.update()

    def show_meaning(self, shown: bool) -> None:
        """Show what the word means, or only say it to those who hear the page."""
        self._meaning_shown = self._meaning if shown else ""
        self.updateGeometry()
        self.update()

    def _words(self) -> list[Wrapped]:
        direction = self.layoutDirection()
        parts = [Wrapped(self.text(), self.text_font(), direction)]
        if self._meaning_shown:
            font = QFont(self.font())
            font.setPixelSize(max(_SMALLEST, font.pixelSize() * 4 // 5))
            parts.append(Wrapped(self._meaning_shown, font, direction))
        return parts

    def _inks(self) -> Iterator[QColor]:
        yield self._ink(QPalette.ColorRole.ButtonText)
        if self._meaning_shown:
            yield self._ink(QPalette.ColorRole.PlaceholderText)

    def text_font(self) -> QFont:
        font = super().text_font()
        font.setBold(bool(self._meaning))
        if self._size is not None:
            font.setPixelSize(self._size)
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._given:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            # Draw a thicker edge, and a round sign where no letter stands: above the height of the
            # first line.
            box = self._box()
            painter.setPen(QPen(self._ground(), _GIVEN_EDGE))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
            radius = max(9.0, self.font().pixelSize() * 0.3)
            right = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
            aside = radius + RADIUS
            middle = QPointF(box.left() + aside if right else box.right() - aside, radius + 1)
            painter.setPen(QPen(self._on_ground(), 1.5))
            painter.setBrush(self._ground())
            painter.drawEllipse(middle, radius, radius)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._on_ground(), max(2.0, radius / 4)))
            tick = QPainterPath(middle + QPointF(-0.45, 0.05) * radius)
            tick.lineTo(middle + QPointF(-0.12, 0.4) * radius)
            tick.lineTo(middle + QPointF(0.5, -0.35) * radius)
            painter.drawPath(tick)

    def _key_colours(self) -> tuple[QColor, QColor, QColor]:
        if not self._given:
            return super()._key_colours()
        return self._ground(), self._ground(), self._on_ground()

    def _ground(self) -> QColor:
        return self._colour(QPalette.ColorRole.Highlight)

    def _on_ground(self) -> QColor:
        return self._colour(QPalette.ColorRole.HighlightedText)

    def _colour(self, role: QPalette.ColorRole) -> QColor:
        return self.palette().color(role)


class QuestionBox(QWidget):
    """A question with a way back; hidden until it is asked."""

    left = Signal()  # The person goes back without an answer

    def __init__(self) -> None:
        super().__init__()
        self._said = Line(role="strong").as_narrow_as_needed()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._said)
        self.hide()

    def ask(self, question: ItemQuestion) -> None:
        self._said.setText(question.said)
        self.setAccessibleName(question.said)
        self.show()
        announce(self, question.said)


class Choices(QuestionBox):
    """Several answers, each with its digit."""

    picked = Signal(int)

    def __init__(self, words: Words, answers: Sequence[Answer]) -> None:
        super().__init__()
        self._answers = Answers(answers)
        self._answers.picked.connect(self.picked)
        self._column.addWidget(self._answers)
        back = Button(capital(words("back")), words("Esc"))
        back.clicked.connect(self.left)
        self._answers.add_beside(back)  # a row of its own would push the sentence out of sight

    def mark(self, numbers: Sequence[int]) -> None:
        self._answers.mark(numbers)


class OnceMore(QuestionBox):
    """Yes or no, for what should not happen by a slip of one key."""

    agreed = Signal()

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._said.setProperty("role", "warn")
        acts = Offers()
        acts.offer(capital(words("yes")), self.agreed.emit, words("Enter"))
        acts.offer(capital(words("no")), self.left.emit, words("Esc"))
        self._column.addWidget(acts)


_AT_ONCE = 40
_ONWARD = {Qt.Key.Key_Down: True, Qt.Key.Key_Up: False}


class _Row(Button):
    """One of them, its words where those of the others begin; the arrows go from one to the next."""

    centred = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (onward := _ONWARD.get(Qt.Key(event.key()))) is None:
            super().keyPressEvent(event)
        else:
            event.accept()
            self.focusNextPrevChild(onward)


class ChoiceRows(QWidget):
    """Gives the number of the row that was chosen, from 0."""

    chosen = Signal(int)

    def __init__(self, words: Words, texts: Sequence[str], *, main: bool = False, keys: bool = False) -> None:
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


_GAP = 12
_RING = 3


class Tick(QCheckBox):
    """All of it can be clicked; Space ticks it."""

    def __init__(self, text: str, *, ticked: bool = False) -> None:
        super().__init__()
        self._words = text
        self.setAccessibleName(text)
        self.setChecked(ticked)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(TARGET, self._wrapped().height(width - self._aside()) + _GAP)

    def sizeHint(self) -> QSize:
        wide = self._wrapped().wide + self._aside()
        return QSize(wide, self.heightForWidth(wide))

    def minimumSizeHint(self) -> QSize:
        """Wrap rather than widen the window."""
        return QSize(self._aside() + 4 * TARGET, TARGET)

    def hitButton(self, position: QPoint) -> bool:
        """Accept a click anywhere on it."""
        return self.rect().contains(position)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  all of it is drawn
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, role = self.palette().color, QPalette.ColorRole
        box, words = self._parts()
        if self.hasFocus():
            painter.setPen(QPen(colour(role.Accent), _RING))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(2, 2, -2, -2), 9, 9)
        painter.setPen(QPen(colour(role.WindowText), 2))
        painter.setBrush(colour(role.Highlight if self.isChecked() else role.Base))
        painter.drawRoundedRect(QRectF(box).adjusted(1, 1, -1, -1), 5, 5)
        if self.isChecked():
            painter.setPen(QPen(colour(role.HighlightedText), max(3, box.width() // 8)))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_sign(QRectF(box)))
        text = self._wrapped()
        top = words.top() + (words.height() - text.height(words.width())) // 2
        text.draw(painter, words.left(), top, colour(role.WindowText))

    def _wrapped(self) -> Wrapped:
        return Wrapped(self._words, self.font(), self.layoutDirection())

    def _aside(self) -> int:
        """Pixels of the width that the words do not have."""
        return self._box() + 3 * _GAP

    def _box(self) -> int:
        """Side of the square in pixels, as high as a capital letter and a little more."""
        return max(20, self.fontMetrics().capHeight() + 8)

    def _parts(self) -> tuple[QRect, QRect]:
        """Return the square and the room of the words, mirrored where one reads from the right."""
        side = self._box()
        inside = self.rect().adjusted(_GAP, 0, -_GAP, 0)
        box = QRect(inside.left(), inside.center().y() - side // 2, side, side)
        words = inside.adjusted(side + _GAP, 0, 0, 0)
        direction = self.layoutDirection()
        return (QStyle.visualRect(direction, self.rect(), box), QStyle.visualRect(direction, self.rect(), words))


def _sign(box: QRectF) -> QPainterPath:
    """Return the tick, which is the same whatever the reading direction."""
    tick = QPainterPath(box.topLeft() + QPointF(box.width() * 0.24, box.height() * 0.52))
    tick.lineTo(box.topLeft() + QPointF(box.width() * 0.43, box.height() * 0.72))
    tick.lineTo(box.topLeft() + QPointF(box.width() * 0.77, box.height() * 0.3))
    return tick
