"""A whole sitting in a real window: by keyboard alone, by clicks, by the accessibility tree alone, and by any keyboard."""

from __future__ import annotations

import os
import signal
import unicodedata
from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from review.log.payloads import Face, Kind
from review.rating import CannotJudge, Rating
from review.session.view import PART
from tests.desktop.real.display import Display, until
from tests.desktop.real.reader import WESTERN_CREE, Bus, Reader, assert_told, input_method, labels, press
from tests.desktop.real.stage import COMMENT, Stage, stage
from tests.desktop.real.window import Start, Window
from tests.review.session.scenes import CODE, CUSTODIANS, batch_of, item_id, items_of, sentences_of, training_of


@pytest.mark.thorough
def test_first_answer_takes_few_clicks(reader: Reader, start: Start, tmp_path: Path) -> None:
    """From a double click, which names the file, to the first answer that is on the disk."""
    scene = stage(tmp_path, batch_of(items_of(3), training_of([Rating.GIST])))
    shown = start(scene, scene.file, guard=0.0)

    def go(button: str) -> None:
        node = reader.find(button, "push button")
        assert shown.id
        shown.click(node.place)

    go("They are the same")
    reader.find("Which code is on your card?", "text")
    presses = shown.keys
    for letter in CODE:
        go(letter)
    shown.keys = presses  # how the code is typed is not counted
    go("Continue")
    go("I agree")
    go("Neither")
    shown.sees(scene.batch.training[0].id)
    presses = shown.keys  # practice is not counted, as the code is not
    go("Gist…")
    reader.find("You said Gist.")
    go("Continue")
    shown.keys = presses
    shown.sees(item_id(1))
    go("Acceptable…")
    shown.sees(item_id(2))
    assert [each.rating for each in scene.state().judgements.values()] == [Rating.ACCEPTABLE]
    print(f"\nfirst answer: {shown.keys} besides the code and practice")
    assert shown.keys <= 6


# by the accessibility tree alone: whoever only hears the window can do it all

PANES = ("Original", "Translation")


@pytest.mark.costly("a screen reader and the program itself, through all pages")
def test_a_session_by_the_tree_alone(reader: Reader, start: Start, tmp_path: Path) -> None:
    scene = stage(tmp_path, batch_of(items_of(4), training_of([Rating.REJECT])))
    start(scene, scene.file, guard=0.0)
    reader.hear("Asked by")
    reader.find("Language Council", "label")
    press(reader, "They are the same")
    box = reader.find("Which code is on your card?", "text")
    assert labels(box) == ["Which code is on your card?"]
    box.write(CODE)
    press(reader, "Continue")
    reader.hear("Before you begin")
    press(reader, "I agree")
    press(reader, "Neither")
    reader.hear("Practice 1 of 1")
    assert reader.read("Translation") == "Answer 1."
    press(reader, "Reject…")
    reader.hear("You said Reject.")
    press(reader, "Continue")
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
    press(reader, "Better translation")
    reader.find("May the better translations that you write be used?")
    press(reader, "Yes, they may be used")
    reader.find("A better translation", "text").write("Candidate two.")
    press(reader, "Save")
    reader.hear("Your translation is saved.")
    press(reader, "Excellent…")
    reader.hear("Saved: Excellent.")
    assert_item(reader, 3)
    press(reader, "Cannot judge")
    reader.hear("Why can you not judge it?")
    press(reader, "I do not understand the original")
    reader.hear("Saved: you cannot judge this one.")
    assert_item(reader, 4)
    press(reader, "Acceptable…")
    reader.find("That was the last one. Thank you!")
    press(reader, "Hand in your answers")
    reader.find("Hand in your answers")
    press(reader, "A folder on this computer…")
    reader.hear("Saved and checked in a folder")
    phrase = reader.read("These six words belong to your file:")
    assert_told(reader)
    state = scene.state()
    assert [(each.rating, each.why_not) for each in state.judgements.values()] == [
        (Rating.GIST, None),
        (Rating.EXCELLENT, None),
        (None, CannotJudge.UNCLEAR_SOURCE),
        (Rating.ACCEPTABLE, None),
    ]
    assert state.share_corrections
    assert list(state.suggestions) == [item_id(2)]
    assert state.comments == {item_id(2): "He said it so."}
    assert {each.face for each in state.judgements.values()} == {Face.DESKTOP}
    [file] = scene.handed_over()
    assert open_ratings(file.read_bytes(), CUSTODIANS).phrase(earlier=True) == phrase


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


# how a review is written in: keyboards and input methods as they are


def ratings(scene: Stage) -> list[Rating | None]:
    return [each.rating for each in scene.state().judgements.values()]


def begin(start: Start, scene: Stage, guard: float = 0.0, **environment: str) -> Window:
    shown = start(scene, scene.file, guard=guard, **environment)
    shown.know_card()
    shown.sees(item_id(1))
    return shown


LAYOUTS = {
    "the unshifted French row": ("fr", ("ampersand", "eacute", "quotedbl", "apostrophe")),
    "the number pad": ("us", ("KP_1", "KP_2", "KP_3", "KP_4")),
    "the letters": ("us", ("d", "f", "g", "h")),
}


@pytest.mark.thorough
def test_any_keyboard_rates(reader: Reader, start: Start, display: Display, tmp_path: Path) -> None:
    scene = stage(tmp_path, batch_of(items_of(20))).know()
    shown, number = begin(start, scene), 1
    for layout, keys in LAYOUTS.values():
        display.layout("-layout", layout)
        for key in keys:
            number += 1
            shown.press(key)
            if number == PART + 1:
                reader.find("10 done, 10 to go.")
                shown.press("Return")
            shown.sees(item_id(number))
    assert ratings(scene) == [*Rating] * len(LAYOUTS)
    shown.press("alt+d", "alt+1", "alt+c", "alt+s", "alt+q", "alt+f", "alt+x", "alt+w")
    display.layout("-layout", "us", "-variant", "intl")
    shown.press("c")
    box = reader.find(COMMENT, "text")
    for pressed in (["dead_circumflex", "a"], ["dead_circumflex", "e"], ["1"], ["4"]):
        shown.press(*pressed)
    reader.until(lambda: len(box.text) >= 4)
    shown.press("Return")
    reader.hear("Your comment is saved.")
    [kept] = scene.state().comments.values()
    assert kept == "âê14"
    assert unicodedata.is_normalized("NFC", kept)
    # a key that was pressed in its sleep means the sentence that was seen
    os.killpg(shown.process.pid, signal.SIGSTOP)
    until(lambda: _state(shown.process.pid) == "T", shown.said)
    shown.press("3")
    assert len(ratings(scene)) == number - 1
    os.killpg(shown.process.pid, signal.SIGCONT)
    shown.sees(item_id(number + 1))
    assert [*scene.state().judgements][-1] == item_id(number)
    assert ratings(scene)[-1] is Rating.ACCEPTABLE
    assert len(ratings(scene)) == number
    kinds = {event.kind for event in scene.events()}
    assert kinds == {Kind.CONSENT, Kind.RELATION, Kind.SESSION, Kind.RATE, Kind.COMMENT}


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


A_PERSONS_PACE = 120
"""Milliseconds from key to key: some 100 words a minute. IBus answers each key after a while, and Qt puts keys that come
faster than its answers in the wrong order."""


@pytest.mark.thorough
def test_translations_by_input_method_and_tree(
    display: Display, bus: Bus, reader: Reader, start: Start, tmp_path: Path
) -> None:
    batch = batch_of(sentences_of(3), task="translate", letters=("â", "ê", "î", "ô"))
    scene = stage(tmp_path, batch).know()
    around = {**display.environment, **bus.environment}
    with input_method(display.folder, around, WESTERN_CREE) as heard:
        shown = begin(start, scene, **heard)  # type: ignore[arg-type]
        shown.type("atim niwaapamaaw", A_PERSONS_PACE)
        shown.press("Return")
        shown.sees(item_id(2))
        box = next(node for node in reader.all("text") if "editable" in node.states)
        assert labels(box) == [box.name]
        box.write("kî-w")
        for letter in ("â", "ê"):
            press(reader, letter)
        reader.until(lambda: box.text == "kî-wâê")
        press(reader, "Save…")
        shown.sees(item_id(3))
    assert scene.state().translations == {item_id(1): "ᐊᑎᒼ ᓂᐚᐸᒫᐤ", item_id(2): "kî-wâê"}
