"""How a review is opened in a real window: by a file that the system names, from a list, by looking for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.desktop.real.display import Display
from tests.desktop.real.reader import Reader
from tests.desktop.real.stage import stage
from tests.desktop.real.window import PROGRAM, ROOT, Start
from tests.review.session.scenes import batch_of


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
        timeout=60,
    )
    assert done.returncode == 1
    assert "this computer offers no screen" in done.stderr
    assert "Traceback" not in done.stderr
