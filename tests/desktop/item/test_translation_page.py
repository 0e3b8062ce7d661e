"""The page of a sentence to translate: keys, buttons, drafts and trouble, on a real laptop's file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from review.desktop.item.pauses import AnswersPage
from review.desktop.item.sentence_face import Mode
from review.desktop.look import SIZES
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import ChoiceRows
from review.desktop.parts.writing import TypingBox
from review.files.manifests import BatchItem
from review.log.payloads import Comment, HarmFlag, Kind, NotJudged, Skip, Undo
from review.rating import CannotJudge, Rating
from review.session.view import Phase, TextField
from review.session.words.keys import NextAction
from tests.desktop.conftest import as_often_as_wanted
from tests.desktop.item_scene import (
    BUSY,
    CONTROL,
    Make,
    Scene,
    TranslationScene,
    button,
    held,
    in_box,
    in_page,
    rated,
    texts,
    typing_box,
)
from tests.review.session.scenes import batch_of, item_id, sentences_of
from tests.review.thorough import first

LETTERS = ("â", "ê", "g̃")
LONG = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ. I saw a caribou down by the river yesterday evening. " * 12
FIRST, SECOND = item_id(1), item_id(2)
ENTER, ESC, SHIFT = Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.KeyboardModifier.ShiftModifier
COMMENT, TRANSLATION = TextField.COMMENT, TextField.TRANSLATION

Translates = Callable[..., TranslationScene]


@pytest.fixture
def translates(qtbot: QtBot, tmp_path: Path) -> Iterator[Translates]:
    yield from as_often_as_wanted(TranslationScene, qtbot, tmp_path)


@pytest.fixture
def scene(translates: Translates) -> TranslationScene:
    return translates(batch=batch_of(sentences_of(4), task="translate", letters=LETTERS))


def test_enter_ctrl_enter_and_the_button_save(scene: TranslationScene) -> None:
    scene.press(ENTER)
    assert "Write your translation first" in texts(scene)
    assert (scene.item, scene.given()) == (FIRST, [])
    scene.write("  niwa\u0302pama\u0302w ")
    scene.send(ENTER)
    for _ in range(20):  # held down, it saves one sentence
        scene.send(ENTER, repeats=True)
    scene.idle()
    assert scene.given() == [(FIRST, "niwâpamâw")]
    assert scene.item == SECOND
    assert scene.page.accessibleName() == "Sentence 2 of 4"
    assert (scene.box.written, scene.box.hasFocus()) == ("", True)
    assert "Your translation is saved." in texts(scene)
    assert "Write your translation first" not in texts(scene)
    scene.write("one")
    scene.press(ENTER, modifiers=SHIFT)
    scene.write("more")
    scene.press(ENTER, modifiers=CONTROL)
    scene.page.setFocus()
    scene.press("t")  # letters typed beside the box go into it
    scene.click("g̃")
    scene.click("â")
    scene.click("Save and continue")
    assert scene.given()[1:] == [(SECOND, "one\nmore"), (item_id(3), "tg̃â")]
    scene.write("all")
    scene.press(ENTER)
    assert (scene.onward, scene.session.view.phase) == ([None], Phase.END)


def test_every_key_is_text_until_esc(scene: TranslationScene) -> None:
    for key in "s0cu!x1?wq":
        scene.send(key)
    scene.idle()
    assert scene.box.written == "s0cu!x1?wq"
    assert scene.onward == []
    assert scene.events(Skip, Undo, NotJudged, HarmFlag) == []
    scene.press(Qt.Key.Key_F1)
    assert scene.onward == [NextAction.HELP]
    assert scene.draft(FIRST, TRANSLATION) == "s0cu!x1?wq"
    scene.press(ESC)
    assert scene.page.mode is Mode.ACTS
    scene.press("s")
    assert scene.item == SECOND
    assert [each.item for each in scene.events(Skip)] == [FIRST]
    scene.press(ESC, "u")
    assert scene.item == FIRST
    assert scene.box.written == "s0cu!x1?wq"
    scene.press(ENTER)
    scene.write("two")
    scene.press("z", modifiers=CONTROL)  # takes typing back first
    assert (scene.box.written, len(scene.events(Undo))) == ("", 1)
    scene.press("z", modifiers=CONTROL)
    assert len(scene.events(Undo)) == 2
    assert (scene.item, scene.box.written) == (FIRST, "s0cu!x1?wq")


def test_why_not_comment_and_flag_are_kept(scene: TranslationScene, qtbot: QtBot) -> None:
    scene.write("my text")
    scene.click("cannot translate")
    assert "Why can you not translate it?" in texts(scene)
    scene.press("2")
    [said] = scene.events(NotJudged)
    assert isinstance(said, NotJudged)
    assert said.why is CannotJudge.UNCLEAR_SOURCE
    assert scene.box.hasFocus()
    page = AnswersPage(scene.desk, scene.session.answered(), translating=True)
    qtbot.addWidget(page)
    rows = page.findChildren(ChoiceRows)[0].findChildren(Button)
    shown = "\n".join(each.accessibleName() for each in rows)
    assert "1: Could not translate" in shown
    assert "my text" not in shown
    scene.press("z", modifiers=CONTROL)
    assert scene.item == FIRST
    assert "could not translate it" in texts(scene)
    scene.click("comment")
    scene.write("an old word")
    scene.press(ENTER)
    assert scene.box.written == "my text"
    assert "an old word" in texts(scene)
    scene.press(ESC, "!")
    assert "Mark this sentence as harmful" in texts(scene)
    scene.press(ENTER)
    scene.qtbot.waitUntil(lambda: "You marked this as harmful." in texts(scene))
    scene.press(ENTER)
    assert scene.given() == [(FIRST, "my text")]
    kinds = [each.kind for each in scene.events(Comment, HarmFlag)]
    assert kinds == [Kind.COMMENT, Kind.HARM]


def test_sentence_whose_letters_are_missing_is_not_asked(translates: Translates) -> None:
    odd = BatchItem(id=FIRST, source="\U00012000\U00012001", candidate="")
    scene = translates(batch=batch_of([odd, *sentences_of(3)[1:]], task="translate"))
    assert not scene.box.isVisible()
    assert "cannot show the letters of this sentence" in texts(scene)
    scene.press("s")
    assert scene.item == SECOND
    assert scene.box.isVisible()


@pytest.mark.parametrize(
    ("size", "language"), first(2, dict.fromkeys([(48, "fr"), (16, "en"), *product(SIZES, ("en", "fr"))]))
)
def test_box_and_button_have_room(translates: Translates, size: int, language: str) -> None:
    items = [item.model_copy(update={"source": LONG}) for item in sentences_of(4)]
    batch = batch_of(items, task="translate", letters=("â", "ê", "î", "ô", "ā", "ē", "ī", "ō"))
    scene = translates(batch=batch, size=size, language=language)
    page = scene.page
    for each in page.findChildren(QAbstractButton):
        here = in_page(scene, each)
        if each.isVisible() and page.rect().intersects(here):
            assert here.left() >= 0, each.text()
            assert here.right() < page.width(), each.text()
            assert min(here.width(), here.height()) >= 44
    assert in_page(scene, page.save_button).bottom() <= page.height()
    assert page.reading.horizontalScrollBar().maximum() == 0
    for _ in range(12):
        scene.write("niwâpamâw atim sîpîhk ")
        scene.press(ENTER, modifiers=SHIFT)
    seen = page.reading.viewport()
    line = page.box.line_in(seen)
    assert line.top() >= 0, "the line on which one types is in sight"
    assert line.bottom() <= seen.height()


# what is typed, while something else is saved


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


def comments(scene: Scene) -> list[str]:
    return [each.text for each in scene.events(Comment) if isinstance(each, Comment)]


@pytest.mark.parametrize("gone", [False, True], ids=["window closes", "page is gone"])
def test_translation_whose_save_fails_is_kept(
    scene: TranslationScene, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    record = scene.laptop.record

    def fails_once(*given: Any) -> object:
        monkeypatch.setattr(scene.laptop, "record", record)
        with held(scene):
            return record(*given)

    scene.write("niwâpamâw")
    monkeypatch.setattr(scene.laptop, "record", fails_once)
    with disk_at_work(scene):
        scene.send(ENTER)
        if gone:
            scene.page.hide()
            scene.page.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        else:
            scene.page.keep_typed()
    scene.qtbot.waitUntil(lambda: not scene.work.busy)
    assert scene.given() == []
    assert scene.draft(FIRST, TRANSLATION) == "niwâpamâw"
    assert gone or BUSY in texts(scene)


@pytest.mark.thorough
def test_no_draft_remains_of_a_comment_that_was_saved(make: Make) -> None:
    scene = make()
    scene.press("c")
    in_box(scene, "mine")
    box = typing_box(scene.page.writing)

    def type_on() -> None:
        """A text that is being saved is not changed any more."""
        scene.send("x")
        scene.send("y", to=scene.page)
        scene.page.writing.take("z")
        scene.send(ENTER, SHIFT)
        pause(box)
        assert box.toPlainText() == "mine"

    meanwhile(scene, button(scene, "Save").click, type_on)
    assert comments(scene) == ["mine"]
    assert scene.draft(FIRST, COMMENT) is None
    assert scene.mode is Mode.ANSWER
    # a key that rates just after typing leaves none under the next item either
    for number, when in enumerate(("at once", "meanwhile", "after"), 1):
        scene.press("c")
        in_box(scene, when)
        box = typing_box(scene.page.writing)
        assert until_pause(box).isActive()
        if when == "at once":
            pause(box)
        then = partial(pause, box) if when == "meanwhile" else lambda: None
        meanwhile(scene, lambda: scene.send("3", CONTROL), then)
        pause(box)
        scene.idle()
        assert rated(scene)[-1] == (item_id(number), Rating.ACCEPTABLE)
        assert scene.item == item_id(number + 1)
        assert comments(scene)[-1].endswith(when)
        assert scene.draft(item_id(number), COMMENT) is None
        assert scene.draft(item_id(number + 1), COMMENT) is None
