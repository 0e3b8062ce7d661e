"""A whole sitting in a real window: by keyboard alone, by clicks, and by the accessibility tree alone."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from review.log.fold import ReviewerState
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import CannotJudge, Rating
from review.session.course import REST_ITEMS
from review.session.opening import Opening
from tests.desktop.real.reader import Reader, assert_told, labels, press
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.window import Start, Window
from tests.keyring_in_memory import no_keyring
from tests.review.session.scenes import (
    CODE,
    CUSTODIANS,
    batch_of,
    item_id,
    items_of,
    training_of,
)
from tests.review.thorough import times

COMMENT = "1 too formal"
REASON = "5"
SAID_OF_REASON = "A word has the wrong form"


@dataclass(frozen=True)
class Doing:
    """What is done with one item."""

    number: int
    """From 1."""
    comments: bool
    later: bool
    rating: str
    """Digit."""
    mistaken: bool
    """The answer is taken back, and 3 is given."""
    reason: bool
    rests: bool
    """A pause is suggested after it."""


def doings(count: int, cut: int) -> Iterator[Doing]:
    """Yield what is done with each item; the program ends before item ``cut``, so pauses count anew there."""
    answered = 0
    for number in range(1, count + 1):
        if number == cut:
            answered = 0
        later = number % 40 == 20 and number < count
        mistaken = number in {10, 50}
        answered += not later
        rests = answered == REST_ITEMS and number < count
        if rests:
            answered = int(mistaken)
        yield Doing(
            number,
            comments=number % 12 == 5 and not later,
            later=later,
            rating="1234"[number % 4],
            mistaken=mistaken,
            reason=number % 8 == 3 and number < count - 4,
            rests=rests,
        )


def said(state: ReviewerState) -> dict[str, object]:
    """Return what a person said, without when and where: two faces must agree on all of it."""
    return {
        "judgements": [
            (item, each.rating, each.why_not) for item, each in state.judgements.items()
        ],
        "reasons": dict(state.reasons),
        "comments": dict(state.comments),
        "suggestions": dict(state.suggestions),
        "harmful": set(state.harmful),
        "skipped": state.skipped,
        "trained": dict(state.trained),
    }


def lines(doing: Doing) -> Iterator[str]:
    """Yield what is typed into the line face for an item."""
    if doing.later:
        yield "s"
        return
    if doing.comments:
        yield f"c {COMMENT}"
    yield doing.rating
    if doing.rests:
        yield ""
    if doing.mistaken:
        yield "u"
        yield "3"
    if doing.reason:
        yield f",{REASON}"


__all__ = ["no_keyring"]


@pytest.mark.thorough
def test_the_session_script_by_keyboard_alone(reader: Reader, start: Start, tmp_path: Path) -> None:
    """Comments, reasons, mistakes, rests, a kill, what was left for later, six words on a stick."""
    count = times(44, 100)
    cut = count * 43 // 100
    scene = stage(tmp_path, batch_of(items_of(count))).know(agreed=False)
    plan = list(doings(count, cut))
    first = start(scene, scene.file, guard=0.0)
    first.press("Return")
    reader.find("Before you begin")
    first.press("Return")
    reader.find("May the better translations that you write be used?")
    first.press("2")
    reader.find("A computer program made the translations. Did you take part in making it?")
    first.press("3")
    first.sees(item_id(1))
    for doing in plan[: cut - 1]:
        _do(first, reader, doing, count)
    first.kill()
    reader.forget()
    second = start(scene, scene.file, guard=0.0)
    second.press("Return")
    second.sees(item_id(cut))
    for doing in plan[cut - 1 :]:
        _do(second, reader, doing, count)
    later = [doing.number for doing in plan if doing.later]
    reader.find("You have seen all sentences.")
    phrase = _end(second, reader, later)
    keys = first.keys + second.keys
    state = scene.state()
    [file] = scene.handed_over()
    assert phrase == open_ratings(file.read_bytes(), CUSTODIANS).phrase(earlier=True)
    assert len(state.judgements) == count
    assert said(state) == said(_in_lines(tmp_path / "lines", scene, plan, cut))  # type: ignore[arg-type]
    print(f"\n{count} items: {keys} keys, {keys / count:.2f} an item")
    assert keys <= 1.5 * count + 11


def _do(window: Window, reader: Reader, doing: Doing, count: int) -> None:
    coming = item_id(doing.number + 1)
    if doing.later:
        window.press("s")
        window.sees(coming)
        return
    if doing.comments:
        window.press("c")
        reader.find("Your comment", "text")
        window.type(COMMENT)
        window.press("Return")
        reader.hear("Your comment is saved.")
    window.press(doing.rating)
    if doing.rests:
        reader.find("Time for a rest?")
        window.press("Return")
    if doing.number < count:
        window.sees(coming)
    if doing.mistaken:
        window.press("u")
        window.sees(item_id(doing.number))
        window.press("3")
        window.sees(coming)
    if doing.reason:
        window.press("comma", REASON)
        reader.hear(SAID_OF_REASON)


def _end(window: Window, reader: Reader, later: list[int]) -> str:
    """Answer what was left for later, hand over, stop; gives the six words."""
    window.press("Return")
    for number in later:
        window.sees(item_id(number))
        window.press("2")
    reader.find("That was the last one. Thank you!")
    window.press("x")
    reader.find("Hand over your answers")
    reader.find("No stick was found. Put it into this computer, or choose the folder.")
    window.press("Tab", "Return")
    reader.hear("Saved and checked in a folder on this computer, not on a stick.")
    phrase = reader.read("These six words belong to your file:")
    window.press("Return")
    reader.find("That was the last one. Thank you!")
    window.press("q")
    return phrase


def _in_lines(home: Path, scene: Stage, plan: list[Doing], cut: int) -> object:
    """Let the line face play the same script."""
    later = [doing for doing in plan if doing.later]
    before = [line for doing in plan[: cut - 1] for line in lines(doing)]
    after = [line for doing in plan[cut - 1 :] for line in lines(doing)]
    other = Stage(home, scene.batch)
    other.home.parent.mkdir()
    for typed in (["1", CODE, "1", "1", "3", *before], ["", *after, "", *["2"] * len(later), "q"]):
        _typed(other, scene.file, typed)
    return other.state()


def _typed(other: Stage, file: Path, typed: list[str]) -> None:
    from rosetta_tui.review.rating.lines.face import run_lines
    from rosetta_tui.review.rating.lines.pages import Console
    from rosetta_tui.review.rating.sitting import TerminalOpening as LinesOpening

    with Laptop.open(other.home) as laptop:
        opening: Opening = LinesOpening(laptop, places=[file], language="en")
        text = "".join(f"{line}\n" for line in typed)
        run_lines(opening, Console(io.StringIO(text), io.StringIO()))  # type: ignore[arg-type]


@pytest.mark.thorough
@pytest.mark.parametrize("mouse", [False, True], ids=["keys", "clicks"])
def test_newcomer_answers_with_seven_keys_or_clicks(
    mouse: bool, reader: Reader, start: Start, tmp_path: Path
) -> None:
    """From a double click, which names the file, to the first answer that is on the disk."""
    scene = stage(tmp_path, batch_of(items_of(3), training_of([Rating.GIST])))
    begun = time.monotonic()
    shown = start(scene, scene.file, guard=0.0)

    def go(button: str, key: str = "Return") -> None:
        node = reader.find(button, "push button")
        assert shown.id
        shown.click(node.place) if mouse else shown.press(key)

    go("They are the same")
    reader.find("Which code is on your card?", "text")
    presses = shown.keys
    if mouse:
        for letter in CODE:
            shown.click(reader.find(letter, "push button").place)
    else:
        shown.type(CODE)
    shown.keys = presses  # how the code is typed is not counted
    go("Go on")
    go("I agree")
    go("No", "2")
    go("Neither", "3")
    shown.sees(scene.batch.training[0].id)
    presses = shown.keys  # practice is not counted, as the code is not
    go("Gist…", "2")
    reader.find("Yes: Gist.")
    go("Go on")
    shown.keys = presses
    shown.sees(item_id(1))
    go("Acceptable…", "3")
    shown.sees(item_id(2))
    assert [each.rating for each in scene.state().judgements.values()] == [Rating.ACCEPTABLE]
    seconds = time.monotonic() - begun
    print(f"\nfirst answer: {shown.keys} besides the code and practice, {seconds:.1f} s")
    assert shown.keys <= 7


# by the accessibility tree alone: whoever only hears the window can do it all


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
