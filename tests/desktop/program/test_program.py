"""The program as it is started: what it prints, what it loads, how it ends, and what it does with Qt, memory and threads."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
import weakref
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TypeAlias

import PySide6
import pytest
from packaging.requirements import Requirement
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from harness.core.failures import HarnessError
from harness.core.version import VERSION
from harness.store.sqlite.database import home as data_folder
from review.desktop import look
from review.desktop.frame.work import Work
from review.desktop.program import program, running
from review.desktop.program.application import FOLDER, let_go_of_code, without_mnemonic
from review.desktop.program.no_window import no_window
from review.session.words.catalogue import Words
from tests.desktop.program.driven import Ran, driven, started
from tests.desktop.trouble.causes import mounted, pulled
from tests.review.session.scenes import batch_of, write_file
from tests.review.thorough import first, times

PROGRAM = "import sys; from review.desktop.program.program import main; sys.exit(main())"
Patch: TypeAlias = pytest.MonkeyPatch
Capture: TypeAlias = pytest.CaptureFixture[str]


def _run(home: Path, *asked: str, code: str = PROGRAM, **more: str) -> Ran:
    return started(home, "-c", code, *asked, **more)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


ANSWERS: list[tuple[list[str], int, str]] = [
    (["--version"], 0, f"rosetta-review {VERSION}\n"),
    (["--check"], 1, "name one file to open"),
    (["--check", "a", "b"], 1, "name one file to open"),
    (["--check", "/gone.rosetta-batch"], 1, "gone.rosetta-batch is not there"),
    (["--language", "not a tag"], 2, "is no language tag"),
    ([], 1, "Name a folder in ROSETTA_HOME."),
]


def test_command_line_is_answered_and_missing_qt_told(monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.setattr(program, "no_core_dumps", lambda: None)  # for good, in the process of tests
    monkeypatch.setattr(running, "run", lambda *_: data_folder())  # the first that it does
    monkeypatch.setenv("ROSETTA_HOME", "~nobody-of-this-name/folder")
    for asked, code, said in ANSWERS:
        try:
            ended: object = program.main(asked)
        except SystemExit as end:
            ended = end.code
        assert ended == code
        shown = capsys.readouterr()
        assert said in (shown.err if code else shown.out)
    monkeypatch.setitem(sys.modules, "PySide6.QtWidgets", None)
    assert program.main([]) == 1
    said = f'{sys.executable} -m pip install "pyside6-essentials'.lower()
    assert said in capsys.readouterr().err.lower()


@pytest.mark.thorough
def test_fault_before_the_first_page_is_seen_in_a_window(home: Path) -> None:
    ran, [seen] = driven(home, "en", "broken")
    assert ran.returncode == 0, ran.stderr
    assert any("Something went wrong inside the program." in each for each in seen["texts"])
    assert "secret" not in ran.stdout + ran.stderr


SAID = {
    "folder": "The program may not write on this computer's disk. Ask for help, then try again.",
    "damaged": "The file with your answers is damaged. Ask for help. Do not delete anything.",
    "newer": "A newer version of this program keeps your answers. Ask for it.",
    "theirs": "Another program uses the name of the file with your answers. Ask for help.",
    "no database": "Another program uses the name of the file with your answers. Ask for help.",
}


@pytest.mark.costly("the whole program in its own process, with three tries")
def test_trouble_at_the_start_is_told_and_another_try_works(home: Path) -> None:
    tried = [*SAID][: times(2, len(SAID))]
    ran, seen = driven(home, "en", *tried, "")
    assert ran.returncode == 0, ran.stderr
    for said, there in zip(SAID.values(), seen[:-1], strict=False):
        assert "The file with your answers does not open" in there["texts"]
        assert said in there["texts"]
        assert len(there["texts"]) >= 3, "a line for anyone who helps"
    assert "There is nothing to look at yet." in seen[-1]["texts"]


def test_check_draws_the_first_page_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    file = write_file(batch_of(), tmp_path)
    ran = _run(home, "--check", str(file))
    assert ran.stderr == ""
    assert re.fullmatch(rf"rosetta-review {re.escape(VERSION)}: “Asked by” drawn in \d+\.\d\d s\n", ran.stdout)
    assert ran.returncode == 0
    assert not home.exists()


@pytest.mark.thorough
@pytest.mark.usefixtures("draws_on_x")
def test_check_without_a_screen_says_what_it_tried(home: Path, tmp_path: Path) -> None:
    file, folder = write_file(batch_of(), tmp_path), tmp_path / "short-lived"
    folder.mkdir()
    ran = _run(home, "--check", str(file), QT_QPA_PLATFORM="xcb", DISPLAY=":9876", TMPDIR=str(folder))
    assert ran.returncode == 1
    assert "this computer offers no screen to draw on" in ran.stderr
    assert "Tried with QT_QPA_PLATFORM=xcb, DISPLAY=:9876, " in ran.stderr
    assert "Your answers" not in ran.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.usefixtures("draws_on_x")
def test_missing_library_is_named_with_its_package(home: Path, tmp_path: Path) -> None:
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


def test_library_that_qt_lacks_is_named(home: Path, monkeypatch: Patch) -> None:
    """Qt is here, and a library of the system that all of it needs is not."""
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    said = no_window(failed="libEGL.so.1: file too short")
    assert "a part of this system is missing or damaged: libEGL.so.1." in said
    assert str(home) in said
    assert "which is not installed" not in said
    monkeypatch.setenv("LC_ALL", "fr_CA.UTF-8")
    monkeypatch.setattr("review.desktop.program.no_window.what_qt_cannot_load", str)
    english = (
        "The window cannot be shown: this computer offers no screen to draw on. "
        "Start the program where you see windows."
    )
    assert no_window().startswith(Words.load("fr")(english))


@pytest.mark.thorough
def test_a_font_that_is_damaged_is_told_in_a_window(home: Path, tmp_path: Path) -> None:
    """Nobody who double-clicked a program that was unpacked in part sees what stands in a terminal."""
    folder = shutil.copytree(look.FOLDER, tmp_path / "fonts")
    (folder / "RosettaNotoSans-Regular.ttf").write_bytes(b"\0\1\0\0")
    ran, [seen] = driven(home, "en", f"fonts={folder}")
    assert ran.returncode == 1, ran.stderr
    said = "\n".join(seen["texts"])
    assert "The program is not complete" in said
    assert "Copy the program from the stick once more" in said
    assert str(folder / "RosettaNotoSans-Regular.ttf") in said
    assert str(home) in said
    assert seen["buttons"] == ["Copy the detail", "Close"]
    assert "Copy the program from the stick once more" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.skipif(os.name != "posix", reason="the system ends programs in another way")
@pytest.mark.parametrize(
    ("number", "after"),
    first(1, [(signal.SIGTERM, 0.05), (signal.SIGINT, 0.4), *product((signal.SIGTERM, signal.SIGINT), (0.01, 0.1))]),
)
def test_signal_ends_it_cleanly(home: Path, number: signal.Signals, after: float) -> None:
    """At whatever moment it comes: ``after`` are seconds since the first thing that the program did."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "ROSETTA_HOME": str(home)}, stderr=subprocess.PIPE
    )
    _until((home / FOLDER / "lock").exists)
    time.sleep(after)
    process.send_signal(number)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0
    assert b"Traceback" not in said
    assert not (home / FOLDER).exists()


def _until(true: object) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


# what it does with Qt, with the memory its code lies in, and with its other thread


def test_letter_for_alt_is_taken_out_of_words_and_a_sign_stays() -> None:
    assert without_mnemonic("&Copy") == "Copy"
    assert without_mnemonic("Fish && &Chips") == "Fish && Chips"


ROOT = Path(__file__).parents[3]

CHECKED = """
import ctypes, re, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from review.desktop.program.application import let_go_of_code
from harness.sealed.keys import public_key, sign, verify

def code():
    text = Path("/proc/self/smaps").read_text()
    found = re.search(r"(.*)-(.*) r-xp .*/_rust\\..*so\\n(?:.*\\n)*?Rss: +(\\d+) kB", text)
    return int(found[1], 16), int(found[2], 16), int(found[3])

def change():
    begin, end, _ = code()
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    assert protect(begin, end - begin, 7) == 0
    byte = ctypes.c_ubyte.from_address(begin)
    byte.value = byte.value
    assert protect(begin, end - begin, 5) == 0

seed = bytes(range(32))
signature = sign(seed, b"sentences")

def let_go():
    before, count, after = code()[2], let_go_of_code(), code()[2]
    assert verify(public_key(seed), b"sentences", signature)
    assert not verify(public_key(seed), b"sentence", signature)
    print(before, count, after, code()[2])

let_go()
change()
let_go()
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked")
def test_code_leaves_memory_unless_it_was_changed_there() -> None:
    """Checks a signature and lets go, twice: kB before, mappings let go, kB after, kB after another check."""
    done = subprocess.run([sys.executable, "-P", "-c", CHECKED, str(ROOT)], capture_output=True, text=True, check=True)
    (before, count, after, again), (changed, more, kept, _) = (
        map(int, line.split()) for line in done.stdout.splitlines()
    )
    assert before > 1_000
    assert count > 5
    assert after == 0
    assert again > 0
    assert more > 5
    assert kept == changed


def test_elsewhere_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert let_go_of_code() == 0


# the one fault of a release of Qt's binding that ends the program, and the pin that keeps it out


def test_the_release_that_loses_them_is_not_installed() -> None:
    wishes = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["desktop"]
    [wish] = [Requirement(each) for each in wishes if each.startswith("PySide6")]
    assert "6.12.0" not in wish.specifier
    assert {"6.8.3", "6.9.3", "6.11.3"} <= set(wish.specifier.filter(["6.8.3", "6.9.3", "6.11.3"]))


# what is done away from the window is told in order, and nothing of the window ends there


@pytest.fixture
def work(qtbot: QtBot) -> Iterator[Work]:
    work = Work()
    yield work
    work.finish()


def _fail() -> int:
    raise HarnessError("no")


def test_ends_are_told_in_the_windows_thread_and_in_order(work: Work, qtbot: QtBot) -> None:
    told: list[object] = []
    here = threading.current_thread()

    def then(result: object) -> None:
        assert threading.current_thread() is here
        told.append(result)

    work.do(lambda: threading.current_thread() is not here, then, then)
    work.do(_fail, then, lambda error: told.append(str(error)))
    work.do(lambda: 3, then, then)
    assert work.busy
    qtbot.waitUntil(lambda: len(told) == 3)
    assert told == [True, "no", 3]
    assert not work.busy


def test_rest_is_told_when_nothing_is_left_even_after_a_fault(work: Work, qtbot: QtBot) -> None:
    told: list[object] = []

    def faulty(_: object) -> None:
        raise ZeroDivisionError

    work.rested.connect(lambda: told.append(work.busy))
    work.do(lambda: 1, told.append, told.append)
    work.do(lambda: 2, told.append, told.append)
    with qtbot.waitSignal(work.rested):
        pass
    assert told == [1, 2, False]
    with qtbot.capture_exceptions() as faults:
        work.do(lambda: 3, faulty, told.append)
        qtbot.waitUntil(lambda: len(told) == 4)
    assert [kind for kind, *_ in faults] == [ZeroDivisionError]
    assert not work.busy


def test_what_nobody_foresaw_is_told_without_its_words(work: Work, qtbot: QtBot) -> None:
    """A page that waits for an end gets one; the words of the error may hold a text of a secret sentence."""
    told: list[str] = []
    work.do(lambda: int("secret sentence"), lambda _: None, lambda error: told.append(str(error)))
    qtbot.waitUntil(lambda: bool(told))
    assert told[0].startswith("ValueError test_program.py:")
    assert "secret" not in told[0]
    assert not work.busy


def test_rings_of_a_page_are_not_collected_in_the_other_thread(work: Work, qtbot: QtBot) -> None:
    """Python collects in whatever thread makes many things; there a widget's end would end the program."""
    ended_in: list[threading.Thread] = []

    def make_rings() -> None:
        for _ in range(300):
            page = QWidget()
            page.__dict__["itself"] = page
            weakref.finalize(page, lambda: ended_in.append(threading.current_thread()))

    def make_many_things() -> list[list[int]]:
        return [[each] for each in range(200_000)]

    make_rings()
    told: list[int] = []
    work.do(make_many_things, lambda made: told.append(len(made)), lambda _: None)
    qtbot.waitUntil(lambda: bool(told))
    gc.collect()
    assert len(ended_in) == 300
    assert {thread.name for thread in ended_in} == {threading.current_thread().name}


def test_python_collects_by_itself_again_afterwards(qtbot: QtBot) -> None:
    work = Work()
    assert not gc.isenabled()
    work.finish()
    assert gc.isenabled()
