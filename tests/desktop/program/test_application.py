"""What the program does with Qt, with the memory its code lies in, and with its other thread."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tomllib
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from harness.core.failures import HarnessError
from review.desktop.frame.work import Work
from review.desktop.program.application import let_go_of_code, without_mnemonic


def test_letter_for_alt_is_taken_out_of_words_and_a_sign_stays() -> None:
    assert without_mnemonic("&Copy") == "Copy"
    assert without_mnemonic("Fish && &Chips") == "Fish && Chips"


ROOT = Path(__file__).parents[3]

CHECKED = """
import ctypes, re, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from review.desktop.program.application import let_go_of_code
from harness.sealed.signature import public_key, sign, verify

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
    done = subprocess.run(
        [sys.executable, "-P", "-c", CHECKED, str(ROOT)], capture_output=True, text=True, check=True
    )
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


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None cannot be lost from Python 3.12 on")
def test_calls_of_fonts_lose_no_reference_of_none() -> None:
    font = QFont()
    before = sys.getrefcount(None)
    for size in range(1, 501):
        font.setPixelSize(size)
        font.setBold(bool(size % 2))
    assert sys.getrefcount(None) > before - 50


def test_the_release_that_loses_them_is_not_installed() -> None:
    wishes = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]["desktop"]
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


def test_what_nobody_foresaw_is_told_without_its_words(work: Work, qtbot: QtBot) -> None:
    """A page that waits for an end gets one; the words of the error may hold a text of a secret sentence."""
    told: list[str] = []
    work.do(lambda: int("secret sentence"), lambda _: None, lambda error: told.append(str(error)))
    qtbot.waitUntil(lambda: bool(told))
    assert told[0].startswith("ValueError test_application.py:")
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
