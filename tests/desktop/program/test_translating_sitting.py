"""A whole sitting of a translator: every page says what is meant, leads on and back, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from review.desktop.item.pauses import AnswersPage, EndPage, LaterPage, WithdrawnPage
from review.desktop.item.translation_page import TranslationPage
from review.desktop.pages.ending_pages import WithdrawPage
from review.desktop.pages.first_pages import ConsentPage, OrganisationPage, SharingPage
from review.desktop.pages.help_page import HelpPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, Tick
from review.log.fold import ReviewerState, fold
from review.log.payloads import Consent
from tests.desktop.sitting_scene import Scene, SceneOf, scenes
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import CODE, batch_of, item_id, sentences_of, write_file

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape


@pytest.fixture
def scene(qtbot: QtBot, tmp_path: Path) -> Iterator[Scene]:
    with scenes(qtbot, tmp_path) as make:
        yield translating(make)


def translating(make: SceneOf, **wishes: object) -> Scene:
    return make(batch=batch_of(sentences_of(3), task="translate"), **wishes)


def write(scene: Scene, text: str) -> None:
    """Type what a keyboard has, then Enter."""
    scene.press(*text)
    scene.press(ENTER)


def said(scene: Scene) -> ReviewerState:
    return fold(scene.laptop.events()).reviewers[scene.batch.manifest.batch, CODE]


def test_from_the_first_sentence_to_the_stick(scene: Scene) -> None:
    write(scene, "one")
    scene.click("Later")
    write(scene, "three")
    scene.page_of(LaterPage)
    scene.press(ENTER)
    write(scene, "two")
    scene.page_of(EndPage)
    assert "You answered 3 of 3." in scene.texts()
    scene.press("x")
    scene.press(ENTER)
    assert list(scene.stick.glob("*.rosetta-ratings"))
    assert said(scene).translations == {
        item_id(1): "one", item_id(3): "three", item_id(2): "two",
    }  # fmt: skip


def test_an_answer_is_looked_at_again_and_changed(scene: Scene) -> None:
    for text in ("one", "two", "three"):
        write(scene, text)
    scene.click("Look at my answers again")
    page = scene.page_of(AnswersPage)
    page.answered.emit(item_id(2))
    scene.idle()
    assert scene.page_of(TranslationPage).box.text == "two"
    scene.press(ENTER)  # nothing was changed
    scene.page_of(EndPage)
    scene.click("Look at my answers again")
    scene.page_of(AnswersPage).answered.emit(item_id(2))
    scene.idle()
    write(scene, "s")
    scene.page_of(EndPage)
    assert said(scene).translations[item_id(2)] == "twos"


def test_help_tells_the_keys_of_the_box(scene: Scene) -> None:
    scene.press(*"half", Qt.Key.Key_F1)
    scene.page_of(HelpPage)
    read = scene.texts()
    assert "How to translate" in read
    assert "I cannot translate this one" in read
    assert "Excellent" not in read
    scene.press(ESC)
    assert scene.page_of(TranslationPage).box.text == "half"


def test_taking_comments_back_leaves_translations(scene: Scene) -> None:
    write(scene, "one")
    scene.press(ESC, "w")
    scene.page_of(WithdrawPage)
    assert "My comments here; my translations stay" in scene.buttons()
    scene.press("1", "w")
    assert said(scene).translations == {item_id(1): "one"}
    scene.press(ESC, "w", "2", "w")
    scene.page_of(WithdrawnPage)
    assert not said_anything(scene)


def said_anything(scene: Scene) -> bool:
    return (scene.batch.manifest.batch, CODE) in fold(scene.laptop.events()).reviewers


def test_the_language_changes_while_something_is_typed(scene: Scene) -> None:
    scene.press(*"begun")
    scene.opening.set_language("fr")
    scene.window.reworded.emit()
    scene.idle()
    assert scene.page_of(TranslationPage).box.text == "begun"
    assert scene.session.words.language == "fr"


def test_consent_says_what_is_asked_and_what_may_be_used(scene: Scene) -> None:
    page = ConsentPage(scene.desk, scene.batch.manifest)
    scene.window.show_page(page)
    QApplication.processEvents()
    assert "You will see 3 sentences and write each one in your language." in scene.texts()
    assert page.findChildren(Tick) == []  # it is asked on a page of its own


def test_whether_translations_may_be_used_is_asked_and_no_answer_is_given_for_the_person(
    enter: Enter, tmp_path: Path
) -> None:
    batch = batch_of(sentences_of(1), task="translate")
    entry = enter(places=[write_file(batch, tmp_path / "stick")])
    entry.page(OrganisationPage)
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    entry.press("\r")
    page = entry.page(SharingPage)
    assert "May your translations be used?" in entry.read
    assert page.findChildren(Answers)[0].findChildren(Button)[0].accessibleDescription() == "Key 1"
    entry.press("\r")
    assert "Press 1 for yes or 2 for no." in entry.read
    assert [each for each in entry.laptop.events() if isinstance(each.payload, Consent)] == []
    entry.press("\x1b")
    entry.page(ConsentPage)
    entry.press("\r")
    entry.press("2")
    entry.page(TranslationPage)
    assert shared(entry) == [False]


def shared(entry: Entry) -> list[bool]:
    said = [each.payload for each in entry.laptop.events()]
    return [each.share_corrections for each in said if isinstance(each, Consent)]


def test_whether_they_may_be_used_can_be_changed_on_the_last_page(scene: Scene) -> None:
    for text in ("one", "two", "three"):
        write(scene, text)
    assert "My translations may not be used." in scene.texts()
    scene.click("Say whether your translations may be used")
    page = scene.page_of(SharingPage)
    given = [
        each.accessibleDescription() for each in page.findChildren(Answers)[0].findChildren(Button)
    ]
    assert given == ["Key 1", "Key 2. Chosen."]
    scene.press("1")
    scene.page_of(EndPage)
    assert "My translations may be used." in scene.texts()
    assert "Saved: My translations may be used." in scene.texts()
    assert scene.session.view.shares
    assert [
        each.payload.share_corrections
        for each in scene.laptop.events()
        if isinstance(each.payload, Consent)
    ] == [False, True]
