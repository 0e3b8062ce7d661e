"""Answers and letters to press: always in full, one key or click each, and told to a screen reader."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from itertools import product

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.look import SIZES
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers
from review.desktop.parts.writing import LetterRow
from review.files.manifests import MOST_LETTERS
from review.session.words.catalogue import Words
from review.session.words.item import Answer, ratings, reasons
from tests.desktop.pixels import colours, picture
from tests.desktop.visit_scene import dressed
from tests.review.thorough import first

Way = Qt.LayoutDirection
LTR, RTL = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
ENGLISH = Words.load("en")


def longer(text: str) -> str:
    """Return words that are sixty per cent longer."""
    return " ".join(word + word[: math.ceil(0.6 * len(word))] for word in text.split())


FOUR = ratings(ENGLISH)
LONGER = [Answer(each.key, longer(each.word), longer(each.meaning)) for each in FOUR]


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    dressed()
    made = QWidget()
    qtbot.addWidget(made)
    QVBoxLayout(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def put(window: QWidget, answers: list[Answer], width: int = 1000) -> tuple[Answers, list[Button]]:
    made = Answers(answers)
    layout = window.layout()
    assert layout is not None
    layout.addWidget(made)
    QApplication.sendPostedEvents()  # it is shown
    window.resize(width, max(400, layout.heightForWidth(width)))
    layout.activate()
    return made, made.findChildren(Button)


def columns(buttons: list[Button]) -> int:
    return sum(button.y() == buttons[0].y() for button in buttons)


def around_the_words(button: Button) -> list[QRect]:
    """Return the strips between the edge of a button and the room of its words."""
    inside = button.rect().adjusted(9, 9, -9, -9)
    wide = QRect(inside.left(), inside.top(), inside.width(), 3)
    high = QRect(inside.left(), inside.top(), 3, inside.height())
    return [
        wide.adjusted(6, 0, -6, 0),
        wide.translated(0, inside.height() - 3).adjusted(6, 0, -6, 0),
        high.adjusted(0, 6, 0, -6),
        high.translated(inside.width() - 3, 0).adjusted(0, 6, 0, -6),
    ]


SETS = {"long": LONGER, "many": reasons(ENGLISH), "en": FOUR}
CORNERS = [("long", 48, RTL), ("many", 16, LTR)]


@pytest.mark.parametrize(
    ("name", "size", "direction"), first(2, dict.fromkeys([*CORNERS, *product(SETS, SIZES, (LTR, RTL))]))
)
def test_no_word_is_cut_off(window: QWidget, name: str, size: int, direction: Way) -> None:
    dressed(size)
    window.setLayoutDirection(direction)
    made, buttons = put(window, SETS[name])
    for width in (640, 1024):
        window.resize(width, made.parentWidget().layout().heightForWidth(width))
        QApplication.sendPostedEvents()
        assert made.width() <= width
        for button in buttons:
            assert made.rect().contains(button.geometry())
            assert min(button.width(), button.height()) >= 44
            image = picture(button)
            for strip in around_the_words(button):
                assert len(colours(image, strip)) == 1, (button.text(), width, strip)


def test_answers_stand_in_rows_in_the_reading_direction(window: QWidget) -> None:
    _, buttons = put(window, FOUR)
    found = []
    for width in (1000, 230, 560):
        window.resize(width, 900)
        QApplication.sendPostedEvents()
        found.append(columns(buttons))
    assert found == [4, 1, 2]
    buttons[1].setFocus()
    QTest.keyClick(buttons[1], Qt.Key.Key_Down)
    assert buttons[3].hasFocus()
    QTest.keyClick(buttons[3], Qt.Key.Key_Up)
    assert buttons[1].hasFocus()
    window.setLayoutDirection(RTL)
    window.resize(1000, 900)
    QApplication.sendPostedEvents()
    lefts = [button.x() for button in buttons]
    assert lefts == sorted(lefts, reverse=True)


def test_a_click_anywhere_and_the_keys_of_a_button_pick_once(window: QWidget) -> None:
    made, buttons = put(window, FOUR)
    picked: list[int] = []
    made.picked.connect(picked.append)
    box = buttons[3].rect()
    for at in (box.topLeft(), box.bottomRight(), box.center(), QPoint(2, box.center().y())):
        QTest.mouseClick(buttons[3], Qt.MouseButton.LeftButton, pos=at)
    for number, key in enumerate((Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)):
        buttons[number].setFocus()
        QTest.keyClick(buttons[number], key)
    assert picked == [3, 3, 3, 3, 0, 1, 2]
    buttons[1].setFocus()
    none = Qt.KeyboardModifier.NoModifier
    for held in (False, True, True, True):
        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Space, none, " ", held)
        QApplication.sendEvent(buttons[1], event)
    assert picked[7:] == [1]


@pytest.mark.parametrize(
    ("direction", "walks"), [(LTR, {"RRR": 3, "RRRR": 3, "RL": 0, "L": 0}), (RTL, {"LL": 2, "R": 0})]
)
def test_arrow_keys_walk(window: QWidget, direction: Way, walks: dict[str, int]) -> None:
    window.setLayoutDirection(direction)
    _, buttons = put(window, FOUR)
    arrows = {"R": Qt.Key.Key_Right, "L": Qt.Key.Key_Left}
    for keys, reached in walks.items():
        buttons[0].setFocus()
        for key in keys:
            QTest.keyClick(window.focusWidget(), arrows[key])
        assert buttons[reached].hasFocus(), keys


def told(button: Button) -> tuple[QAccessible.Role, str, str]:
    interface = QAccessible.queryAccessibleInterface(button)
    text = QAccessible.Text
    return interface.role(), interface.text(text.Name), interface.text(text.Description)


def test_what_was_given_is_told_and_seen_without_colour(window: QWidget) -> None:
    made, buttons = put(window, FOUR)
    before = [picture(button) for button in buttons]
    sizes = [button.size() for button in buttons]
    made.mark([0, 2])
    QApplication.sendPostedEvents()
    grey, was = (
        [each.convertToFormat(each.Format.Format_Grayscale8) for each in images]
        for images in (map(picture, buttons), before)
    )
    changed = [one != other for one, other in zip(grey, was, strict=True)]
    assert changed == [True, False, True, False]
    assert [button.size() for button in buttons] == sizes
    made, buttons = put(window, FOUR)
    role = QAccessible.Role.Button
    assert told(buttons[1]) == (role, "Gist. I get the meaning, the words are wrong", "Key 2")
    made.mark([1])
    assert told(buttons[1])[2] == "Key 2. Chosen."
    made.mark([])
    assert told(buttons[1])[2] == "Key 2"
    _, (button,) = put(window, [Answer("1", "Cree & Dene &A", "R&D")])
    assert button.shortcut().isEmpty(), "a sign in outside words is no letter for Alt"
    assert told(button)[1] == "Cree & Dene &A. R&D"


def test_ligatures_break_no_word(window: QWidget) -> None:
    for text in ("off", "efficient", "ﬁ", "ᐊᑎᒼ"):
        button = Button(text, "q")
        assert button.heightForWidth(button.sizeHint().width()) == Button("x", "q").sizeHint().height()
        assert button.minimumSizeHint().width() <= button.sizeHint().width()


# letters that a keyboard may lack, by mouse and by keys


def focused() -> QWidget:
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
        found = self.row.findChildren(Button)
        return next(each for each in found if each.text().startswith("More letters"))

    def shown(self) -> list[str]:
        return [each.text() for each in self.row.findChildren(Button) if each.isVisible()]


@pytest.fixture
def lettered(qtbot: QtBot) -> Window:
    return opened(qtbot, ["â", "e\u0302", "x̌", "ʔ"])


def opened(qtbot: QtBot, letters: Sequence[str], size: int = 20) -> Window:
    dressed(size)
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


def test_click_types_and_after_one_capital_small_ones_come_back(lettered: Window) -> None:
    for letter in ("â", "ê", "x̌", "ʔ"):
        click(lettered.button(letter))
    assert lettered.box.hasFocus()
    assert lettered.box.toPlainText() == "âêx̌ʔ"
    assert unicodedata.is_normalized("NFC", lettered.box.toPlainText())
    lettered.box.clear()
    click(named := lettered.button("Capital letters"))
    interface = QAccessible.queryAccessibleInterface(named)
    assert interface.text(QAccessible.Text.Name) == "Lower-case letters"
    assert lettered.shown() == ["Â", "Ê", "X̌", "ʔ", "Lower-case letters"]
    click(lettered.button("Ê"))
    assert lettered.shown() == ["â", "ê", "x̌", "ʔ", "Capital letters"]
    click(lettered.button("Capital letters"))
    click(lettered.button("Lower-case letters"))
    click(lettered.button("â"))
    assert lettered.box.toPlainText() == "Êâ"


def test_tab_stops_once_and_arrow_keys_go_round(lettered: Window) -> None:
    QTest.keyClick(lettered.box, Qt.Key.Key_Tab)
    reached = set()
    for _ in range(5):
        reached.add(focused())
        QTest.keyClick(focused(), Qt.Key.Key_Right)
    assert len(reached) == 5
    assert lettered.button("â").hasFocus()
    keys = [(Qt.Key.Key_Right, "ê"), (Qt.Key.Key_Right, "x̌"), (Qt.Key.Key_Left, "ê")]
    for key, letter in keys:
        QTest.keyClick(focused(), key)
        assert lettered.button(letter).hasFocus()
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert lettered.box.toPlainText() == "ê"
    QTest.keyClick(focused(), Qt.Key.Key_Tab)
    assert lettered.box.hasFocus()
    QTest.keyClick(lettered.box, Qt.Key.Key_Tab)
    assert lettered.button("ê").hasFocus()
    lettered.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    QApplication.sendPostedEvents()
    before = focused().x()
    QTest.keyClick(focused(), Qt.Key.Key_Left)
    assert focused().x() < before, "the arrows follow the eye"


@pytest.mark.parametrize("size", first(1, [48, *SIZES[:-1]]))
def test_many_letters_can_all_be_typed(qtbot: QtBot, size: int) -> None:
    letters = [chr(0x1401 + n) for n in range(MOST_LETTERS)]
    window = opened(qtbot, letters, size)
    typed: list[str] = []
    window.row.typed.connect(typed.append)
    window.resize(1000, 600)
    more, met, clicked = window.turning, list[str](), list[str]()
    for page in range(5):
        QApplication.sendPostedEvents()
        assert window.row.heightForWidth(1000) <= 300
        shown = window.shown()
        assert shown[-1] == more.text() == f"More letters ({page + 1} of 5)"
        for button in filter(QWidget.isVisible, window.row.findChildren(Button)):
            assert min(button.width(), button.height()) >= 44
            assert window.row.rect().contains(button.geometry())
        for letter in (shown[0], shown[-2]):
            click(window.button(letter))
        clicked += [shown[0], shown[-2]]
        met += shown[:-1]
        click(more)
    assert met == letters
    assert typed == clicked
    assert window.box.toPlainText() == "".join(clicked)
    assert window.box.hasFocus()
    assert window.shown()[0] == letters[0]


def test_keys_alone_turn_the_pages(qtbot: QtBot) -> None:
    letters = [chr(0x1401 + n) for n in range(MOST_LETTERS)]  # syllabics, which have no capitals
    window = opened(qtbot, letters)
    assert "Capital letters" not in window.shown()
    QTest.keyClick(window.box, Qt.Key.Key_Tab)
    QTest.keyClick(focused(), Qt.Key.Key_Left)
    assert window.turning.hasFocus()
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert window.turning.hasFocus()
    QTest.keyClick(focused(), Qt.Key.Key_Right)
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert window.box.toPlainText() == letters[28]
    stops = [each.focusPolicy() for each in window.row.findChildren(Button)]
    assert len(stops) - stops.count(Qt.FocusPolicy.NoFocus) == 1
