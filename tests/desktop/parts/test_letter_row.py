"""Letters that a keyboard may lack, by mouse and by keys; the focus stays where one types."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.look.look import SIZES, Look
from review.desktop.look.style import Theme
from review.desktop.parts.buttons import Button
from review.desktop.parts.writing import LetterRow
from review.files.manifests import MOST_LETTERS


def focused() -> QWidget:
    """Return the widget that has the focus."""
    found = QApplication.focusWidget()
    assert found is not None
    return found


class Window(QWidget):
    """A box to type in, and the letters below it."""

    def __init__(self, letters: Sequence[str]) -> None:
        super().__init__()
        self.box, self.row = QTextEdit(), LetterRow(letters)
        self.box.setTabChangesFocus(True)
        self.row.typed.connect(self.box.insertPlainText)
        column = QVBoxLayout(self)
        column.addWidget(self.box)
        column.addWidget(self.row)

    def button(self, text: str) -> Button:
        return next(each for each in self.row.findChildren(Button) if each.text() == text)

    @property
    def turning(self) -> Button:
        """The button that turns to the next letters."""
        found = self.row.findChildren(Button)
        return next(each for each in found if each.text().startswith("More letters"))

    def shown(self) -> list[str]:
        return [each.text() for each in self.row.findChildren(Button) if each.isVisible()]


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> Iterator[Window]:
    yield opened(qtbot, qapp, ["â", "e\u0302", "x̌", "ʔ"])
    Look(Theme.LIGHT, 20, lambda *_: None).apply(qapp)


def opened(qtbot: QtBot, qapp: QApplication, letters: Sequence[str], size: int = 20) -> Window:
    Look(Theme.LIGHT, size, lambda *_: None).apply(qapp)
    made = Window(letters)
    qtbot.addWidget(made)
    made.resize(640, 600)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    made.box.setFocus()
    return made


def click(button: Button) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_click_types_and_the_focus_stays(window: Window) -> None:
    for letter in ("â", "ê", "x̌", "ʔ"):
        click(window.button(letter))
    assert window.box.hasFocus()
    assert window.box.toPlainText() == "âêx̌ʔ"
    assert unicodedata.is_normalized("NFC", window.box.toPlainText())


def test_after_one_capital_the_small_letters_come_back(window: Window) -> None:
    click(window.button("Capital letters"))
    assert window.shown() == ["Â", "Ê", "X̌", "ʔ", "Lower-case letters"]
    click(window.button("Ê"))
    assert window.shown() == ["â", "ê", "x̌", "ʔ", "Capital letters"]
    click(window.button("Capital letters"))
    click(window.button("Lower-case letters"))
    click(window.button("â"))
    assert window.box.toPlainText() == "Êâ"


def test_syllabics_have_no_capitals(qtbot: QtBot, qapp: QApplication) -> None:
    window = opened(qtbot, qapp, ["ᐚ", "ᒫ"])
    assert window.shown() == ["ᐚ", "ᒫ"]
    click(window.button("ᒫ"))
    assert window.box.toPlainText() == "ᒫ"


def test_tab_stops_once_and_the_arrow_keys_go_round(window: Window) -> None:
    QTest.keyClick(window.box, Qt.Key.Key_Tab)
    assert window.button("â").hasFocus()
    for key, letter in (
        (Qt.Key.Key_Right, "ê"),
        (Qt.Key.Key_Right, "x̌"),
        (Qt.Key.Key_Left, "ê"),
    ):
        QTest.keyClick(focused(), key)
        assert window.button(letter).hasFocus()
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert window.box.toPlainText() == "ê"
    QTest.keyClick(focused(), Qt.Key.Key_Tab)
    assert window.box.hasFocus()
    QTest.keyClick(window.box, Qt.Key.Key_Tab)
    assert window.button("ê").hasFocus()


def test_every_letter_can_be_reached_by_keys(window: Window) -> None:
    QTest.keyClick(window.box, Qt.Key.Key_Tab)
    reached = set()
    for _ in range(5):
        reached.add(QApplication.focusWidget())
        QTest.keyClick(focused(), Qt.Key.Key_Right)
    assert len(reached) == 5


def test_the_arrows_follow_the_eye_where_one_reads_from_the_right(window: Window) -> None:
    window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    QApplication.sendPostedEvents()
    QTest.keyClick(window.box, Qt.Key.Key_Tab)
    before = QApplication.focusWidget().x()
    QTest.keyClick(focused(), Qt.Key.Key_Left)
    assert QApplication.focusWidget().x() < before


def test_a_screen_reader_is_told_what_the_button_of_capitals_does(window: Window) -> None:
    button = window.button("Capital letters")
    name = QAccessible.queryAccessibleInterface(button).text(QAccessible.Text.Name)
    assert name == "Capital letters"
    click(button)
    name = QAccessible.queryAccessibleInterface(button).text(QAccessible.Text.Name)
    assert name == "Lower-case letters"


@pytest.mark.parametrize("size", SIZES)
def test_many_letters_wrap_and_can_all_be_hit(qtbot: QtBot, qapp: QApplication, size: int) -> None:
    letters = [chr(code) for code in range(0xE0, 0x100) if chr(code).isalpha()]
    window = opened(qtbot, qapp, letters, size)
    QTest.qWait(0)
    for button in filter(QWidget.isVisible, window.row.findChildren(Button)):
        assert min(button.width(), button.height()) >= 44
        assert window.row.rect().contains(button.geometry())


@pytest.mark.parametrize("size", SIZES)
def test_a_long_alphabet_leaves_room_and_every_letter_can_be_typed(
    qtbot: QtBot, qapp: QApplication, size: int
) -> None:
    letters = [chr(0x1401 + n) for n in range(MOST_LETTERS)]
    window = opened(qtbot, qapp, letters, size)
    window.resize(1000, 600)
    more = window.turning
    met = []
    for page in range(5):
        QApplication.sendPostedEvents()
        assert window.row.heightForWidth(1000) <= 300
        shown = window.shown()
        assert shown[-1] == more.text() == f"More letters ({page + 1} of 5)"
        for letter in shown[:-1]:
            click(window.button(letter))
        met += shown[:-1]
        click(more)
    assert met == letters
    assert window.box.toPlainText() == "".join(letters)
    assert window.box.hasFocus()
    assert window.shown()[0] == letters[0]


def test_keys_alone_turn_the_pages(qtbot: QtBot, qapp: QApplication) -> None:
    letters = [chr(0x1401 + n) for n in range(MOST_LETTERS)]
    window = opened(qtbot, qapp, letters)
    QTest.keyClick(window.box, Qt.Key.Key_Tab)
    QTest.keyClick(focused(), Qt.Key.Key_Left)
    assert window.turning.hasFocus()
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert window.turning.hasFocus()
    QTest.keyClick(focused(), Qt.Key.Key_Right)
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert window.box.toPlainText() == letters[28]
    assert (
        sum(
            each.focusPolicy() != Qt.FocusPolicy.NoFocus for each in window.row.findChildren(Button)
        )
        == 1
    )
