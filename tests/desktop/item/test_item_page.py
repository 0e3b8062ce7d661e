"""What each key and button does on the page of an item, and what is on the disk when it says so."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from review.desktop.item.sentence_face import Mode
from review.log.payloads import (
    MOST_TEXT,
    Comment,
    HarmFlag,
    NotJudged,
    Rate,
    Reasons,
    Skip,
    Suggest,
    Undo,
)
from review.rating import CannotJudge, Rating, Reason
from review.session.view import Phase, TextField
from review.session.words.keys import Onward
from tests.desktop.item_scene import CONTROL, Make, Scene, button, in_box, mark, rated, texts
from tests.review.session.scenes import Clock, batch_of, item_id, items_of, training_of


@pytest.fixture
def scene(make: Make) -> Scene:
    return make()


# answers


@pytest.mark.parametrize(
    ("key", "rating"),
    [("1", Rating.REJECT), ("f", Rating.GIST), ('"', Rating.ACCEPTABLE), ("٤", Rating.EXCELLENT)],
    ids=["digit", "letter", "azerty", "arabic"],
)
def test_one_key_rates_saves_and_advances(scene: Scene, key: str, rating: Rating) -> None:
    scene.press(key)
    assert rated(scene) == [(item_id(1), rating)]
    assert scene.item == item_id(2)
    assert "Sentence 2 of 4" in scene.page.accessibleName()


def test_the_number_pad_rates(scene: Scene) -> None:
    scene.press("4", modifiers=Qt.KeyboardModifier.KeypadModifier)
    assert rated(scene) == [(item_id(1), Rating.EXCELLENT)]


def test_a_click_on_an_answer_rates_and_leaves_the_keys_where_they_were(scene: Scene) -> None:
    scene.qtbot.mouseClick(button(scene, "Acceptable"), Qt.MouseButton.LeftButton)
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    scene.press(Qt.Key.Key_Space)
    assert len(rated(scene)) == 1
    scene.press("1")
    assert len(rated(scene)) == 2


def test_a_key_that_is_held_down_rates_once(scene: Scene) -> None:
    scene.send("3")
    for _ in range(50):
        scene.send("3", repeats=True)
        QApplication.processEvents()
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]


def test_fifty_quick_keys_rate_only_what_was_shown(make: Make) -> None:
    clock = Clock()
    scene = make(guard=0.25, clock=clock, batch=batch_of(items_of(60)))
    clock.seconds += 1
    for _ in range(50):
        scene.send("2")
        QApplication.processEvents()
        clock.seconds += 0.002
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.GIST)]


def test_keys_that_come_while_an_answer_is_saved_mean_nothing(scene: Scene) -> None:
    for key in ("1", "2", "3", "u", "s", "!", "0"):
        scene.send(key)
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.REJECT)]
    assert scene.mode is Mode.ANSWER
    assert scene.item == item_id(2)


def test_nothing_is_rated_before_it_was_painted(make: Make, qtbot: QtBot) -> None:
    scene = make()
    scene.page.hide()
    scene.page.draw(scene.session.skip(scene.item))
    scene.send("1", to=scene.page)
    qtbot.waitUntil(lambda: not scene.work.busy)
    assert rated(scene) == []


# undo, later, cannot judge


@pytest.mark.parametrize("key", ["u", Qt.Key.Key_Backspace, "ctrl"])
def test_undo_shows_the_item_with_the_answer_it_had(scene: Scene, key: str | Qt.Key) -> None:
    scene.press("2")
    if key == "ctrl":
        scene.press("z", modifiers=CONTROL)
    else:
        scene.press(key)
    assert len(scene.events(Undo)) == 1
    assert scene.item == item_id(1)
    assert "Your answer was: Gist." in texts(scene)


def test_later_puts_the_item_at_the_end(scene: Scene) -> None:
    scene.press("s")
    assert [each.item for each in scene.events(Skip)] == [item_id(1)]
    assert "Left for later: it comes again at the end." in texts(scene)


def test_cannot_judge_asks_why_and_esc_goes_back(scene: Scene) -> None:
    scene.press("0")
    assert scene.mode is Mode.WHY
    scene.press(Qt.Key.Key_Escape)
    assert scene.mode is Mode.ANSWER
    scene.press("0", "9", "2")
    assert [each.why for each in scene.events(NotJudged)] == [CannotJudge.UNCLEAR_SOURCE]
    assert scene.item == item_id(2)


def test_why_one_cannot_judge_can_be_clicked(scene: Scene) -> None:
    scene.press("0")
    scene.qtbot.mouseClick(button(scene, "It is another dialect"), Qt.MouseButton.LeftButton)
    scene.idle()
    assert [each.why for each in scene.events(NotJudged)] == [CannotJudge.OTHER_DIALECT]


def test_reasons_of_the_last_one_are_given_and_taken_away(scene: Scene) -> None:
    scene.press(",")
    assert "First give an answer, then say why." in texts(scene)
    scene.press("1", ",")
    assert scene.mode is Mode.REASONS
    assert "Candidate 1." in texts(scene)
    scene.press("-", ",", "1", ",", "6")
    assert [set(each.reasons) for each in scene.events(Reasons)] == [
        {Reason.SOURCE_LANGUAGE},
        {Reason.SOURCE_LANGUAGE, Reason.WRONG_MEANING},
        {Reason.WRONG_MEANING},
    ]
    assert scene.item == item_id(2)


def test_the_last_answer_leads_to_another_page(make: Make) -> None:
    scene = make(batch=batch_of(items_of(1)))
    scene.press("4")
    assert (scene.onward, scene.session.view.phase) == ([None], Phase.END)


def test_next_without_an_answer(scene: Scene) -> None:
    scene.press("n")
    assert scene.item == item_id(2)


# harmful


def test_harm_is_asked_once_more_and_taken_back_the_same_way(scene: Scene) -> None:
    scene.press("!", "1", Qt.Key.Key_Escape)
    assert scene.events(HarmFlag, Rate) == []
    scene.press("!", Qt.Key.Key_Return)
    scene.qtbot.waitUntil(lambda: "You marked this as harmful." in texts(scene))
    scene.press("!")
    assert "Take the mark “harmful” away again?" in texts(scene)
    scene.press(Qt.Key.Key_Enter)
    assert [each.harmful for each in scene.events(HarmFlag)] == [True, False]
    assert scene.item == item_id(1)


# words of one's own


def test_a_comment_is_typed_and_saved_and_shown(scene: Scene) -> None:
    scene.press("c")
    assert scene.mode is Mode.WRITING
    in_box(scene, "12 nîpîy")
    scene.press(Qt.Key.Key_Return)
    assert [each.text for each in scene.events(Comment)] == ["12 nîpîy"]
    assert rated(scene) == []
    assert scene.mode is Mode.ANSWER
    assert mark(scene, "Your comment:") == "12 nîpîy"
    scene.press("1")
    assert rated(scene) == [(item_id(1), Rating.REJECT)]


def test_a_better_translation_begins_with_the_one_that_is_shown(scene: Scene) -> None:
    scene.press("e", Qt.Key.Key_Up)
    in_box(scene, " More")
    scene.press(Qt.Key.Key_Return)
    assert [each.text for each in scene.events(Suggest)] == ["Candidate 1. More"]


def test_esc_keeps_the_draft_also_over_a_restart(scene: Scene) -> None:
    scene.press("c")
    in_box(scene, "half")
    scene.press(Qt.Key.Key_Escape)
    assert scene.events(Comment) == []
    assert mark(scene, "Your comment, not saved yet:") == "half"
    assert scene.draft(item_id(1), TextField.COMMENT) == "half"
    scene.press("c")
    in_box(scene, " more")
    scene.page.keep_typed()
    scene.idle()
    assert scene.draft(item_id(1), TextField.COMMENT) == "half more"


def test_a_pause_keeps_the_draft(scene: Scene) -> None:
    scene.press("c")
    in_box(scene, "so far")
    kept = lambda: scene.draft(item_id(1), TextField.COMMENT)  # noqa: E731
    scene.qtbot.waitUntil(lambda: not scene.work.busy and kept() == "so far")


def test_the_page_going_away_keeps_the_draft(scene: Scene) -> None:
    scene.press("e")
    in_box(scene, "abc")
    scene.page.hide()
    scene.idle()
    assert scene.draft(item_id(1), TextField.SUGGESTION) == "abc"


def test_ctrl_and_a_digit_rate_while_a_box_is_open_and_save_its_text(scene: Scene) -> None:
    scene.press("c")
    in_box(scene, "12")
    scene.press("3", modifiers=CONTROL)
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    assert [each.text for each in scene.events(Comment)] == ["12"]
    assert scene.draft(item_id(1), TextField.COMMENT) is None
    assert "Saved: Acceptable. Your comment is saved." in texts(scene)
    assert scene.mode is Mode.ANSWER
    scene.press("c")
    assert scene.page.writing.text == ""


def test_ctrl_and_z_in_a_box_takes_back_typing_first(scene: Scene) -> None:
    scene.press("1", "c")
    in_box(scene, "x")
    scene.press("z", modifiers=CONTROL)
    assert scene.page.writing.text == ""
    assert scene.events(Undo) == []
    scene.press("z", modifiers=CONTROL)
    assert len(scene.events(Undo)) == 1
    assert scene.item == item_id(1)


def test_a_digit_on_a_button_beside_the_box_is_text(scene: Scene) -> None:
    scene.press("c")
    button(scene, "Save").setFocus()
    scene.press("1")
    assert scene.page.writing.text == "1"
    assert rated(scene) == []


def test_letters_of_the_language_stand_beside_the_box(make: Make) -> None:
    batch = batch_of()
    letters = ("â", "ê")
    manifest = batch.manifest.model_copy(update={"letters": letters})
    from dataclasses import replace

    scene = make(batch=replace(batch, manifest=manifest))
    scene.press("c")
    in_box(scene, "nip")
    scene.qtbot.mouseClick(button(scene, "ê"), Qt.MouseButton.LeftButton)
    in_box(scene, "y")
    assert scene.page.writing.text == "nipêy"


def test_a_text_at_the_bound_is_saved(scene: Scene) -> None:
    scene.press("c")
    scene.page.writing.take("a" * (MOST_TEXT + 10))
    scene.press(Qt.Key.Key_Return)
    assert [len(each.text) for each in scene.events(Comment)] == [MOST_TEXT]


# practice


@pytest.fixture
def practice(make: Make) -> Scene:
    return make(batch=batch_of(items_of(2), training_of([Rating.GIST, Rating.REJECT])))


def test_practice_shows_the_answer_and_enter_goes_on(practice: Scene) -> None:
    assert "Practice 1 of 2" in practice.page.accessibleName()
    practice.press("4")
    said = texts(practice)
    assert "You said Excellent. We would say Gist." in said
    practice.press("1")
    assert "Read the answer, then press Enter." in texts(practice)
    practice.press(Qt.Key.Key_Return)
    assert "Practice 2 of 2" in practice.page.accessibleName()
    practice.press("1")
    assert "Yes: Reject." in texts(practice)


def test_in_practice_nothing_but_answers_is_asked(practice: Scene) -> None:
    for key in ("s", "c", "!", "0", "n", "x"):
        practice.press(key)
        assert "That comes after the practice." in texts(practice)
        assert practice.mode is Mode.ANSWER
    assert practice.onward == []


# other pages


@pytest.mark.parametrize(
    ("key", "onward"),
    [
        ("?", Onward.HELP),
        (Qt.Key.Key_F1, Onward.HELP),
        ("q", Onward.LEAVE),
        ("x", Onward.HAND_OVER),
        ("w", Onward.WITHDRAW),
    ],
    ids=["help", "f1", "stop", "hand-over", "withdraw"],
)
def test_keys_that_lead_to_other_pages(scene: Scene, key: str | Qt.Key, onward: Onward) -> None:
    scene.press(key)
    assert scene.onward == [onward]


def test_esc_leaves_nothing(scene: Scene) -> None:
    left: list[None] = []
    scene.page.left.connect(lambda: left.append(None))
    scene.press(Qt.Key.Key_Escape)
    assert left == [] == scene.onward


@pytest.mark.parametrize("modifiers", [Qt.KeyboardModifier.NoModifier, CONTROL], ids=["", "ctrl"])
def test_plus_and_minus_change_the_size_of_letters(
    scene: Scene, modifiers: Qt.KeyboardModifier
) -> None:
    scene.press("+", modifiers=modifiers)
    assert scene.look.size == 25
    scene.press("-", "-", modifiers=modifiers)
    assert scene.look.size == 16
