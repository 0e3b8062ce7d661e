"""What a person types: every button does what its key does, and no failing save loses a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QAccessible, QInputMethodEvent
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from review.desktop.item.pauses import AnswersPage
from review.desktop.item.sentence_face import Mode
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import ChoiceRows
from review.desktop.parts.writing import TypingBox, Writing
from review.log.payloads import Comment, NotJudged
from review.rating import Rating
from review.session.view import TextField
from review.session.words.catalogue import Words
from tests.desktop.item.held_file import BUSY, held
from tests.desktop.item.translation_scene import TranslationScene, typing_box
from tests.desktop.item_scene import CONTROL, Scene, button, in_box, rated, texts
from tests.review.session.scenes import batch_of, item_id, sentences_of

FIRST, SECOND = item_id(1), item_id(2)
ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
COMMENT, TRANSLATION = TextField.COMMENT, TextField.TRANSLATION


@pytest.fixture
def rating(qtbot: QtBot, tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(qtbot, tmp_path)
    scene.idle()
    yield scene
    scene.close()


@pytest.fixture
def translating(qtbot: QtBot, tmp_path: Path) -> Iterator[TranslationScene]:
    batch = batch_of(sentences_of(4), task="translate", letters=("â", "ê"))
    scene = TranslationScene(qtbot, tmp_path, batch=batch)
    scene.idle()
    yield scene
    scene.close()


def pause(box: TypingBox) -> None:
    """Let the moment come at which what was typed last is kept."""
    until_pause(box).timeout.emit()


def until_pause(box: TypingBox) -> QTimer:
    """Return what runs from the last key on until the text is kept."""
    [timer] = box.findChildren(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return timer


def disk_at_work(scene: Scene) -> AbstractContextManager[object]:
    """Let what is asked for meanwhile wait for the disk."""
    return scene.laptop._lock  # what every write takes, and no other thing holds


def meanwhile(scene: Scene, asked: Callable[[], object], then: Callable[[], object]) -> None:
    """Do something while what was asked waits for the disk, and have it done only after that."""
    with disk_at_work(scene):
        asked()
        assert scene.work.busy
        then()
    scene.idle()


def fails(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next save fail, and nothing after it."""
    record = scene.laptop.record

    def once(*given: Any) -> object:
        monkeypatch.setattr(scene.laptop, "record", record)
        with held(scene):
            return record(*given)

    monkeypatch.setattr(scene.laptop, "record", once)


def comments(scene: Scene) -> list[str]:
    return [each.text for each in scene.events(Comment) if isinstance(each, Comment)]


# a save that fails


def test_a_comment_is_kept_when_its_save_fails_while_the_window_closes(
    rating: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    rating.press("c")
    in_box(rating, "about one")
    fails(rating, monkeypatch)
    meanwhile(rating, lambda: rating.send(ENTER), rating.page.keep_typed)
    assert comments(rating) == []
    assert rating.draft(FIRST, COMMENT) == "about one"
    assert BUSY in texts(rating)  # the draft is kept, and the comment is not saved


def test_a_translation_is_kept_when_its_save_fails_while_the_window_closes(
    translating: TranslationScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    translating.write("niwâpamâw")
    fails(translating, monkeypatch)
    meanwhile(translating, lambda: translating.send(ENTER), translating.page.keep_typed)
    assert translating.given() == []
    assert translating.draft(FIRST, TRANSLATION) == "niwâpamâw"
    assert BUSY in texts(translating)


def test_after_a_save_that_failed_the_draft_is_kept_at_the_next_pause(
    translating: TranslationScene,
) -> None:
    translating.write("niwâpamâw")
    with held(translating):
        translating.press(ENTER)
        assert BUSY in texts(translating)
    assert until_pause(translating.box).isActive()
    pause(translating.box)
    translating.idle()
    assert translating.draft(FIRST, TRANSLATION) == "niwâpamâw"


def test_a_page_that_is_gone_keeps_what_was_being_saved(
    translating: TranslationScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    translating.write("niwâpamâw")
    fails(translating, monkeypatch)

    def go() -> None:
        translating.page.hide()
        translating.page.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    with disk_at_work(translating):
        translating.send(ENTER)
        go()
    translating.qtbot.waitUntil(lambda: not translating.work.busy)
    assert translating.draft(FIRST, TRANSLATION) == "niwâpamâw"


# a save that comes first


def test_no_draft_remains_of_a_comment_that_was_saved(rating: Scene) -> None:
    rating.press("c")
    in_box(rating, "about one")
    meanwhile(
        rating,
        button(rating, "Save").click,
        lambda: pause(typing_box(rating.page.writing)),
    )
    assert comments(rating) == ["about one"]
    assert rating.draft(FIRST, COMMENT) is None
    assert rating.mode is Mode.ANSWER


def test_no_draft_remains_of_a_translation_that_was_saved(translating: TranslationScene) -> None:
    translating.write("one")
    meanwhile(translating, translating.page.box.save, lambda: pause(translating.box))
    assert translating.given() == [(FIRST, "one")]
    assert translating.draft(FIRST, TRANSLATION) is None
    assert translating.draft(SECOND, TRANSLATION) is None


@pytest.mark.parametrize("when", ["at once", "meanwhile", "after"])
def test_a_key_that_rates_just_after_typing_leaves_no_draft_under_the_next_item(
    rating: Scene, when: str
) -> None:
    rating.press("c")
    in_box(rating, "about one")
    box = typing_box(rating.page.writing)
    assert until_pause(box).isActive()
    if when == "at once":
        pause(box)
    meanwhile(
        rating,
        lambda: rating.send("3", CONTROL),
        lambda: pause(box) if when == "meanwhile" else None,
    )
    pause(box)
    rating.idle()
    assert (rated(rating), rating.item) == ([(FIRST, Rating.ACCEPTABLE)], SECOND)
    assert comments(rating) == ["about one"]
    assert rating.draft(FIRST, COMMENT) is None
    assert rating.draft(SECOND, COMMENT) is None


def test_a_comment_and_enter_leave_no_draft_under_the_next_sentence(
    translating: TranslationScene,
) -> None:
    translating.write("one")
    translating.press(ESC, "c")
    translating.write("my comment")
    box = typing_box(translating.page.writing)
    translating.click("Save")
    translating.press(ENTER)
    pause(box)
    pause(translating.box)
    translating.idle()
    assert translating.given() == [(FIRST, "one")]
    for item in (FIRST, SECOND):
        assert translating.draft(item, COMMENT) is None
        assert translating.draft(item, TRANSLATION) is None


def test_while_a_text_is_saved_its_box_takes_nothing(rating: Scene) -> None:
    rating.press("c")
    in_box(rating, "mine")
    box = typing_box(rating.page.writing)

    def type_on() -> None:
        rating.send("x")
        rating.send("y", to=rating.page)
        rating.page.writing.take("z")
        rating.send(ENTER, Qt.KeyboardModifier.ShiftModifier)
        assert box.toPlainText() == "mine"

    meanwhile(rating, lambda: rating.send(ENTER), type_on)
    assert comments(rating) == ["mine"]
    assert rating.draft(FIRST, COMMENT) is None


# an answer that was looked at again


def change(scene: TranslationScene, text: str) -> None:
    """Come back to the first sentence, type on, and go where the person was."""
    scene.page.draw(scene.session.go_to(FIRST))
    scene.idle()
    scene.write(text)
    pause(scene.box)
    scene.idle()


def test_a_changed_translation_that_was_left_as_a_draft_is_saved_by_enter(
    translating: TranslationScene,
) -> None:
    translating.write("old one")
    translating.press(ENTER)
    change(translating, " and better")
    translating.page.draw(translating.session.go_to(None))
    translating.idle()
    change(translating, "")
    assert translating.box.written == "old one and better"
    translating.press(ENTER)
    assert translating.given() == [(FIRST, "old one"), (FIRST, "old one and better")]
    assert "Your translation is saved." in texts(translating)
    assert translating.item == SECOND


def test_a_changed_translation_is_saved_after_a_new_page_was_opened(
    translating: TranslationScene,
) -> None:
    translating.write("old one")
    translating.press(ENTER)
    change(translating, " and better")
    translating.page.hide()
    translating.open()
    translating.idle()
    translating.press(ENTER)
    assert [text for _, text in translating.given()] == ["old one", "old one and better"]


def test_an_answer_that_was_changed_back_leads_on_without_a_new_one(
    translating: TranslationScene,
) -> None:
    translating.write("one")
    translating.press(ENTER)
    change(translating, "s")
    assert translating.draft(FIRST, TRANSLATION) == "ones"
    translating.press(Qt.Key.Key_Backspace, ENTER)
    assert translating.given() == [(FIRST, "one")]
    assert translating.draft(FIRST, TRANSLATION) is None
    assert translating.item == SECOND


@pytest.mark.parametrize(
    ("language", "said"), [("en", "1: Could not translate"), ("fr", "1\u00a0: Pas pu traduire")]
)
def test_a_sentence_that_could_not_be_translated_is_called_so(
    qtbot: QtBot, tmp_path: Path, language: str, said: str
) -> None:
    batch = batch_of(sentences_of(2), task="translate")
    scene = TranslationScene(qtbot, tmp_path, batch=batch, language=language)
    scene.idle()
    scene.write("half")
    scene.press(ESC, "0", "1")
    assert len(scene.events(NotJudged)) == 1
    page = AnswersPage(scene.desk, scene.session.answered(), translating=True)
    qtbot.addWidget(page)
    page.show()
    shown = page.findChildren(ChoiceRows)[0]
    assert said in _said(shown)
    assert "half" not in _said(shown)
    scene.close()


def _said(rows: ChoiceRows) -> str:
    return "\n".join(each.accessibleName() for each in rows.findChildren(Button))


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
