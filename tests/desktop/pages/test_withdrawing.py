"""Taking back in the window: never by a slip, said before and after, and gone from every byte."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import WithdrawnPage
from review.desktop.pages.withdraw_page import WithdrawPage
from review.files.ratings import open_ratings
from review.log.payloads import Rate, Scope, Withdraw
from tests.desktop.sitting_scene import Scene, SceneOf
from tests.review.session.scenes import CUSTODIANS

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
WORDS = "said in confidence"


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """One answer and one comment were given."""
    scene = scene_of()
    scene.press("c", *WORDS, ENTER, "4")
    assert WORDS.encode() in every_byte(scene)
    return scene


def every_byte(scene: Scene) -> bytes:
    return b"\n".join(path.read_bytes() for path in scene.home.rglob("*") if path.is_file())


def given(scene: Scene, kind: type) -> list[object]:
    return [each.payload for each in scene.laptop.events() if isinstance(each.payload, kind)]


@pytest.mark.parametrize(
    "keys",
    [["w"] * 5, ["w", ENTER, "w", ENTER], ["w", "2", ESC], ["w", "2", ENTER], ["w", "1", "3", ESC]],
    ids=["w-alone", "enter", "esc", "enter-after-choice", "esc-after-two-choices"],
)
def test_no_slip_takes_anything_back(scene: Scene, keys: list[str | Qt.Key]) -> None:
    scene.press(*keys)
    assert not given(scene, Withdraw)
    assert len(given(scene, Rate)) == 1
    assert WORDS.encode() in every_byte(scene)


def test_the_second_button_is_not_there_before_a_choice_and_never_the_main_one(
    scene: Scene,
) -> None:
    scene.press("w")
    page = scene.page_of(WithdrawPage)
    assert "Erase it" not in scene.buttons()
    assert "at any time and without a reason" in scene.texts()
    scene.press("2")
    assert "This cannot be undone." in scene.texts()
    assert scene.button("Erase it").property("role") != "main"
    assert scene.button("Keep everything").property("role") == "main"
    assert not scene.button("Erase it").hasFocus()
    assert page is scene.page


@pytest.mark.parametrize("scope", ["2", "3"])
def test_what_was_taken_back_is_gone_from_every_byte(scene: Scene, scope: str) -> None:
    scene.press("w", scope, "w")
    scene.page_of(WithdrawnPage)
    assert "is erased on this computer" in scene.texts()
    found = every_byte(scene)
    assert WORDS.encode() not in found
    assert b'"rating":"excellent"' not in found
    scene.press("4", "u", "c")
    assert not given(scene, Rate)


def test_comments_alone_are_taken_back_and_the_answers_stay(scene: Scene) -> None:
    scene.press("w", "1")
    scene.click("Erase it")
    scene.page_of(ItemPage)
    assert "Your comments and better translations are erased." in scene.texts()
    assert WORDS.encode() not in every_byte(scene)
    assert len(given(scene, Rate)) == 1


def test_a_draft_in_an_open_box_goes_too(scene: Scene) -> None:
    scene.press("c", *"half a thought")
    scene.press(ESC)
    assert b"half a thought" in every_byte(scene)
    scene.press("w", "2", "w")
    assert b"half a thought" not in every_byte(scene)


def test_the_next_stick_tells_the_organisation(scene: Scene) -> None:
    scene.press("w", "2", "w")
    scene.press(ENTER, ENTER)
    assert "You may pull the stick out." in scene.texts()
    (file,) = scene.stick.iterdir()
    lines = b"".join(open_ratings(file.read_bytes(), CUSTODIANS).lines)
    assert b'"kind":"withdraw"' in lines
    assert WORDS.encode() not in lines
    scene.press(ENTER)
    scene.page_of(WithdrawnPage)


def test_a_second_press_takes_back_once(scene: Scene) -> None:
    scene.press("w", "2")
    page = scene.page_of(WithdrawPage)
    page.answered.emit(Scope.BATCH)
    page.answered.emit(Scope.BATCH)
    scene.idle()
    assert len(given(scene, Withdraw)) == 1
