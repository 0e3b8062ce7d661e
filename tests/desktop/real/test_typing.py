"""How a review is opened in a real window, and written in: keyboards and input methods as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import unicodedata
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from review.log.payloads import Kind
from review.rating import Rating
from tests.desktop.real.bus import Bus
from tests.desktop.real.display import Display
from tests.desktop.real.input_method import WESTERN_CREE, input_method
from tests.desktop.real.reader import Reader
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.told_tree import labels, press
from tests.desktop.real.typed import COMMENT
from tests.desktop.real.waiting import until
from tests.desktop.real.window import GUARD, PROGRAM, ROOT, Start, Window
from tests.review.session.scenes import batch_of, item_id, items_of, sentences_of


def test_a_file_is_found_with_the_keyboard(
    reader: Reader, display: Display, start: Start, tmp_path: Path
) -> None:
    scene = stage(tmp_path).know()
    empty = tmp_path / "empty"
    empty.mkdir()
    other = stage(tmp_path / "other", batch_of(batch="cd" * 8, title="Autumn")).file
    shutil.copy(other, display.folder)  # the folder at home
    shown = start(scene, empty, guard=0.0)
    for name in ("Choose a file …", other.name):
        reader.find(name, "push button").focus()
        shown.press("Return")
    reader.find("Welcome back")
    reader.find("Autumn", "label")


def test_a_second_start_hands_its_file_to_the_window_that_is_open(
    reader: Reader, start: Start, tmp_path: Path
) -> None:
    scene = stage(tmp_path).know()
    other = stage(tmp_path / "other", batch_of(batch="cd" * 8, title="Autumn")).file
    first = start(scene, scene.file, guard=0.0)
    reader.find("Welcome back")
    second = start(scene, other)
    assert second.ended() == 0
    reader.find("Autumn", "label")
    assert first.process.poll() is None


@pytest.mark.usefixtures("draws_on_x")
def test_where_no_screen_is_the_program_says_so(tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ROSETTA_HOME": str(tmp_path / "home"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "QT_QPA_PLATFORM": "xcb",
        "DISPLAY": ":no-such-screen",
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1
    assert "this computer offers no screen" in done.stderr
    assert "Traceback" not in done.stderr


def ratings(scene: Stage) -> list[Rating | None]:
    return [each.rating for each in scene.state().judgements.values()]


def begin(start: Start, scene: Stage, guard: float = 0.0, **environment: str) -> Window:
    shown = start(scene, scene.file, guard=guard, **environment)
    shown.press("Return")
    shown.sees(item_id(1))
    return shown


def _rated(scene: Stage, count: int) -> bool:
    return len(ratings(scene)) >= count


def test_syllabics_through_an_input_method_are_kept_composed(
    display: Display, bus: Bus, reader: Reader, start: Start, tmp_path: Path
) -> None:
    scene = stage(tmp_path).know()
    around = {**display.environment, **bus.environment}
    with input_method(display.folder, around, WESTERN_CREE) as heard:
        shown = begin(start, scene, **heard)  # type: ignore[arg-type]
        shown.press("c")
        box = reader.find(COMMENT, "text")
        shown.type("atim niwaapamaaw", A_PERSONS_PACE)
        reader.until(lambda: box.text.startswith("ᐊᑎᒼ ᓂᐚᐸᒫ"))
        shown.press("Return")
        reader.hear("Your comment is saved.")
    assert scene.state().comments == {item_id(1): "ᐊᑎᒼ ᓂᐚᐸᒫᐤ"}


def test_dead_keys_write_composed_letters(reader: Reader, start: Start, tmp_path: Path) -> None:
    scene = stage(tmp_path).know()
    shown = begin(start, scene)
    shown.display.layout("-layout", "us", "-variant", "intl")
    shown.press("c")
    box = reader.find(COMMENT, "text")
    for keys in (["dead_circumflex", "a"], ["dead_circumflex", "e"], ["1"], ["4"]):
        shown.press(*keys)
    reader.until(lambda: len(box.text) >= 4)
    shown.press("Return")
    reader.hear("Your comment is saved.")
    state = scene.state()
    [kept] = state.comments.values()
    assert kept == "âê14"
    assert unicodedata.is_normalized("NFC", kept)
    assert not state.judgements


@pytest.mark.parametrize(
    ("layout", "keys"),
    [
        ("fr", ("ampersand", "eacute", "quotedbl", "apostrophe")),
        ("us", ("KP_1", "KP_2", "KP_3", "KP_4")),
        ("us", ("d", "f", "g", "h")),
    ],
    ids=["the unshifted French row", "the number pad", "the letters"],
)
def test_other_keys_rate_as_the_digits_do(
    layout: str, keys: Sequence[str], start: Start, display: Display, tmp_path: Path
) -> None:
    display.layout("-layout", layout)
    scene = stage(tmp_path, batch_of(items_of(5))).know()
    shown = begin(start, scene)
    for number, key in enumerate(keys, 2):
        shown.press(key)
        shown.sees(item_id(number))
    assert ratings(scene) == list(Rating)


def test_keys_with_alt_mean_nothing(reader: Reader, start: Start, tmp_path: Path) -> None:
    scene = stage(tmp_path).know()
    shown = begin(start, scene)
    shown.press("alt+d", "alt+1", "alt+c", "alt+s", "alt+q", "alt+f", "alt+x", "alt+w")
    shown.press("4")
    shown.sees(item_id(2))
    assert ratings(scene) == [Rating.EXCELLENT]
    kinds = {event.kind for event in scene.events()}
    assert kinds == {Kind.CONSENT, Kind.RELATION, Kind.SESSION, Kind.RATE}


@pytest.mark.thorough
def test_a_key_that_is_held_down_rates_once(start: Start, display: Display, tmp_path: Path) -> None:
    """Without the guard, so that only the repetition itself can be refused."""
    scene = stage(tmp_path, batch_of(items_of(60))).know()
    shown = begin(start, scene)
    hold(display, "3")
    shown.press("c")
    hold(display, "a")
    shown.press("Return")
    state = until(lambda: scene.state() if scene.state().comments else None, "a comment")
    assert [each.rating for each in state.judgements.values()] == [Rating.ACCEPTABLE]
    [written] = state.comments.values()
    assert len(written) >= 10, "this keyboard does not repeat"
    assert set(written) == {"a"}


def hold(display: Display, key: str, seconds: float = 1.5) -> None:
    """Hold a key down for longer than it takes to repeat."""
    display.do("xdotool", "keydown", key)
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() > end, "the time")
    display.do("xdotool", "keyup", key)


def test_fifty_keys_in_a_moment_rate_what_was_shown_and_nothing_else(
    start: Start, tmp_path: Path
) -> None:
    scene = stage(tmp_path, batch_of(items_of(60))).know()
    shown = begin(start, scene, guard=GUARD)
    for _ in range(5):
        shown.until_guard_is_over()
        before = len(ratings(scene))
        begun = time.monotonic()
        shown.display.press(*["3"] * 50, delay=1)
        took = time.monotonic() - begun
        if took < GUARD:
            break
        wanted = before + 1  # too slow: that was no burst
        until(partial(_rated, scene, wanted), "an answer")
    else:
        pytest.skip("this computer is too busy to press 50 keys in a moment")
    shown.until_guard_is_over()
    given = ratings(scene)
    assert len(given) == 1 + before
    shown.press("1")
    until(lambda: len(ratings(scene)) == len(given) + 1, "one more answer")
    assert ratings(scene)[-1] is Rating.REJECT


LETTERS = ("â", "ê", "î", "ô")
A_PERSONS_PACE = 120
"""Milliseconds from key to key: some 100 words a minute. IBus answers each key after a while, and Qt puts keys that come
faster than its answers in the wrong order."""


def ready(folder: Path) -> Stage:
    return stage(folder, batch_of(sentences_of(2), task="translate", letters=LETTERS)).know()


def test_a_sentence_is_translated_through_an_input_method(
    display: Display, bus: Bus, reader: Reader, start: Start, tmp_path: Path
) -> None:
    scene = ready(tmp_path)
    around = {**display.environment, **bus.environment}
    with input_method(display.folder, around, WESTERN_CREE) as heard:
        shown = start(scene, scene.file, guard=0.0, **heard)
        shown.press("Return")
        shown.sees(item_id(1))
        shown.type("atim niwaapamaaw", A_PERSONS_PACE)
        shown.press("Return")
        shown.sees(item_id(2))
    assert scene.state().translations == {item_id(1): "ᐊᑎᒼ ᓂᐚᐸᒫᐤ"}


def test_a_sentence_is_translated_by_the_tree_alone(
    reader: Reader, start: Start, tmp_path: Path
) -> None:
    scene = ready(tmp_path)
    shown = start(scene, scene.file, guard=0.0)
    press(reader, "Go on")
    shown.sees(item_id(1))
    box = next(node for node in reader.all("text") if "editable" in node.states)
    assert labels(box) == [box.name]
    box.write("kî-w")
    for letter in ("â", "ê"):
        press(reader, letter)
    reader.until(lambda: box.text == "kî-wâê")
    press(reader, "Save…")
    shown.sees(item_id(2))
    assert scene.state().translations == {item_id(1): "kî-wâê"}
