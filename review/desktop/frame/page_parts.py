"""The parts of every page: its head, the banner of what went wrong, the area that scrolls, and that more is below."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from review.desktop import look as fonts
from review.desktop.look import Look
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import Line, TextPane, announce
from review.session.words.catalogue import Words
from review.session.words.item import GOES_ON_BELOW
from review.session.words.troubles import Trouble

_LEAST = 40  # Pixels that are left on the smallest screen; what stands below never gives way


class ReadingArea(QScrollArea):
    """Scrolls to what takes the focus; a button that is scrolled away loses it, for nobody sees what Enter does."""

    lost_focus = Signal()  # A button had the focus and was scrolled out of sight

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self._inside = inside
        # Whether what has the focus stays in sight while the page grows; what went wrong stands at
        # the top
        self.follows = True
        self._end_shown = self._still = False
        # What is to be in sight when all words have found their lines
        self._wanted: QWidget | None = None
        # Where the page was scrolled to when that was wanted: it moves no further than it must
        self._wanted_from = 0
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMinimumHeight(_LEAST)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._moved)
        bar.rangeChanged.connect(self._grown)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_moved)

    # what was read

    @property
    def end_shown(self) -> bool:
        """Return whether all that there is to read was on the screen, at once or one part after the other."""
        return self._end_shown or self.verticalScrollBar().maximum() == 0

    def add_unread(self) -> None:
        """Require the end to be shown once more, as there is more to read than before."""
        self._end_shown = False
        self.lay_out_now()

    def read_on(self) -> bool:
        """Show the next part, its first line the last one of this; False where the end was shown already."""
        self.lay_out_now()
        if self.end_shown:
            return False
        bar, line = self.verticalScrollBar(), self.fontMetrics().lineSpacing()
        bar.setValue(bar.value() + max(line, bar.pageStep() - line))
        return True

    def scrolled_by(self, event: QKeyEvent) -> bool:
        """Scroll by an arrow or page key; False for any other key, and where all is in sight."""
        bar = self.verticalScrollBar()
        steps = {
            Qt.Key.Key_Up: -bar.singleStep(),
            Qt.Key.Key_Down: bar.singleStep(),
            Qt.Key.Key_PageUp: -bar.pageStep(),
            Qt.Key.Key_PageDown: bar.pageStep(),
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None or bar.maximum() == 0:
            return False
        bar.setValue(bar.value() + step)
        return True

    # what is in sight

    def bring(self, widget: QWidget) -> None:
        """Scroll a part into sight, and once more when all its words have found their lines."""
        if self._wanted is not widget:
            self._wanted, self._wanted_from = widget, self.verticalScrollBar().value()
        self._bring_now(widget, self._wanted_from)
        QTimer.singleShot(0, self, self._bring_wanted)

    def show_beginning(self) -> None:
        self._wanted = None
        self.verticalScrollBar().setValue(0)

    def go_back_to(self, place: int) -> None:
        """Scroll to where a person read before something was asked, in pixels from the first line."""
        self._wanted = None
        self.lay_out_now()
        self.verticalScrollBar().setValue(place)

    def _bring_wanted(self) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._bring_now(wanted, self._wanted_from)

    def focus_in_place(self, widget: QWidget) -> None:
        """Focus a part without scrolling to it: what is above it is read first."""
        self._still = True
        widget.setFocus()
        self._still = False

    def lay_out_now(self) -> None:
        for widget in (self.parentWidget(), self._inside):
            if widget is not None and (layout := widget.layout()) is not None:
                layout.activate()

    def _bring_now(self, widget: QWidget, start: int) -> None:
        """Show all of it, or where it is higher than the room its first line, or that of its cursor."""
        if not isValid(widget) or not widget.isVisible() or not self._inside.isAncestorOf(widget):
            return
        self.lay_out_now()
        bar, top, high = self.verticalScrollBar(), self._top(widget), self.viewport().height()
        if widget.height() <= high:
            bar.setValue(min(top, max(start, top + widget.height() - high)))
        elif isinstance(widget, QTextEdit):
            line = widget.cursorRect()
            place = widget.viewport().mapTo(self._inside, line.center())
            self.ensureVisible(place.x(), place.y(), 0, line.height())
        else:
            bar.setValue(top)

    def _top(self, widget: QWidget) -> int:
        return widget.mapTo(self._inside, QPoint(0, 0)).y()

    def shows_end_of(self, widget: QWidget) -> bool:
        """Return whether nothing of a part is below what is seen."""
        end = self._top(widget) + widget.height() - self.verticalScrollBar().value()
        return end <= self.viewport().height()

    def _focused(self) -> QWidget | None:
        widget = QApplication.focusWidget()
        inside = widget is not None and self._inside.isAncestorOf(widget) and self.isVisible()
        return widget if inside else None

    # what happens

    def _focus_moved(self, before: QWidget | None, now: QWidget | None) -> None:
        """Show what has the focus now; what was clicked is in sight already, and stays under the hand."""
        if not isValid(self) or None in {before, now} or self._still or self._focused() is not now:
            return  # None was before where the whole window was left
        if now is not None and QApplication.mouseButtons() == Qt.MouseButton.NoButton:
            self.bring(now)

    def _moved(self) -> None:
        bar = self.verticalScrollBar()
        if not self._end_shown and bar.value() == bar.maximum():
            self._end_shown = True
        focused = self._focused()
        if isinstance(focused, Button):
            # At least half of it is in sight, or half of what is seen belongs to it
            top, high = self._top(focused) - bar.value(), self.viewport().height()
            seen = min(top + focused.height(), high) - max(top, 0)
            if 2 * seen < min(focused.height(), high):
                self.lost_focus.emit()

    def _grown(self) -> None:
        focused = self._focused()
        if self.follows and isinstance(focused, Button):
            self.bring(focused)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Scroll to what has the focus where the window, or the letters, change their size."""
        super().resizeEvent(event)
        self._grown()


class MoreBelow(Line):
    """Stays in sight just below what scrolls, while the end of that is not.

    Its room is kept at the end, too: what is in sight stays there when a page is scrolled back.
    The bar is asked for each time: what Python once held of it may be gone while it still scrolls.
    """

    def __init__(self, words: Words, read: QScrollArea) -> None:
        super().__init__(words(GOES_ON_BELOW), "quiet")
        self._read = read
        self.wanted = True  # False while nothing is to be read, as where a person writes
        self.keeps_room = True  # False where every line of the texts is wanted for reading
        self.empty_end = 0  # Pixels at the end that hold nothing to read
        bar = read.verticalScrollBar()
        bar.valueChanged.connect(self.tell)
        bar.rangeChanged.connect(self.tell)
        self.hide()

    def tell(self) -> None:
        """Show it if something is below that would not be in sight without this line either."""
        if isValid(self) and isValid(self._read):  # a page that ends still lays out what is left
            bar = self._read.verticalScrollBar()
            policy = self.sizePolicy()
            # The pixels that this line takes from what scrolls, 0 where it has no room
            page, taken = self.parentWidget(), 0
            layout = page.layout() if page is not None else None
            if layout is not None and (not self.isHidden() or policy.retainSizeWhenHidden()):
                taken = self.heightForWidth(self.width()) + layout.spacing()
            scrolls = self.wanted and bar.maximum() - taken > self.empty_end
            policy.setRetainSizeWhenHidden(self.keeps_room and scrolls)
            self.setSizePolicy(policy)
            self.setVisible(scrolls and bar.maximum() - bar.value() > self.empty_end)


# ---- The head of every page: where the person is, what was just done, and the way to other
# letters and to the settings.
#
# The quiet message stands below the row for large letters and in a narrow window, where the row
# would break its words.

INSET = 5  # Pixels by which text is set in, so that it begins where the box of a button begins
# Between them a sign keeps its side of a letter, whatever the direction of the page
_APART, _TOGETHER = "\u2066", "\u2069"
_LARGE = 26  # Pixels of letters from which on the message stands below the row
_FURTHER = 1.15  # Factor by which "Sentence 100 of 100" may be wider than "Sentence 1 of 100"


class PageHead(QWidget):
    """Stays in sight, or scrolls with the texts; ``under`` takes further widgets below it."""

    def __init__(self, words: Words, look: Look, to_settings: Callable[[], object]) -> None:
        super().__init__()
        self._look = look
        self.place = Line().as_narrow_as_needed()
        self.said = Line(role="quiet").as_narrow_as_needed()
        self.under = QVBoxLayout()
        self._row, self._signs, self._below_row = QHBoxLayout(), QHBoxLayout(), QVBoxLayout()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        for line in (self.place, self.said):
            line.setContentsMargins(INSET, 0, INSET, 0)
        self._row.addWidget(self.place, 1)
        self._row.addLayout(self._signs)
        self._signs.addWidget(self._sign("A−", words("Smaller letters"), look.smaller))
        self._signs.addWidget(self._sign("A+", words("Larger letters"), look.larger))
        self.settings = self._sign(words("Settings"), words("Settings"), to_settings)
        self._signs.addWidget(self.settings)
        for layout in (self._row, self._below_row, self.under):
            self._column.addLayout(layout)
        self.said.hide()

    def _sign(self, sign: str, name: str, act: Callable[[], object]) -> Button:
        button = Button(f"{_APART}{sign}{_TOGETHER}", parent=self)
        button.setAccessibleName(name)
        button.clicked.connect(lambda _: act())
        return button

    def dress(self, px: int) -> None:
        self.place.setFont(fonts.font(px if px >= _LARGE else px + max(4, px // 4), bold=True))
        for part in (self.said, *self.findChildren(Button)):
            part.setFont(letters(self._look, px))

    def fit(self, px: int, width: int, gap: int) -> None:
        """Place the parts for a size of letters, a width and a gap between lines, all in pixels."""
        self.dress(px)
        self._column.setSpacing(gap)
        self._signs.invalidate()  # or else it asks for the room that the letters before needed
        signs = self._signs.sizeHint().width()
        place = _FURTHER * QFontMetrics(self.place.font()).horizontalAdvance(self.place.text())
        stacked = 2 * signs > width or place > width - signs
        down, aside = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if stacked else aside)
        beginning = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading
        self._row.setAlignment(self._signs, beginning if stacked else Qt.AlignmentFlag.AlignTop)
        if px >= _LARGE or stacked or 2 * place > width - signs:
            self._below_row.addWidget(self.said)
        else:
            self._row.insertWidget(1, self.said, 1)

    @property
    def most_high(self) -> int:
        """Return the height in pixels with a message of one line, and a line kept for the hint that more is below."""
        stacked = self._row.direction() is QBoxLayout.Direction.TopToBottom
        lines = 2 + stacked + (self._below_row.count() > 0)
        return self.settings.sizeHint().height() + lines * self.said.fontMetrics().lineSpacing()


def letters(look: Look, px: int) -> QFont:
    return QFont() if px == look.size else fonts.font(px)


# ---- What went wrong, on the page and not over it: it stays until it is over, and takes no key
# away.
#
# Below the plain words stands one line for anyone who helps, which can be copied.

_BESIDE = 2.5  # So many times as wide as its button must the banner be to have it beside its words


class Banner(QFrame):
    """Hidden while nothing is wrong."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.trouble: Trouble | None = None  # What it says, None while it is hidden
        self._said = Line(role="warn")
        self._detail = TextPane()
        self._copy = Button("")
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._detail.toPlainText()))
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self._said)
        column.addWidget(self._detail)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.addLayout(column, 1)
        self._row.addWidget(self._copy, alignment=Qt.AlignmentFlag.AlignBottom)
        self.hide()

    def tell(self, words: Words, trouble: Trouble | None) -> None:
        """Show what went wrong, aloud too; None takes the banner away."""
        self.trouble = trouble
        self.setVisible(trouble is not None)
        if trouble is None:
            return
        self._said.setText(trouble.said)
        self._detail.show_text(trouble.detail, 0.85)
        self._detail.setAccessibleName(words("For the person who helps you"))
        self._copy.setText(words("Copy the detail"))
        for widget in (self._detail, self._copy):
            widget.setVisible(bool(trouble.detail))
        self.setAccessibleName(trouble.said)
        announce(self, trouble.said)

    def resizeEvent(self, event: QResizeEvent) -> None:
        beside = event.size().width() >= _BESIDE * self._copy.sizeHint().width()
        way = QBoxLayout.Direction
        self._row.setDirection(way.LeftToRight if beside else way.TopToBottom)
        super().resizeEvent(event)
