"""However the program ends, what a person was typing is there the next time."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from review.log.laptop import FILE_NAME
from tests.desktop.real.stage import Stage, stage
from tests.desktop.real.waiting import until
from tests.desktop.real.window import Start, Window

TYPED = "half a word that nobody fini"


def drafts(scene: Stage) -> list[str]:
    """Give what was being typed, as it lies on the disk."""
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
