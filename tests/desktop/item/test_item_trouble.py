"""Trouble on the page of an item: nothing advances, typed text stays, and the same key works again."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication

from review.desktop.frame import page
from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import EndPage, LaterPage
from review.desktop.item.sentence_face import Mode
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.parts import banner
from review.files.manifests import BatchItem
from review.files.ratings import open_ratings
from review.log.payloads import Comment, NotJudged, Rate, Skip, Suggest
from review.rating import CannotJudge, Rating
from review.session.view import ShownItem, TextField
from review.session.words.item import marks
from review.session.words.keys import Onward
from tests.desktop.item_scene import BUSY, Make, Scene, button, held, in_box, mark, rated, texts
from tests.desktop.sitting_scene import Scene as Sitting
from tests.desktop.sitting_scene import SceneOf
from tests.review.session.scenes import CUSTODIANS, Clock, batch_of, item_id, items_of, training_of
from tests.review.thorough import first, times

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
TOO_SOON = "That came too soon to be meant, so it did nothing. Do it again."


def test_what_was_not_saved_stays_and_the_same_key_works_again(scene: Scene) -> None:
    with held(scene):
        scene.press("2")
        assert BUSY in texts(scene)
        assert scene.item == item_id(1)
        assert "Sentence 1 of 4" in scene.page.accessibleName()
    scene.press("2")
    assert rated(scene) == [(item_id(1), Rating.GIST)]
    assert BUSY not in texts(scene)
    assert scene.item == item_id(2)
    scene.press("c")
    with held(scene):
        in_box(scene, "abc")
        scene.qtbot.waitUntil(lambda: BUSY in texts(scene))
    scene.page.keep_typed()
    scene.idle()
    assert scene.draft(item_id(2), TextField.COMMENT) == "abc"
    assert BUSY not in texts(scene)
    with held(scene):
        scene.press(ENTER)
        assert BUSY in texts(scene)
        assert scene.mode is Mode.WRITING
        assert scene.page.writing.text == "abc"
    scene.press(ENTER)
    assert [each.text for each in scene.events(Comment)] == ["abc"]
    assert scene.mode is Mode.ANSWER


def test_box_can_be_left_on_a_full_disk(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(banner, "announce", lambda _, said: told.append(said))
    scene.press("e")
    with held(scene):
        for letters in ("mi", "ne"):
            in_box(scene, letters)
            scene.page.keep_typed()
            scene.idle()
        assert len(told) == 1, "said once, not at each pause of the keys"
        scene.press(ESC)
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


def test_key_within_the_guard_is_told(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(page, "announce", lambda _, said: told.append(said))
    clock = Clock()
    scene = make(guard=0.25, clock=clock)
    scene.press("3")
    assert TOO_SOON in texts(scene)
    assert told[-1] == TOO_SOON
    assert rated(scene) == []
    clock.seconds += 0.3
    for _ in range(50):
        scene.send("3")
        QApplication.processEvents()
        clock.seconds += 0.002
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]


def test_slow_disk_is_told_and_so_is_a_key_that_came_meanwhile(make: Make) -> None:
    scene = make(busy_seconds=20.0)
    with held(scene):
        scene.send("3")
        scene.qtbot.waitUntil(lambda: "saving …" in texts(scene))
        scene.send("1")
        assert scene.item == item_id(1)
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    assert f"Saved: Acceptable. {TOO_SOON}" in texts(scene)
    scene.press("4")
    assert "Saved: Excellent." in texts(scene)
    assert TOO_SOON not in texts(scene)
    with held(scene):
        scene.send("1")
        scene.page.deleteLater()  # a page that is gone hears nothing more
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    scene.qtbot.waitUntil(lambda: not scene.work.busy)
    scene.open()
    scene.idle()


# letters that cannot be drawn


UNSHOWN = "This computer cannot show the letters of this sentence."


def test_item_that_cannot_be_drawn_is_not_asked(make: Make) -> None:
    lost, *others = items_of(3)
    odd = BatchItem(id=lost.id, source=lost.source, candidate="𐔀𐔁")
    scene = make(batch=batch_of([odd, *others]))
    assert UNSHOWN in texts(scene)
    scene.press("1", "c", "!")
    assert scene.mode is Mode.ANSWER
    assert scene.events(Rate) == []
    assert not scene.page.answers.isVisible()
    scene.press(ENTER)
    record = [(each.item, each.why) for each in scene.events(NotJudged)]
    assert record == [(item_id(1), CannotJudge.UNSAID)], "an office of before knows no other word"
    scene.press("u")
    assert scene.item == item_id(1), "it is asked where it can be read"
    scene.qtbot.mouseClick(button(scene, "Cannot judge"), Qt.MouseButton.LeftButton)
    scene.press("5", "u")
    assert [each.item for each in scene.events(NotJudged)] == [item_id(1)] * 2
    scene.press("s")
    assert [each.item for each in scene.events(Skip)] == [item_id(1)]
    assert scene.page.answers.isVisible()
    assert UNSHOWN not in texts(scene)
    shown = filter(QAbstractButton.isVisible, scene.page.findChildren(QAbstractButton))
    assert "Go on without it" not in {each.text() for each in shown}


def test_practice_that_cannot_be_drawn_can_be_passed(make: Make) -> None:
    lesson = [each.model_copy(update={"candidate": "𐔀𐔁"}) for each in training_of([Rating.GIST])]
    scene = make(batch=batch_of(items_of(2), lesson))
    scene.press("2", ENTER)
    assert "Sentence 1 of 2" in scene.page.accessibleName()


# texts of strangers

HOSTILE = {
    "signs": "a\u202eb\u2067c\x00\x1b[2J" * 800,
    "marks": "a" + "\u0301" * 10_000,
    "overrides": "a\u202eb\u2067c" * 4000,
    "nulls": "\x00\x1b[2J" * 3000,
    "one-word": "w" * 20_000,
    "lines": "\n" * 20_000,
    "markup": "<b>&amp;bold</b> <img src='file:///etc/passwd'> &File" * 300,
    "empty": "",
    "mixed": "سڵاو (abc) ᓂᐚᐸᒫᐤ x̌ \u200f!\n" * 700,
}


@pytest.mark.parametrize("name", first(2, HOSTILE))
def test_no_text_freezes_the_page_or_leaves_its_place(make: Make, name: str) -> None:
    text = HOSTILE[name][: times(4_000, 20_000)]
    items = [BatchItem(id=item_id(n), source=text, candidate=text) for n in (1, 2)]
    scene = make(batch=batch_of(items))
    page = scene.page
    assert not set(page.texts.candidate.toPlainText()) & set("\u202e\u2067\x00\x1b")
    for part in (page.answers, page.acts):
        assert part.isVisible()
        assert page.rect().contains(part.geometry())
    scene.rate("1")
    assert len(rated(scene)) == 1
    item = ShownItem(item_id(1), "s", "c", 1, 1, comment="a\u202e<b>b")
    page.texts.show_marks(marks(scene.desk.words, item))
    QApplication.processEvents()
    assert "a‹RLO›<b>b" in texts(scene)


# words that are only drafts: named where answers are handed over, with a way to them


ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
NAMED = "What you wrote about 1 sentence is not saved, so it is not handed over: sentence 2."


@pytest.fixture
def left(scene_of: SceneOf) -> Sitting:
    """Three sentences: the first answered with its comment, the second left for later with a better translation."""
    scene = scene_of()
    write(scene, "c", "too formal")
    scene.press("2")
    write(scene, "e", "mi vidis")
    scene.press("s")
    return scene


def write(scene: Sitting, key: str, text: str) -> None:
    """Open the box, type, and leave it with Esc."""
    scene.press(key)
    scene.page_of(ItemPage).writing.take(text)
    scene.press(ESC)


def handed_over(scene: Sitting) -> bytes:
    (file,) = scene.stick.iterdir()
    return b"".join(open_ratings(file.read_bytes(), CUSTODIANS).lines)


def test_words_of_an_answer_are_handed_over_and_others_named(left: Sitting) -> None:
    scene = left
    scene.window.erase.emit()
    scene.idle()
    scene.page_of(ErasePage)
    assert "1 text was written and not saved. It is not handed over" in scene.texts()
    scene.press(ESC, "x")
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


@pytest.mark.thorough
def test_last_pages_name_unsaved_words_and_lead_there(left: Sitting) -> None:
    scene = left
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
