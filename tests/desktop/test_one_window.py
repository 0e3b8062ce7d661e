"""A second start hands its files over; a window that is gone, or hangs, keeps nobody out."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from pytestqt.qtbot import QtBot

from review.desktop import one_window
from review.desktop.one_window import FOLDER, OneWindow

HOLDS = """
import sys, time
from pathlib import Path
from review.desktop.one_window import OneWindow
one = OneWindow(Path(sys.argv[1]))
assert one.is_ours([])
print("ours", flush=True)
time.sleep(600)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def first(qtbot: QtBot, home: Path) -> Iterator[OneWindow]:
    one = OneWindow(home)
    assert one.is_ours([])
    yield one
    one.close()


def _in_thread(home: Path, files: list[Path], outcome: list[bool]) -> Thread:
    second = OneWindow(home)
    thread = Thread(target=lambda: outcome.append(second.is_ours(files)))
    thread.start()
    return thread


def test_later_start_hands_its_files_to_the_window(
    qtbot: QtBot, first: OneWindow, home: Path
) -> None:
    asked: list[list[Path]] = []
    first.files_asked.connect(asked.append)
    outcome: list[bool] = []
    file = Path("/media/Maïa/ᐊᑎᒼ.rosetta-batch")
    thread = _in_thread(home, [file], outcome)
    qtbot.waitUntil(lambda: bool(outcome))
    thread.join()
    assert outcome == [False]
    assert asked == [[file]]


def test_later_start_without_files_only_asks_for_the_window(
    qtbot: QtBot, first: OneWindow, home: Path
) -> None:
    asked: list[list[Path]] = []
    first.files_asked.connect(asked.append)
    outcome: list[bool] = []
    thread = _in_thread(home, [], outcome)
    qtbot.waitUntil(lambda: bool(outcome))
    thread.join()
    assert (outcome, asked) == ([False], [[]])


def test_window_that_was_killed_keeps_nobody_out(qtbot: QtBot, home: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(home)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ours\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    one = OneWindow(home)
    assert one.is_ours([])
    one.close()


def test_window_that_hangs_keeps_nobody_out(
    first: OneWindow, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing runs the first window's events here, as when it hangs."""
    monkeypatch.setattr(one_window, "_SECONDS", 0.2)
    second = OneWindow(home)
    assert second.is_ours([Path("x")])
    assert not (home / FOLDER / "files").exists()
    second.close()


def test_window_that_ends_meanwhile_leaves_its_place(qtbot: QtBot, home: Path) -> None:
    one = OneWindow(home)
    assert one.is_ours([])
    outcome: list[bool] = []
    assert one._watcher is not None
    one._watcher.blockSignals(True)
    thread = _in_thread(home, [Path("x")], outcome)
    qtbot.waitUntil((home / FOLDER / "files").exists)
    assert one._lock is not None
    one._lock.close()
    thread.join()
    assert outcome == [True]


def test_nothing_is_left_behind(qtbot: QtBot, home: Path) -> None:
    one = OneWindow(home)
    assert one.is_ours([])
    assert (home / FOLDER).stat().st_mode & 0o777 == 0o700
    assert all(each.stat().st_mode & 0o077 == 0 for each in (home / FOLDER).iterdir())
    one.close()
    assert not home.exists()


def test_what_lies_in_the_folder_stays(qtbot: QtBot, home: Path) -> None:
    one = OneWindow(home)
    assert one.is_ours([])
    (home / "review.sqlite").touch()
    one.close()
    assert [each.name for each in home.iterdir()] == ["review.sqlite"]


def test_place_that_cannot_be_written_keeps_nobody_out(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    one = OneWindow(tmp_path / "file" / "home")
    assert one.is_ours([])
    one.close()


@pytest.mark.parametrize(
    "written", [b"{", b"7", b"[1, null]", b"\xff\xfe", b"[" * 70000], ids=range(5)
)
def test_request_that_is_none_is_passed_over(
    qtbot: QtBot, first: OneWindow, home: Path, written: bytes
) -> None:
    asked: list[list[Path]] = []
    first.files_asked.connect(asked.append)
    new = home / FOLDER / "new"
    new.write_bytes(written)
    new.replace(home / FOLDER / "files")
    qtbot.waitUntil(lambda: not (home / FOLDER / "files").exists())
    assert asked in ([], [[]])
