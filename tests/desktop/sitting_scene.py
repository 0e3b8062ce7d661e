"""A whole sitting in a window, on a real laptop's file, with a stick that can be put in and pulled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from review.desktop.frame.page import Page
from review.desktop.item.item_page import ItemPage
from review.desktop.item.sentence_page import SentencePage
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import TextPane
from review.files.batch import Batch, write_batch
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
from review.session.words.keys import Onward
from tests.desktop.visit_scene import Entry, Kind
from tests.review.session.scenes import CODE, batch_of, items_of, write_file

SceneOf = Callable[..., "Scene"]

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


class Scene(Entry):
    """Begins at the first sentence of a batch."""

    def __init__(
        self, qtbot: QtBot, folder: Path, batch: Batch | None = None, **wishes: Any
    ) -> None:
        self.batch = batch or batch_of(items_of(3))
        self.folder, self.stick = folder, folder / "stick"
        self.stick.mkdir(exist_ok=True)
        super().__init__(qtbot, folder / "home", sticks=[self.stick], **wishes)

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
        while not isinstance(step, AtSentences):
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
        self.visit.answer(Onward.ANSWERS)
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
        found = [each for each in self._seen(Button) if each.text().startswith(words)]
        assert len(found) == 1, (words, self.buttons)
        return found[0]

    def texts(self) -> str:
        """Return everything that is to be read on the page, without the places where a line may break."""
        panes = [each.toPlainText() for each in self._seen(TextPane)]
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
