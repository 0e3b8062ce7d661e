"""The driver of a real terminal, which also notices when there is none any more.

A window that is closed, a connection that is cut or a session that ends takes the terminal away. Mostly the system
then ends the program by SIGHUP; where that is ignored (``nohup``, some session programs) Textual's own driver reads
the end of a dead terminal for ever, at the cost of a whole core. Either way the app is told to leave, so that what
is under way stops as it would for a person.
"""

from __future__ import annotations

import asyncio
import os
import signal
import termios
import threading
from typing import IO, TYPE_CHECKING, Any, cast

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from rosetta_tui.textual_inside import TerminalApp

LOOK_SECONDS = 0.5
"""How often the terminal is looked at."""

_SIGNALS = (signal.SIGHUP, signal.SIGTERM)


class TerminalDriver(LinuxDriver):
    """Tells its app to leave when the terminal is gone or the system asks for the end."""

    def __init__(self, app: TerminalApp, **wishes: Any) -> None:
        super().__init__(app, **wishes)
        # Textual's writer would die of the first failed write, and the app then wait for it for ever.
        self._file: Any = _Forgiving(cast("IO[str]", self._file))
        self._over = threading.Event()
        self._caught: list[signal.Signals] = []
        self._gone = False

    def start_application_mode(self) -> None:
        """Take the terminal over and begin to watch it."""
        loop = asyncio.get_running_loop()
        self._over = threading.Event()
        threading.Thread(
            target=self._watch, args=(loop, self._over), name="terminal-watch", daemon=True
        ).start()
        self._caught = [each for each in _SIGNALS if signal.getsignal(each) is signal.SIG_DFL]
        for each in self._caught:
            loop.add_signal_handler(each, self._leave, each)
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        self._over.set()
        loop = asyncio.get_running_loop()
        for each in self._caught:
            loop.remove_signal_handler(each)
        if self._gone:  # what is being saved is not to be cut by the same bad news coming twice
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Hand on what is typed, until the end or until the terminal is gone."""
        try:
            super().run_input_thread()
        except OSError:
            if is_there(self.fileno):
                raise

    def _watch(self, loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
        while not over.wait(LOOK_SECONDS):
            if not is_there(self.fileno):
                let_go(self.fileno)
                self.exit_event.set()
                loop.call_soon_threadsafe(self._leave, signal.SIGHUP)
                return

    def _leave(self, why: signal.Signals) -> None:
        self._gone = self._gone or why is signal.SIGHUP
        app = cast("TerminalApp", self._app)
        app.call_later(app.leave_at_once, 128 + why)


class _Forgiving:
    """The terminal as a file to which nothing is lost: what a terminal that is gone cannot take is dropped."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            return

    def fileno(self) -> int:
        return self._file.fileno()


def is_there(terminal: int) -> bool:
    """Tell whether the terminal of a file descriptor still has somebody at its other end."""
    try:
        termios.tcgetattr(terminal)
    except termios.error:
        return False
    return True


def let_go(terminal: int) -> None:
    """Put the empty file in the place of a terminal that is gone, so that nothing fails at it any more."""
    device = os.fstat(terminal).st_rdev
    empty = os.open(os.devnull, os.O_RDWR)
    for descriptor in {terminal, 0, 1, 2}:
        if os.fstat(descriptor).st_rdev == device:
            os.dup2(empty, descriptor)
    os.close(empty)
