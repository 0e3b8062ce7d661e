"""The window itself: one page at a time, held keys told apart, nothing lost or unsaid, and no wait for a slow disk."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QMenuBar, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from review.desktop.frame.page import Page
from review.desktop.frame.work import fault
from review.desktop.item.item_page import ItemPage
from review.desktop.look import SIZES
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.first_pages import ChoosePage, ConsentPage, FilePage
from review.desktop.pages.hand_over_page import Folders, HandOverPage
from review.desktop.pages.settings_page import SettingsPage
from review.desktop.program import application
from review.desktop.program.application import FOLDER, Application, OneWindow
from review.desktop.program.window import HeldKeys
from review.session.words import catalogue as words
from review.session.words.troubles import Trouble
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import CODE, batch_of, items_of, write_file
from tests.review.thorough import first


def test_window_shows_one_page_and_settings_once(enter: Enter) -> None:
    entry = enter(size=SIZES[-1])
    window = entry.window
    assert window.findChild(QMenuBar) is None, "no key of a keyboard is swallowed by a shortcut"
    assert window.actions() == []
    assert window.windowTitle() == "Rosetta"
    before = entry.page(ChoosePage)
    entry.press("\r")
    assert entry.page(ChoosePage) is not before
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(before)
    window.open_settings()
    first = entry.page(SettingsPage)
    window.open_settings()
    assert entry.page(SettingsPage) is first
    window.tell(Trouble("Something went wrong.", "ValueError x.py:1"))
    assert "Something went wrong." in entry.read
    hint = window.minimumSize()
    assert (hint.width() <= 1024, hint.height() <= 600) == (True, True)
    window.showNormal()
    window.resize(1024, 600)
    assert (window.width(), window.height()) == (1024, 600)
    window.setWindowState(Qt.WindowState.WindowMinimized)
    window.come_forward()
    assert not window.isMinimized()


def test_closing_keeps_what_is_being_typed(enter: Enter, tmp_path: Path) -> None:
    entry = enter(places=[write_file(batch_of(), tmp_path / "stick")])
    entry.to_item()
    entry.answer("c")
    entry.type("half a tho")
    entry.window.close()
    entry.window.close()
    rows = entry.laptop.connection.execute("SELECT text FROM draft").fetchall()
    assert rows == [("half a tho",)]


def test_unforeseen_error_is_told_without_its_words() -> None:
    """The words of an error may hold a text of a secret sentence."""
    told: list[Trouble] = []

    class Fake:
        failed = type("Signal", (), {"emit": staticmethod(told.append)})
        _words = staticmethod(lambda: lambda text: text)

    with pytest.raises(ValueError, match="secret") as caught:
        int("secret sentence")
    trace = caught.value.__traceback__
    Application.tell_unforeseen(Fake(), ValueError, caught.value, trace)  # type: ignore[arg-type]
    assert told[0].said.startswith("Something went wrong inside the program.")
    assert "secret" not in told[0].detail
    assert told[0].detail.startswith("ValueError test_window.py:")
    assert fault(ValueError, None) == "ValueError"


HOSTILE = "abc\u202edef\u0007 " + "W" * 199


@pytest.mark.parametrize("size", first(1, reversed(SIZES)))
def test_hostile_words_do_not_widen_a_page(enter: Enter, tmp_path: Path, size: int) -> None:
    batch = batch_of(title=HOSTILE[:200], consent=HOSTILE * 20)
    entry = enter(sticks=[tmp_path / "stick"], size=size)
    write_file(batch, tmp_path / "stick", "x")
    entry.window.showNormal()
    entry.window.resize(1024, 600)

    def code() -> None:
        entry.type(CODE)
        entry.press("\r")

    def fits(page: Page) -> bool:
        inside, room = page.reading.widget(), page.reading.viewport().width()
        return inside.minimumSizeHint().width() <= room and inside.width() <= room

    for act in (lambda: entry.press("\r"), entry.agree, entry.agree, code):
        act()
        page = entry.window.page
        assert page is not None
        shown = entry.read + "".join(entry.buttons)
        assert not {"\u202e", "\u0007"} & set(shown)
        entry.qtbot.waitUntil(partial(fits, page))
        assert page.width() <= 1024
    entry.page(ConsentPage)


def test_nothing_leads_away_from_the_last_page(enter: Enter, tmp_path: Path) -> None:
    """Everything is deleted then: an older page would show what is no more."""
    file = write_file(batch_of(), tmp_path / "stick")
    entry = enter(places=[file])
    last = Page(entry.desk)
    entry.window.show_last(last)
    assert "Settings" not in entry.read + "".join(entry.buttons)
    entry.window.open_settings()
    entry.visit.take(file)
    entry.window.speak()
    entry.idle()
    assert entry.window.page is last
    assert not entry.window.takes_files
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    entry.window.close()
    assert not entry.window.isVisible()


STARTS = """
import sys, time
from pathlib import Path
from review.desktop.program.application import OneWindow
one = OneWindow(Path(sys.argv[1]))
print("ours" if one.is_ours([Path(each) for each in sys.argv[3:]]) else "theirs", flush=True)
time.sleep(int(sys.argv[2]))
one.close()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def first_start(qtbot: QtBot, home: Path) -> Iterator[OneWindow]:
    one = OneWindow(home)
    assert one.is_ours([])
    yield one
    one.close()


def _start(home: Path, *files: str, seconds: int = 0) -> subprocess.Popen[str]:
    """Start the program once more, as far as this goes; while it waits, its window hears of no request."""
    command = [sys.executable, "-c", STARTS, str(home), str(seconds), *files]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _end(qtbot: QtBot, later: subprocess.Popen[str]) -> str:
    """Wait for its end while the window goes on; gives what it said."""
    qtbot.waitUntil(lambda: later.poll() is not None, timeout=20_000)
    return later.communicate()[0]


def test_later_start_hands_its_files_over(qtbot: QtBot, first_start: OneWindow, home: Path) -> None:
    asked: list[list[Path]] = []
    first_start.files_asked.connect(asked.append)
    file = "/media/Maïa/ᐊᑎᒼ.rosetta-batch"
    assert _end(qtbot, _start(home, file)) == "theirs\n"
    assert asked == [[Path(file)]]
    for written in (b"[]", b"{", b"7", b"[1, null]", b"\xff\xfe", b"[" * 70000):
        asked.clear()
        new = home / FOLDER / "new"
        new.write_bytes(written)
        new.replace(home / FOLDER / "files")
        qtbot.waitUntil(lambda: not (home / FOLDER / "files").exists())
        assert asked in ([], [[]]), "a request that is none is passed over"


def test_window_that_hangs_keeps_nobody_out(
    first_start: OneWindow, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing runs the first window's events here, as when it hangs."""
    monkeypatch.setattr(application, "PATIENCE_SECONDS", 0.2)
    second = OneWindow(home)
    assert second.is_ours([Path("x")])
    assert not (home / FOLDER / "files").exists()
    second.close()


def test_window_that_is_killed_meanwhile_keeps_nobody_out(qtbot: QtBot, home: Path) -> None:
    hanging = _start(home, seconds=600)
    assert hanging.stdout.readline() == "ours\n"
    later = _start(home, "x")
    qtbot.waitUntil((home / FOLDER / "files").exists, timeout=20_000)
    hanging.kill()
    hanging.communicate()
    assert _end(qtbot, later) == "ours\n"


def test_nothing_of_ours_is_left_behind(qtbot: QtBot, home: Path) -> None:
    one = OneWindow(home)
    assert one.is_ours([])
    assert (home / FOLDER).stat().st_mode & 0o777 == 0o700
    assert all(each.stat().st_mode & 0o077 == 0 for each in (home / FOLDER).iterdir())
    one.close()
    assert not home.exists()
    one = OneWindow(home)
    assert one.is_ours([])
    (home / "review.sqlite").touch()
    one.close()
    assert [each.name for each in home.iterdir()] == ["review.sqlite"]
    one = OneWindow(home / "review.sqlite" / "home")  # cannot be written, and keeps nobody out
    assert one.is_ours([])
    one.close()


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


class Pressed(QWidget):
    """Notes whether each press is a repetition."""

    def __init__(self) -> None:
        super().__init__()
        self.repeated: list[bool] = []

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.repeated.append(event.isAutoRepeat())


def send(widget: QWidget, kind: QEvent.Type, key: Qt.Key, text: str, when: int) -> None:
    event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text)
    event.setTimestamp(when)
    QCoreApplication.sendEvent(widget.windowHandle(), event)


def shown(qtbot: QtBot, widget: QWidget) -> None:
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    widget.setFocus()
    widget.windowHandle().installEventFilter(HeldKeys(widget))


def test_press_at_the_time_of_its_release_repeats(qtbot: QtBot) -> None:
    widget = Pressed()
    shown(qtbot, widget)
    for key, released, when, repeats in (
        (Qt.Key.Key_3, 100, 100, True),
        (Qt.Key.Key_3, 100, 101, False),  # a moment later
        (Qt.Key.Key_4, 100, 100, False),  # another key
        (Qt.Key.Key_3, 0, 0, False),  # at unknown times
    ):
        widget.repeated.clear()
        send(widget, QEvent.Type.KeyPress, Qt.Key.Key_3, "3", 50)
        send(widget, QEvent.Type.KeyRelease, Qt.Key.Key_3, "3", released)
        send(widget, QEvent.Type.KeyPress, key, "x", when)
        assert widget.repeated == [False, repeats]
    box = QLineEdit()
    shown(qtbot, box)
    for when in (50, 100, 140):
        send(box, QEvent.Type.KeyPress, Qt.Key.Key_A, "a", when)
        send(box, QEvent.Type.KeyRelease, Qt.Key.Key_A, "a", 100 if when == 50 else 140)
    assert box.text() == "aaa"


# the thread that draws touches no disk

_FILES = [*((os, name) for name in ("stat", "lstat", "scandir", "listdir", "open", "unlink", "mkdir")), (io, "open")]
"""What the standard library reaches a file system by."""


class Disk:
    """Notes what the thread of the test, which is that of the window, does with folders and the laptop's file."""

    def __init__(self, folder: Path) -> None:
        self._places = tuple(str(each) for each in (folder, words.OURS))
        self._thread = threading.get_ident()
        self.touched: list[str] = []

    def watch(self, monkeypatch: pytest.MonkeyPatch, entry: Entry) -> None:
        for module, name in _FILES:
            monkeypatch.setattr(module, name, self._noting(getattr(module, name), name))
        entry.laptop.connection.set_trace_callback(lambda said: self._note("sqlite", said))

    def _noting(self, act: Callable[..., Any], name: str) -> Callable[..., Any]:
        def noted(path: Any = ".", *given: Any, **wishes: Any) -> Any:
            if isinstance(path, str | os.PathLike) and str(path).startswith(self._places):
                self._note(name, str(path))
            return act(path, *given, **wishes)

        return noted

    def _note(self, name: str, what: str) -> None:
        if threading.get_ident() == self._thread:
            self.touched.append(f"{name} {what}")


@pytest.mark.costly("goes through every page, with the disk watched")
def test_no_disk_is_touched(enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file was named, and another person's folder lies beside it on the stick."""
    monkeypatch.setenv("HOME", str(tmp_path))
    file = write_file(batch_of(items_of(2)), tmp_path / "stick" / "deep")
    entry, disk = enter(places=[file], sticks=[tmp_path / "stick"]), Disk(tmp_path)
    disk.watch(monkeypatch, entry)
    entry.visit.flow._first = True  # it begins anew: the disk is watched only from here on
    entry.visit.begin()
    entry.to_item()
    entry.answer("3")
    entry.press("c")
    entry.type("half a thought")
    entry.press("\x1b", "x")
    entry.page(HandOverPage)
    entry.press("\r", "\r")
    entry.page(ItemPage)
    entry.press("q")
    entry.page(ChoosePage)
    entry.click("Choose a file")
    (folders,) = entry.page(FilePage).findChildren(Folders)
    entry.click("deep")
    folders.open(tmp_path)
    entry.idle()
    entry.press("\x1b")
    entry.window.open_settings()
    entry.click("Français")
    entry.page(SettingsPage).erase.emit()
    entry.page(ErasePage)
    entry.press("\x1b")
    entry.page(ChoosePage)
    assert disk.touched == []
