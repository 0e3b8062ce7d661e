"""The bones of every page: where the person is, what went wrong, what to read, and what can be done.

What can be done stays in sight at the foot, whatever the length of what is to be read; where the letters are
so large that too little could be read above it, it stands at the end of what scrolls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QLayout, QScrollArea, QVBoxLayout, QWidget

from review.desktop.frame.page_parts import INSET, Banner, MoreBelow, PageHead, ReadingArea, letters
from review.desktop.frame.work import AppContext
from review.desktop.look import shown
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout, empty
from review.desktop.parts.texts import Line, WholeText, announce
from review.session.words.catalogue import Words
from review.session.words.troubles import Trouble

_CONTROL = Qt.KeyboardModifier.ControlModifier
_ALT = Qt.KeyboardModifier.AltModifier
# Pixels between two paragraphs, and around the page; half of them in a low window
_BETWEEN, _EDGE = 12, 20
_LOW = 640  # Pixels: a window that is less high has smaller gaps
WIDEST = 900  # Pixels: longer lines are hard to read
# Heights of letters: what can be done may be so wide where letters are large, or else takes too
# many lines
_WIDEST_FOOT = 45
# Share of the height that is left to read; else answers, or also what leads on, stand at the end of
# it
LEAST_READ, _LEAST_ABOVE_FOOT = 0.45, 0.2
_LONG = re.compile(r"\S{30}")  # After so many characters without a blank a line may be broken
_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class Page(QWidget):
    """One thing to read or to decide; a key that no focused widget takes comes to ``typed``."""

    # What the person answers to the step of the flow that the page shows (`session.flow`)
    answered = Signal(object)
    left = Signal()  # The person goes back
    settings = Signal()  # The person wants to change how things look or sound

    def __init__(self, desk: AppContext) -> None:
        super().__init__()
        self.desk = desk
        self._head = PageHead(desk.words, desk.look, self.settings.emit)
        self._banner, self._body = Banner(self), QVBoxLayout()
        self._answering, self._held = QWidget(), QVBoxLayout()
        self._acts_at_foot, self._foot = QWidget(), FlowLayout()
        # What Enter does, unless a page says otherwise: what its main button does
        self._main: Callable[[], object] = lambda: None
        # Whether what can be done stands at the end of what scrolls
        self.folded = self._foot_folded = self._head_folded = False
        self._lay_out()
        desk.look.changed.connect(self._fit)

    @property
    def words(self) -> Words:
        return self.desk.words

    # for the window

    def begin(self) -> None:
        """Focus the page and announce where the person is; called when the page was shown."""
        self.setFocus()
        announce(self, self._head.place.text())

    def offer_settings(self, offered: bool) -> None:
        """Offer the way to the settings, or take it away where nothing may lead away from the page."""
        self._head.settings.setVisible(offered)

    @property
    def offers_settings(self) -> bool:
        """Return whether the settings may be laid over the page."""
        return not self._head.settings.isHidden()

    # what a page says

    def place(self, text: str) -> None:
        self._head.place.setText(text)
        self.setAccessibleName(text)

    def say(self, text: str) -> None:
        """Show one quiet sentence about what was just done."""
        text = harmless_lines(text)
        self._head.said.setText(text)
        self._head.said.setVisible(bool(text))
        if text:
            announce(self, text)

    def tell(self, trouble: Trouble | None) -> None:
        """Show what went wrong, until it is over; None takes it away.

        It stands at the top of what scrolls: with large letters it may be higher than a small screen.
        """
        self._banner.tell(self.words, trouble)
        self.reading.follows = trouble is None
        if trouble is not None:
            self.reading.show_beginning()

    @property
    def trouble(self) -> Trouble | None:
        return self._banner.trouble

    @property
    def troubled(self) -> bool:
        return self.trouble is not None

    def paragraph(self, text: str, role: str = "") -> Line:
        """Add something to read; ``role`` is one of the look's."""
        label = Line(role=role).as_narrow_as_needed()
        label.setText(harmless_lines(text))
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.add(label)
        return label

    def copyable(self, text: str, name: str) -> None:
        """Add something that is copied as it stands: a path, or what anyone who helps is shown; ``name`` says what it is."""
        pane = WholeText()
        pane.setAccessibleName(name)
        pane.show_text(shown(text))
        self.add(pane)

    def add(self, widget: QWidget) -> None:
        self._body.addWidget(widget)

    def hold(self, widget: QWidget) -> None:
        """Add something that is done on this page; it stays in sight as long as there is room for it."""
        self._held.addWidget(widget)

    def under_head(self, widget: QWidget) -> None:
        """Add something that stays in sight above what went wrong."""
        self._head.under.addWidget(widget)

    def button(self, text: str, act: Callable[[], object], key: str = "", *, main: bool = False) -> Button:
        """Add something that can be done; ``main`` is what Enter does on this page."""
        button = Button(text, key)
        if main:
            button.setProperty("role", "main")
            self._main = act
        button.clicked.connect(lambda _: act())
        self._foot.addWidget(button)
        return button

    def way_back(self, said: str = "", *, main: bool = False) -> Button:
        """Add the button that does what Esc does; ``said`` in place of "Back"."""
        return self.button(said or self.words("Back"), self.back, self.words("Esc"), main=main)

    def clear(self) -> None:
        self._main = lambda: None
        for layout in (self._body, self._held, self._foot):
            empty(layout)

    # keys

    def typed(self, character: str) -> bool:  # noqa: ARG002  for subclasses
        """Handle a character; False where it means nothing here."""
        return False

    def pressed(self, event: QKeyEvent) -> bool:
        """Handle a key without a character, or one with Ctrl; False where it means nothing."""
        sizes = {
            Qt.Key.Key_Plus: self.desk.look.larger,
            Qt.Key.Key_Equal: self.desk.look.larger,
            Qt.Key.Key_Minus: self.desk.look.smaller,
        }
        if (act := sizes.get(Qt.Key(event.key())) if with_control(event) else None) is not None:
            act()
        return act is not None

    def enter(self) -> None:
        self._main()

    def back(self) -> None:
        self.left.emit()

    def focusNextPrevChild(self, onward: bool) -> bool:
        """Move Tab through what is on the page as the eye does, and through the letters and settings after all of it.

        Qt goes by the age of widgets, and what was looked for, such as folders, is younger than what stands below.
        """
        signs = self._head.findChildren(Button)
        met = [widget for widget in _tabbed(self) if widget is not self and widget not in signs]
        for one, following in pairwise([self, *met, *signs]):
            QWidget.setTabOrder(one, following)
        return super().focusNextPrevChild(onward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle a key that no focused widget took; a key that is held down means one press."""
        if event.isAutoRepeat() or self._means(event):
            event.accept()
        else:
            super().keyPressEvent(event)

    def _means(self, event: QKeyEvent) -> bool:
        if bool(event.modifiers() & _ALT) and not event.modifiers() & _CONTROL:
            return False
        if event.key() in _ENTER:
            self.enter()
        elif event.key() == Qt.Key.Key_Escape:
            self.back()
        elif with_control(event) or not event.text():
            return self.pressed(event)
        else:
            return self.typed(event.text())
        return True

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self.reading.scrolled_by(event) or super().event(event)
        done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._fold()
        return done

    def wheelEvent(self, event: QWheelEvent) -> None:
        QApplication.sendEvent(self.reading.verticalScrollBar(), event)

    # layout

    def _lay_out(self) -> None:
        self._held.setContentsMargins(0, 0, 0, 0)
        self._answering.setLayout(self._held)
        self._acts_at_foot.setLayout(self._foot)
        self._body.setSpacing(_BETWEEN)
        page, column = QVBoxLayout(self), QVBoxLayout()
        self._outer, self._column = page, column
        column.addWidget(self._head)
        inside = self._inside = QWidget()
        scrolling = QVBoxLayout(inside)
        scrolling.setContentsMargins(0, INSET, 0, INSET)
        self._before, read, self._after = QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        read.setContentsMargins(INSET, 0, INSET, 0)
        read.addWidget(self._banner)
        read.addLayout(self._body)
        scrolling.addLayout(self._before)
        scrolling.addLayout(read)
        scrolling.addStretch(1)
        scrolling.addLayout(self._after)
        self.reading = ReadingArea(inside)
        self.reading.lost_focus.connect(self.setFocus)
        column.addWidget(self.reading, 1)
        self._below = MoreBelow(self.words, self.reading)
        column.addWidget(self._below)
        page.addLayout(column, 1)
        page.addWidget(self._answering)
        page.addWidget(self._acts_at_foot)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def _fit(self) -> None:
        px, room = self.desk.look.size, self.width() - 2 * _EDGE
        foot = min(room, max(WIDEST, _WIDEST_FOOT * px))
        edge, inner = (self.width() - foot) // 2, max(0, foot - WIDEST) // 2
        gaps = 2 if self.height() < _LOW else 1
        above = _EDGE // 2 // gaps
        self._outer.setContentsMargins(edge, above, edge, above)
        self._column.setContentsMargins(inner, 0, inner, 0)
        self._body.setSpacing(_BETWEEN // gaps)
        between = _BETWEEN // 2 // gaps
        for layout in (self._outer, self._column):
            layout.setSpacing(between)
        self._below.setFont(letters(self.desk.look, self._small_letters()))
        self._head.fit(self._small_letters(), min(foot, WIDEST), between)
        self._fold()

    def _small_letters(self) -> int:
        """Return pixels of the letters of head and answers, which are smaller than large ones in a low window."""
        return self.desk.look.size

    def _wide(self) -> int:
        """Pixels of the width of what can be done, where it stays in sight."""
        margins = self._outer.contentsMargins()
        return self.width() - margins.left() - margins.right()

    def _held_high(self) -> int:
        """Pixels of the height of what is held, where it stays in sight."""
        return max(0, self._held.heightForWidth(self._wide()))

    def _foot_high(self) -> int:
        """Pixels of the height of what leads on, as wide as the column; its place changes nothing."""
        margins = self._foot.contentsMargins()
        wide = min(self._wide(), WIDEST) + margins.left() + margins.right()
        return max(0, self._foot.heightForWidth(wide))

    def _left_to_read(self, done_with: int) -> float:
        """Return the share of the height that can be read beside that many pixels of what can be done."""
        margins = self._outer.contentsMargins()
        rest = self.height() - margins.top() - margins.bottom() - self._head.most_high - done_with
        return rest / max(1, self.height())

    def _fold(self) -> None:
        """Move what can be done to the end of what scrolls where it leaves too little to read, or back."""
        foot = self._foot_high()
        folded = self._too_high(self._held_high() + foot)
        foot_folded = folded and self._left_to_read(foot) < _LEAST_ABOVE_FOOT
        head_folded = self._head_in_the_way(folded=folded)
        before = self.folded, self._foot_folded, self._head_folded
        self.folded, self._foot_folded, self._head_folded = folded, foot_folded, head_folded
        if before != (folded, foot_folded, head_folded):
            # Place head, answers and foot; what has the focus keeps it
            focused = self.focusWidget()
            (self._before if head_folded else self._column).insertWidget(0, self._head)
            for part, at_end in ((self._answering, folded), (self._acts_at_foot, foot_folded)):
                hidden = part.isHidden()
                (self._after if at_end else self._outer).addWidget(part)
                part.setHidden(hidden)
            self._head.show()
            self._head.dress(self._small_letters())
            if focused is not None and not focused.hasFocus():
                focused.setFocus()
        inner = 0 if self._foot_folded else self._column.contentsMargins().left()
        if self._foot.contentsMargins().left() != inner:
            self._foot.setContentsMargins(inner, 0, inner, 0)

    def _too_high(self, done_with: int) -> bool:
        """Return whether buttons of this height in pixels leave too little room to read."""
        return self._left_to_read(done_with) < LEAST_READ

    def _head_in_the_way(self, *, folded: bool) -> bool:  # noqa: ARG002  for subclasses
        """Return whether the head scrolls with the texts, because there is little room."""
        return self._left_to_read(0) < LEAST_READ

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def _tabbed(widget: QWidget) -> Iterator[QWidget]:
    """Yield what Tab goes to, in the order of the layouts."""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if isinstance(widget, QScrollArea) and (inside := widget.widget()) is not None:
        yield from _tabbed(inside)
    elif (layout := widget.layout()) is not None:
        yield from _tabbed_in(layout)


def _tabbed_in(layout: QLayout) -> Iterator[QWidget]:
    for number in range(layout.count()):
        if (item := layout.itemAt(number)) is None:
            continue
        if (widget := item.widget()) is not None:
            yield from _tabbed(widget)
        elif (inner := item.layout()) is not None:
            yield from _tabbed_in(inner)


def harmless_lines(text: str) -> str:
    """Return text from anywhere as it may be shown: nothing in it acts, and no word is wider than the page."""
    return "\n".join(_LONG.sub("\\g<0>\u200b", shown(line)) for line in text.split("\n"))


def with_control(event: QKeyEvent) -> bool:
    """Return whether Ctrl is held down; Ctrl with Alt is AltGr, which only writes characters."""
    return bool(event.modifiers() & _CONTROL) and not event.modifiers() & _ALT
