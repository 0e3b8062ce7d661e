"""However the program ends, what a person was typing is there the next time."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from review.log.event import read_event
from review.log.laptop import FILE_NAME
from review.log.payloads import Comment
from tests.desktop.real.reader import Reader
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.waiting import until
from tests.desktop.real.window import Start, Window
from tests.review.session.scenes import CUSTODIANS, batch_of, item_id, items_of

TYPED = "half a word that nobody fini"


def drafts(scene: Stage) -> list[str]:
    """Return what was being typed, as it lies on the disk."""
    connection = sqlite3.connect(scene.home / FILE_NAME)
    try:
        return [text for (text,) in connection.execute("SELECT text FROM draft")]
    finally:
        connection.close()


def _writing(start: Start, folder: Path) -> tuple[Stage, Window]:
    """Start, and open the box for a comment."""
    scene = stage(folder).know()
    shown = start(scene, scene.file, guard=0.0)
    shown.press("Return")
    until(lambda: len(shown.painted()) > 0, shown.said)
    shown.press("c")
    shown.type("h")
    until(lambda: drafts(scene) == ["h"], shown.said)
    return scene, shown


def _server_ends(shown: Window) -> None:
    shown.display.server.kill()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "ends",
    [
        pytest.param(lambda shown: shown.process.terminate(), id="system shuts down"),
        pytest.param(
            lambda shown: shown.process.send_signal(signal.SIGHUP), id="terminal is closed"
        ),
        pytest.param(_server_ends, id="screen is taken away"),
    ],
)
def test_what_was_typed_last_is_kept_at_the_end(
    start: Start, tmp_path: Path, ends: Callable[[Window], None]
) -> None:
    scene, shown = _writing(start, tmp_path)
    shown.type(TYPED[1:])
    ends(shown)
    shown.ended()
    assert drafts(scene) == [TYPED]
    assert "Traceback" not in shown.said()


@pytest.mark.thorough
def test_a_comment_left_by_esc_is_handed_over_with_the_answer_to_its_sentence(
    reader: Reader, start: Start, tmp_path: Path
) -> None:
    scene = stage(tmp_path, batch_of(items_of(1))).know()
    shown = start(scene, scene.file, guard=0.0)
    shown.press("Return")
    shown.sees(item_id(1))
    shown.press("c")
    shown.type("too formal")
    until(lambda: drafts(scene) == ["too formal"], shown.said)
    shown.press("Escape")
    reader.find("Your comment, not saved yet:", "text")
    shown.press("3")
    reader.find("That was the last one. Thank you!")
    assert drafts(scene) == []
    shown.press("x")
    reader.find("No stick was found. Put it into this computer, or choose the folder.")
    shown.press("1")
    reader.hear("Saved and checked in a folder on this computer, not on a stick.")
    [file] = scene.handed_over()
    events = map(read_event, open_ratings(file.read_bytes(), CUSTODIANS).lines)
    given = [each.payload for each in events if isinstance(each.payload, Comment)]
    assert [(each.item, each.text) for each in given] == [(item_id(1), "too formal")]


@pytest.mark.thorough
def test_who_types_without_a_pause_loses_almost_nothing_in_a_power_cut(
    start: Start, tmp_path: Path
) -> None:
    scene, shown = _writing(start, tmp_path)
    text = "and on and on " * 6
    shown.display.type(text, delay=30)
    shown.kill()
    [kept] = drafts(scene)
    assert f"h{text}".startswith(kept)
    assert len(kept) > len(text) // 2
