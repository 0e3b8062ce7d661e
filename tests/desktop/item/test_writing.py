"""The box with its title, its letters and its buttons: every button does what its key does."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QInputMethodEvent
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from review.desktop.parts.writing import TypingBox, Writing
from review.session.words.catalogue import Words


@pytest.fixture
def writing(qtbot: QtBot) -> Writing:
    writing = Writing(Words.load("en"), ["â", "ᐊ"])
    qtbot.addWidget(writing)
    writing.resize(600, 300)
    writing.layout().addWidget(writing.acts)  # a page puts them at its foot
    writing.show()
    qtbot.waitExposed(writing)
    return writing


def press(qtbot: QtBot, writing: Writing, name: str) -> None:
    found = [
        each
        for each in writing.findChildren(QAbstractButton)
        if each.isVisible() and each.accessibleName() == name
    ]
    assert len(found) == 1, name
    qtbot.mouseClick(found[0], Qt.MouseButton.LeftButton)


def box(writing: Writing) -> TypingBox:
    (found,) = writing.findChildren(TypingBox)
    return found


def test_save_and_back_give_the_text_with_the_word_that_is_being_composed(
    writing: Writing, qtbot: QtBot
) -> None:
    for name, signal in (("Save", writing.saved), ("Back; your words are kept", writing.left)):
        writing.begin("Your comment", "a ")
        QApplication.sendEvent(box(writing), QInputMethodEvent("word", []))
        with qtbot.waitSignal(signal) as given:
            press(qtbot, writing, name)
        assert given.args == ["a word"]


def test_a_letter_goes_to_the_cursor_and_the_keys_stay_in_the_box(
    writing: Writing, qtbot: QtBot
) -> None:
    writing.begin("Your comment", "nipy")
    box(writing).moveCursor(box(writing).textCursor().MoveOperation.PreviousCharacter)
    press(qtbot, writing, "â")
    assert writing.text == "nipây"
    assert QApplication.focusWidget() is box(writing)


def test_the_start_is_offered_where_there_is_one(writing: Writing, qtbot: QtBot) -> None:
    writing.begin("Your comment", "")
    with pytest.raises(AssertionError):
        press(qtbot, writing, "Copy the translation here")
    writing.begin("A better translation", "", start="ᓂᐚᐸᒫᐤ")
    press(qtbot, writing, "Copy the translation here")
    assert writing.text == "ᓂᐚᐸᒫᐤ"
    press(qtbot, writing, "Copy the translation here")
    assert writing.text == "ᓂᐚᐸᒫᐤ"


def test_the_box_is_named_by_its_title(writing: Writing) -> None:
    writing.begin("A better translation", "ᐊᑎᒼ")
    face = QAccessible.queryAccessibleInterface(box(writing))
    assert face.text(QAccessible.Text.Name) == "A better translation"
    assert face.textInterface().text(0, face.textInterface().characterCount()) == "ᐊᑎᒼ"


def test_what_was_kept_before_is_cleaned_when_it_comes_back(writing: Writing) -> None:
    writing.begin("Your comment", "a\u202eb\x07")
    assert writing.text == "ab"
