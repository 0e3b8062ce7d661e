"""The driver of a real terminal: it notices when there is none any more, and does not keep escape waiting.

A window that is closed, a connection that is cut or a session that ends takes the terminal away. Mostly the system
then ends the program by SIGHUP; where that is ignored (``nohup``, some session programs) Textual's own driver reads
the end of a dead terminal for ever, at the cost of a whole core. Either way the app leaves, so that what
is under way stops as it would for a person.
"""

from __future__ import annotations

import os
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterable
from select import select
from typing import IO, Any, Protocol, cast

from textual import constants
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

IDLE_SECONDS = 0.1  # how soon the end is noticed while nothing is typed
_SIGNALS = (signal.SIGHUP, signal.SIGTERM)


class Leaves(Protocol):
    """An app that leaves in order when its terminal is gone (``textual_inside.TerminalApp``)."""

    def leave_at_once(self, code: int) -> None:
        """Exit with this exit code, whatever is open."""
        ...


class TerminalDriver(LinuxDriver):
    """Tells its app to leave when the terminal is gone or the system asks for the end."""

    def __init__(self, app: App[None], **wishes: Any) -> None:
        super().__init__(app, **wishes)
        # Textual's writer would die of the first failed write, and the app then wait for it for ever.
        self._file: Any = _Forgiving(cast("IO[str]", self._file))
        self._caught: list[signal.Signals] = []
        self._gone = False

    def start_application_mode(self) -> None:
        self._caught = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
        for signals in self._caught:
            self._loop.add_signal_handler(signals, self._leave, signals)
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        for signals in self._caught:
            self._loop.remove_signal_handler(signals)
        if self._gone:  # what is being saved is not to be cut by the same bad news coming twice
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Pass on what is typed until the terminal is gone; Textual's own loop doubles the wait for a lone escape."""
        parser, decode = XTermParser(self._debug), getincrementaldecoder("utf-8")("replace").decode
        wait = IDLE_SECONDS
        while not self.exit_event.is_set():
            if select([self.fileno], [], [], wait)[0]:
                data = _read(self.fileno)
                if not data:
                    # Replace the terminal by the empty file, so that nothing fails at it any more, and leave.
                    device = os.fstat(self.fileno).st_rdev
                    empty = os.open(os.devnull, os.O_RDWR)
                    for descriptor in {self.fileno, 0, 1, 2}:
                        if os.fstat(descriptor).st_rdev == device:
                            os.dup2(empty, descriptor)
                    os.close(empty)
                    self._loop.call_soon_threadsafe(self._leave, signal.SIGHUP)
                    return
                if typed := decode(data):
                    self._hand_on(parser.feed(typed))
                wait = constants.ESCAPE_DELAY
            else:
                wait = IDLE_SECONDS
            self._hand_on(parser.tick())

    def _hand_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)

    def _leave(self, why: signal.Signals) -> None:
        self._gone = self._gone or why is signal.SIGHUP
        self._app.call_later(cast("Leaves", self._app).leave_at_once, 128 + why)


class _Forgiving:
    """The terminal as a file that never fails: what a terminal that is gone cannot take is dropped."""

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


def _read(terminal: int) -> bytes:
    """Read what was typed; nothing where nobody is at the other end any more."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""
