"""The page of a sentence to translate: keys, buttons, drafts and trouble, on a real laptop's file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from review.desktop.item.sentence_face import Mode
from review.desktop.item.translation_page import TranslationPage
from review.desktop.look.look import SIZES
from review.files.manifests import BatchItem
from review.log.payloads import Comment, HarmFlag, Kind, NotJudged, Skip, Undo
from review.rating import CannotJudge
from review.session.view import Phase, TextField
from review.session.words.keys import Onward
from tests.desktop.item.held_file import BUSY, held
from tests.desktop.item.translation_scene import TranslationScene
from tests.desktop.item_scene import CONTROL, mark, texts
from tests.review.log.material import kept_draft
from tests.review.session.scenes import batch_of, item_id, sentences_of

LETTERS = ("â", "ê", "g̃")
LONG = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ. I saw a caribou down by the river yesterday evening. " * 12


Make = Callable[..., TranslationScene]


@pytest.fixture
def make(qtbot: QtBot, tmp_path: Path) -> Iterator[Make]:
    scenes: list[TranslationScene] = []

    def made(count: int = 4, **given: object) -> TranslationScene:
        batch = batch_of(sentences_of(count), task="translate", letters=LETTERS)
        facts = {"batch": batch, **given}
        scenes.append(TranslationScene(qtbot, tmp_path, **facts))  # type: ignore[arg-type]
        scenes[-1].idle()
        return scenes[-1]

    yield made
    for scene in scenes:
        scene.close()


@pytest.fixture
def scene(make: Make) -> TranslationScene:
    return make()


def test_enter_saves_composed_letters_and_shows_the_next_sentence(scene: TranslationScene) -> None:
    scene.write("  niwa\u0302pama\u0302w ")
    scene.press(Qt.Key.Key_Return)
    assert scene.given() == [(item_id(1), "niwâpamâw")]
    assert scene.item == item_id(2)
    assert scene.page.accessibleName() == "Sentence 2 of 4"
    assert (scene.box.written, scene.box.hasFocus()) == ("", True)
    assert "Your translation is saved." in texts(scene)


def test_ctrl_enter_and_the_button_save_too_and_shift_enter_begins_a_line(
    scene: TranslationScene,
) -> None:
    scene.write("one")
    scene.press(Qt.Key.Key_Return, modifiers=Qt.KeyboardModifier.ShiftModifier)
    scene.write("more")
    scene.press(Qt.Key.Key_Return, modifiers=CONTROL)
    scene.write("two")
    scene.click("Save and go on")
    assert scene.given() == [(item_id(1), "one\nmore"), (item_id(2), "two")]


def test_every_key_is_text_until_esc(scene: TranslationScene) -> None:
    for key in "s0cu!x1?wq":
        scene.send(key)
    scene.idle()
    assert scene.box.written == "s0cu!x1?wq"
    assert scene.onward == []
    assert scene.events(Skip, Undo, NotJudged, HarmFlag) == []


def test_after_esc_the_keys_act_and_the_text_stays_a_draft(scene: TranslationScene) -> None:
    scene.write("half a thou")
    scene.press(Qt.Key.Key_Escape)
    assert scene.page.mode is Mode.ACTS
    scene.press("s")
    assert scene.item == item_id(2)
    skipped = [each.item for each in scene.events(Skip) if isinstance(each, Skip)]
    assert skipped == [item_id(1)]
    scene.press(Qt.Key.Key_Escape, "u")
    assert scene.item == item_id(1)
    assert scene.box.written == "half a thou"


def test_letters_typed_beside_the_box_go_into_it(scene: TranslationScene) -> None:
    scene.page.setFocus()
    scene.press("s")
    assert (scene.box.written, scene.item) == ("s", item_id(1))


def test_the_letter_row_types(scene: TranslationScene) -> None:
    scene.click("g̃")
    scene.click("â")
    assert scene.box.written == "g̃â"


def test_an_empty_translation_is_refused_in_words(scene: TranslationScene) -> None:
    scene.press(Qt.Key.Key_Return)
    assert "Write your translation first" in texts(scene)
    assert (scene.item, scene.given()) == (item_id(1), [])
    scene.write("now")
    scene.press(Qt.Key.Key_Return)
    assert scene.given() == [(item_id(1), "now")]
    assert "Write your translation first" not in texts(scene)


def test_why_not_and_taken_back(scene: TranslationScene) -> None:
    scene.click("cannot translate")
    assert "Why can you not translate it?" in texts(scene)
    scene.press("2")
    [said] = scene.events(NotJudged)
    assert isinstance(said, NotJudged)
    assert said.why is CannotJudge.UNCLEAR_SOURCE
    assert scene.box.hasFocus()
    scene.press("z", modifiers=CONTROL)
    assert scene.item == item_id(1)
    assert "could not translate it" in texts(scene)


def test_undo_in_the_box_first_takes_typing_back(scene: TranslationScene) -> None:
    scene.write("one")
    scene.press(Qt.Key.Key_Return)
    scene.write("two")
    scene.press("z", modifiers=CONTROL)
    assert (scene.box.written, scene.events(Undo)) == ("", [])
    scene.press("z", modifiers=CONTROL)
    assert len(scene.events(Undo)) == 1
    assert (scene.item, scene.box.written) == (item_id(1), "one")


def test_a_comment_and_a_flag_are_about_the_sentence(scene: TranslationScene) -> None:
    scene.write("my text")
    scene.click("comment")
    scene.write("an old word")
    scene.press(Qt.Key.Key_Return)
    assert scene.box.written == "my text"
    assert "an old word" in texts(scene)
    scene.press(Qt.Key.Key_Escape, "!")
    assert "Mark this sentence as harmful" in texts(scene)
    scene.press(Qt.Key.Key_Return)
    scene.qtbot.waitUntil(lambda: "You marked this as harmful." in texts(scene))
    scene.press(Qt.Key.Key_Return)
    assert scene.given() == [(item_id(1), "my text")]
    assert [each.kind for each in scene.events(Comment, HarmFlag)] == [Kind.COMMENT, Kind.HARM]


def test_what_is_typed_is_kept_at_a_pause_and_when_the_window_closes(
    scene: TranslationScene,
) -> None:
    scene.write("a beginning")
    scene.qtbot.waitUntil(lambda: _draft(scene) == "a beginning")
    scene.write(" and more")
    scene.page.keep_typed()
    scene.qtbot.waitUntil(lambda: not scene.work.busy)
    assert _draft(scene) == "a beginning and more"


def _draft(scene: TranslationScene) -> str | None:
    batch, code = scene.batch.manifest.batch, scene.code
    return kept_draft(scene.laptop, batch, code, item_id(1), "translation")


def test_help_is_reached_with_the_draft_kept_first(scene: TranslationScene) -> None:
    scene.write("unsaved")
    scene.press(Qt.Key.Key_F1)
    assert scene.onward == [Onward.HELP]
    assert _draft(scene) == "unsaved"


def test_what_was_not_saved_stays_and_the_same_key_works_again(scene: TranslationScene) -> None:
    scene.write("my words")
    with held(scene):
        scene.press(Qt.Key.Key_Return)
        assert BUSY in texts(scene)
        assert (scene.item, scene.box.written) == (item_id(1), "my words")
    scene.press(Qt.Key.Key_Return)
    assert scene.given() == [(item_id(1), "my words")]
    assert BUSY not in texts(scene)


def test_a_comment_that_was_not_kept_is_saved_with_the_translation(scene: TranslationScene) -> None:
    scene.write("my text")
    scene.click("comment")
    with held(scene):
        scene.write("an old word")
        scene.press(Qt.Key.Key_Escape)
        assert BUSY in texts(scene)
        assert (scene.page.mode, scene.box.written) == (Mode.ANSWER, "my text")
        assert mark(scene, "Your comment, not saved yet:") == "an old word"
    scene.press(Qt.Key.Key_Return)
    assert [each.text for each in scene.events(Comment)] == ["an old word"]
    assert scene.given() == [(item_id(1), "my text")]
    assert scene.draft(item_id(1), TextField.COMMENT) is None


def test_a_key_that_is_held_down_saves_one_sentence(scene: TranslationScene) -> None:
    scene.write("once")
    scene.send(Qt.Key.Key_Return)
    for _ in range(20):
        scene.send(Qt.Key.Key_Return, repeats=True)
    scene.idle()
    assert (scene.given(), scene.item) == ([(item_id(1), "once")], item_id(2))


def test_the_last_sentence_leads_away(make: Make) -> None:
    scene = make(1)
    scene.write("all")
    scene.press(Qt.Key.Key_Return)
    assert (scene.onward, scene.session.view.phase) == ([None], Phase.END)


def test_a_sentence_whose_letters_are_missing_is_not_asked(make: Make) -> None:
    odd = [BatchItem(id=item_id(1), source="\U00012000\U00012001", candidate="")]
    batch = batch_of([*odd, *sentences_of(3)[1:]], task="translate")
    scene = make(batch=batch)
    assert not scene.box.isVisible()
    assert "cannot show the letters of this sentence" in texts(scene)
    scene.press("s")
    assert scene.item == item_id(2)
    assert scene.box.isVisible()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_sentence_box_and_button_have_room_at_every_size(
    make: Make, size: int, language: str
) -> None:
    items = [item.model_copy(update={"source": LONG}) for item in sentences_of(4)]
    batch = batch_of(items, task="translate", letters=("â", "ê", "î", "ô", "ā", "ē", "ī", "ō"))
    scene = make(batch=batch, size=size, language=language)
    page = scene.page
    for button in page.findChildren(QAbstractButton):
        if button.isVisible() and page.rect().intersects(_in_page(page, button)):
            here = _in_page(page, button)
            assert here.left() >= 0, button.text()
            assert here.right() < page.width(), button.text()
            assert min(here.width(), here.height()) >= 44
    assert _in_page(page, page.save_button).bottom() <= page.height()
    assert page.reading.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("size", SIZES)
def test_the_line_on_which_one_types_is_in_sight(make: Make, size: int) -> None:
    items = [item.model_copy(update={"source": LONG}) for item in sentences_of(4)]
    scene = make(batch=batch_of(items, task="translate", letters=LETTERS), size=size)
    for _ in range(12):
        scene.write("niwâpamâw atim sîpîhk ")
        scene.press(Qt.Key.Key_Return, modifiers=Qt.KeyboardModifier.ShiftModifier)
    seen = scene.page.reading.viewport()
    line = scene.page.box.line_in(seen)
    assert line.top() >= 0
    assert line.bottom() <= seen.height()


def _in_page(page: TranslationPage, widget: QAbstractButton) -> QRect:
    return widget.rect().translated(widget.mapTo(page, widget.rect().topLeft()))
