"""Whether this very program opens a review and draws its first page: for whoever has just built a bundle."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer

from harness.core.version import VERSION
from review.desktop.frame.page import Page
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.program.leaving import ending_by, saying_no_screen
from review.desktop.program.no_window import no_window
from review.desktop.program.running import Running
from review.session.opening import is_there

_FAILED = 1
_SECONDS = 60.0
_PAUSE = 10
"""Milliseconds between two looks at the window."""


def check(places: Sequence[Path], language: str | None) -> int:
    """Open a review in a data folder of its own, draw the page that comes first, and say so in one line."""
    if len(places) != 1:
        return _fail("name one file to open")
    if not is_there(places[0]):
        return _fail(f"{places[0]} is not there")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="rosetta-review-") as folder:
        os.environ["ROSETTA_HOME"] = folder
        with saying_no_screen(partial(_no_screen, folder)):
            running = Running(places, language)
        if running.app.lacking:
            return _fail(f"{running.app.lacking[0]}: missing or damaged")
        return _Check(running).run(places[0])


def _no_screen(folder: str, said_by_qt: str) -> str:
    """Say why nothing can be drawn and what was tried; the program ends without another word, so tidy up now."""
    shutil.rmtree(folder, ignore_errors=True)
    return f"{no_window(said_by_qt, answers=False)}\n{_tried()}"


def _tried() -> str:
    """Say on which screen the program tried to draw, and in which data folder of its own."""
    names = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY", "ROSETTA_HOME")
    found = (
        f"{name}={os.environ[name]}" if os.environ.get(name) else f"no {name}" for name in names
    )
    return f"Tried with {', '.join(found)}."


class _Check:
    """Looks at the window until a page is there that a review leads to, or a window that says why there is none."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._began = time.perf_counter()
        self._drawn: Page | None = None

    def run(self, file: Path) -> int:
        with ending_by(self._running.end, self._running.app.tell_unforeseen):
            self._running.begin()
            self._look()
            self._running.app.exec()
            self._running.close()
        page = self._drawn
        if (trouble := self._running.trouble) is not None:
            return _fail(f"{trouble.said}\n{trouble.detail}\n{_tried()}")
        if page is None:
            shown = self._running.window is not None
            said = "its page was not drawn" if shown else "no window came"
            return _fail(f"{file}: {said} within {_SECONDS:.0f} s.\n{_tried()}")
        if isinstance(page, ChoosePage):
            return _fail(page.trouble.said if page.trouble else f"{file} was not opened")
        seconds = time.perf_counter() - self._began
        print(f"rosetta-review {VERSION}: “{page.accessibleName()}” drawn in {seconds:.2f} s")
        return 0

    def _look(self) -> None:
        window = self._running.window
        page = window.page if window is not None else None
        if self._running.trouble is not None:
            self._running.end()
        elif window is not None and page is not None and not self._running.work.busy:
            if not window.grab().isNull():
                self._drawn = page
            self._running.end()
        elif time.perf_counter() - self._began > _SECONDS:
            self._running.end()
        else:
            QTimer.singleShot(_PAUSE, self._look)


def _fail(why: str) -> int:
    print(f"rosetta-review {VERSION}: {why}", file=sys.stderr)
    return _FAILED
