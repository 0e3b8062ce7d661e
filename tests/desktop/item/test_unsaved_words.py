"""Words that are only drafts: named where answers are handed over, with a way to them, and lost nowhere."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import EndPage, LaterPage
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.hand_over_page import HandOverPage
from review.files.ratings import open_ratings
from tests.desktop.sitting_scene import Scene, SceneOf
from tests.review.session.scenes import CUSTODIANS

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
NAMED = "What you wrote about 1 sentence is not saved, so it is not handed over: sentence 2."


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """Three sentences: the first answered with its comment, the second left for later with a better translation."""
    scene = scene_of()
    write(scene, "c", "too formal")
    scene.press("2")
    write(scene, "e", "mi vidis")
    scene.press("s")
    return scene


def write(scene: Scene, key: str, text: str) -> None:
    """Open the box, type, and leave it with Esc."""
    scene.press(key)
    scene.page_of(ItemPage).writing.take(text)
    scene.press(ESC)


def handed_over(scene: Scene) -> bytes:
    (file,) = scene.stick.iterdir()
    return b"".join(open_ratings(file.read_bytes(), CUSTODIANS).lines)


def test_words_of_an_answer_are_handed_over_and_others_are_named_before(scene: Scene) -> None:
    scene.press("x")
    page = scene.page_of(HandOverPage)
    texts = scene.texts()
    assert (
        "You answered 1 of 3. 1 sentence is left for later. 1 sentence has no answer yet." in texts
    )
    assert NAMED in texts
    scene.press("t")
    item = scene.page_of(ItemPage)
    assert item.view.item is not None
    assert (item.view.item.number, item.view.item.suggestion) == (2, "mi vidis")
    assert "What you wrote here is not saved yet." in scene.texts()
    scene.press("e", ENTER)
    scene.press("x")
    assert scene.page_of(HandOverPage) is not page
    assert "not saved" not in scene.texts()
    scene.press(ENTER)
    lines = handed_over(scene)
    assert b"too formal" in lines
    assert b"mi vidis" in lines


def test_the_last_pages_name_them_and_lead_there_and_back(scene: Scene) -> None:
    scene.press("3")
    scene.page_of(LaterPage)
    assert NAMED in scene.texts()
    scene.press(ENTER, "4")
    scene.page_of(EndPage)
    assert "not saved" not in scene.texts(), "the answer saved it"
    scene.click("Look at my answers again")
    scene.click("2")
    write(scene, "c", "and old")
    scene.press(ESC)
    scene.page_of(EndPage)
    assert NAMED in scene.texts()
    scene.click("Look at what is not saved")
    scene.press("c", ENTER, ENTER)
    scene.page_of(EndPage)
    assert "not saved" not in scene.texts()
    scene.press("x", ENTER)
    assert b"and old" in handed_over(scene)


def test_whoever_deletes_everything_is_told_of_them(scene: Scene) -> None:
    scene.window.erase.emit()
    scene.idle()
    scene.page_of(ErasePage)
    QApplication.processEvents()
    assert "1 text was written and not saved. It is not handed over" in scene.texts()
