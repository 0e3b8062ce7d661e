"""What the window tells of a trouble."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel

from review.desktop.parts.banner import Banner
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import TextPane
from tests.desktop.visit_scene import Entry


class Told(NamedTuple):
    """The words for the person, and the line for whoever helps."""

    said: str
    detail: str


def told(entry: Entry) -> Told | None:
    """Read the banner as it is seen; None where nothing is wrong."""
    assert entry.window.page is not None
    [banner] = entry.window.page.findChildren(Banner)
    if not banner.isVisible():
        return None
    [said] = [each for each in banner.findChildren(QLabel) if each.isVisible()]
    [detail] = banner.findChildren(TextPane)
    return Told(said.text(), detail.toPlainText() if detail.isVisible() else "")


def copied(entry: Entry) -> str:
    """Press the button that copies the detail, and give what can be pasted."""
    assert entry.window.page is not None
    [banner] = entry.window.page.findChildren(Banner)
    [button] = banner.findChildren(Button)
    QGuiApplication.clipboard().setText("before")
    button.click()
    return QGuiApplication.clipboard().text()
