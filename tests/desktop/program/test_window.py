"""The window itself: one page at a time, held keys told apart, nothing lost, nothing unsaid."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QMenuBar
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from review.desktop.frame.page import Page
from review.desktop.frame.work import fault
from review.desktop.item.item_page import ItemPage
from review.desktop.look.look import SIZES
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.first_pages import ConsentPage
from review.desktop.pages.settings_page import SettingsPage
from review.desktop.program import one_window
from review.desktop.program.application import Application
from review.desktop.program.one_window import FOLDER, OneWindow
from review.session.words.troubles import Trouble
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import CODE, batch_of, write_file

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from review.desktop.program.window import HeldKeys


def _at_first_sentence(enter: Enter, tmp_path: Path, **options: object) -> Entry:
    entry = enter(places=[write_file(batch_of(), tmp_path / "stick")], **options)
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r", "\r")
    entry.page(ItemPage)
    return entry


def test_page_before_is_deleted(enter: Enter) -> None:
    entry = enter()
    before = entry.page(ChoosePage)
    entry.press("\r")
    assert entry.page(ChoosePage) is not before
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(before)


def test_there_is_no_menu_and_no_shortcut(enter: Enter) -> None:
    """A key of a community's keyboard must never be swallowed."""
    entry = enter()
    assert entry.window.findChild(QMenuBar) is None
    assert entry.window.actions() == []
    assert entry.window.windowTitle() == "Rosetta"


def test_settings_are_laid_over_once(enter: Enter) -> None:
    entry = enter()
    entry.window.open_settings()
    first = entry.page(SettingsPage)
    entry.window.open_settings()
    assert entry.page(SettingsPage) is first


def test_closing_keeps_what_is_being_typed(enter: Enter, tmp_path: Path) -> None:
    entry = _at_first_sentence(enter, tmp_path)
    entry.answer("c")
    entry.type("half a tho")
    entry.window.close()
    entry.window.close()
    rows = entry.laptop.connection.execute("SELECT text FROM draft").fetchall()
    assert rows == [("half a tho",)]


def test_trouble_is_told_on_the_page_that_is_seen(enter: Enter) -> None:
    entry = enter()
    entry.window.open_settings()
    entry.window.tell(Trouble("Something went wrong.", "ValueError x.py:1"))
    assert "Something went wrong." in entry.read


def test_smallest_screen_holds_the_window(enter: Enter) -> None:
    entry = enter(size=SIZES[-1])
    hint = entry.window.minimumSize()
    assert hint.width() <= 1024
    assert hint.height() <= 600
    entry.window.showNormal()
    entry.window.resize(1024, 600)
    assert entry.window.width() == 1024
    assert entry.window.height() == 600


@pytest.mark.parametrize("size", SIZES)
def test_nothing_scrolls_sideways(enter: Enter, tmp_path: Path, size: int) -> None:
    entry = enter(places=[write_file(batch_of(), tmp_path / "stick")], size=size)
    entry.window.showNormal()
    entry.window.resize(1024, 600)
    for act in (lambda: None, entry.agree, lambda: _typed(entry)):
        act()
        entry.qtbot.waitUntil(lambda: _fits(entry))


def _fits(entry: Entry) -> bool:
    page = entry.window.page
    assert page is not None
    wide: int = page.reading.widget().minimumSizeHint().width()
    return wide <= page.reading.viewport().width() and page.width() <= 1024


def _typed(entry: Entry) -> None:
    entry.type(CODE)
    entry.press("\r")


def test_window_comes_forward_from_the_task_bar(enter: Enter) -> None:
    entry = enter()
    entry.window.setWindowState(Qt.WindowState.WindowMinimized)
    entry.window.come_forward()
    assert not entry.window.isMinimized()


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


def test_fault_without_a_place_is_told_by_its_kind() -> None:
    assert fault(ValueError, None) == "ValueError"


HOSTILE = "abc\u202edef\u0007 " + "W" * 199


def test_hostile_words_of_a_review_neither_act_nor_widen_the_page(
    enter: Enter, tmp_path: Path
) -> None:
    batch = batch_of(title=HOSTILE[:200], consent=HOSTILE * 20)
    entry = enter(sticks=[tmp_path / "stick"], size=SIZES[-1])
    write_file(batch, tmp_path / "stick", "x")
    entry.window.showNormal()
    entry.window.resize(1024, 600)
    acts = (lambda: entry.press("\r"), entry.agree, entry.agree, lambda: _typed(entry))
    for act in acts:
        act()
        page = entry.window.page
        assert page is not None
        shown = entry.read + "".join(entry.buttons)
        assert "\u202e" not in shown
        assert "\u0007" not in shown
        assert page.reading.widget().width() <= page.reading.viewport().width()
    entry.page(ConsentPage)


def test_nothing_leads_away_from_the_last_page(enter: Enter, tmp_path: Path) -> None:
    """Everything is deleted then: an older page would show what is no more."""
    entry = _at_first_sentence(enter, tmp_path)
    last = Page(entry.desk)
    entry.window.show_last(last)
    assert "Settings" not in entry.read + "".join(entry.buttons)
    entry.window.open_settings()
    entry.visit.take(tmp_path / "stick" / "Spring sentences.rosetta-batch")
    entry.window.speak()
    entry.idle()
    assert entry.window.page is last
    assert not entry.window.takes_files
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    entry.window.close()
    assert not entry.window.isVisible()


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


def _hanging(home: Path) -> subprocess.Popen[bytes]:
    """Start a program whose window hears of no request."""
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(home)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ours\n"
    return process


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


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
    _kill(_hanging(home))
    one = OneWindow(home)
    assert one.is_ours([])
    one.close()


def test_window_that_hangs_keeps_nobody_out(
    first: OneWindow, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing runs the first window's events here, as when it hangs."""
    monkeypatch.setattr(one_window, "PATIENCE_SECONDS", 0.2)
    second = OneWindow(home)
    assert second.is_ours([Path("x")])
    assert not (home / FOLDER / "files").exists()
    second.close()


def test_window_that_ends_meanwhile_leaves_its_place(qtbot: QtBot, home: Path) -> None:
    hanging = _hanging(home)
    later = _start(home, "x")
    qtbot.waitUntil((home / FOLDER / "files").exists, timeout=20_000)
    _kill(hanging)
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


@pytest.mark.parametrize(
    ("key", "released", "when", "repeats"),
    [
        (Qt.Key.Key_3, 100, 100, True),
        (Qt.Key.Key_3, 100, 101, False),
        (Qt.Key.Key_4, 100, 100, False),
        (Qt.Key.Key_3, 0, 0, False),
    ],
    ids=["the same key at once", "a moment later", "another key", "at unknown times"],
)
def test_a_press_at_the_time_of_its_release_is_a_repetition(
    qtbot: QtBot, key: Qt.Key, released: int, when: int, repeats: bool
) -> None:
    widget = Pressed()
    shown(qtbot, widget)
    send(widget, QEvent.Type.KeyPress, Qt.Key.Key_3, "3", 50)
    send(widget, QEvent.Type.KeyRelease, Qt.Key.Key_3, "3", released)
    send(widget, QEvent.Type.KeyPress, key, "x", when)
    assert widget.repeated == [False, repeats]


def test_a_box_takes_repetitions_as_letters(qtbot: QtBot) -> None:
    box = QLineEdit()
    shown(qtbot, box)
    for when in (50, 100, 140):
        send(box, QEvent.Type.KeyPress, Qt.Key.Key_A, "a", when)
        send(box, QEvent.Type.KeyRelease, Qt.Key.Key_A, "a", 100 if when == 50 else 140)
    assert box.text() == "aaa"
