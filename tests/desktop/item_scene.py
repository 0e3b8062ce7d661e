"""A page of an item in a window, on a real laptop's file, and keys as a keyboard sends them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from review.desktop.frame.work import AppContext, Work
from review.desktop.item.item_page import ItemPage, TranslationPage
from review.desktop.item.sentence_face import Mode
from review.desktop.parts.texts import TextPane
from review.desktop.parts.writing import TypingBox
from review.files.batch import Batch
from review.log.event import Event
from review.log.laptop import Laptop
from review.log.payloads import AnyPayload, Face, Rate, Translate
from review.rating import Rating, Relation
from review.session.opening import Opening
from review.session.session import Session
from review.session.view import TextField
from review.session.words.catalogue import Words
from tests.desktop.visit_scene import CONTROL, PLAIN, Key, dressed, strike
from tests.review.log.material import kept_draft
from tests.review.session.scenes import CODE, Clock, asked_sharing, batch_of


@dataclass
class Scene:
    """What a test of the page has at hand."""

    PAGE: ClassVar[type[Any]] = ItemPage

    qtbot: QtBot
    folder: Path
    batch: Batch = field(default_factory=batch_of)
    code: str = CODE
    language: str = "en"
    size: int = 20
    window: tuple[int, int] = (1024, 600)
    guard: float = 0.0
    clock: Clock | None = None
    busy_seconds: float = 0.05

    def __post_init__(self) -> None:
        self.laptop = Laptop.open(self.folder, busy_seconds=self.busy_seconds)
        self.look = dressed(self.size)
        self.work = Work()
        opening = Opening(self.laptop, places=[], language=self.language)
        self.desk = AppContext(opening, self.work, self.look)
        more: dict[str, Any] = {} if self.clock is None else {"clock": self.clock}
        words = Words.load(self.language)
        asked_sharing(self.laptop, self.code)
        self.session = Session(self.laptop, self.batch, self.code, Face.DESKTOP, words, guard=self.guard, **more)
        self.session.agree(share_corrections=False)
        self.session.relate(Relation.NEITHER)
        self.onward: list[object] = []
        self.open()
        self.idle()

    def open(self) -> None:
        self.page: ItemPage = self.PAGE(self.desk, self.session)
        self.page.answered.connect(self.onward.append)
        self.page.resize(*self.window)
        self.page.show()
        self.page.activateWindow()
        self.qtbot.waitExposed(self.page)
        self.page.begin()

    def close(self) -> None:
        if isValid(self.page):
            self.page.hide()
            self.page.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self.work.finish()

    # keys

    def press(self, *keys: Key, modifiers: Qt.KeyboardModifier = PLAIN) -> None:
        """Press keys one after the other, each when the one before was done."""
        for key in keys:
            self.send(key, modifiers)
            self.idle()

    def send(self, key: Key, modifiers: Qt.KeyboardModifier = PLAIN, **more: Any) -> None:
        """Send a key to what has the focus, or ``to`` a widget, and wait for nothing."""
        to = more.pop("to", None) or QApplication.focusWidget() or self.page
        strike(to, key, modifiers, **more)

    def rate(self, key: str) -> None:
        """Rate, after a look at a translation that stands below what is seen."""
        if not self.page.texts.translation_seen:
            self.press(key)
            self.qtbot.waitUntil(lambda: self.page.texts.translation_seen)
        self.press(key)

    def idle(self) -> None:
        """Wait until everything that was asked is done, and what followed is painted."""
        self.qtbot.waitUntil(lambda: not self.work.busy)
        if self.session.view.item is not None and self.page.isVisible():
            self.qtbot.waitUntil(lambda: self.painted and self.page.texts.seen)

    @property
    def painted(self) -> bool:
        return self.session.time.runs

    # what came of it

    @property
    def mode(self) -> Mode:
        return self.page.mode

    @property
    def item(self) -> str:
        assert self.session.view.item is not None
        return self.session.view.item.id

    def draft(self, item: str, of: TextField) -> str | None:
        return kept_draft(self.laptop, self.batch.manifest.batch, self.code, item, of.value)

    def events(self, *kinds: type) -> list[AnyPayload]:
        said: Sequence[Event] = list(self.laptop.events())
        return [each.payload for each in said if isinstance(each.payload, kinds)]  # type: ignore[misc]


__all__ = ["CONTROL", "PLAIN"]

Make = Callable[..., Scene]


class TranslationScene(Scene):
    """The same window with the page on which a translation is written."""

    PAGE = TranslationPage
    page: TranslationPage  # type: ignore[assignment]

    @property
    def box(self) -> TypingBox:
        return typing_box(self.page.box)

    def write(self, text: str) -> None:
        """Type as an input method does, which needs no keyboard layout."""
        event = QInputMethodEvent()
        event.setCommitString(text)
        QApplication.sendEvent(QApplication.focusWidget() or self.page, event)

    def given(self) -> list[tuple[str, str]]:
        given = self.events(Translate)
        return [(each.item, each.text) for each in given if isinstance(each, Translate)]

    def click(self, name: str) -> None:
        shown = filter(QAbstractButton.isVisible, self.page.findChildren(QAbstractButton))
        next(e for e in shown if e.accessibleName().casefold() == name.casefold()).click()
        self.idle()


def typing_box(widget: QWidget) -> TypingBox:
    [box] = widget.findChildren(TypingBox)
    return box


BUSY = "This was not saved: the program is open in another window."


@contextmanager
def held(scene: Scene) -> Iterator[None]:
    """Let another program hold the file with the answers."""
    with closing(sqlite3.connect(scene.laptop.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.rollback()


# what is on the page


def rated(scene: Scene) -> list[tuple[str, Rating]]:
    return [(each.item, each.rating) for each in scene.events(Rate)]


def button(scene: Scene, name: str) -> QAbstractButton:
    shown = filter(QAbstractButton.isVisible, scene.page.findChildren(QAbstractButton))
    [found] = [each for each in shown if each.accessibleName().startswith(name)]
    return found


def in_box(scene: Scene, text: str) -> None:
    for character in text:
        scene.send(character)


def texts(scene: Scene) -> str:
    QApplication.processEvents()  # what was added is shown by the next event
    labels = [each.text() for each in scene.page.findChildren(QLabel) if each.isVisible()]
    panes = scene.page.findChildren(TextPane)
    return "\n".join([*labels, *(each.toPlainText() for each in panes if each.isVisible())])


def mark(scene: Scene, name: str) -> str:
    """Return what the person is shown of their own words."""
    shown = filter(TextPane.isVisible, scene.page.findChildren(TextPane))
    [pane] = [each for each in shown if each.accessibleName() == name]
    return pane.toPlainText()


def in_page(scene: Scene, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(scene.page, widget.rect().topLeft()), widget.size())


def answers_in_sight(scene: Scene) -> bool:
    """Tell whether all answers are seen, or where they stand at the end of the texts come into sight."""
    page, buttons = scene.page, scene.page.answers.findChildren(QAbstractButton)
    for each in buttons:
        if page.folded:
            page.reading.bring(each)
        if not each.isVisible() or not page.rect().contains(in_page(scene, each)):
            return False
    page.reading.verticalScrollBar().setValue(0)
    return len(buttons) == 4
