"""The page on which a translation is written, in a scene."""

from __future__ import annotations

from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from review.desktop.item.translation_page import TranslationPage
from review.desktop.parts.writing import TypingBox
from review.log.payloads import Translate
from tests.desktop.item_scene import Scene


def typing_box(widget: QWidget) -> TypingBox:
    """Return the box inside that text is typed into."""
    [box] = widget.findChildren(TypingBox)
    return box


class TranslationScene(Scene):
    """The same window with the page for translations."""

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
        found = [
            each
            for each in self.page.findChildren(QAbstractButton)
            if each.isVisible() and each.accessibleName().casefold() == name.casefold()
        ]
        assert found, name
        found[0].click()
        self.idle()
