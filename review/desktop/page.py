"""The bones of every page: where the person is, what went wrong, what to read, and what can be done.

What can be done stays in sight at the foot, whatever the length of what is to be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from review.desktop import fonts
from review.desktop.announcing import announce
from review.desktop.banner import Banner
from review.desktop.buttons import Button
from review.desktop.desk import Desk
from review.desktop.emptying import empty
from review.desktop.flow import FlowLayout
from review.desktop.labels import Line
from review.desktop.letters import set_letters
from review.desktop.look import SIZES
from review.desktop.missing_letters import shown
from review.desktop.more_below import MoreBelow
from review.desktop.whole_text import WholeText
from review.session.troubles import Trouble
from review.session.words import Words

_CONTROL = Qt.KeyboardModifier.ControlModifier
_ALT = Qt.KeyboardModifier.AltModifier
_BETWEEN, _EDGE = 12, 20
"""Pixels between two paragraphs, and around the page."""
_APART, _TOGETHER = "\u2066", "\u2069"
"""Between them a sign keeps its side of a letter, whatever the direction of the page."""
_LEAST_READ = 40
"""Pixels of what scrolls that are left on the smallest screen; what stands below it never gives way."""
INSET = 5
"""Pixels by which text is set in, so that it begins where the box of a button begins."""
_LONG = re.compile(r"\S{30}")
"""After so many characters without a blank a line may be broken."""
_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


class Page(QWidget):
    """One thing to read or to decide; a key that no focused widget takes comes to ``typed``."""

    PARTS: ClassVar = (18, 30)
    """Into so many parts the height and the width are divided for the letters around what is read."""

    left = Signal()
    """The person goes back."""
    settings = Signal()
    """The person wants to change how things look or sound."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._place, self._said = _line(""), _line("quiet")
        self._head = QWidget()
        self._banner = Banner(self)
        self._top, self._body, self._held = QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        self._foot = FlowLayout()
        self._more_below: MoreBelow | None = None
        self._lay_out()
        desk.look.changed.connect(self._fit)

    @property
    def words(self) -> Words:
        """The words of the reviewer's language."""
        return self.desk.words

    # for the window

    def begin(self) -> None:
        """Take the keys and say where the person is; called when the page was put in place."""
        self.setFocus()
        announce(self, self._place.text())

    def offer_settings(self, offered: bool) -> None:
        """Offer the way to the settings, or take it away where nothing may lead away from the page."""
        self._settings.setVisible(offered)

    @property
    def offers_settings(self) -> bool:
        """Whether the settings may be laid over the page."""
        return not self._settings.isHidden()

    # what a page says

    def place(self, text: str) -> None:
        """Say where the person is."""
        self._place.setText(text)
        self.setAccessibleName(text)

    def say(self, text: str) -> None:
        """Say one quiet sentence about what was just done."""
        text = harmless_lines(text)
        self._said.setText(text)
        self._said.setVisible(bool(text))
        if text:
            announce(self, text)

    def tell(self, trouble: Trouble | None) -> None:
        """Say what went wrong, until it is over; None takes it away.

        It stands at the top of what scrolls: with large letters it may be higher than a small screen.
        """
        self._banner.tell(self.words, trouble)
        if trouble is not None:
            self._scroll.verticalScrollBar().setValue(0)

    @property
    def trouble(self) -> Trouble | None:
        """What the page says that went wrong."""
        return self._banner.trouble

    @property
    def troubled(self) -> bool:
        """True while the page says that something went wrong."""
        return self.trouble is not None

    def paragraph(self, text: str, role: str = "") -> Line:
        """Add something to read; ``role`` is one of the look's."""
        label = _line(role)
        label.setText(harmless_lines(text))
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.add(label)
        return label

    def copyable(self, text: str, name: str) -> None:
        """Add something that is copied as it stands: a path, or what whoever helps is shown; ``name`` says what it is."""
        pane = WholeText()
        pane.setAccessibleName(name)
        pane.show_text(shown(text))
        self.add(pane)

    def add(self, widget: QWidget) -> None:
        """Add anything to the part that scrolls."""
        self._body.addWidget(widget)

    def hold(self, widget: QWidget) -> None:
        """Add something that stays in sight, between what scrolls and what can be done."""
        self._held.addWidget(widget)

    def under_head(self, widget: QWidget) -> None:
        """Add something that stays in sight above what went wrong."""
        self._top.addWidget(widget)

    def tell_more_below(self) -> None:
        """Say, while the end of what is to be read is out of sight, that there is more."""
        self._more_below = MoreBelow(self.words, self._scroll.verticalScrollBar())
        self.hold(self._more_below)

    def button(
        self, text: str, act: Callable[[], object], key: str = "", *, main: bool = False
    ) -> Button:
        """Add something that can be done; ``main`` is what Enter does on this page."""
        button = Button(text, key)
        if main:
            button.setProperty("role", "main")
        button.clicked.connect(lambda _: act())
        button.setFont(fonts.font(self.around()))
        self._foot.addWidget(button)
        return button

    def clear(self) -> None:
        """Take everything away that was added."""
        for layout in (self._body, self._held, self._foot):
            empty(layout)

    # keys

    def typed(self, character: str) -> bool:  # noqa: ARG002  for subclasses
        """Do what a character means here; False where it means nothing."""
        return False

    def pressed(self, event: QKeyEvent) -> bool:
        """Do what a key without a character, or one with Ctrl, means here; False where it means nothing."""
        sizes = {
            Qt.Key.Key_Plus: self.desk.look.larger,
            Qt.Key.Key_Equal: self.desk.look.larger,
            Qt.Key.Key_Minus: self.desk.look.smaller,
        }
        act = sizes.get(Qt.Key(event.key())) if with_control(event) else None
        if act is not None:
            act()
        return act is not None

    def enter(self) -> None:
        """Do what Enter means here."""

    def back(self) -> None:
        """Do what Esc means here."""
        self.left.emit()

    def focusNextPrevChild(self, onward: bool) -> bool:
        """Let Tab come first to what is on the page, and to the letters and settings after all of it."""
        signs = self._head.findChildren(Button)
        last: QWidget | None = None
        each = self.nextInFocusChain()
        while each is not None and each is not self:
            if each not in signs and self.isAncestorOf(each):
                last = each
            each = each.nextInFocusChain()
        for sign in signs:
            if last is not None:
                QWidget.setTabOrder(last, sign)
                last = sign
        return super().focusNextPrevChild(onward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do what a key means that no focused widget took; a key that is held down means one press."""
        if event.isAutoRepeat() or self._means(event):
            event.accept()
        else:
            super().keyPressEvent(event)

    def _means(self, event: QKeyEvent) -> bool:
        if _with_alt(event):
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
        """Let the arrow and page keys scroll what is read."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._scrolled(event) or super().event(event)
        return super().event(event)

    def _scrolled(self, event: QKeyEvent) -> bool:
        bar = self._scroll.verticalScrollBar()
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

    # layout

    def _lay_out(self) -> None:
        self._said.hide()
        self._acts_at_foot = QWidget()
        self._acts_at_foot.setLayout(self._foot)
        self._body.setSpacing(_BETWEEN)
        page = self._column = QVBoxLayout(self)
        page.setContentsMargins(_EDGE, _EDGE // 2, _EDGE, _EDGE // 2)
        self._fill_head()
        page.addWidget(self._head)
        page.addLayout(self._top)
        page.addWidget(self._scrolling(), 1)
        page.addLayout(self._held)
        page.addWidget(self._acts_at_foot)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def _fill_head(self) -> None:
        words, look = self.words, self.desk.look
        head = QHBoxLayout(self._head)
        head.setContentsMargins(0, 0, 0, 0)
        self._place.setContentsMargins(INSET, 0, INSET, 0)
        head.addWidget(self._place, 1)
        head.addWidget(self._said, 1)
        head.addWidget(self._sign("A−", words("Smaller letters"), look.smaller))
        head.addWidget(self._sign("A+", words("Larger letters"), look.larger))
        self._settings = self._sign(words("Settings"), words("Settings"), self.settings.emit)
        head.addWidget(self._settings)
        for button in self._head.findChildren(Button):
            head.setAlignment(button, Qt.AlignmentFlag.AlignTop)

    def _sign(self, sign: str, name: str, act: Callable[[], object]) -> Button:
        button = Button(f"{_APART}{sign}{_TOGETHER}", parent=self._head)
        button.setAccessibleName(name)
        button.clicked.connect(lambda _: act())
        return button

    def around(self) -> int:
        """Give the pixels of the letters around what is read: as chosen, but no larger than leaves it room."""
        lines, letters = self.PARTS
        room = min(self.height() // lines, self.width() // letters)
        return min(self.desk.look.size, max(SIZES[0], room))

    def _fit(self) -> None:
        """Give the letters around what is read the size for which there is room."""
        px = self.around()
        for part in (self._head, self._banner, self._acts_at_foot):
            set_letters(part, px)
        if self._more_below is not None:
            set_letters(self._more_below, px)
        roomy = px == self.desk.look.size
        self._place.setFont(fonts.font(px + max(4, px // 4) if roomy else px, bold=True))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the head leave room for what is read."""
        super().resizeEvent(event)
        self._fit()

    def _scrolling(self) -> QScrollArea:
        inside = self._inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(INSET, INSET, INSET, INSET)
        column.addWidget(self._banner)
        column.addLayout(self._body)
        column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidget(inside)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setMinimumHeight(_LEAST_READ)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return self._scroll


def harmless_lines(text: str) -> str:
    """Give text from anywhere as it may be shown: nothing in it acts, and no word is wider than the page."""
    return "\n".join(_LONG.sub("\\g<0>\u200b", shown(line)) for line in text.split("\n"))


def with_control(event: QKeyEvent) -> bool:
    """Tell whether Ctrl is held down; Ctrl with Alt is AltGr, which only writes characters."""
    return bool(event.modifiers() & _CONTROL) and not event.modifiers() & _ALT


def _with_alt(event: QKeyEvent) -> bool:
    """Tell whether Alt alone is held down: those keys belong to the system and to community keyboards."""
    return bool(event.modifiers() & _ALT) and not event.modifiers() & _CONTROL


def _line(role: str) -> Line:
    label = Line(role=role)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)  # no word widens the page
    return label
