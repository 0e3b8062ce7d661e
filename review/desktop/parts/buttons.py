"""A button whose words wrap: whatever the size of the letters and the length of the words, nothing is cut off.

It has no Alt letter, is never smaller than a shaking hand can hit, and a key that is held down presses it once.
``Wrapped`` is a text that is broken into lines to fit a width, for whatever draws its words itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QTextLayout,
    QTextLine,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractButton, QApplication, QSizePolicy, QStyle, QWidget

from review.desktop.look import HIDES_KEYS, TARGET
from review.desktop.parts.texts import said
from review.session.words.catalogue import msgid
from review.session.words.keys import KEY_NAMES

_LINE_END, _ENDLESS = "\u2028", 1_000_000


class Wrapped:
    """Breaks between words, and within a word only where it is wider than a whole line."""

    def __init__(self, text: str, font: QFont, direction: Qt.LayoutDirection) -> None:
        self._paragraphs = [_layout(part, font, direction) for part in text.split("\n")]
        self._text, self._font, self._direction = text, font, direction

    @property
    def wide(self) -> int:
        return self._widest(self._text.split("\n"))

    @property
    def widest_word(self) -> int:
        """Pixels of the longest word."""
        return self._widest(self._text.split())

    def height(self, width: int) -> int:
        """Break the text to a width; gives its height in pixels."""
        top = 0.0
        for layout in self._paragraphs:
            top = _break(layout, top, max(1, width))
        return ceil(top)

    @property
    def lines(self) -> int:
        return len(self._lines())

    @property
    def first_line(self) -> int:
        """Pixels of the height of the first line, after the text was broken."""
        return ceil(self._lines()[0].height())

    @property
    def drawn_width(self) -> int:
        return ceil(max((line.naturalTextWidth() for line in self._lines()), default=0))

    def draw(self, painter: QPainter, left: int, top: int, colour: QColor) -> None:
        painter.setPen(colour)
        for layout in self._paragraphs:
            layout.draw(painter, QPointF(left, top))

    def _widest(self, parts: list[str]) -> int:
        """Measure with the letters joined as they are drawn: some join into one picture."""
        layout = _layout(_LINE_END.join(parts), self._font, self._direction)
        _break(layout, 0.0, _ENDLESS)
        return 1 + ceil(max(layout.lineAt(n).naturalTextWidth() for n in range(layout.lineCount())))

    def _lines(self) -> list[QTextLine]:
        return [p.lineAt(n) for p in self._paragraphs for n in range(p.lineCount())]


def _break(layout: QTextLayout, top: float, width: int) -> float:
    """Break a paragraph into lines from ``top`` on; gives where the next one begins."""
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    return top


def _layout(text: str, font: QFont, direction: Qt.LayoutDirection) -> QTextLayout:
    layout = QTextLayout(text, font)
    right = direction is Qt.LayoutDirection.RightToLeft
    option = QTextOption(Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # a path keeps its first sign
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    return layout


KEY: Final = msgid("Key {key}")
ENTER: Final = msgid("Enter")

# Pixels: thickness of the ring around what has the focus, and of the ground that sets it off
RING, GAP = 3, 2
_EDGE, _INSIDE = 2, 8
RADIUS = 9  # Pixels: how round the corners are
_LEAST = TARGET + 2 * (RING + GAP)  # Pixels: so large is a button with the room for its ring
_BETWEEN = 10  # Pixels between the key and the words
_WIDEST_LINE = 22  # Heights of a line: words that are longer than this wrap
_PRESSING = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Select})
_REDRAWN = frozenset(
    {
        QEvent.Type.FontChange,
        QEvent.Type.PaletteChange,
        QEvent.Type.StyleChange,
        QEvent.Type.LayoutDirectionChange,
        QEvent.Type.DynamicPropertyChange,
    }
)


class Button(QAbstractButton):
    """Words, and the key that does the same; Space and Enter press it while it has the focus."""

    centred = True  # Whether words on one line, without a key before them, stand in the middle

    def __init__(self, text: str, key: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key = key
        self.setText(text)
        self.setAccessibleDescription(key_said(key))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click takes no key away
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def setText(self, text: str) -> None:
        """Show other words; a ``&`` in them is only a character."""
        super().setText(text)
        self.setShortcut(QKeySequence())
        self.setAccessibleName(text)
        self.updateGeometry()

    # size

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        room = width - 2 * _around() - self._key_room()
        words = sum(part.height(max(1, room)) for part in self._words())
        return max(_LEAST, max(words, self._cap().height()) + 2 * _around())

    def sizeHint(self) -> QSize:
        most = _WIDEST_LINE * QFontMetrics(self.font()).height()
        words = min(max((part.wide for part in self._words()), default=0), most)
        wide = max(_LEAST, words + self._key_room() + 2 * _around())
        return QSize(wide, self.heightForWidth(wide))

    def minimumSizeHint(self) -> QSize:
        most = _WIDEST_LINE * QFontMetrics(self.font()).height() // 3
        words = min(max((part.widest_word for part in self._words()), default=0), most)
        return QSize(max(_LEAST, words + self._key_room() + 2 * _around()), _LEAST)

    # what is drawn

    def _words(self) -> list[Wrapped]:
        """Return the texts that stand one below the other."""
        return [Wrapped(self.text(), self.text_font(), self.layoutDirection())]

    def _inks(self) -> Iterator[QColor]:
        yield self._ink(QPalette.ColorRole.ButtonText)

    def text_font(self) -> QFont:
        font = QFont(self.font())
        font.setBold(font.bold() or self.is_main)
        return font

    @property
    def is_main(self) -> bool:
        """Return whether this is the button that continues."""
        return bool(self.property("role") == "main")

    @property
    def _is_filled(self) -> bool:
        """Return whether Enter presses it now, or it is being pressed."""
        return self.isDown() or (self.is_main and not self._is_overruled)

    @property
    def _is_overruled(self) -> bool:
        """Return whether Enter presses another button, which has the focus, instead of this one that continues."""
        other = QApplication.focusWidget()
        return self.is_main and isinstance(other, Button) and other is not self

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._redraw_main()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._redraw_main()

    def _redraw_main(self) -> None:
        for button in self.window().findChildren(Button):
            if button.is_main:
                button.update()

    def _ink(self, role: QPalette.ColorRole) -> QColor:
        filled = self._is_filled
        return self.palette().color(QPalette.ColorRole.HighlightedText if filled else role)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  all of it is drawn
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self.palette().color
        if self.hasFocus():
            painter.setPen(QPen(colour(QPalette.ColorRole.Accent), RING))
            half = RING / 2
            ring = QRectF(self.rect()).adjusted(half, half, -half, -half)
            painter.drawRoundedRect(ring, RADIUS + 3, RADIUS + 3)
        filled = self._is_filled
        hovered = self.underMouse() and self.isEnabled()
        role = QPalette.ColorRole
        painter.setBrush(colour(role.Highlight if filled else role.Button))
        edge = QPen(colour(role.Highlight if filled or hovered else role.Mid), _EDGE)
        if not self.isEnabled():
            edge.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(edge)
        painter.drawRoundedRect(self._box(), RADIUS, RADIUS)
        room = self.rect().adjusted(_around(), _around(), -_around(), -_around())
        place = room.adjusted(self._key_room(), 0, 0, 0)
        place = QStyle.visualRect(self.layoutDirection(), room, place)
        parts = self._words()
        heights = [part.height(max(1, place.width())) for part in parts]
        top = place.top() + max(0, (place.height() - sum(heights)) // 2)
        if self._key_room():
            if not (self._is_overruled and self.key == said(ENTER)):
                self._draw_key(painter, room, top + parts[0].first_line // 2)
        elif self.centred and len(parts) == parts[0].lines == 1:
            rest = place.width() - parts[0].drawn_width
            place.translate(-rest // 2 if self.layoutDirection() is Qt.LayoutDirection.RightToLeft else rest // 2, 0)
        for part, height, ink in zip(parts, heights, self._inks(), strict=True):
            part.draw(painter, place.left(), top, ink)
            top += height

    def _box(self) -> QRectF:
        out = RING + GAP + _EDGE / 2
        return QRectF(self.rect()).adjusted(out, out, -out, -out)

    def _draw_key(self, painter: QPainter, room: QRect, middle: int) -> None:
        cap = QRect(room.topLeft(), self._cap())
        cap.moveTop(middle - cap.height() // 2)
        cap = QStyle.visualRect(self.layoutDirection(), room, cap)
        edge, inside, ink = self._key_colours()
        painter.setBrush(inside)
        painter.setPen(QPen(edge, 1.5))
        painter.drawRoundedRect(QRectF(cap).adjusted(1, 1, -1, -1), 5, 5)
        painter.setPen(ink)
        painter.setFont(self._key_font())
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, self.key)

    def _key_colours(self) -> tuple[QColor, QColor, QColor]:
        """Return the colours of the key's edge, its inside and its letter."""
        ink = self._ink(QPalette.ColorRole.PlaceholderText)
        return ink, QColor(Qt.GlobalColor.transparent), ink

    def _key_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(max(14, font.pixelSize() * 4 // 5))
        return font

    def _cap(self) -> QSize:
        """Return the size of the key's picture, nothing where there is none."""
        application = QApplication.instance()
        if not self.key or (application is not None and application.property(HIDES_KEYS)):
            return QSize(0, 0)
        metrics = QFontMetrics(self._key_font())
        high = metrics.height() + 2
        return QSize(max(high, metrics.horizontalAdvance(self.key) + 12), high)

    def _key_room(self) -> int:
        cap = self._cap().width()
        return cap + _BETWEEN if cap else 0

    # what happens

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _PRESSING:
            event.accept()
            if not event.isAutoRepeat():
                self.click()
        else:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Ignore the end of a key; its beginning counted."""
        event.ignore()

    def event(self, event: QEvent) -> bool:
        if event.type() in _REDRAWN:
            self.updateGeometry()
            self.update()
        return super().event(event)


def key_said(key: str) -> str:
    """Return which key does the same, in the reviewer's language; nothing where there is none."""
    return said(KEY, key=said(KEY_NAMES.get(key, key))) if key else ""


def _around() -> int:
    """Pixels between the edge of the widget and its words."""
    return RING + GAP + _EDGE + _INSIDE
