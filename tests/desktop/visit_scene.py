"""The window from its first page on, and a whole sitting: a real laptop's file, real files on a stick, keys of a keyboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.frame.page import Page
from review.desktop.frame.page_parts import Banner
from review.desktop.frame.work import AppContext, Work
from review.desktop.item.item_page import ItemPage
from review.desktop.item.sentence_page import SentencePage
from review.desktop.look import Look, Setting, Theme
from review.desktop.pages import first_pages
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import TextPane
from review.desktop.program.running import Erasure
from review.desktop.program.visit import Visit
from review.desktop.program.window import Window
from review.files.batch import Batch, write_batch
from review.log.laptop import Laptop
from review.log.payloads import AnyPayload
from review.rating import Relation
from review.session import flow as steps
from review.session.opening import Opening
from review.session.words.keys import NextAction
from tests.review.session.scenes import CODE, asked_sharing, batch_of, items_of, write_file

Kind = TypeVar("Kind", bound=Page)
Widget = TypeVar("Widget", bound=QWidget)

Key = str | Qt.Key
PLAIN, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
_SENT = {
    Qt.Key.Key_Return: "\r",
    Qt.Key.Key_Enter: "\r",
    Qt.Key.Key_Escape: "\x1b",
    Qt.Key.Key_Backspace: "\b",
    Qt.Key.Key_Space: " ",
    Qt.Key.Key_Tab: "\t",
}
_CODES = {text: key for key, text in _SENT.items() if key != Qt.Key.Key_Enter}


Modifier = Qt.KeyboardModifier


def strike(to: QWidget | None, key: Key, modifiers: Modifier = PLAIN, *, repeats: bool = False) -> None:
    """Send a key to a widget as a keyboard does."""
    assert to is not None
    code = int(_CODES.get(key, ord(key.upper())) if isinstance(key, str) else key)
    text = key if isinstance(key, str) else _SENT.get(key, "")
    typed = "" if modifiers & CONTROL else text
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(to, QKeyEvent(kind, code, modifiers, typed, repeats))


def dressed(size: int = 20, keep: Callable[[Setting, str], None] = lambda *_: None, theme: Theme = Theme.LIGHT) -> Look:
    application, look = QApplication.instance(), Look(theme, size, keep)
    assert isinstance(application, QApplication)
    look.apply(application)
    return look


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
        self.look = dressed(self.size, lambda *said: self.kept.append(said))
        self.work = Work()
        self.opening = Opening(
            self.laptop, places=self.places, language=self.language, mounted=lambda: list(self.sticks)
        )
        self.desk = AppContext(self.opening, self.work, self.look)
        self.window = Window(self.desk)
        self.visit = Visit(self.window, self.desk, guard=0.0)
        self.erasure = Erasure(self.window, self.desk)
        self.begin()
        self.idle()

    def begin(self) -> None:
        self.visit.begin()

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
        if kind is not first_pages.SharingPage:
            self.answer_questions(until=kind)
        assert isinstance(self.window.page, kind), self.window.page
        return self.window.page

    def events(self, *kinds: type) -> list[AnyPayload]:
        """Return what is on the disk, of these kinds."""
        said = [each.payload for each in self.laptop.events() if each.payload is not None]
        return [each for each in said if not kinds or isinstance(each, kinds)]

    @property
    def read(self) -> str:
        return "\n".join(each.text() for each in self.seen(QLabel))

    @property
    def trouble(self) -> tuple[str, str]:
        """What the banner says to the person and to whoever helps; nothing where nothing is wrong."""
        [banner] = self.here.findChildren(Banner)
        if not banner.isVisible():
            return "", ""
        [said] = [each for each in banner.findChildren(QLabel) if each.isVisible()]
        [detail] = banner.findChildren(TextPane)
        return said.text(), detail.toPlainText() if detail.isVisible() else ""

    def copied(self) -> str:
        """Press the button that copies the detail, and give what can be pasted."""
        [button] = self.here.findChild(Banner).findChildren(Button)
        QGuiApplication.clipboard().setText("before")
        button.click()
        return QGuiApplication.clipboard().text()

    @property
    def here(self) -> Page:
        """The page that is seen, of whatever kind."""
        assert self.window.page is not None
        return self.window.page

    @property
    def buttons(self) -> list[str]:
        return [each.text() for each in self.seen(Button)]

    def seen(self, kind: type[Widget]) -> list[Widget]:
        QApplication.processEvents()  # what was added is shown by the next event
        return [each for each in _all(self.here, kind) if each.isVisible()]

    # what the person does

    def press(self, *keys: Key, modifiers: Qt.KeyboardModifier = PLAIN) -> None:
        """Press keys, each counted, and wait for what follows."""
        for key in keys:
            self.keys += 1
            self.send(key, modifiers)
            self.idle()

    def to_consent(self, code: str = CODE) -> first_pages.ConsentPage:
        """Trust the organisation and give the code."""
        self.page(first_pages.OrganisationPage)
        self.press("\r")
        self.page(first_pages.AskingPage)
        self.type(code)
        self.press("\r")
        return self.page(first_pages.ConsentPage)

    def to_item(self) -> ItemPage:
        """Go on from the first page, agree, and come to the first sentence."""
        self.to_consent()
        self.press("\r")
        return self.page(ItemPage)

    def agree(self) -> None:
        """Read to the end what is to be agreed to, and agree."""
        page = self.window.page
        for _ in range(_MOST_PAGES):
            if self.window.page is page:
                self.press("\r")

    def answer_questions(self, until: type[Page] | None = None) -> None:
        """Say that nothing may be used, and that one is not near to the method, where that is asked."""
        if isinstance(self.window.page, first_pages.SharingPage):
            self.press("2")
        if isinstance(self.window.page, first_pages.RelationPage) and until is not first_pages.RelationPage:
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
        for character in text:
            self.send(character)

    def send(self, key: Key, modifiers: Qt.KeyboardModifier = PLAIN) -> None:
        """Send a key to what has the focus; wait for nothing."""
        strike(QApplication.focusWidget() or self.window.page, key, modifiers)

    def click(self, text: str) -> None:
        """Press a button by its words, as soon as it is there."""
        self.keys += 1
        self.qtbot.waitUntil(lambda: self._button(text) is not None)
        button = self._button(text)
        assert button is not None
        button.click()
        self.idle()

    def _button(self, text: str) -> Button | None:
        for each in _all(self.here, Button):
            if each.accessibleName().startswith(text) and each.isVisible():
                return each
        return None

    def idle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.work.busy and self.window.page is not None)


def _all(page: QWidget, kind: type[Widget]) -> list[Widget]:
    return page.findChildren(kind)


_MOST_PAGES = 60

Enter = Callable[..., Entry]
"""Starts the program on the laptop of a test, as often as wanted."""


# a whole sitting, with a stick that can be put in and pulled

SceneOf = Callable[..., "Scene"]

_SECRET = "river stone cloud ember"
_ANSWERS: dict[type[steps.FlowStep[Any]], object] = {
    steps.AskSecret: _SECRET,
    steps.AskWhoAsks: True,
    steps.CheckLetters: True,
    steps.AskCode: CODE,
    steps.AskConsent: True,
    steps.AskSharing: False,
    steps.AskRelation: Relation.NEITHER,
}
"""Step → what leads to the sentences."""


class Scene(Entry):
    """Begins at the first sentence of a batch."""

    def __init__(self, qtbot: QtBot, folder: Path, batch: Batch | None = None, **more: Any) -> None:
        self.batch = batch or batch_of(items_of(3))
        self.folder, self.stick = folder, folder / "stick"
        self.stick.mkdir(exist_ok=True)
        super().__init__(qtbot, folder / "home", sticks=[self.stick], **more)

    def begin(self) -> None:
        """Open the batch from a file and show where the person is; the window forgets where the file lay."""
        flow, mail = self.visit.flow, self.folder / "mail"
        if self.batch.manifest.secret:
            mail.mkdir()
            file = mail / "secret.rosetta-batch"
            file.write_bytes(write_batch(self.batch, passphrase=_SECRET))
        else:
            file = write_file(self.batch, mail)
        step = flow.open(file)
        while not isinstance(step, steps.AtSentences):
            if isinstance(step, steps.AskCode):
                asked_sharing(self.laptop, self.batch.person(CODE) or "")
            step = flow.answer(_ANSWERS[type(step)])
        self.session = step.session
        # an opening of the next day does not have the file at hand any more
        self.opening._received.clear()
        self.window.show()
        self.window.resize(1024, 600)
        self.visit.show(step)

    def start(self) -> None:
        self.visit.answer()
        self.idle()

    def look_again(self) -> None:
        self.visit.answer(NextAction.ANSWERS)
        self.idle()

    @property
    def ended(self) -> bool:
        """Whether the person stopped, and the session is closed."""
        return not self.visit.flow.sits

    def click(self, text: str) -> None:
        self.button(text).click()
        self.idle()

    def idle(self) -> None:
        """Wait until everything that was asked is done, and an item that followed is painted."""
        super().idle()
        if self.session.view.item is not None and isinstance(self.window.page, SentencePage):
            self.qtbot.waitUntil(lambda: self.session.time.runs)
            self.qtbot.waitUntil(lambda: self._sees_translation)

    @property
    def _sees_translation(self) -> bool:
        """Whether the translation is on the screen, or would be after scrolling."""
        page = self.window.page
        if not isinstance(page, ItemPage):
            return True
        return page.texts.translation_seen or page.reading.verticalScrollBar().maximum() > 0

    # what is seen

    def page_of(self, kind: type[Kind]) -> Kind:
        assert isinstance(self.window.page, kind), type(self.window.page)
        return self.window.page

    def button(self, words: str) -> Button:
        found = [each for each in self.seen(Button) if each.text().startswith(words)]
        assert len(found) == 1, (words, self.buttons)
        return found[0]

    def texts(self) -> str:
        """Return everything that is to be read on the page, without the places where a line may break."""
        panes = [each.toPlainText() for each in self.seen(TextPane)]
        return "\n".join([self.read.replace("\u200b", ""), *panes])


def assert_more_is_told(page: Page, name: str) -> None:
    """Where more than a line of a page is below, it says so in sight; at its end it does not."""
    bar, line = page.reading.verticalScrollBar(), page.fontMetrics().lineSpacing()
    for place in (0, bar.maximum()):
        bar.setValue(place)
        labels = [each for each in page.findChildren(QLabel) if each.isVisible()]
        told = [each for each in labels if each.text().startswith("↓")]
        if bar.maximum() - bar.value() > line:
            assert [page.reading.widget().isAncestorOf(each) for each in told] == [False], name
        elif bar.value() == bar.maximum():
            assert told == [], name
    bar.setValue(0)
