"""A whole sitting by keys and buttons: every page leads on and back, and nothing is lost on the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QClipboard, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel

from review.desktop.frame.page import Page
from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import AnswersPage, EndPage, LaterPage, RestPage
from review.desktop.item.translation_page import TranslationPage
from review.desktop.pages.ending_pages import ErasePage, WithdrawPage
from review.desktop.pages.first_pages import ConsentPage, OrganisationPage, SharingPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.pages.help_page import HelpPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, Tick
from review.log.fold import ReviewerState, fold
from review.log.payloads import Consent, Rate
from review.rating import Rating
from tests.desktop.sitting_scene import Scene, SceneOf, assert_more_is_told
from tests.desktop.visit_scene import Enter
from tests.review.session.scenes import (
    CODE,
    GUIDE,
    batch_of,
    item_id,
    items_of,
    sentences_of,
    write_file,
)
from tests.review.thorough import first

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape


def ratings(scene: Scene) -> list[Rating]:
    said = [event.payload for event in scene.laptop.events()]
    return [each.rating for each in said if isinstance(each, Rate)]


def source(scene: Scene) -> str:
    return scene.page_of(ItemPage).texts.source.toPlainText()


def rows(scene: Scene, word: str = "Source") -> list[str]:
    return [each for each in scene.buttons if word in each]


def test_sitting_by_keys_leads_to_the_end_and_back(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.look_again()
    assert "You have not answered anything yet." in scene.texts()
    scene.press(ESC, "4", "s")
    scene.press("?")
    scene.page_of(HelpPage)
    assert GUIDE in scene.texts()
    assert "Excellent – as a good speaker would say it" in scene.texts()
    scene.press("?")
    assert source(scene) == "Source 3."
    scene.press("2")
    assert scene.page_of(LaterPage).accessibleName() == "2 of 3"
    assert "You left 1 sentence for later. Look at it now?" in scene.texts()
    scene.press(ENTER)
    assert source(scene) == "Source 2."
    scene.press("1")
    scene.page_of(EndPage)
    assert ratings(scene) == [Rating.EXCELLENT, Rating.GIST, Rating.REJECT]
    assert "Excellent: 1 · Gist: 1 · Reject: 1" in scene.texts()
    assert "You answered 3 of 3." in scene.texts()
    scene.press("u")
    assert "Your answer was: Reject." in scene.texts()
    scene.press("0", "1")
    scene.page_of(EndPage)
    assert "Excellent: 1 · Gist: 1 · Could not judge: 1" in scene.texts()
    scene.press("q")
    assert scene.ended
    assert len(ratings(scene)) == 3


def test_own_answers_are_kept_or_changed(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4", "2", "1")
    scene.click("Look at my answers again")
    assert rows(scene) == [
        "1: Excellent\nSource 1.\nCandidate 1.",
        "2: Gist\nSource 2.\nCandidate 2.",
        "3: Reject\nSource 3.\nCandidate 3.",
    ]
    scene.click("2: Gist")
    assert "Your answer is: Gist." in scene.texts()
    scene.press(ENTER)
    scene.page_of(EndPage)
    assert len(ratings(scene)) == 3
    scene.press("u", "3")
    scene.page_of(EndPage)
    assert "Excellent: 1 · Acceptable: 1 · Gist: 1" in scene.texts()


def test_trouble_at_the_end_is_told_and_the_page_stays(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4", "4", "4")
    with closing(sqlite3.connect(scene.laptop.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        scene.press("u")
        scene.page_of(EndPage)
        assert "open in another window" in scene.texts()
    scene.press("u")
    scene.page_of(ItemPage)


def test_rest_is_left_by_a_key_and_a_long_list_is_shown_in_pieces(scene_of: SceneOf) -> None:
    scene = scene_of(batch=batch_of(items_of(50)))

    def rate(count: int) -> None:
        for _ in range(count):
            scene.session.painted(_item(scene))
            scene.session.rate(_item(scene), Rating.GIST)

    rate(24)
    scene.start()
    scene.press("1")
    scene.page_of(RestPage)
    assert "25 of 50" in scene.texts()
    scene.press(ENTER)
    scene.page_of(ItemPage)
    rate(19)
    scene.look_again()
    assert len(rows(scene)) == 40
    scene.click("Show more")
    assert len(rows(scene)) == 44
    assert "Show more" not in scene.buttons


# translations


def translating(make: SceneOf, **wishes: object) -> Scene:
    return make(batch=batch_of(sentences_of(3), task="translate"), **wishes)


def write(scene: Scene, text: str) -> None:
    scene.press(*text, ENTER)


def said(scene: Scene) -> ReviewerState:
    return fold(scene.laptop.events()).reviewers[scene.batch.manifest.batch, CODE]


@pytest.mark.thorough
def test_translations_go_the_same_way_to_the_stick(scene_of: SceneOf) -> None:
    scene = translating(scene_of)
    scene.press(*"o", Qt.Key.Key_F1)
    scene.page_of(HelpPage)
    assert "How to translate" in scene.texts()
    assert "I cannot translate this one" in scene.texts()
    assert "Excellent" not in scene.texts()
    scene.press(ESC)
    scene.opening.set_language("fr")
    scene.window.reworded.emit()
    scene.idle()
    assert scene.page_of(TranslationPage).accessibleName() == "Phrase 1 sur 3"
    assert scene.page_of(TranslationPage).box.text == "o"
    scene.opening.set_language("en")
    scene.window.reworded.emit()
    scene.idle()
    write(scene, "ne")
    scene.click("Later")
    write(scene, "three")
    scene.page_of(LaterPage)
    scene.press(ENTER)
    write(scene, "two")
    scene.page_of(EndPage)
    assert "You answered 3 of 3." in scene.texts()
    assert "Could not judge" not in scene.texts()
    scene.click("Look at my answers again")
    assert rows(scene, "Translated")[0] == "1: Translated\nSource 1.\none"
    scene.click("2: Translated")
    assert scene.page_of(TranslationPage).box.text == "two"
    scene.press(ENTER)  # nothing was changed
    scene.page_of(EndPage)
    scene.click("Look at my answers again")
    scene.page_of(AnswersPage)
    scene.click("2: Translated")
    write(scene, "s")
    scene.press("w")
    scene.page_of(WithdrawPage)
    assert "My comments here; my translations stay" in scene.buttons
    scene.press(ESC, "x", ENTER)
    assert "You may pull the stick out." in scene.texts()
    assert list(scene.stick.glob("*.rosetta-ratings"))
    assert said(scene).translations == {item_id(1): "one", item_id(3): "three", item_id(2): "twos"}


def test_use_of_translations_is_asked_and_never_assumed(enter: Enter, tmp_path: Path) -> None:
    def shared() -> list[bool]:
        said = [each.payload for each in entry.laptop.events()]
        return [each.share_corrections for each in said if isinstance(each, Consent)]

    def keys(page: Page) -> list[str]:
        buttons = page.findChildren(Answers)[0].findChildren(Button)
        return [each.accessibleDescription() for each in buttons]

    batch = batch_of(sentences_of(1), task="translate")
    entry = enter(places=[write_file(batch, tmp_path / "stick")])
    entry.page(OrganisationPage)
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    assert entry.page(ConsentPage).findChildren(Tick) == []  # it is asked on a page of its own
    assert "You will see 1 sentence and write it in your language." in entry.read
    entry.press("\r")
    page = entry.page(SharingPage)
    assert "May your translations be used?" in entry.read
    assert keys(page)[0] == "Key 1"
    entry.press("\r")
    assert "Press 1 for yes or 2 for no." in entry.read
    assert shared() == []
    entry.press("\x1b")
    entry.page(ConsentPage)
    entry.press("\r", "2")
    entry.page(TranslationPage)
    assert shared() == [False]
    entry.answer("o")
    entry.type("ne")
    entry.press("\r")
    entry.page(EndPage)
    assert "My translations may not be used." in entry.read
    entry.click("Say whether your translations may be used")
    assert keys(entry.page(SharingPage)) == ["Key 1", "Key 2. Chosen."]
    entry.press("1")
    entry.page(EndPage)
    assert "My translations may be used." in entry.read
    assert "Saved: My translations may be used." in entry.read
    assert shared() == [False, True]


# the clipboard, and every page at its largest


@pytest.mark.parametrize(
    ("secret", "leaves"), [(True, "by-key"), (True, "by-closing"), (False, "by-key")]
)
def test_no_secret_stays_in_the_clipboard(
    scene_of: SceneOf, monkeypatch: pytest.MonkeyPatch, secret: bool, leaves: str
) -> None:
    scene = scene_of(batch=batch_of(items_of(3), secret=secret))
    monkeypatch.setattr(QClipboard, "ownsClipboard", lambda _: True)
    QGuiApplication.clipboard().setText("Candidate 1.")
    scene.press("q") if leaves == "by-key" else scene.window.close()
    assert QGuiApplication.clipboard().text() == ("" if secret else "Candidate 1.")


_FEWEST_LINES, _TABS = 2, 12


def pages(scene: Scene) -> Iterator[tuple[str, Page]]:
    """Go through every page but that of an item."""
    for _ in range(3):
        scene.session.painted(_item(scene))
        scene.session.rate(_item(scene), Rating.GIST)
    scene.start()
    yield "end", scene.here
    yield from _after(scene, "help", "?", ESC)
    scene.look_again()
    yield "answers", scene.here
    scene.press(ESC)
    yield from _after(scene, "withdraw", "w")
    yield from _after(scene, "sure", "2", ESC)
    scene.sticks = []
    yield from _after(scene, "no stick", "x")
    page = scene.page_of(HandOverPage)
    scene.click(scene.desk.words("Another folder …"))
    yield "folders", page
    scene.press(ESC)
    page.save(scene.folder / "gone")
    scene.idle()
    yield "not written", page
    page.save(scene.stick)
    scene.idle()
    yield "written", page
    scene.press(ENTER)
    scene.window.erase.emit()
    scene.idle()
    erase = scene.page_of(ErasePage)
    yield "erase", erase
    erase.findChild(Tick).setChecked(True)
    scene.click(scene.desk.words("Delete everything"))
    yield "erased", scene.here


def _assert_focus_is_seen(scene: Scene, page: Page, name: str) -> None:
    """Go round with Tab: what has the focus is seen; what is scrolled away has it no more."""
    viewport, bar = page.reading.viewport(), page.reading.verticalScrollBar()
    scene.window.activateWindow()
    page.setFocus()
    scene.qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    begun: set[int] = set()
    for _ in range(_TABS):
        scene.press(Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        if id(focused) in begun:
            break
        begun.add(id(focused))
        if page.reading.widget().isAncestorOf(focused):
            top = focused.mapTo(viewport, QPoint(0, 0)).y()
            whole = top >= 0 and top + focused.height() <= viewport.height()
            assert whole or focused.height() > viewport.height(), (name, focused)
            bar.setValue(0 if bar.value() > bar.maximum() // 2 else bar.maximum())
            kept = QApplication.focusWidget()
            if isinstance(kept, Button) and page.reading.widget().isAncestorOf(kept):
                assert kept.visibleRegion().boundingRect().height() * 2 >= kept.height(), name
    page.setFocus()
    bar.setValue(0)


def _item(scene: Scene) -> str:
    assert scene.session.view.item is not None
    return scene.session.view.item.id


def _after(scene: Scene, name: str, *keys: str | Qt.Key) -> Iterator[tuple[str, Page]]:
    scene.press(keys[0])
    yield name, scene.here
    scene.press(*keys[1:])


@pytest.mark.parametrize("language", first(1, ["fr", "en"]))
def test_largest_letters_cut_nothing_off_on_any_page(scene_of: SceneOf, language: str) -> None:
    scene = scene_of(language=language, size=48)
    for name, page in pages(scene):
        QApplication.processEvents()
        assert (page.width(), page.height()) == (1024, 600), name
        assert not page.reading.horizontalScrollBar().isVisible()
        assert page.reading.widget().width() <= page.reading.viewport().width(), name
        lines = page.reading.viewport().height() / page.fontMetrics().lineSpacing()
        assert lines >= _FEWEST_LINES, name
        _assert_focus_is_seen(scene, page, name)
        assert_more_is_told(page, name)
        for button in page.findChildren(Button):
            if button.isVisible():
                assert button.accessibleName().strip(), name
                assert button.width() >= button.minimumSizeHint().width(), (name, button.text())
                assert button.height() >= button.heightForWidth(button.width()), name
        for label in page.findChildren(QLabel):
            if label.isVisible() and label.wordWrap():
                assert label.height() >= label.heightForWidth(label.width()), (name, label.text())
