"""The box for a person's own words: input methods, pasting, new lines, bounds, directions."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from review.desktop.look import fonts
from review.desktop.parts.writing import TypingBox
from review.log.payloads import MOST_TEXT

SYLLABICS = "ᐊᑎᒼ ᓂᐚᐸᒫᐤ"


@pytest.fixture
def box(qtbot: QtBot) -> TypingBox:
    box = TypingBox()
    box.setFont(fonts.font(20))
    qtbot.addWidget(box)
    box.resize(400, 100)
    box.show()
    qtbot.waitExposed(box)
    box.begin("")
    return box


def type_text(box: TypingBox, text: str) -> None:
    """Type as a keyboard does whose keys give any text."""
    for character in text:
        for kind in (QKeyEvent.Type.KeyPress, QKeyEvent.Type.KeyRelease):
            key = QKeyEvent(kind, 0, Qt.KeyboardModifier.NoModifier, character)
            QApplication.sendEvent(box, key)


def compose(box: TypingBox, preedit: str = "", commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(box, event)


def paste(box: TypingBox, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    box.paste()


def test_digits_and_letters_of_any_script_are_text(box: TypingBox) -> None:
    type_text(box, f"1 2 {SYLLABICS} d!")
    assert box.written == f"1 2 {SYLLABICS} d!"


def test_what_is_given_is_composed(box: TypingBox) -> None:
    type_text(box, "  nîpîy i\u0302 ")
    assert box.written == "nîpîy î"


def test_an_input_method_commits_what_it_composed(box: TypingBox) -> None:
    compose(box, preedit="ni")
    assert box.toPlainText() == ""
    compose(box, commit="ᓂ")
    assert (box.toPlainText(), box.written) == ("ᓂ", "ᓂ")


def test_a_word_that_is_being_composed_is_given_where_it_stands(box: TypingBox) -> None:
    box.begin("𑪰 ᐤ")
    box.moveCursor(box.textCursor().MoveOperation.PreviousCharacter)
    compose(box, preedit="ᓂᐚᐸᒫ")
    assert box.written == "𑪰 ᓂᐚᐸᒫᐤ"


def test_enter_saves_the_word_that_is_being_composed(box: TypingBox, qtbot: QtBot) -> None:
    type_text(box, "a ")
    compose(box, preedit="ᑲᓂ")
    with qtbot.waitSignal(box.saved) as saved:
        QTest.keyClick(box, Qt.Key.Key_Return)
    assert saved.args == ["a ᑲᓂ"]
    assert box.toPlainText() == "a ᑲᓂ"


def test_esc_leaves_with_what_is_written(box: TypingBox, qtbot: QtBot) -> None:
    type_text(box, "half a ")
    compose(box, preedit="word")
    with qtbot.waitSignal(box.left) as left:
        QTest.keyClick(box, Qt.Key.Key_Escape)
    assert left.args == ["half a word"]


def test_shift_and_enter_begin_a_line_with_a_direction_of_its_own(box: TypingBox) -> None:
    type_text(box, "one")
    QTest.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    type_text(box, "סוס")
    assert box.written == "one\nסוס"
    directions = [box.document().findBlockByNumber(n).textDirection() for n in (0, 1)]
    assert directions == [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft]


def test_a_pause_in_typing_is_told_once_with_the_text(box: TypingBox, qtbot: QtBot) -> None:
    told: list[str] = []
    box.paused.connect(told.append)
    type_text(box, "wor")
    type_text(box, "d")
    qtbot.waitUntil(lambda: bool(told))
    assert told == ["word"]


def test_pasted_text_is_cleaned_and_has_no_form(box: TypingBox) -> None:
    mime = QMimeData()
    mime.setHtml("<b>bold</b>")
    mime.setText("a\x00b\x1b[31m\u202ec\u2066\td\r\ne\u00a0f\ue000")
    assert box.canInsertFromMimeData(mime)
    box.insertFromMimeData(mime)
    assert box.toPlainText() == "ab[31mc d\ne f"


def test_a_picture_is_not_pasted(box: TypingBox) -> None:
    mime = QMimeData()
    mime.setData("image/png", b"\x89PNG")
    assert not box.canInsertFromMimeData(mime)


@pytest.mark.parametrize("letter", ["a", "ᐊ", "\U00011ab0"], ids=["ascii", "bmp", "astral"])
def test_no_way_of_writing_goes_over_the_bound(box: TypingBox, letter: str) -> None:
    paste(box, letter * (MOST_TEXT + 100))
    assert box.toPlainText() == letter * MOST_TEXT
    type_text(box, letter)
    compose(box, commit=letter * 3)
    box.insert(letter)
    assert box.toPlainText() == letter * MOST_TEXT
    box.selectAll()
    paste(box, "new")
    assert box.toPlainText() == "new"


def test_up_brings_the_start_into_an_empty_box_only(box: TypingBox) -> None:
    box.begin("", start="The translation.")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.written == "The translation."
    box.begin("mine", start="The translation.")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.written == "mine"


def test_ctrl_and_z_takes_back_typing_first_and_then_is_the_page_s(box: TypingBox) -> None:
    def undo() -> bool:
        key = QKeyEvent(
            QKeyEvent.Type.KeyPress, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier, "\x1a"
        )
        box.keyPressEvent(key)
        return key.isAccepted()

    box.begin("before")
    type_text(box, "x")
    assert undo()
    assert box.toPlainText() == "before"
    assert not undo()
    assert box.toPlainText() == "before"


def test_page_keys_are_the_page_s_where_all_of_the_text_is_seen(box: TypingBox) -> None:
    def taken() -> bool:
        key = QKeyEvent(
            QKeyEvent.Type.KeyPress, Qt.Key.Key_PageDown, Qt.KeyboardModifier.NoModifier
        )
        box.keyPressEvent(key)
        return key.isAccepted()

    box.begin("One line.")
    assert not taken()
    box.begin("\n".join(map(str, range(40))))
    assert taken()


def test_a_held_key_ends_nothing_twice(box: TypingBox) -> None:
    ended: list[str] = []
    box.saved.connect(ended.append)
    for repeats in (False, True, True):
        box.keyPressEvent(
            QKeyEvent(
                QKeyEvent.Type.KeyPress,
                Qt.Key.Key_Return,
                Qt.KeyboardModifier.NoModifier,
                "\r",
                repeats,
            )
        )
    assert ended == [""]


def test_the_box_grows_with_the_text_up_to_a_bound(box: TypingBox) -> None:
    def height(lines: int) -> int:
        box.begin("\n".join(["word"] * lines))
        return box.sizeHint().height()

    heights = [height(lines) for lines in (1, 2, 4, 6, 30)]
    assert heights == sorted(heights)
    assert heights[0] == heights[1] < heights[2] < heights[3] == heights[4]
