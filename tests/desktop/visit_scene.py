"""The window from its first page on: a real laptop's file, real files on a stick, keys as a keyboard sends them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk, Work
from review.desktop.look.look import Look
from review.desktop.look.style import Theme
from review.desktop.pages.first_pages import RelationPage, SharingPage
from review.desktop.parts.buttons import Button
from review.desktop.program.running import Erasure
from review.desktop.program.visit import Visit
from review.desktop.program.window import Window
from review.log.laptop import Laptop
from review.session.opening import Opening

Kind = TypeVar("Kind", bound=Page)
Widget = TypeVar("Widget", bound=QWidget)

PLAIN = Qt.KeyboardModifier.NoModifier
_KEYS = {"\r": Qt.Key.Key_Return, "\x1b": Qt.Key.Key_Escape, "\t": Qt.Key.Key_Tab}


@dataclass
class Entry:
    """A program that was just started; ``keys`` counts what was pressed beside typing."""

    qtbot: QtBot
    home: Path
    places: Sequence[Path] | None = None
    sticks: list[Path] = field(default_factory=list)
    language: str | None = "en"
    size: int = 20
    keys: int = 0
    closed: bool = False

    def __post_init__(self) -> None:
        self.laptop = Laptop.open(self.home, busy_seconds=0.05)
        self.kept: list[tuple[str, str]] = []
        self.look = Look(Theme.LIGHT, self.size, lambda *said: self.kept.append(said))
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self.look.apply(application)
        self.work = Work()
        self.opening = Opening(
            self.laptop,
            places=self.places,
            language=self.language,
            mounted=lambda: list(self.sticks),
        )
        self.desk = Desk(self.opening, self.work, self.look)
        self.window = Window(self.desk)
        self.visit = Visit(self.window, self.desk, guard=0.0)
        self.erasure = Erasure(self.window, self.desk)
        self.visit.begin()
        self.idle()

    def close(self) -> None:
        """End as the program does; once is enough."""
        if self.closed:
            return
        self.closed = True
        self.window.close()
        self.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self.laptop.close()

    # where it is

    def page(self, kind: type[Kind]) -> Kind:
        """Return the page that is seen, which must be of this kind; questions on the way are answered with no."""
        self.idle()
        if kind is not SharingPage:
            self.answer_questions(until=kind)
        assert isinstance(self.window.page, kind), self.window.page
        return self.window.page

    @property
    def read(self) -> str:
        """Everything that can be read on the page."""
        return "\n".join(each.text() for each in self._seen(QLabel))

    @property
    def buttons(self) -> list[str]:
        """What can be pressed on the page."""
        return [each.text() for each in self._seen(Button)]

    def _seen(self, kind: type[Widget]) -> list[Widget]:
        QApplication.processEvents()  # what was added is shown by the next event
        assert self.window.page is not None
        return [each for each in _all(self.window.page, kind) if each.isVisible()]

    # what the person does

    def press(self, *keys: str, modifiers: Qt.KeyboardModifier = PLAIN) -> None:
        """Press keys, each counted, and wait for what follows."""
        for key in keys:
            self.keys += 1
            self.send(key, modifiers)
            self.idle()

    def agree(self) -> None:
        """Read to the end what is to be agreed to, and agree."""
        page = self.window.page
        for _ in range(_MOST_PAGES):
            if self.window.page is page:
                self.press("\r")

    def answer_questions(self, until: type[Page] | None = None) -> None:
        """Say that nothing may be used, and that one is not near to the method, where that is asked."""
        if isinstance(self.window.page, SharingPage):
            self.press("2")
        if isinstance(self.window.page, RelationPage) and until is not RelationPage:
            self.press("3")

    def answer(self, key: str) -> None:
        """Answer the sentence that is shown, once it is painted."""
        self.idle()
        self.answer_questions()
        session = self.visit.flow.session
        assert session is not None
        self.qtbot.waitUntil(lambda: session.time.runs)
        self.press(key)

    def type(self, text: str) -> None:
        """Type into the line that has the focus."""
        for character in text:
            self.send(character)

    def send(self, key: str, modifiers: Qt.KeyboardModifier = PLAIN) -> None:
        """Send a key to what has the focus; wait for nothing."""
        target: QWidget | None = QApplication.focusWidget() or self.window.page
        assert target is not None
        code = int(_KEYS.get(key) or ord(key.upper()))
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(target, QKeyEvent(kind, code, modifiers, key))

    def click(self, text: str) -> None:
        """Press a button by its words, as soon as it is there."""
        self.keys += 1
        self.qtbot.waitUntil(lambda: self._button(text) is not None)
        button = self._button(text)
        assert button is not None
        button.click()
        self.idle()

    def _button(self, text: str) -> Button | None:
        assert self.window.page is not None
        for each in _all(self.window.page, Button):
            if each.accessibleName().startswith(text) and each.isVisible():
                return each
        return None

    def idle(self) -> None:
        """Wait until everything that was asked is done."""
        self.qtbot.waitUntil(lambda: not self.work.busy and self.window.page is not None)


def _all(page: QWidget, kind: type[Widget]) -> list[Widget]:
    return page.findChildren(kind)


_MOST_PAGES = 60

Enter = Callable[..., Entry]
"""Starts the program on the laptop of a test, as often as wanted."""
