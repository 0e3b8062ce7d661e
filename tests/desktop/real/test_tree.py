"""By the accessibility tree alone: whoever only hears the window can read, answer, write and hand over."""

from __future__ import annotations

from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from review.log.payloads import Face
from review.rating import CannotJudge, Rating
from tests.desktop.real.node import Node
from tests.desktop.real.reader import Reader
from tests.desktop.real.stage import stage
from tests.desktop.real.told_tree import CONTROLS, assert_told, labels, press
from tests.desktop.real.window import Start, Window
from tests.review.session.scenes import (
    CODE,
    CUSTODIANS,
    batch_of,
    item_id,
    items_of,
    training_of,
)

PANES = ("Original", "Translation")


@pytest.mark.thorough
def test_a_session_by_the_tree_alone(reader: Reader, start: Start, tmp_path: Path) -> None:
    scene = stage(tmp_path, batch_of(items_of(4), training_of([Rating.REJECT])))
    start(scene, scene.file, guard=0.0)
    _arrive(reader)
    _practise(reader)
    _answer(reader)
    phrase = _hand_over(reader)
    state = scene.state()
    assert [(each.rating, each.why_not) for each in state.judgements.values()] == [
        (Rating.GIST, None),
        (Rating.EXCELLENT, None),
        (None, CannotJudge.UNCLEAR_SOURCE),
        (Rating.ACCEPTABLE, None),
    ]
    assert state.share_corrections
    assert state.comments == {item_id(2): "He said it so."}
    assert {each.face for each in state.judgements.values()} == {Face.DESKTOP}
    [file] = scene.handed_over()
    assert open_ratings(file.read_bytes(), CUSTODIANS).phrase(earlier=True) == phrase


def _arrive(reader: Reader) -> None:
    reader.hear("Who asks")
    reader.find("Language Council", "label")
    press(reader, "They are the same")
    box = reader.find("Which code is on your card?", "text")
    assert labels(box) == ["Which code is on your card?"]
    box.write(CODE)
    press(reader, "Go on")
    reader.hear("Before you begin")
    press(reader, "I agree")
    reader.find("May the better translations that you write be used?")
    press(reader, "Yes, they may be used")
    press(reader, "Neither")


def _practise(reader: Reader) -> None:
    reader.hear("Practice 1 of 1")
    assert reader.read("Translation") == "Answer 1."
    press(reader, "Reject…")
    reader.hear("Yes: Reject.")
    press(reader, "Go on")


def _answer(reader: Reader) -> None:
    heard = str(reader.hear("Sentence 1 of 4").what)
    assert "Original: Source 1." in heard
    assert "Translation: Candidate 1." in heard
    assert_item(reader, 1)
    press(reader, "Gist…")
    reader.hear("Saved: Gist.")
    assert_item(reader, 2)
    press(reader, "Comment")
    box = reader.find("Your comment", "text")
    assert labels(box) == ["Your comment"]
    assert "editable" in box.states
    box.write("He said it so.")
    press(reader, "Save")
    reader.hear("Your comment is saved.")
    press(reader, "Excellent…")
    reader.hear("Saved: Excellent.")
    assert_item(reader, 3)
    press(reader, "Cannot judge")
    reader.hear("Why can you not judge it?")
    press(reader, "I do not understand the original")
    reader.hear("Saved: you cannot judge this one.")
    assert_item(reader, 4)
    press(reader, "Acceptable…")


def _hand_over(reader: Reader) -> str:
    reader.find("That was the last one. Thank you!")
    press(reader, "Hand over your answers")
    reader.find("Hand over your answers")
    press(reader, "A folder on this computer…")
    reader.hear("Saved and checked in a folder")
    phrase = reader.read("These six words belong to your file:")
    assert_told(reader)
    return phrase


def assert_item(reader: Reader, number: int) -> None:
    """See that an item can be read, and how far one is."""
    reader.until(lambda: reader.read("Translation") == f"Candidate {number}.")
    assert reader.read("Original") == f"Source {number}."
    for name in PANES:
        pane = reader.find(name, "text")
        assert labels(pane) == [name]
        assert {"read-only", "multi-line", "focusable"} <= pane.states
    progress = reader.find(f"Sentence {number} of 4", "progress bar")
    assert progress.value == (number - 1.0, 4.0)
    for key, word in enumerate(("Reject", "Gist", "Acceptable", "Excellent"), 1):
        button = reader.find(f"{word}…", "push button")
        assert f"Key {key}" in button.description
        assert {"enabled", "focusable", "showing"} <= button.states
    assert_told(reader)


@pytest.mark.thorough
def test_tab_goes_through_everything_as_the_eye_does(
    reader: Reader, start: Start, tmp_path: Path
) -> None:
    """Each control once, by rows from the top and along each row, the signs of the head last; then once more."""
    scene = stage(tmp_path).know()
    shown = start(scene, scene.file, guard=0.0)
    shown.press("Return")
    shown.sees(item_id(1))
    shown.press("3")
    shown.sees(item_id(2))
    visited: list[Node] = []
    for _ in range(60):
        shown.press("Tab")
        now = focused(reader)
        if now in visited:
            break
        visited.append(now)
    controls = [
        node for node in visited if node.role in CONTROLS
    ]  # the page itself takes keys, too
    assert len(controls) == len(visited) - 1
    places = [(node.place[1] // 20, node.place[0]) for node in controls]
    below, head = places[:-3], places[-3:]
    assert [*head, *below] == sorted(places), [node.name for node in controls]
    buttons = {node.name for node in reader.all("push button")}
    assert buttons | set(PANES) == {node.name for node in controls}


def focused(reader: Reader) -> Node:
    """Return what has the keys: the innermost of what says so."""
    return [node for node in reader.shown() if "focused" in node.states and node.name][-1]


@pytest.mark.thorough
def test_every_page_that_is_not_on_the_straight_way(
    reader: Reader, start: Start, tmp_path: Path
) -> None:
    """The list, files, settings with what is chosen, deleting, welcome, help, one's answers, taking back."""
    scene = stage(tmp_path).know()
    shown = start(scene, scene.stick, guard=0.0)
    reader.hear("Review translations")
    press(reader, "Choose a file …")
    reader.hear("Choose a file")
    assert_told(reader)
    shown.press("Escape")
    press(reader, "Settings")
    reader.hear("Settings")
    for name in ("Light", "Usual letters", "English"):
        assert "Chosen" in reader.find(name, "push button").description
    press(reader, "Delete everything from this computer …")
    reader.find("Delete everything from this computer")
    assert_told(reader)
    shown.press("Escape")
    shown.press("Escape")
    press(reader, "Spring sentences…")
    press(reader, "Go on")
    reader.hear("Sentence 1 of 4")
    press(reader, "Help")
    reader.hear("Help")
    assert_told(reader)
    shown.press("Escape")
    shown.press("2")
    shown.sees(item_id(2))
    _side_questions(reader, shown)
    shown.press("u")
    reader.hear("Taken back. Your answer was: Gist.")
    assert "Chosen" not in reader.find("Gist…", "push button").description  # it does not count
    shown.press("w")
    reader.hear("Take back")
    assert_told(reader)


def _side_questions(reader: Reader, shown: Window) -> None:
    """Ask each question that can be asked beside an item, and go back."""
    for key, heard in (
        ("comma", "You answered: Gist. What is wrong with it?"),
        ("0", "Why can you not judge it?"),
        ("exclam", "Mark this translation as harmful, or as hurting our culture?"),
    ):
        shown.press(key)
        reader.hear(heard)
        assert_told(reader)
        shown.press("Escape")
    reader.find("More …", "push button").press()
    reader.find("Hand over your answers", "push button")
    assert_told(reader)
    shown.press("Escape")
