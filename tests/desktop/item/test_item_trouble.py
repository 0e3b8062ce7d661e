"""Trouble on the page of an item: nothing advances, typed text stays, and the same key works again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from review.desktop.frame import page
from review.desktop.item.sentence_face import Mode
from review.desktop.parts import banner
from review.files.manifests import BatchItem
from review.log.payloads import Comment, NotJudged, Rate, Skip, Suggest
from review.rating import CannotJudge, Rating
from review.session.view import ShownItem, TextField
from review.session.words.item import marks
from review.session.words.keys import Onward
from tests.desktop.item.held_file import BUSY, held
from tests.desktop.item_scene import Make, Scene, button, in_box, mark, rated, texts
from tests.review.session.scenes import Clock, batch_of, item_id, items_of, training_of
from tests.review.thorough import first


@pytest.fixture
def scene(qtbot: QtBot, tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(qtbot, tmp_path)
    scene.idle()
    yield scene
    scene.close()


def test_what_was_not_saved_does_not_advance_and_the_same_key_works_again(scene: Scene) -> None:
    with held(scene):
        scene.press("2")
        assert BUSY in texts(scene)
        assert scene.item == item_id(1)
        assert "Sentence 1 of 4" in scene.page.accessibleName()
    scene.press("2")
    assert rated(scene) == [(item_id(1), Rating.GIST)]
    assert BUSY not in texts(scene)
    assert scene.item == item_id(2)


def test_a_text_that_was_not_saved_stays_in_the_box(scene: Scene) -> None:
    scene.press("c")
    in_box(scene, "my words")
    with held(scene):
        scene.press(Qt.Key.Key_Return)
        assert BUSY in texts(scene)
        assert scene.mode is Mode.WRITING
        assert scene.page.writing.text == "my words"
    scene.press(Qt.Key.Key_Return)
    assert [each.text for each in scene.events(Comment)] == ["my words"]
    assert scene.mode is Mode.ANSWER


def test_a_draft_that_was_not_kept_is_told_and_kept_at_the_next_chance(scene: Scene) -> None:
    scene.press("c")
    with held(scene):
        in_box(scene, "abc")
        scene.qtbot.waitUntil(lambda: BUSY in texts(scene))
    scene.page.keep_typed()
    scene.idle()
    assert scene.draft(item_id(1), TextField.COMMENT) == "abc"
    assert BUSY not in texts(scene)


def test_a_box_can_be_left_while_the_disk_takes_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(banner, "announce", lambda _, said: told.append(said))
    scene.press("e")
    with held(scene):
        for letters in ("mi", "ne"):
            in_box(scene, letters)
            scene.page.keep_typed()
            scene.idle()
        assert len(told) == 1, "said once, not at each pause of the keys"
        scene.press(Qt.Key.Key_Escape)
        assert BUSY in texts(scene)
        assert scene.mode is Mode.ANSWER
        assert "Your words are kept" not in texts(scene)
        assert mark(scene, "Your better translation, not saved yet:") == "mine"
        assert texts(scene).count("mine") == 1
        scene.press("3")
        assert rated(scene) == []
        assert mark(scene, "Your better translation, not saved yet:") == "mine"
        scene.press("x")
        assert scene.onward == [Onward.HAND_OVER]
    scene.press("3")
    assert [each.text for each in scene.events(Suggest)] == ["mine"]
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    assert BUSY not in texts(scene)


def test_a_key_within_the_guard_is_seen_and_heard_to_do_nothing(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(page, "announce", lambda _, said: told.append(said))
    clock = Clock()
    scene = Scene(qtbot, tmp_path, guard=0.25, clock=clock)
    scene.idle()
    scene.press("3")
    said = "That came too soon to be meant, so it did nothing. Do it again."
    assert said in texts(scene)
    assert told[-1] == said
    assert rated(scene) == []
    clock.seconds += 0.3
    scene.press("3")
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    scene.close()


def test_a_slow_disk_is_told_of_and_so_is_a_key_that_came_meanwhile(
    qtbot: QtBot, tmp_path: Path
) -> None:
    scene = Scene(qtbot, tmp_path, busy_seconds=20.0)
    scene.idle()
    with held(scene):
        scene.send("3")
        qtbot.waitUntil(lambda: "saving …" in texts(scene))
        scene.send("1")
        assert scene.item == item_id(1)
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    too_soon = "That came too soon to be meant, so it did nothing. Do it again."
    assert f"Saved: Acceptable. {too_soon}" in texts(scene)
    scene.press("4")
    assert "Saved: Excellent." in texts(scene)
    assert too_soon not in texts(scene)
    scene.close()


def test_a_page_that_is_gone_hears_nothing_more(scene: Scene) -> None:
    with held(scene):
        scene.send("1")
        scene.page.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        scene.qtbot.waitUntil(lambda: not scene.work.busy)
    scene.open()
    scene.idle()


# letters that cannot be drawn


UNSHOWN = "This computer cannot show the letters of this sentence."


@pytest.fixture
def unreadable(make: Make, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """An item of which nothing can be read: its letters are assigned, and no font has them."""
    first, *others = items_of(3)
    odd = BatchItem(id=first.id, source=first.source, candidate="𐔀𐔁")
    return make(batch=batch_of([odd, *others]))


def test_an_item_that_cannot_be_drawn_is_not_asked(unreadable: Scene) -> None:
    assert UNSHOWN in texts(unreadable)
    unreadable.press("1", "c", "!")
    assert unreadable.mode is Mode.ANSWER
    assert unreadable.events(Rate) == []
    assert not unreadable.page.answers.isVisible()
    unreadable.press("s")
    assert [each.item for each in unreadable.events(Skip)] == [item_id(1)]
    assert unreadable.page.answers.isVisible()
    assert UNSHOWN not in texts(unreadable)
    shown = filter(QAbstractButton.isVisible, unreadable.page.findChildren(QAbstractButton))
    assert "Go on without it" not in {each.text() for each in shown}


def test_of_an_item_that_cannot_be_drawn_one_can_say_so(unreadable: Scene) -> None:
    unreadable.qtbot.mouseClick(button(unreadable, "Cannot judge"), Qt.MouseButton.LeftButton)
    unreadable.press("5")
    assert [each.item for each in unreadable.events(NotJudged)] == [item_id(1)]


def test_what_was_left_out_can_be_taken_back_and_is_asked_where_it_can_be_read(
    unreadable: Scene,
) -> None:
    unreadable.press(Qt.Key.Key_Return)
    record = [(each.item, each.why) for each in unreadable.events(NotJudged)]
    assert record == [(item_id(1), CannotJudge.UNSAID)], "an office of before knows no other word"
    unreadable.press("u")
    assert unreadable.item == item_id(1)
    unreadable.press(Qt.Key.Key_Return)
    assert len(unreadable.events(NotJudged)) == 2


def test_practice_with_letters_that_cannot_be_drawn_can_be_passed(
    qtbot: QtBot, tmp_path: Path
) -> None:
    lesson = [each.model_copy(update={"candidate": "𐔀𐔁"}) for each in training_of([Rating.GIST])]
    scene = Scene(qtbot, tmp_path, batch=batch_of(items_of(2), lesson))
    scene.idle()
    scene.press("2", Qt.Key.Key_Return)
    assert "Sentence 1 of 2" in scene.page.accessibleName()
    scene.close()


# texts of strangers

HOSTILE = {
    "overrides": "a\u202eb\u2067c" * 4000,
    "marks": "a" + "\u0301" * 10_000,
    "nulls": "\x00\x1b[2J" * 3000,
    "one-word": "w" * 20_000,
    "lines": "\n" * 20_000,
    "markup": "<b>&amp;bold</b> <img src='file:///etc/passwd'> &File" * 300,
    "empty": "",
    "mixed": "سڵاو (abc) ᓂᐚᐸᒫᐤ x̌ \u200f!\n" * 700,
}


@pytest.mark.parametrize("name", first(4, sorted(HOSTILE)))
def test_no_text_freezes_the_page_or_leaves_its_place(
    qtbot: QtBot, tmp_path: Path, name: str
) -> None:
    text = HOSTILE[name][:20_000]
    items = [BatchItem(id=item_id(n), source=text, candidate=text) for n in (1, 2)]
    scene = Scene(qtbot, tmp_path, batch=batch_of(items))
    scene.idle()
    page = scene.page
    assert not set(page.texts.candidate.toPlainText()) & set("\u202e\u2067\x00\x1b")
    for part in (page.answers, page.acts):
        assert part.isVisible()
        assert page.rect().contains(part.geometry())
    scene.rate("1")
    assert len(rated(scene)) == 1
    scene.close()


def test_comments_are_shown_harmless_too(scene: Scene) -> None:
    item = ShownItem(item_id(1), "s", "c", 1, 1, comment="a\u202e<b>b")
    scene.page.texts.show_marks(marks(scene.desk.words, item))
    QApplication.processEvents()
    assert "a‹RLO›<b>b" in texts(scene)
