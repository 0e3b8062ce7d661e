"""A text to read: in its own direction, as it is, told when it is painted, as high as there is room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.look.look import SIZES, Look
from review.desktop.look.style import Theme
from review.desktop.parts.texts import TextPane

LONG = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ. I saw a caribou. " * 40


class Window(QWidget):
    """Notes the keys that come through to the page."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []
        self.pane = TextPane()
        column = QVBoxLayout(self)
        column.addWidget(self.pane)
        column.addStretch(1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.keys.append(event.text() or Qt.Key(event.key()).name)


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> Iterator[Window]:
    look = Look(Theme.LIGHT, 20, lambda *_: None)
    look.apply(qapp)
    made = Window()
    qtbot.addWidget(made)
    made.resize(600, 500)
    yield made
    Look(Theme.LIGHT, 20, lambda *_: None).apply(qapp)


def show(qtbot: QtBot, window: Window) -> None:
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.qWait(0)


def test_it_is_told_once_when_a_text_is_painted(qtbot: QtBot, window: Window) -> None:
    drawn: list[str] = []
    pane = window.pane
    pane.drawn.connect(lambda: drawn.append(pane.toPlainText()))
    pane.show_text("first")
    pane.show_text("second")
    QTest.qWait(20)
    assert drawn == []
    show(qtbot, window)
    qtbot.waitUntil(lambda: drawn == ["second"])
    pane.viewport().repaint()
    QTest.qWait(20)
    assert drawn == ["second"]
    pane.show_text("second")
    qtbot.waitUntil(lambda: drawn == ["second", "second"])


def test_a_text_that_is_hidden_is_not_painted(qtbot: QtBot, window: Window) -> None:
    show(qtbot, window)
    window.pane.hide()
    with qtbot.assertNotEmitted(window.pane.drawn, wait=30):
        window.pane.show_text("x")
    with qtbot.waitSignal(window.pane.drawn):
        window.pane.show()


def test_each_paragraph_runs_in_its_own_direction(qtbot: QtBot, window: Window) -> None:
    window.pane.show_text("ᓂᐚᐸᒫᐤ\nسڵاو (abc).\n123 سڵاو\natim")
    show(qtbot, window)
    document, right = window.pane.document(), []
    for number in range(document.blockCount()):
        line = document.findBlockByNumber(number).layout().lineAt(0)
        right.append(line.naturalTextRect().left() > 100)
    assert right == [False, True, True, False]


def test_nothing_in_a_text_acts(qtbot: QtBot, window: Window) -> None:
    text = "<b>bold</b> <img src='file:///etc/passwd'> &amp; https://example.org\t|"
    window.pane.show_text(text)
    show(qtbot, window)
    assert window.pane.toPlainText() == text
    assert window.pane.document().toPlainText() == text
    assert not window.pane.textInteractionFlags() & Qt.TextInteractionFlag.TextEditable


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text", ["one", "ᓂᐚᐸᒫᐤ سڵاو x̌ q̓", "a\nb\nc", "long " * 60])
def test_it_is_as_high_as_its_text_where_there_is_room(
    qtbot: QtBot, qapp: QApplication, window: Window, size: int, text: str
) -> None:
    Look(Theme.LIGHT, size, lambda *_: None).apply(qapp)
    window.pane.show_text(text, 1.35)
    window.resize(700, 3000)
    show(qtbot, window)
    pane = window.pane
    assert pane.verticalScrollBar().maximum() == 0
    assert not pane.more_below
    assert pane.viewport().height() - pane.document().size().height() < 3
    assert pane.document().defaultFont().pixelSize() == round(1.35 * size)


def test_where_there_is_little_room_it_scrolls_and_says_so(qtbot: QtBot, window: Window) -> None:
    pane = window.pane
    pane.show_text(LONG)
    window.resize(400, 200)
    show(qtbot, window)
    assert pane.height() <= 200
    assert pane.viewport().height() >= 2 * pane.fontMetrics().height()
    assert pane.more_below
    assert pane.horizontalScrollBar().maximum() == 0
    pane.verticalScrollBar().setValue(pane.verticalScrollBar().maximum())
    assert not pane.more_below
    pane.show_text(LONG + "x")
    assert pane.verticalScrollBar().value() == 0
    assert pane.more_below


def test_a_word_without_an_end_is_broken(qtbot: QtBot, window: Window) -> None:
    window.pane.show_text("ᐚ" * 500)
    show(qtbot, window)
    assert window.pane.document().size().width() <= window.pane.viewport().width()


def test_keys_that_mean_nothing_to_it_are_the_pages(qtbot: QtBot, window: Window) -> None:
    window.pane.show_text("short")
    show(qtbot, window)
    window.pane.setFocus()
    for key in (Qt.Key.Key_1, Qt.Key.Key_U, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Comma):
        QTest.keyClick(window.pane, key)
    assert window.keys == ["1", "u", "\r", "\x1b", ","]
    assert window.pane.toPlainText() == "short"


def test_it_can_be_selected_and_copied_by_keys(qtbot: QtBot, window: Window) -> None:
    window.pane.show_text("ᓂᐚᐸᒫᐤ ᐊᑎᒼ")
    show(qtbot, window)
    window.pane.setFocus()
    window.pane.moveCursor(QTextCursor.MoveOperation.Start)
    QTest.keySequence(window.pane, QKeySequence(QKeySequence.StandardKey.SelectAll))
    QTest.keySequence(window.pane, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QGuiApplication.clipboard().text() == "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"


def test_tab_leaves_it(qtbot: QtBot, window: Window) -> None:
    other = TextPane(window)
    layout = window.layout()
    assert layout is not None
    layout.addWidget(other)
    show(qtbot, window)
    window.pane.setFocus()
    QTest.keyClick(window.pane, Qt.Key.Key_Tab)
    assert other.hasFocus()


def test_a_screen_reader_reads_it(qtbot: QtBot, window: Window) -> None:
    text = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ\nsecond"
    window.pane.show_text(text)
    window.pane.setAccessibleName("Translation")
    show(qtbot, window)
    interface = QAccessible.queryAccessibleInterface(window.pane)
    assert interface.text(QAccessible.Text.Name) == "Translation"
    assert interface.text(QAccessible.Text.Value) == text
    assert interface.state().readOnly
    assert interface.state().focusable
