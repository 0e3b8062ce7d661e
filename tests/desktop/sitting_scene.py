"""A whole sitting in a window, on a real laptop's file, with a stick that can be put in and pulled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk, Work
from review.desktop.item.item_page import ItemPage
from review.desktop.item.sentence_page import SentencePage
from review.desktop.look.look import Look
from review.desktop.look.style import Theme
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import TextPane
from review.desktop.program.running import Erasure
from review.desktop.program.visit import Visit
from review.desktop.program.window import Window
from review.files.batch import Batch, write_batch
from review.log.laptop import Laptop
from review.rating import Relation
from review.session.flow import (
    AskCode,
    AskConsent,
    AskRelation,
    AskSecret,
    AskSharing,
    AskWhoAsks,
    AtSentences,
    CheckLetters,
    FlowStep,
)
from review.session.opening import Opening
from review.session.words.keys import Onward
from tests import keyring_in_memory
from tests.review.session.scenes import CODE, batch_of, items_of, write_file

SceneOf = Callable[..., "Scene"]
PageOf = TypeVar("PageOf", bound=Page)
WidgetOf = TypeVar("WidgetOf", bound=QWidget)

_SECRET = "river stone cloud ember"
_ANSWERS: dict[type[FlowStep[Any]], object] = {
    AskSecret: _SECRET,
    AskWhoAsks: True,
    CheckLetters: True,
    AskCode: CODE,
    AskConsent: True,
    AskSharing: False,
    AskRelation: Relation.NEITHER,
}
"""Step → what leads to the sentences."""
_TEXT = {
    Qt.Key.Key_Return: "\r",
    Qt.Key.Key_Escape: "\x1b",
    Qt.Key.Key_Space: " ",
    Qt.Key.Key_Tab: "\t",
}


@dataclass
class Scene:
    """What a test has at hand; ``do`` presses keys and waits until what followed is done."""

    qtbot: QtBot
    folder: Path
    batch: Batch = field(default_factory=lambda: batch_of(items_of(3)))
    language: str = "en"
    size: int = 20
    theme: Theme = Theme.LIGHT
    room: tuple[int, int] = (1024, 600)

    def __post_init__(self) -> None:
        self.home, self.stick = self.folder / "home", self.folder / "stick"
        self.stick.mkdir(exist_ok=True)
        self.sticks = [self.stick]
        self.laptop = Laptop.open(self.home, busy_seconds=0.05)
        self.opening = Opening(self.laptop, mounted=lambda: self.sticks, language=self.language)
        self.look = Look(self.theme, self.size, lambda name, value: None)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self.look.apply(application)
        self.work = Work()
        self.desk = Desk(self.opening, self.work, self.look)
        self.window = Window(self.desk)
        self.erasure = Erasure(self.window, self.desk)
        self.begin()

    def begin(self) -> None:
        """Open the batch from a file and show where the person is; the window forgets where the file lay."""
        self.visit = Visit(self.window, self.desk, guard=0.0)
        flow = self.visit.flow
        step = flow.open(self._file(self.folder / "mail"))
        while not isinstance(step, AtSentences):
            step = flow.answer(_ANSWERS[type(step)])
        self.session = step.session
        # an opening of the next day does not have the file at hand any more
        self.opening._received.clear()
        self.window.show()
        self.window.resize(*self.room)
        self.visit.show(step)
        self.idle()

    def start(self) -> None:
        """Show where the person is."""
        self.visit.answer()
        self.idle()

    def look_again(self) -> None:
        """Show the person's own answers."""
        self.visit.answer(Onward.ANSWERS)
        self.idle()

    @property
    def ended(self) -> bool:
        """Whether the person stopped, and the session is closed."""
        return not self.visit.flow.sits

    def _file(self, folder: Path) -> Path:
        if not self.batch.manifest.secret:
            return write_file(self.batch, folder)
        folder.mkdir()
        file = folder / "secret.rosetta-batch"
        file.write_bytes(write_batch(self.batch, passphrase=_SECRET))
        return file

    def close(self) -> None:
        self.window.close()
        self.window.deleteLater()

    # keys and buttons

    def press(self, *keys: str | Qt.Key) -> None:
        """Press keys one after the other, each when the one before was done."""
        for key in keys:
            code, text = (
                (ord(key.upper()), key) if isinstance(key, str) else (int(key), _TEXT.get(key, ""))
            )
            target = QApplication.focusWidget() or self.page
            for kind in (QKeyEvent.Type.KeyPress, QKeyEvent.Type.KeyRelease):
                event = QKeyEvent(kind, code, Qt.KeyboardModifier.NoModifier, text)
                QApplication.sendEvent(target, event)
            self.idle()

    def click(self, words: str) -> None:
        """Press the button that begins with these words."""
        self.button(words).click()
        self.idle()

    def idle(self) -> None:
        """Wait until everything that was asked is done, and an item that followed is painted."""
        self.qtbot.waitUntil(lambda: not self.work.busy)
        view = self.session.view
        if view.item is not None and self.shows_item:
            self.qtbot.waitUntil(lambda: self.session.time.runs)
            self.qtbot.waitUntil(lambda: self.sees_translation)

    @property
    def shows_item(self) -> bool:
        return isinstance(self.page, SentencePage)

    @property
    def sees_translation(self) -> bool:
        """Whether the translation is on the screen, or would be after scrolling."""
        page = self.page
        if not isinstance(page, ItemPage):
            return True
        below = page.reading.verticalScrollBar().maximum() > 0
        return page.texts.translation_seen or below

    # what is seen

    @property
    def page(self) -> Page:
        assert self.window.page is not None
        return self.window.page

    def page_of(self, kind: type[PageOf]) -> PageOf:
        assert isinstance(self.page, kind), type(self.page)
        return self.page

    def buttons(self) -> list[str]:
        return [each.text() for each in self._seen(Button)]

    def button(self, words: str) -> Button:
        found = [each for each in self._seen(Button) if each.text().startswith(words)]
        assert len(found) == 1, (words, self.buttons())
        return found[0]

    def texts(self) -> str:
        """Return everything that is to be read on the page, without the places where a line may break."""
        labels = [each.text().replace("\u200b", "") for each in self._seen(QLabel)]
        return "\n".join([*labels, *(each.toPlainText() for each in self._seen(TextPane))])

    def _seen(self, kind: type[WidgetOf]) -> list[WidgetOf]:
        QApplication.processEvents()  # what was added is shown by the next event
        found = self.page.findChildren(kind)
        return [each for each in found if not each.isHidden() and each.isVisibleTo(self.page)]


@contextmanager
def scenes(qtbot: QtBot, folder: Path) -> Iterator[SceneOf]:
    """Make scenes that are closed in the end, none of which asks the machine's keyring."""
    made: list[Scene] = []

    def make(**wishes: object) -> Scene:
        made.append(Scene(qtbot, folder, **wishes))  # type: ignore[arg-type]
        return made[-1]

    with keyring_in_memory.memory_keyring():
        yield make
        for scene in made:
            scene.close()


def assert_more_is_told(page: Page, name: str) -> None:
    """Where more than a line of a page is below, it says so in sight; at its end it does not."""
    bar, line = page.reading.verticalScrollBar(), page.fontMetrics().lineSpacing()
    for place in (0, bar.maximum()):
        bar.setValue(place)
        told = [
            each
            for each in page.findChildren(QLabel)
            if each.isVisible() and each.text().startswith("↓")
        ]
        if bar.maximum() - bar.value() > line:
            assert [page.reading.widget().isAncestorOf(each) for each in told] == [False], name
        elif bar.value() == bar.maximum():
            assert told == [], name
    bar.setValue(0)
