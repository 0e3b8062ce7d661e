"""The answers: always in full, one key or click each, and told to a screen reader as they are seen."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.look.look import SIZES, Look
from review.desktop.look.style import Theme
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers
from review.session.words.catalogue import Words
from review.session.words.item import Answer, ratings, reasons
from tests.desktop.pixels import colours, picture

LTR, RTL = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
ENGLISH = Words.load("en")


def longer(text: str) -> str:
    """Return words that are sixty per cent longer."""
    return " ".join(word + word[: math.ceil(0.6 * len(word))] for word in text.split())


FOUR = ratings(ENGLISH)
LONGER = [Answer(each.key, longer(each.word), longer(each.meaning)) for each in FOUR]


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> Iterator[QWidget]:
    look = Look(Theme.LIGHT, 20, lambda *_: None)
    look.apply(qapp)
    made = QWidget()
    qtbot.addWidget(made)
    QVBoxLayout(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    yield made
    look.set_size(20)


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


@pytest.mark.parametrize("direction", [LTR, RTL], ids=["ltr", "rtl"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("answers", [FOUR, LONGER, reasons(ENGLISH)], ids=["en", "long", "many"])
def test_no_word_is_cut_off(
    window: QWidget,
    qapp: QApplication,
    answers: list[Answer],
    size: int,
    direction: Qt.LayoutDirection,
) -> None:
    Look(Theme.LIGHT, size, lambda *_: None).apply(qapp)
    window.setLayoutDirection(direction)
    made, buttons = put(window, answers)
    layout = window.layout()
    assert layout is not None
    for width in (640, 1024):
        window.resize(width, layout.heightForWidth(width))
        QApplication.sendPostedEvents()
        assert made.width() <= width
        for button in buttons:
            assert made.rect().contains(button.geometry())
            assert min(button.width(), button.height()) >= 44
            image = picture(button)
            for strip in around_the_words(button):
                assert len(colours(image, strip)) == 1, (button.text(), width, strip)


def test_they_stand_in_one_row_in_two_or_one_below_the_other(window: QWidget) -> None:
    _, buttons = put(window, FOUR)
    found = []
    for width in (1000, 560, 230):
        window.resize(width, 900)
        QApplication.sendPostedEvents()
        found.append(columns(buttons))
    assert found == [4, 2, 1]


def test_the_first_stands_right_where_one_reads_from_the_right(window: QWidget) -> None:
    window.setLayoutDirection(RTL)
    _, buttons = put(window, FOUR)
    lefts = [button.x() for button in buttons]
    assert lefts == sorted(lefts, reverse=True)


def test_a_click_and_the_keys_of_a_button_pick_once(window: QWidget, qtbot: QtBot) -> None:
    made, buttons = put(window, FOUR)
    picked: list[int] = []
    made.picked.connect(picked.append)
    QTest.mouseClick(buttons[3], Qt.MouseButton.LeftButton)
    for number, key in enumerate((Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)):
        buttons[number].setFocus()
        QTest.keyClick(buttons[number], key)
    assert picked == [3, 0, 1, 2]


def test_a_key_that_is_held_down_picks_once(window: QWidget) -> None:
    made, buttons = put(window, FOUR)
    picked: list[int] = []
    made.picked.connect(picked.append)
    buttons[1].setFocus()
    for held in (False, True, True, True):
        key = QKeyEvent(
            QEvent.Type.KeyPress, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ", held
        )
        QApplication.sendEvent(buttons[1], key)
    assert picked == [1]


@pytest.mark.parametrize(
    ("direction", "keys", "reached"),
    [
        (LTR, "RRR", 3),
        (LTR, "RRRR", 3),
        (LTR, "RL", 0),
        (LTR, "L", 0),
        (RTL, "LL", 2),
        (RTL, "R", 0),
    ],
)
def test_the_arrow_keys_go_from_one_to_the_next(
    window: QWidget, direction: Qt.LayoutDirection, keys: str, reached: int
) -> None:
    window.setLayoutDirection(direction)
    _, buttons = put(window, FOUR)
    buttons[0].setFocus()
    for key in keys:
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Right if key == "R" else Qt.Key.Key_Left)
    assert buttons[reached].hasFocus()


def test_up_and_down_go_to_the_row_above_and_below(window: QWidget) -> None:
    _, buttons = put(window, FOUR)
    window.resize(560, 700)
    QApplication.sendPostedEvents()
    buttons[1].setFocus()
    QTest.keyClick(buttons[1], Qt.Key.Key_Down)
    assert buttons[3].hasFocus()
    QTest.keyClick(buttons[3], Qt.Key.Key_Up)
    assert buttons[1].hasFocus()


def test_tab_goes_through_all_of_them_and_out(window: QWidget) -> None:
    _, buttons = put(window, FOUR)
    layout = window.layout()
    assert layout is not None
    after = Button("after")
    layout.addWidget(after)
    QApplication.sendPostedEvents()
    buttons[0].setFocus()
    order = []
    for _ in range(4):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        order.append(window.focusWidget())
    assert [each.text() for each in order] == [each.text() for each in [*buttons[1:], after]]  # type: ignore[attr-defined]
    QTest.keyClick(after, Qt.Key.Key_Backtab)
    assert buttons[3].hasFocus()


def test_other_keys_are_the_pages(window: QWidget, qtbot: QtBot) -> None:
    seen: list[str] = []

    class Page(QWidget):
        def keyPressEvent(self, event: QKeyEvent) -> None:
            seen.append(event.text())

    page = Page(window)
    made = Answers(FOUR)
    QVBoxLayout(page).addWidget(made)
    page.show()
    button = made.findChildren(Button)[0]
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_2)
    assert seen == ["2"]


def told(button: Button) -> tuple[QAccessible.Role, str, str]:
    interface = QAccessible.queryAccessibleInterface(button)
    text = QAccessible.Text
    return interface.role(), interface.text(text.Name), interface.text(text.Description)


def test_a_screen_reader_is_told_all_that_is_seen(window: QWidget) -> None:
    made, buttons = put(window, FOUR)
    role = QAccessible.Role.Button
    assert told(buttons[1]) == (role, "Gist. I get the meaning, the words are wrong", "Key 2")
    made.mark([1])
    assert told(buttons[1])[2] == "Key 2. Chosen."
    made.mark([])
    assert told(buttons[1])[2] == "Key 2"


def test_what_was_given_is_seen_without_its_colour(window: QWidget) -> None:
    made, buttons = put(window, FOUR)
    before = [picture(button) for button in buttons]
    sizes = [button.size() for button in buttons]
    made.mark([0, 2])
    QApplication.sendPostedEvents()
    grey = [
        picture(button).convertToFormat(picture(button).Format.Format_Grayscale8)
        for button in buttons
    ]
    was = [each.convertToFormat(each.Format.Format_Grayscale8) for each in before]
    assert [one != other for one, other in zip(grey, was, strict=True)] == [
        True,
        False,
        True,
        False,
    ]
    assert [button.size() for button in buttons] == sizes


def test_a_sign_in_outside_words_is_no_alt_letter(window: QWidget) -> None:
    _, (button,) = put(window, [Answer("1", "Cree & Dene &A", "R&D")])
    assert button.shortcut().isEmpty()
    assert told(button)[1] == "Cree & Dene &A. R&D"


def test_ligatures_break_no_word(window: QWidget) -> None:
    for text in ("off", "efficient", "ﬁ", "ᐊᑎᒼ"):
        button = Button(text, "q")
        assert (
            button.heightForWidth(button.sizeHint().width()) == Button("x", "q").sizeHint().height()
        )
        assert button.minimumSizeHint().width() <= button.sizeHint().width()


def test_a_click_anywhere_inside_counts(window: QWidget) -> None:
    made, buttons = put(window, FOUR)
    picked: list[int] = []
    made.picked.connect(picked.append)
    box = buttons[2].rect()
    for at in (box.topLeft(), box.bottomRight(), box.center(), QPoint(2, box.center().y())):
        QTest.mouseClick(buttons[2], Qt.MouseButton.LeftButton, pos=at)
    assert picked == [2] * 4
