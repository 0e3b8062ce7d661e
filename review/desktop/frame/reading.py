"""The part of a page that scrolls: what has the focus is always in sight, and whether the end was shown is known.

Tells on every page that there is more to read than is seen: a scroll bar alone is easily overlooked.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QTextEdit, QWidget
from shiboken6 import isValid

from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import Line
from review.session.words.catalogue import Words
from review.session.words.item import GOES_ON_BELOW

_LEAST = 40
"""Pixels that are left on the smallest screen; what stands below never gives way."""


class ReadingArea(QScrollArea):
    """Scrolls to what takes the focus; a button that is scrolled away loses it, for nobody sees what Enter does."""

    lost_focus = Signal()
    """A button had the focus and was scrolled out of sight."""
    reached = Signal()
    """The end was shown for the first time."""

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self._inside = inside
        self.follows = True
        """Whether what has the focus stays in sight while the page grows; what went wrong stands at the top."""
        self._end_shown = self._still = False
        self._wanted: QWidget | None = None
        """What is to be in sight when all words have found their lines."""
        self._wanted_from = 0
        """Where the page was scrolled to when that was wanted: it moves no further than it must."""
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
        """Scroll to the first line."""
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
        """Update the layout of what was shown or hidden before anything is looked for there."""
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

    def _sees(self, widget: QWidget) -> bool:
        """Return whether at least half of it is in sight, or half of what is seen belongs to it."""
        top, high = self._top(widget) - self.verticalScrollBar().value(), self.viewport().height()
        seen = min(top + widget.height(), high) - max(top, 0)
        return 2 * seen >= min(widget.height(), high)

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
            self.reached.emit()
        focused = self._focused()
        if isinstance(focused, Button) and not self._sees(focused):
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
        self.wanted = True
        """False while nothing is to be read, as where a person writes."""
        self.keeps_room = True
        """False where every line of the texts is wanted for reading."""
        self.empty_end = 0
        """Pixels at the end that hold nothing to read."""
        bar = read.verticalScrollBar()
        bar.valueChanged.connect(self.tell)
        bar.rangeChanged.connect(self.tell)
        self.hide()

    def tell(self) -> None:
        """Show it if something is below that would not be in sight without this line either."""
        if isValid(self) and isValid(self._read):  # a page that ends still lays out what is left
            bar = self._read.verticalScrollBar()
            policy = self.sizePolicy()
            scrolls = self.wanted and bar.maximum() - self._taken() > self.empty_end
            policy.setRetainSizeWhenHidden(self.keeps_room and scrolls)
            self.setSizePolicy(policy)
            self.setVisible(scrolls and bar.maximum() - bar.value() > self.empty_end)

    def _taken(self) -> int:
        """Return the pixels that this line takes from what scrolls, 0 where it has no room."""
        page = self.parentWidget()
        layout = page.layout() if page is not None else None
        if layout is None or (self.isHidden() and not self.sizePolicy().retainSizeWhenHidden()):
            return 0
        return self.sizeHint().height() + layout.spacing()
