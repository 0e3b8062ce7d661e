"""How the program ends when it is told to from outside, or when something in it fails.

A signal reaches Python only between two of its own steps, and a window at rest takes none: a pipe wakes it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from PySide6.QtCore import QSocketNotifier, QTimer, QtMsgType, qInstallMessageHandler

Failed = Callable[[type[BaseException], BaseException, TracebackType | None], None]

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""Ctrl+C, a system that shuts down, and a terminal that is closed; Windows has not all of them."""
_FAILED = 1


@contextmanager
def ending_by(end: Callable[[], None], failed: Failed) -> Iterator[None]:
    """Call ``end`` from the window's loop on Ctrl+C and the like, and ``failed`` for what nobody foresaw.

    A signal may come in the midst of anything, as while a lock is held; ``end`` waits until that is done.
    """
    before = {each: signal.signal(each, lambda *_: QTimer.singleShot(0, end)) for each in _SIGNALS}
    hooks = sys.excepthook, threading.excepthook
    sys.excepthook = failed
    threading.excepthook = lambda args: _of_thread(args, failed)
    try:
        with _woken():
            yield
    finally:
        sys.excepthook, threading.excepthook = hooks
        for each, handler in before.items():
            signal.signal(each, handler)


def _of_thread(args: threading.ExceptHookArgs, failed: Failed) -> None:
    if args.exc_value is not None:
        failed(args.exc_type, args.exc_value, args.exc_traceback)


@contextmanager
def _woken() -> Iterator[None]:
    """Let a signal wake a window at rest; where the system has no such pipe, the next event does."""
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
    """Say in words, instead of ending abruptly, that Qt cannot draw a window here.

    ``told`` gets the first thing that Qt said, because its last words advise to reinstall.
    """

    warned: list[str] = []

    def heard(kind: QtMsgType, context: Any, message: str | None) -> None:  # noqa: ARG001  Qt gives it
        if kind is not QtMsgType.QtFatalMsg:
            warned.append(_first_line(message or ""))
            return
        print(told("".join(warned[:1])), file=sys.stderr, flush=True)
        os._exit(_FAILED)  # Qt would abort the process when this returned

    before = qInstallMessageHandler(heard)
    try:
        yield
    finally:
        qInstallMessageHandler(before)


def _first_line(message: str) -> str:
    return message.strip().partition("\n")[0]
