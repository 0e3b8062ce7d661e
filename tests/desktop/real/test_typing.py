"""How a review is opened in a real window, and written in: keyboards and input methods as they are."""

from __future__ import annotations

import os
import shutil
import signal
import time
import unicodedata
from pathlib import Path

import pytest

from review.log.payloads import Kind
from review.rating import Rating
from tests.desktop.real.bus import WESTERN_CREE, Bus, input_method
from tests.desktop.real.display import Display
from tests.desktop.real.reader import Reader, labels, press
from tests.desktop.real.stage import COMMENT, Stage, stage
from tests.desktop.real.waiting import until
from tests.desktop.real.window import Start, Window
from tests.review.session.scenes import batch_of, item_id, items_of, sentences_of


@pytest.mark.thorough
def test_file_found_by_keys(reader: Reader, display: Display, start: Start, tmp_path: Path) -> None:
    scene = stage(tmp_path).know()
    (empty := tmp_path / "empty").mkdir()
    autumn, winter = (
        stage(tmp_path / title, batch_of(batch=name * 8, title=title)).file
        for name, title in (("cd", "Autumn"), ("ef", "Winter"))
    )
    shutil.copy(autumn, display.folder)  # the folder at home
    shown = start(scene, empty, guard=0.0)
    for name in ("Choose a file …", autumn.name):
        reader.find(name, "push button").focus()
        shown.press("Return")
    reader.find("Welcome back")
    reader.find("Autumn", "label")
    assert start(scene, winter).ended() == 0
    reader.find("Winter", "label")
    assert shown.process.poll() is None


def ratings(scene: Stage) -> list[Rating | None]:
    return [each.rating for each in scene.state().judgements.values()]


def begin(start: Start, scene: Stage, guard: float = 0.0, **environment: str) -> Window:
    shown = start(scene, scene.file, guard=guard, **environment)
    shown.press("Return")
    shown.sees(item_id(1))
    return shown


def _rated(scene: Stage, count: int) -> bool:
    return len(ratings(scene)) >= count


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
