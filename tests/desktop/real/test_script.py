"""A whole sitting by keyboard alone in a real window: few keys, every answer kept, nothing to be learned first."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from review.log.laptop import Laptop
from review.rating import Rating
from review.session.opening import Opening
from tests.desktop.real import script
from tests.desktop.real.reader import Reader
from tests.desktop.real.script import Doing
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

__all__ = ["no_keyring"]


@pytest.mark.thorough
def test_the_session_script_by_keyboard_alone(reader: Reader, start: Start, tmp_path: Path) -> None:
    """Comments, reasons, mistakes, rests, a kill, what was left for later, six words on a stick."""
    count = times(44, 100)
    cut = count * 43 // 100
    scene = stage(tmp_path, batch_of(items_of(count))).know(agreed=False)
    plan = list(script.doings(count, cut))
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
    assert script.said(state) == script.said(_in_lines(tmp_path / "lines", scene, plan, cut))  # type: ignore[arg-type]
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
        window.type(script.COMMENT)
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
        window.press("comma", script.REASON)
        reader.hear(script.SAID_OF_REASON)


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
    before = [line for doing in plan[: cut - 1] for line in script.lines(doing)]
    after = [line for doing in plan[cut - 1 :] for line in script.lines(doing)]
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
def test_somebody_who_never_saw_it_answers_with_seven_keys_or_clicks_and_within_a_minute(
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
