"""What went wrong stands on the page, is said aloud, and leaves one line to copy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from harness.core.storage_problems import StorageProblem
from review.desktop.look.look import SIZES, Look
from review.desktop.look.style import Theme
from review.desktop.parts import banner as banner_module
from review.desktop.parts.banner import Banner
from review.desktop.parts.buttons import Button
from review.desktop.parts.text_pane import TextPane
from review.session.words.catalogue import Words
from review.session.words.troubles import SAVING, Trouble

WORDS = Words.load("en")
DETAIL = "SQLITE_FULL: /a-folder-with-a-long-name/" + "x" * 120
FULL = Trouble(SAVING[StorageProblem.DISK_FULL], DETAIL)


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> Iterator[QWidget]:
    Look(Theme.LIGHT, 20, lambda *_: None).apply(qapp)
    made = QWidget()
    qtbot.addWidget(made)
    column = QVBoxLayout(made)
    column.addWidget(Banner(made))
    column.addStretch(1)
    made.resize(640, 600)
    made.show()
    yield made
    Look(Theme.LIGHT, 20, lambda *_: None).apply(qapp)


def banner_of(window: QWidget) -> Banner:
    (found,) = window.findChildren(Banner)
    return found


def test_it_comes_and_goes(window: QWidget) -> None:
    banner = banner_of(window)
    assert not banner.isVisible()
    banner.tell(WORDS, FULL)
    assert banner.isVisible()
    assert [label.text() for label in banner.findChildren(QLabel)] == [FULL.said]
    banner.tell(WORDS, None)
    assert not banner.isVisible()


def test_it_is_said_aloud_once_and_has_a_name(
    window: QWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[str] = []
    monkeypatch.setattr(banner_module, "announce", lambda widget, text: spoken.append(text))
    banner = banner_of(window)
    banner.tell(WORDS, FULL)
    banner.tell(WORDS, None)
    assert spoken == [FULL.said]
    name = QAccessible.queryAccessibleInterface(banner).text(QAccessible.Text.Name)
    assert name == FULL.said


def test_the_detail_can_be_copied(window: QWidget) -> None:
    banner = banner_of(window)
    banner.tell(WORDS, FULL)
    (button,) = banner.findChildren(Button)
    assert button.text() == "Copy the detail"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == DETAIL


def test_without_a_detail_there_is_nothing_to_copy(window: QWidget) -> None:
    banner = banner_of(window)
    banner.tell(WORDS, Trouble("Said.", ""))
    assert not any(button.isVisible() for button in banner.findChildren(Button))
    assert not any(pane.isVisible() for pane in banner.findChildren(TextPane))


def test_no_sign_in_it_acts(window: QWidget) -> None:
    banner = banner_of(window)
    banner.tell(WORDS, Trouble("<b>not</b> &saved", "<i>x</i> & y"))
    (label,) = banner.findChildren(QLabel)
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert label.text() == "<b>not</b> &saved"


def test_it_takes_no_focus_away(window: QWidget, qtbot: QtBot) -> None:
    box = TextPane(window)
    layout = window.layout()
    assert layout is not None
    layout.addWidget(box)
    QApplication.sendPostedEvents()  # it is shown
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    box.setFocus()
    banner_of(window).tell(WORDS, FULL)
    assert box.hasFocus()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", [640, 1024])
def test_all_of_it_is_seen(
    window: QWidget, qapp: QApplication, qtbot: QtBot, size: int, width: int
) -> None:
    Look(Theme.LIGHT, size, lambda *_: None).apply(qapp)
    window.resize(width, 1600)
    banner = banner_of(window)
    banner.tell(WORDS, FULL)
    (label,) = banner.findChildren(QLabel)
    (pane,) = banner.findChildren(TextPane)
    (button,) = banner.findChildren(Button)
    qtbot.waitUntil(lambda: pane.verticalScrollBar().maximum() == 0)
    assert window.width() == width
    assert label.height() >= label.heightForWidth(label.width())
    assert button.height() >= button.heightForWidth(button.width())
    for part in (label, pane, button):
        corner = part.mapTo(banner, part.rect().bottomRight())
        assert banner.rect().contains(corner)
