"""Handing in and taking back: sticks that come and go, files that are read back, words that are gone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import EndPage, WithdrawnPage
from review.desktop.pages import hand_over_page
from review.desktop.pages.ending_pages import WithdrawPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.parts.texts import TextPane
from review.files.ratings import open_ratings
from review.log.payloads import Rate, Scope, Withdraw
from review.session.session import Session
from review.session.waiting import Exported
from tests.desktop.visit_scene import Scene, SceneOf, strike
from tests.review.session.scenes import CUSTODIANS

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """At the end, with everything answered."""
    scene = scene_of()
    for rating in "421":
        scene.press(rating)
    scene.page_of(EndPage)
    return scene


def on(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def phrase(scene: Scene) -> str:
    panes = scene.here.findChildren(TextPane)
    scene.qtbot.waitUntil(lambda: any(each.isVisible() for each in panes))
    return next(each for each in panes if each.isVisible()).toPlainText()


@pytest.mark.every_python
def test_file_on_the_stick_is_what_the_page_says(scene: Scene) -> None:
    scene.sticks = [scene.folder / "pulled", scene.stick]
    scene.press("x")
    page = scene.page_of(HandOverPage)
    assert "Where is your stick?" in scene.texts()
    scene.click("pulled")
    said = scene.texts()
    assert "It is not there. Put the stick in and try again." in said
    assert "Nothing was written. Choose another place, or try again." in said
    assert scene.session.view.handed_over == ""
    assert page.offers_settings, "nothing was written"
    scene.press("3", "0")
    assert not on(scene.stick)
    scene.qtbot.waitUntil(scene.button("stick").isVisible)
    scene.button("pulled").setFocus()
    strike(scene.button("pulled"), Qt.Key.Key_Down)
    assert page.focusWidget() is scene.button("stick")
    strike(scene.button("stick"), Qt.Key.Key_Up)
    assert page.focusWidget() is scene.button("pulled")
    scene.press("2")
    assert "Nothing was written" not in scene.texts()
    assert "Saved and checked. You may pull the stick out." in scene.texts()
    scene.press("1", "2")
    (file,) = on(scene.stick)
    opened = open_ratings(file.read_bytes(), CUSTODIANS)
    assert phrase(scene) == opened.phrase(earlier=True)
    assert len(phrase(scene).split()) == 6
    assert str(file) in scene.texts()
    assert b"".join(opened.lines).count(b'"rating":') == 3
    scene.click("Copy the six words")
    assert QGuiApplication.clipboard().text() == phrase(scene)
    scene.window.open_settings()
    assert scene.here is page, "settings never lie over the six words"
    scene.press(ENTER)
    scene.page_of(EndPage)
    assert "Handed in at" in scene.texts()


def test_stick_is_found_by_key_or_itself(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_over_page, "LOOK_MILLISECONDS", 10)
    scene.sticks = []
    scene.press("x")
    assert "No stick was found. Put it into this computer." in scene.texts()
    assert "Look again" in scene.buttons
    scene.sticks = [scene.stick]
    scene.qtbot.waitUntil(lambda: "Where is your stick?" in scene.texts())
    monkeypatch.setattr(hand_over_page, "LOOK_MILLISECONDS", 10**7)
    scene.sticks = []
    scene.press(ESC, "x")
    scene.sticks = [scene.stick]
    scene.press(ENTER)
    assert "Where is your stick?" in scene.texts()
    scene.button("stick").click()
    scene.page_of(HandOverPage).save(scene.stick)  # a click too many
    scene.page_of(HandOverPage).save(scene.folder)
    scene.idle()
    assert len(on(scene.stick)) == 1
    assert not list(scene.folder.glob("*.rosetta-ratings"))


def test_nobody_leaves_while_it_is_written(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, export = threading.Event(), Session.export
    written: list[Exported] = []

    def slowly(session: Session, folder: Path) -> Exported:
        slow.wait(5)
        written.append(export(session, folder))
        return written[-1]

    monkeypatch.setattr(Session, "export", slowly)
    scene.press("x")
    page = scene.page_of(HandOverPage)
    page.save(scene.stick)
    page.back()
    page.enter()
    assert scene.here is page
    assert "If this is a stick, leave it in." in scene.texts()
    assert not {"Back", "Look again", "Another folder …"} & set(scene.buttons)
    slow.set()
    scene.idle()
    assert "You may pull the stick out." in scene.texts()
    scene.press(ENTER, "x")
    slow.clear()
    scene.page_of(HandOverPage).save(scene.stick)
    scene.visit.answer()  # the page goes away while the file is written
    slow.set()
    scene.idle()
    scene.qtbot.waitUntil(lambda: len(written) == 2)
    assert len(on(scene.stick)) == 1, "nothing was added meanwhile"


# taking back: never by a slip, said before and after, and gone from every byte

WORDS, DRAFT = b"said in confidence", b"half a thought"


@pytest.fixture
def answered(scene_of: SceneOf) -> Scene:
    """One answer, one comment and one draft were given."""
    scene = scene_of()
    scene.press("c")
    scene.type(WORDS.decode())
    scene.press(ENTER, "4", "c")
    scene.type(DRAFT.decode())
    scene.press(ESC)
    assert WORDS in every_byte(scene)
    assert DRAFT in every_byte(scene)
    return scene


def every_byte(scene: Scene) -> bytes:
    return b"\n".join(path.read_bytes() for path in scene.home.rglob("*") if path.is_file())


def given(scene: Scene, kind: type) -> list[object]:
    return [each.payload for each in scene.laptop.events() if isinstance(each.payload, kind)]


def test_no_slip_takes_anything_back_and_comments_can_go_alone(answered: Scene) -> None:
    answered.press("w")
    page = answered.page_of(WithdrawPage)
    assert "Erase it" not in answered.buttons
    assert "at any time and without a reason" in answered.texts()
    answered.press("2")
    assert page is answered.here
    assert "This cannot be undone." in answered.texts()
    assert answered.button("Erase it").property("role") != "main"
    assert answered.button("Keep everything").property("role") == "main"
    assert not answered.button("Erase it").hasFocus()
    answered.press(ESC)
    answered.press(*"www", ESC)
    answered.page_of(ItemPage)
    answered.press("w", "2", ENTER)
    answered.page_of(ItemPage)
    assert not given(answered, Withdraw)
    assert len(given(answered, Rate)) == 1
    assert WORDS in every_byte(answered)
    answered.press("w", "1")
    answered.click("Erase it")
    answered.page_of(ItemPage)
    assert "Your comments and better translations are erased." in answered.texts()
    assert WORDS not in every_byte(answered)
    assert len(given(answered, Rate)) == 1
    answered.press("w", "2")
    page = answered.page_of(WithdrawPage)
    page.answered.emit(Scope.BATCH)
    page.answered.emit(Scope.BATCH)
    answered.idle()
    assert len(given(answered, Withdraw)) == 2  # of the comments, and once of everything
    assert not given(answered, Rate)


def test_what_was_taken_back_is_gone_and_the_stick_tells_it(answered: Scene) -> None:
    answered.press("w", "3", "w")
    answered.page_of(WithdrawnPage)
    assert "is erased on this computer" in answered.texts()
    for gone in (WORDS, DRAFT, b'"rating":"excellent"'):
        assert gone not in every_byte(answered)
    answered.press("4", "u", "c")
    assert not given(answered, Rate)
    answered.press(ENTER, ENTER)
    assert "You may pull the stick out." in answered.texts()
    (file,) = answered.stick.iterdir()
    lines = b"".join(open_ratings(file.read_bytes(), CUSTODIANS).lines)
    assert b'"kind":"withdraw"' in lines
    assert WORDS not in lines
    answered.press(ENTER)
    answered.page_of(WithdrawnPage)
