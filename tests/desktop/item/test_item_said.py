"""What the page of an item says of what is kept, taken back and asked, and where its buttons stand."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication

from review.desktop.item.sentence_face import Mode
from review.desktop.parts.texts import TextPane
from review.log.payloads import (
    Reasons,
)
from review.rating import Rating, Reason
from tests.desktop.item_scene import Make, Scene, button, in_box, texts
from tests.review.session.scenes import batch_of, item_id, training_of


@pytest.fixture
def scene(make: Make) -> Scene:
    return make()


def test_reasons_are_asked_beside_the_sentence_they_are_about(scene: Scene) -> None:
    scene.press("1", ",")
    assert scene.mode is Mode.REASONS
    seen = [each.toPlainText() for each in scene.page.findChildren(TextPane) if each.isVisible()]
    assert seen[:2] == ["Source 1.", "Candidate 1."]
    assert scene.page.accessibleName() == "Sentence 1 of 4"
    scene.press(Qt.Key.Key_Escape)
    seen = [each.toPlainText() for each in scene.page.findChildren(TextPane) if each.isVisible()]
    assert seen[:2] == ["Source 2.", "Candidate 2."]
    assert scene.page.accessibleName() == "Sentence 2 of 4"


def test_reasons_can_be_given_after_two_undos_and_an_answer(scene: Scene) -> None:
    scene.press("1", "2", "u", "u", "3", ",")
    assert scene.mode is Mode.REASONS
    scene.press("2")
    assert [(each.item, each.reasons) for each in scene.events(Reasons)] == [
        (item_id(1), (Reason.MISSING,))
    ]


def test_no_button_changes_its_place_when_there_is_something_to_take_back(scene: Scene) -> None:
    def places() -> dict[str, tuple[int, int]]:
        return {
            each.text(): (each.x(), each.y())
            for each in scene.page.acts.findChildren(QAbstractButton)
            if each.isVisible()
        }

    before = places()
    assert not button(scene, "Undo").isEnabled()
    scene.press("1")
    assert button(scene, "Undo").isEnabled()
    assert places() == before


def test_an_answer_that_was_taken_back_bears_no_sign_of_one_that_counts(scene: Scene) -> None:
    scene.press("2", "u")
    descriptions = [
        each.accessibleDescription() for each in scene.page.answers.findChildren(QAbstractButton)
    ]
    assert descriptions == ["Key 1", "Key 2", "Key 3", "Key 4"]
    assert "It does not count." in texts(scene)


def test_practice_says_that_it_does_not_count_and_why_one_comes_again(make: Make) -> None:
    scene = make(batch=batch_of(training=training_of([Rating.GIST])))
    assert "This is only practice: nothing here counts." in texts(scene)
    scene.press("1", Qt.Key.Key_Return)
    assert "answered differently" in texts(scene)
    scene.press("2", Qt.Key.Key_Return)
    assert "practice" not in texts(scene)


def test_a_draft_is_called_so_until_it_is_saved(scene: Scene) -> None:
    scene.press("e")
    in_box(scene, "mine")
    scene.press(Qt.Key.Key_Escape)
    assert "not saved yet" in texts(scene)
    scene.press("e", Qt.Key.Key_Return)
    assert "Your better translation:" in texts(scene)


def test_tab_comes_to_the_answers_before_the_size_of_the_letters(scene: Scene) -> None:
    scene.page.setFocus()
    scene.send(Qt.Key.Key_Tab)
    first = QApplication.focusWidget()
    assert first is not None
    assert first.accessibleName() not in {"Smaller letters", "Larger letters", "Settings"}
