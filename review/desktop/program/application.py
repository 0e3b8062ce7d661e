"""The program around the window: Qt's own words, the end by signals and faults, memory, and one window for each person.

Qt ships words for few languages and for none of those that this program is for: they come from our catalogue. A signal
reaches Python only between two of its steps, and a window at rest takes none: a pipe wakes it. What was copied in the
window is forgotten at the end. Code that was needed to start is let go: the system takes such pages back when memory is short.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from PySide6.QtCore import (
    QEvent,
    QFileSystemWatcher,
    QLocale,
    QObject,
    QSettings,
    QSocketNotifier,
    Qt,
    QTimer,
    QtMsgType,
    QTranslator,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QClipboard, QFileOpenEvent, QGuiApplication, QSessionManager
from PySide6.QtWidgets import QApplication

from harness.core.storage import private_folder
from review.desktop import look
from review.desktop.frame.work import fault
from review.session.words.catalogue import Words, msgid
from review.session.words.troubles import Trouble


def forget_clipboard() -> None:
    """Empty the clipboard where it holds something that was copied here; what others copied stays."""
    clipboard = QGuiApplication.clipboard()
    if clipboard.ownsClipboard():
        clipboard.clear()
    if clipboard.supportsSelection() and clipboard.ownsSelection():
        clipboard.clear(QClipboard.Mode.Selection)


Failed = Callable[[type[BaseException], BaseException, TracebackType | None], None]

# Ctrl+C, a system that shuts down, and a terminal that is closed; Windows has not all of them
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_FAILED = 1


@contextmanager
def ending_by(end: Callable[[], None], failed: Failed) -> Iterator[None]:
    """Call ``end`` from the window's loop on Ctrl+C and the like, and ``failed`` for what nobody foresaw.

    A signal may come in the midst of anything, as while a lock is held; ``end`` waits until that is done.
    """
    before = {n: signal.signal(n, lambda *_: QTimer.singleShot(0, end)) for n in _SIGNALS}
    hooks = sys.excepthook, threading.excepthook
    sys.excepthook = failed
    threading.excepthook = lambda args: _of_thread(args, failed)
    try:
        with _woken():
            yield
    finally:
        sys.excepthook, threading.excepthook = hooks
        for number, handler in before.items():
            signal.signal(number, handler)


def _of_thread(args: threading.ExceptHookArgs, failed: Failed) -> None:
    if args.exc_value is not None:
        failed(args.exc_type, args.exc_value, args.exc_traceback)


@contextmanager
def _woken() -> Iterator[None]:
    """Wake a window at rest by a signal; where the system has no such pipe, the next event does."""
    if os.name != "posix":
        yield
        return
    out, into = os.pipe()
    os.set_blocking(out, False)
    os.set_blocking(into, False)
    notifier = QSocketNotifier(out, QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda: os.read(out, 64))
    before = signal.set_wakeup_fd(into, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        notifier.setEnabled(False)
        os.close(out)
        os.close(into)


@contextmanager
def saying_no_screen(told: Callable[[str], str]) -> Iterator[None]:
    """Report in words, instead of ending abruptly, that Qt cannot draw a window here.

    ``told`` gets the first thing that Qt said, because its last words advise to reinstall.
    """

    warned: list[str] = []

    def heard(kind: QtMsgType, context: Any, message: str | None) -> None:  # noqa: ARG001  Qt gives it
        if kind is not QtMsgType.QtFatalMsg:
            warned.append((message or "").strip().partition("\n")[0])
            return
        print(told("".join(warned[:1])), file=sys.stderr, flush=True)
        os._exit(_FAILED)  # Qt would abort the process when this returned

    before = qInstallMessageHandler(heard)
    try:
        yield
    finally:
        qInstallMessageHandler(before)


_MAPPED: Final = Path("/proc/self/maps")
_MEMORY: Final = Path("/proc/self/smaps")
# A mapping of a file's code, which nobody writes to
_CODE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ [1-9]\d* +(/.*)\n")
_CHANGED: Final = "Anonymous:"  # How much of a mapping differs from its file, and would be lost
# Of madvise(2): what is not changed is read from its file again when it is next needed
_DONTNEED: Final = 4


def let_go_of_code() -> int:
    """Release the code of libraries from this process's memory, on Linux; return how many mappings were released.

    What runs next comes back from the system's copy of the file, without a look at the disk as long as there is
    memory to spare. Only libraries are let go that cannot be unloaded any more: their place stays theirs.
    """
    if sys.platform != "linux":
        return 0
    mapped = map(_CODE.match, _lines(_MAPPED))
    staying = {code[3] for code in mapped if code is not None and _stays(code[3])}
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return sum(advise(begin, end - begin, _DONTNEED) == 0 for begin, end, file in _unchanged() if file in staying)


def _unchanged() -> Iterator[tuple[int, int, str]]:
    """Yield the code of files that is mapped as it is in the file: addresses, and the file."""
    code: re.Match[str] | None = None
    for line in _lines(_MEMORY):
        if line.startswith(_CHANGED):
            if code is not None and int(line.split()[1]) == 0:
                yield int(code[1], 16), int(code[2], 16), code[3]
            code = None
        elif match := _CODE.match(line):
            code = match


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="surrogateescape") as lines:
        yield from lines


@cache
def _stays(file: str) -> bool:
    """Pin a library that is loaded; False for what is none."""
    try:
        ctypes.CDLL(file, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)  # ctypes never closes what it opened
    except OSError:
        return False
    return True


# Words of Qt that can be met in this program, without their Alt letters; a test knows that these
# are all
QT_WORDS: Final = (
    # the menus of a text, and of a box in which one types
    msgid("Undo"),
    msgid("Redo"),
    msgid("Cut"),
    msgid("Copy"),
    msgid("Paste"),
    msgid("Delete"),
    msgid("Select All"),
    # a key, as that menu names it
    msgid("Ctrl"),
    # the menu of a bar that scrolls
    msgid("Scroll here"),
    msgid("Top"),
    msgid("Bottom"),
    msgid("Page up"),
    msgid("Page down"),
    msgid("Scroll up"),
    msgid("Scroll down"),
    # what a screen reader says of a button
    msgid("Press"),
    msgid("Triggers the action"),
    msgid("SetFocus"),
    msgid("Sets the focus"),
    msgid("Toggle"),
    msgid("Toggles the state"),
)

# By this word Qt asks a translator from which side one reads
_DIRECTION: Final = "QT_LAYOUT_DIRECTION"


class QtWords(QTranslator):
    """Asks the catalogue that ``words`` gives, again each time."""

    def __init__(self, words: Callable[[], Words], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = words

    def isEmpty(self) -> bool:
        """Return False, so that it is used as a translator that has words."""
        return False

    def translate(
        self,
        context: str,  # noqa: ARG002  the same word is said in the same way everywhere
        sourceText: str,  # noqa: N803  Qt's own name of it
        disambiguation: str | None = None,  # noqa: ARG002  as above
        n: int = -1,  # noqa: ARG002  Qt puts the number in
    ) -> str:
        """Return a word of Qt in the reviewer's language, in English where the catalogue lacks it."""
        words = self._words()
        if sourceText == _DIRECTION:
            return words.direction.upper()
        return words(without_mnemonic(sourceText)) if sourceText else ""


def without_mnemonic(text: str) -> str:
    """Remove the sign that marks the letter for Alt; a doubled one stands for itself and stays."""
    return "&&".join(part.replace("&", "") for part in text.split("&&"))


# Where Qt's own settings go: the program leaves nothing outside its data folder
_NOWHERE = os.devnull
_BUS = "DBUS_SESSION_BUS_ADDRESS"
# Systems that tell their languages otherwise than by variables
_TELL_LANGUAGES = ("win32", "darwin")


class Application(QApplication):
    """One for the run of the program."""

    file_asked = Signal(object)  # The system asks to open a file: its Path
    failed = Signal(object)  # Something went wrong that nobody foresaw: a Trouble to be shown

    def __init__(self, words: Callable[[], Words]) -> None:
        prepare()
        super().__init__(["rosetta-review"])
        self.setApplicationName("rosetta-review")
        self.setApplicationDisplayName("Rosetta")
        self.setDesktopFileName("rosetta-review")
        self._words = words
        self._translator = QtWords(words, self)
        self.commitDataRequest.connect(self._never_restart, Qt.ConnectionType.DirectConnection)
        # Files of fonts that are missing or damaged: without them no sentence is shown
        self.lacking = look.load()
        self.speak()

    def speak(self) -> None:
        """Set Qt's own words and direction to the language of now."""
        self.removeTranslator(self._translator)
        rtl = self._words().direction == "rtl"
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight)
        self.installTranslator(self._translator)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_asked.emit(Path(event.file()))
            return True
        return super().event(event)

    def tell_unforeseen(
        self,
        kind: type[BaseException],
        error: BaseException,  # noqa: ARG002  its words may hold a text of an item
        trace: TracebackType | None,
    ) -> None:
        """Report that something went wrong inside the program; never with a text of an item or a person."""
        if issubclass(kind, KeyboardInterrupt):
            self.quit()
            return
        words = self._words()
        message = words("Something went wrong inside the program. Your answers are safe.")
        self.failed.emit(Trouble(message, fault(kind, trace)))

    def _never_restart(self, manager: QSessionManager) -> None:
        """Prevent the system from restarting the session: everything is on the disk."""
        manager.setRestartHint(QSessionManager.RestartHint.RestartNever)


def prepare() -> None:
    """Prevent Qt from writing its own settings, and from having a message bus started for it."""
    # Whether the system runs a message bus for this person.
    folder = os.environ.get("XDG_RUNTIME_DIR")
    if not (os.environ.get(_BUS) or (folder and (Path(folder) / "bus").exists())):
        os.environ[_BUS] = "disabled:"
    for scope in (QSettings.Scope.UserScope, QSettings.Scope.SystemScope):
        for form in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
            QSettings.setPath(form, scope, _NOWHERE)


def languages_of_system() -> Sequence[str]:
    """Return the languages that the system speaks, where it tells them otherwise than by variables."""
    return QLocale.system().uiLanguages() if sys.platform in _TELL_LANGUAGES else ()


# ---- One window for each person: a second start hands its files to the window that is open, and
# ends.
#
# Anyone who clicks a file twice, or has lost the window behind others, gets the same window with
# the same sentences. The lock is the operating system's: it ends with the program, however that
# ends.

FOLDER = "window"  # In the data folder; empty, or gone, while no window is open

# How long a window that does not answer is waited for; then another one opens, which does no harm
PATIENCE_SECONDS = 5.0
_PAUSE = 0.05
_MOST_BYTES = 2**16


class OneWindow(QObject):
    """The right to be the window; ``files_asked`` are those of later starts."""

    files_asked = Signal(object)  # A list of Paths; an empty one only asks for the window

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._home = home
        self._lock: sqlite3.Connection | None = None
        self._watcher: QFileSystemWatcher | None = None

    @property
    def _folder(self) -> Path:
        return self._home / FOLDER

    @property
    def _request(self) -> Path:
        return self._folder / "files"

    def is_ours(self, files: Sequence[Path]) -> bool:
        """Become the window; False where the one that is open has taken these files.

        True also where a folder that cannot be written, or a window that hangs, leaves it open.
        """
        try:
            private_folder(self._home)
            private_folder(self._folder)
            if self._taken() or not self._handed_over(files):
                self._watcher = QFileSystemWatcher([str(self._folder)])
                self._watcher.directoryChanged.connect(lambda _: self._look())
                QTimer.singleShot(0, self._look)  # a start may have asked in the moment before
                return True
        except (OSError, sqlite3.Error):
            return True
        return False

    def close(self) -> None:
        self._watcher = None
        for file in (self._request, self._folder / "lock") if self._lock else ():
            with suppress(OSError):
                file.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.close()
        for folder in (self._folder, self._home):  # a folder with anything in it stays
            with suppress(OSError):
                folder.rmdir()

    def _taken(self) -> bool:
        """Acquire the lock; False where another program has it."""
        path = self._folder / "lock"
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        lock = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            lock.close()
            return False
        self._lock = lock
        return True

    def _handed_over(self, files: Sequence[Path]) -> bool:
        """Request the open window to show these files, and wait until it has taken them."""
        new = self._folder / f"files.{os.getpid()}"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump([str(file.absolute()) for file in files], file)
        new.replace(self._request)
        patience = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < patience:
            if not self._request.exists():
                return True
            if self._taken():
                break
            time.sleep(_PAUSE)
        self._request.unlink(missing_ok=True)
        return False

    def _look(self) -> None:
        """Read what a later start left."""
        try:
            with self._request.open("rb") as file:
                written = file.read(_MOST_BYTES)
            self._request.unlink()
            names = json.loads(written)
        except (OSError, ValueError, RecursionError):
            return
        if isinstance(names, list):
            self.files_asked.emit([Path(name) for name in names if isinstance(name, str)])
