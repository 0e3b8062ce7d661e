"""The program as it is started: what it prints, what it loads, and how it ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import PySide6
import pytest

from harness.core.version import VERSION
from review.desktop.look import fonts
from review.desktop.program.one_window import FOLDER
from review.session.words.catalogue import Words
from tests.desktop.trouble.causes import mounted, pulled
from tests.review.session.scenes import batch_of, write_file
from tests.review.thorough import first

PROGRAM = "import sys; from review.desktop.program.program import main; sys.exit(main())"
WITHOUT_QT = "import sys; sys.modules['PySide6'] = None; " + PROGRAM
SEEN = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel
from review.desktop.program.application import ending_by
from review.desktop.program.running import Running

if sys.argv[2] == "broken":
    Running._show_window = lambda running, desk: int("a secret sentence")
running = Running([Path(sys.argv[1])], "en")

def look():
    window = running.window or running.not_open_window
    if window is None or not window.isVisible() or running.work.busy:
        QTimer.singleShot(10, look)
        return
    print(*(each.text() for each in window.findChildren(QLabel)), sep="\\n")
    running.end()

with ending_by(running.end, running.app.tell_unforeseen):
    running.begin()
    QTimer.singleShot(0, look)
    running.app.exec()
    running.close()
"""
"""Prints what is read in the first window, for the place and the state that were asked for."""
INCOMPLETE = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel
from review.desktop.look import fonts
from review.desktop.program import running
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import TextPane

fonts.FOLDER = Path(sys.argv[1])
begin = running.Running.begin

def begun(self):
    begin(self)
    window = self.not_open_window
    print(*(each.text() for each in window.findChildren(QLabel)), sep="\\n")
    print(*(each.toPlainText() for each in window.findChildren(TextPane)), sep="\\n")
    print("buttons:", ", ".join(each.text() for each in window.findChildren(Button) if not each.isHidden()))
    QTimer.singleShot(0, window.close)

running.Running.begin = begun
sys.exit(running.run([], "en"))
"""
"""Prints what is read where fonts are missing, and closes that window."""
LOADED = """
import sys
from review.desktop.program import running
from review.desktop.program import running
print(*sys.modules)
"""
NOT_NEEDED = [
    *("_ssl", "asyncio", "aiohttp", "click", "http", "httpx", "keyring", "numpy", "rich", "ssl"),
    *("textual", "urllib.request", "PySide6.QtNetwork", "PySide6.QtQml", "PySide6.QtSvg"),
    *("fontTools", "scoring", "review.office", "review.verdict", "review.calibration"),
]


def _run(
    home: Path, *asked: str, code: str = PROGRAM, **more: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ROSETTA_HOME": str(home), "LC_ALL": "C.UTF-8", **more}
    return subprocess.run(
        [sys.executable, "-c", code, *asked],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_version(home: Path) -> None:
    ran = _run(home, "--version")
    assert (ran.returncode, ran.stdout) == (0, f"rosetta-review {VERSION}\n")


def test_data_folder_that_cannot_be_found_is_said_in_words(home: Path) -> None:
    ran = _run(home, ROSETTA_HOME="~nobody-of-this-name/folder")
    assert ran.returncode == 1
    assert "Name a folder in ROSETTA_HOME." in ran.stderr
    assert "Traceback" not in ran.stderr


def test_name_that_the_system_refuses_is_told_on_the_first_page(home: Path) -> None:
    ran = _run(home, "x" * 300, "whole", code=SEEN)
    assert ran.returncode == 0, ran.stderr
    assert "This place cannot be used." in ran.stdout


def test_fault_before_the_first_page_is_seen_in_a_window(home: Path) -> None:
    ran = _run(home, "x", "broken", code=SEEN)
    assert ran.returncode == 0, ran.stderr
    assert "Something went wrong inside the program." in ran.stdout
    assert "secret" not in ran.stdout + ran.stderr


def test_check_draws_the_first_page_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    file = write_file(batch_of(), tmp_path)
    ran = _run(home, "--check", str(file))
    assert ran.stderr == ""
    assert re.fullmatch(
        rf"rosetta-review {re.escape(VERSION)}: “Who asks” drawn in \d+\.\d\d s\n", ran.stdout
    )
    assert ran.returncode == 0
    assert not home.exists()


def test_check_of_a_damaged_file_fails(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.rosetta-batch"
    file.write_bytes(b"PK" + bytes(500))
    ran = _run(home, "--check", str(file))
    assert ran.returncode == 1
    assert "This is not a file with sentences for you." in ran.stderr


@pytest.mark.usefixtures("draws_on_x")
def test_check_says_at_once_what_it_tried_where_there_is_no_screen(
    home: Path, tmp_path: Path
) -> None:
    file, folder = write_file(batch_of(), tmp_path), tmp_path / "short-lived"
    folder.mkdir()
    ran = _run(
        home, "--check", str(file), QT_QPA_PLATFORM="xcb", DISPLAY=":9876", TMPDIR=str(folder)
    )
    assert ran.returncode == 1
    assert "this computer offers no screen to draw on" in ran.stderr
    assert "Tried with QT_QPA_PLATFORM=xcb, DISPLAY=:9876, " in ran.stderr
    assert "Your answers" not in ran.stderr
    assert list(folder.iterdir()) == []


def test_check_says_at_once_why_its_data_folder_cannot_be_used(home: Path, tmp_path: Path) -> None:
    file, folder = write_file(batch_of(), tmp_path), tmp_path / "small"
    folder.mkdir()
    mounted(folder, 8)
    try:
        ran = _run(home, "--check", str(file), TMPDIR=str(folder))
    finally:
        pulled(folder)
    assert ran.returncode == 1
    assert "The computer's disk is full." in ran.stderr
    assert f"ROSETTA_HOME={folder}" in ran.stderr


def test_check_of_a_file_that_is_not_there_says_so(home: Path, tmp_path: Path) -> None:
    ran = _run(home, "--check", str(tmp_path / "gone.rosetta-batch"))
    assert (ran.returncode, "gone.rosetta-batch is not there" in ran.stderr) == (1, True)


@pytest.mark.parametrize("asked", [(), ("a", "b")], ids=["none", "two"])
def test_check_wants_one_file(home: Path, asked: tuple[str, ...]) -> None:
    ran = _run(home, "--check", *asked)
    assert ran.returncode == 1
    assert "name one file to open" in ran.stderr


def test_without_qt_it_says_how_to_get_it(home: Path) -> None:
    ran = _run(home, code=WITHOUT_QT)
    assert ran.returncode == 1
    assert f'{sys.executable.lower()} -m pip install "pyside6-essentials' in ran.stderr.lower()
    assert "Traceback" not in ran.stderr


@pytest.mark.usefixtures("draws_on_x")
def test_without_a_screen_it_says_so_instead_of_aborting(home: Path) -> None:
    ran = _run(home, QT_QPA_PLATFORM="xcb", DISPLAY=":9876")
    assert ran.returncode == 1
    assert ran.stderr.startswith("The window cannot be shown: this computer offers no screen")
    assert f"Your answers are kept in this folder: {home}" in ran.stderr


def test_without_a_screen_it_speaks_the_language_of_the_system(home: Path) -> None:
    ran = _run(home, QT_QPA_PLATFORM="xcb", DISPLAY=":9876", LC_ALL="fr_CA.UTF-8")
    english = "The window cannot be shown"
    assert ran.returncode == 1
    assert not ran.stderr.startswith(english) or Words.load("fr")(english) == english


@pytest.mark.usefixtures("draws_on_x")
def test_with_a_library_of_the_system_missing_it_names_it_and_how_to_install_it(
    home: Path, tmp_path: Path
) -> None:
    """Qt itself would name another one, and end abruptly."""
    drawing = Path(PySide6.__path__[0]) / "Qt" / "lib" / "libQt6XcbQpa.so.6"
    if not drawing.is_file():
        pytest.skip("Qt draws with this library on Linux only")
    changed = drawing.read_bytes().replace(b"libxcb-icccm.so.4", b"libxcb-icccm.so.9")
    (tmp_path / drawing.name).write_bytes(changed)
    ran = _run(home, QT_QPA_PLATFORM="xcb", DISPLAY=":9876", LD_LIBRARY_PATH=str(tmp_path))
    assert ran.returncode == 1
    assert ran.stderr.startswith(
        "The window cannot be shown: a part of this system is missing or damaged: libxcb-icccm.so.9."
    )
    assert "sudo apt install " in ran.stderr
    assert "libxcb-icccm4" in ran.stderr
    assert str(home) in ran.stderr
    assert "xcb-cursor0 or" not in ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_qt_lacks_is_told_from_qt_that_is_lacking(home: Path, tmp_path: Path) -> None:
    """Qt is here, and a library of the system that all of it needs is not."""
    if not sys.platform.startswith("linux"):
        pytest.skip("elsewhere Qt brings it")
    (tmp_path / "libEGL.so.1").touch()
    ran = _run(home, LD_LIBRARY_PATH=str(tmp_path))
    assert ran.returncode == 1
    assert "a part of this system is missing or damaged: libEGL.so.1." in ran.stderr
    assert str(home) in ran.stderr
    assert "which is not installed" not in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_font_that_is_damaged_is_told_in_a_window(home: Path, tmp_path: Path) -> None:
    """Nobody who double-clicked a program that was unpacked in part sees what stands in a terminal."""
    folder = shutil.copytree(fonts.FOLDER, tmp_path / "fonts")
    (folder / "RosettaNotoSans-Regular.ttf").write_bytes(b"\0\1\0\0")
    ran = _run(home, str(folder), code=INCOMPLETE)
    assert ran.returncode == 1, ran.stderr
    assert "The program is not complete" in ran.stdout
    assert "Copy the program from the stick once more" in ran.stdout
    assert str(folder / "RosettaNotoSans-Regular.ttf") in ran.stdout
    assert str(home) in ran.stdout
    assert "buttons: Copy the detail, Close" in ran.stdout
    assert "Copy the program from the stick once more" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_tag_that_is_none_is_wrong_usage(home: Path) -> None:
    ran = _run(home, "--language", "not a tag")
    assert ran.returncode == 2
    assert "is no language tag" in ran.stderr


def test_nothing_that_is_not_needed_is_loaded() -> None:
    """The program is bundled without these, and an old laptop waits for each."""
    ran = _run(Path("unused"), code=LOADED)
    loaded = set(ran.stdout.split())
    assert "review.desktop.program.running" in loaded
    assert [name for name in NOT_NEEDED if name in loaded] == []


@pytest.mark.skipif(os.name != "posix", reason="the system ends programs in another way")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
@pytest.mark.parametrize("after", first(2, [0.05, 0.4, 0.01, 0.1]))
def test_signal_ends_it_cleanly(home: Path, number: signal.Signals, after: float) -> None:
    """At whatever moment it comes: ``after`` are seconds since the first thing that the program did."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "ROSETTA_HOME": str(home)},
        stderr=subprocess.PIPE,
    )
    _until((home / FOLDER / "lock").exists)
    time.sleep(after)
    process.send_signal(number)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0
    assert b"Traceback" not in said
    assert not (home / FOLDER).exists()


@pytest.mark.skipif(os.name != "posix", reason="the system ends programs in another way")
def test_second_start_ends_and_the_first_goes_on(home: Path, tmp_path: Path) -> None:
    file = write_file(batch_of(), tmp_path)
    environment = {**os.environ, "ROSETTA_HOME": str(home), "LC_ALL": "C.UTF-8"}
    first = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment)
    try:
        _until((home / "review.sqlite").exists)
        second = _run(home, str(file))
        assert second.returncode == 0
        assert second.stdout == "The program is open already: its window comes forward now.\n"
        assert first.poll() is None
    finally:
        first.terminate()
        assert first.wait(600) == 0


def _until(true: object) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
