"""A second start hands its files over; a window that is gone, or hangs, keeps nobody out."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from review.desktop.program import one_window
from review.desktop.program.one_window import FOLDER, OneWindow

HOLDS = """
import sys, time
from pathlib import Path
from review.desktop.program.one_window import OneWindow
one = OneWindow(Path(sys.argv[1]))
assert one.is_ours([])
print("ours", flush=True)
time.sleep(600)
"""

ASKS = """
import sys
from pathlib import Path
from review.desktop.program.one_window import OneWindow
one = OneWindow(Path(sys.argv[1]))
print("ours" if one.is_ours([Path(each) for each in sys.argv[2:]]) else "theirs")
one.close()
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


def _start(home: Path, *files: str) -> subprocess.Popen[str]:
    """Start the program once more, as far as this goes."""
    return subprocess.Popen(
        [sys.executable, "-c", ASKS, str(home), *files], stdout=subprocess.PIPE, text=True
    )


def _end(qtbot: QtBot, later: subprocess.Popen[str]) -> str:
    """Wait for its end while the window goes on; gives what it said."""
    qtbot.waitUntil(lambda: later.poll() is not None, timeout=20_000)
    return later.communicate()[0]


@pytest.mark.parametrize("files", [(), ("/media/Maïa/ᐊᑎᒼ.rosetta-batch",)], ids=["window", "file"])
def test_later_start_hands_its_files_to_the_window(
    qtbot: QtBot, first: OneWindow, home: Path, files: tuple[str, ...]
) -> None:
    asked: list[list[Path]] = []
    first.files_asked.connect(asked.append)
    assert _end(qtbot, _start(home, *files)) == "theirs\n"
    assert asked == [[Path(each) for each in files]]


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
    assert one._watcher is not None
    one._watcher.blockSignals(True)
    later = _start(home, "x")
    qtbot.waitUntil((home / FOLDER / "files").exists, timeout=20_000)
    assert one._lock is not None
    one._lock.close()
    assert _end(qtbot, later) == "ours\n"


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


def test_start_that_asked_in_the_moment_before_is_heard(qtbot: QtBot, home: Path) -> None:
    one = OneWindow(home)
    asked: list[list[Path]] = []
    one.files_asked.connect(asked.append)
    (home / FOLDER).mkdir(parents=True)
    (home / FOLDER / "files").write_text('["/x"]')
    assert one.is_ours([])
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [[Path("/x")]]
    one.close()
