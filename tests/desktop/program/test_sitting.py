"""A whole sitting by keys and buttons: every page leads on and back, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QClipboard, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel

from review.desktop.frame.page import Page
from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import AnswersPage, EndPage, LaterPage, RestPage
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.pages.help_page import HelpPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Tick
from review.log.laptop import Laptop
from review.log.payloads import Face, Rate
from review.rating import Rating
from review.session.session import Session
from review.session.words.catalogue import Words
from tests.desktop.sitting_scene import Scene, SceneOf, assert_more_is_told
from tests.review.log.material import kept_draft
from tests.review.session.scenes import CODE, GUIDE, OTHER_CODE, batch_of, items_of, sentences_of

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape


def ratings(scene: Scene) -> list[Rating]:
    said = [event.payload for event in scene.laptop.events()]
    return [each.rating for each in said if isinstance(each, Rate)]


def test_from_the_first_sentence_to_the_end_by_keys(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4", "s", "2")
    later = scene.page_of(LaterPage)
    assert "You left 1 sentence for later. Look at it now?" in scene.texts()
    assert later.accessibleName() == "2 of 3"
    scene.press(ENTER)
    assert "Source 2." in scene.page_of(ItemPage).texts.source.toPlainText()
    scene.press("1")
    scene.page_of(EndPage)
    assert ratings(scene) == [Rating.EXCELLENT, Rating.GIST, Rating.REJECT]
    assert "Excellent: 1 · Gist: 1 · Reject: 1" in scene.texts()
    assert "You answered 3 of 3." in scene.texts()
    scene.press("q")
    assert scene.ended


def test_what_cannot_be_judged_is_counted_apart(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4", "4", "0", "1")
    scene.page_of(EndPage)
    assert "Excellent: 2 · Could not judge: 1" in scene.texts()


def test_a_rest_is_offered_after_25_answers_and_one_key_goes_on(scene_of: SceneOf) -> None:
    scene = scene_of(batch=batch_of(items_of(26)))
    scene.press(*"1234" * 6, "1")
    scene.page_of(RestPage)
    assert "25 of 26" in scene.texts()
    scene.press(ENTER)
    scene.page_of(ItemPage)
    scene.press("3")
    scene.page_of(EndPage)


def test_undo_leads_back_from_the_end(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4", "4", "4")
    scene.press("u")
    assert "Your answer was: Excellent." in scene.texts()
    scene.press("1")
    assert "Excellent: 2 · Reject: 1" in scene.texts()


@pytest.mark.parametrize("back", [ESC, ENTER, "?"])
def test_help_leads_back_to_the_same_sentence(scene_of: SceneOf, back: str | Qt.Key) -> None:
    scene = scene_of()
    scene.press("3", "?")
    scene.page_of(HelpPage)
    texts = scene.texts()
    assert GUIDE in texts
    assert "Excellent – as a good speaker would say it" in texts
    scene.press(back)
    assert scene.page_of(ItemPage).view.item is not None
    assert scene.page_of(ItemPage).texts.source.toPlainText() == "Source 2."
    scene.press("2")
    assert ratings(scene) == [Rating.ACCEPTABLE, Rating.GIST]


# the person's own answers


def test_an_answer_is_looked_at_and_left_as_it_is(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4", "2", "1")
    scene.click("Look at my answers again")
    rows = scene.buttons()
    assert [row for row in rows if "Source" in row] == [
        "1: Excellent\nSource 1.\nCandidate 1.",
        "2: Gist\nSource 2.\nCandidate 2.",
        "3: Reject\nSource 3.\nCandidate 3.",
    ]
    scene.click("2: Gist")
    assert "Your answer is: Gist." in scene.texts()
    scene.press(ENTER)
    scene.page_of(EndPage)
    assert len(ratings(scene)) == 3


def test_an_answer_is_changed_and_the_last_word_counts(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4", "2", "1")
    scene.click("Look at my answers again")
    scene.click("1: Excellent")
    scene.press("3")
    scene.page_of(EndPage)
    assert "Acceptable: 1 · Gist: 1 · Reject: 1" in scene.texts()
    scene.press("u", ESC)
    scene.page_of(EndPage)
    assert "Excellent: 1 · Gist: 1 · Reject: 1" in scene.texts()


def test_answers_are_looked_at_in_the_middle_and_the_way_goes_on(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4")
    scene.look_again()
    scene.click("1: Excellent")
    scene.press(ESC)
    assert scene.page_of(ItemPage).texts.source.toPlainText() == "Source 2."


def test_nobody_sees_what_another_answered(scene_of: SceneOf) -> None:
    scene = scene_of()
    other = Session(
        scene.laptop, scene.batch, OTHER_CODE, Face.DESKTOP, Words.load("en"), guard=0.0
    )
    other.agree(share_corrections=False)
    item = other.view.item
    assert item is not None
    other.painted(item.id)
    other.rate(item.id, Rating.REJECT)
    scene.look_again()
    scene.page_of(AnswersPage)
    assert "You have not answered anything yet." in scene.texts()
    assert not [row for row in scene.buttons() if "Source" in row]


def test_a_long_list_is_shown_piece_by_piece(scene_of: SceneOf) -> None:
    scene = scene_of(batch=batch_of(items_of(50)))
    for _ in range(45):
        item = scene.session.view.item
        if item is None:
            scene.session.go_on()
            continue
        scene.session.painted(item.id)
        scene.session.rate(item.id, Rating.GIST)
    scene.look_again()
    assert len([row for row in scene.buttons() if "Source" in row]) == 40
    scene.click("Show more")
    assert len([row for row in scene.buttons() if "Source" in row]) == 44
    assert "Show more" not in scene.buttons()


# what is typed, and the end


def test_what_is_typed_is_kept_when_the_window_closes(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("c", *"not so")
    scene.window.close()
    item = scene.session.view.item
    assert item is not None
    batch = scene.batch.manifest.batch
    assert kept_draft(scene.laptop, batch, CODE, item.id, "comment") == "not so"


def test_after_the_end_no_key_does_anything(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("q")
    assert scene.ended
    scene.press("4", "q", ENTER)
    assert ratings(scene) == []
    assert scene.ended


def test_another_language_is_spoken_at_once_and_what_is_typed_stays(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("c", *"not so")
    scene.opening.set_language("fr")
    scene.window.reworded.emit()
    scene.idle()
    assert scene.page_of(ItemPage).accessibleName() == "Phrase 1 sur 3"
    item = scene.session.view.item
    assert item is not None
    assert item.comment == "not so"


def test_trouble_while_undoing_at_the_end_is_said_and_the_page_stays(scene_of: SceneOf) -> None:
    import sqlite3
    from contextlib import closing

    scene = scene_of()
    scene.press("4", "4", "4")
    with closing(sqlite3.connect(scene.laptop.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        scene.press("u")
        scene.page_of(EndPage)
        assert "open in another window" in scene.texts()
    scene.press("u")
    scene.page_of(ItemPage)


def test_a_file_that_was_moved_away_is_said_at_the_end_and_nothing_is_claimed(
    scene_of: SceneOf, tmp_path: Path
) -> None:
    scene = scene_of()
    scene.press("4", "4", "4")
    scene.laptop.path.rename(tmp_path / "moved")
    scene.press("u")
    scene.page_of(EndPage)
    assert "was moved, or its disk is gone" in scene.texts()
    (tmp_path / "moved").rename(scene.laptop.path)
    with Laptop.open(scene.home) as again:
        assert len([1 for event in again.events() if isinstance(event.payload, Rate)]) == 3


def test_translations_have_the_same_way_from_the_first_to_the_stick(scene_of: SceneOf) -> None:
    scene = scene_of(batch=batch_of(sentences_of(2), task="translate"))
    scene.press(*"unu", ENTER)
    scene.press(*"du", ENTER)
    scene.page_of(EndPage)
    assert "You answered 2 of 2." in scene.texts()
    assert "Could not judge" not in scene.texts()
    scene.click("Look at my answers again")
    assert [row for row in scene.buttons() if "Translated" in row] == [
        "1: Translated\nSource 1.\nunu",
        "2: Translated\nSource 2.\ndu",
    ]
    scene.press(ESC, "x", ENTER)
    assert "You may pull the stick out." in scene.texts()


@pytest.mark.parametrize("secret", [True, False])
@pytest.mark.parametrize("leaves", ["by-key", "by-closing"])
def test_no_secret_sentence_stays_in_the_clipboard(
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
    scene.session.rate(_item(scene), Rating.GIST)
    scene.start()
    yield from _after(scene, "help", "?", ESC)
    scene.look_again()
    yield "answers", scene.page
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
    yield "erased", scene.page


def _assert_focus_is_seen(scene: Scene, page: Page, name: str) -> None:
    """Go round with Tab: what has the focus is seen; what is scrolled away has it no more."""
    viewport, bar = page.reading.viewport(), page.reading.verticalScrollBar()
    scene.window.activateWindow()
    page.setFocus()
    scene.qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    for _ in range(_TABS):
        scene.press(Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
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
    yield name, scene.page
    scene.press(*keys[1:])


@pytest.mark.parametrize("language", ["en", "fr"])
def test_nothing_is_cut_off_and_nothing_runs_out_sideways(scene_of: SceneOf, language: str) -> None:
    scene = scene_of(language=language, size=48)
    scene.look.set_size(48)
    for name, page in pages(scene):
        QApplication.processEvents()
        assert (page.width(), page.height()) == scene.room, name
        assert not page.reading.horizontalScrollBar().isVisible()
        assert page.reading.widget().width() <= page.reading.viewport().width(), name
        lines = page.reading.viewport().height() / page.fontMetrics().lineSpacing()
        assert lines >= _FEWEST_LINES, name
        _assert_focus_is_seen(scene, page, name)
        assert_more_is_told(page, name)
        for button in page.findChildren(Button):
            if button.isVisible():
                assert button.width() >= button.minimumSizeHint().width(), (name, button.text())
                assert button.height() >= button.heightForWidth(button.width()), name
        for label in page.findChildren(QLabel):
            if label.isVisible() and label.wordWrap():
                assert label.height() >= label.heightForWidth(label.width()), (name, label.text())
