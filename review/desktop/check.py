"""Whether this very program opens a review and draws its first page: for whoever has just built a bundle."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QTimer

from harness.version import VERSION
from review.desktop.choose_page import ChoosePage
from review.desktop.leaving import ending_by, saying_no_screen
from review.desktop.no_window import no_window
from review.desktop.page import Page
from review.desktop.running import Running

_FAILED = 1
_SECONDS = 60.0
_PAUSE = 10
"""Milliseconds between two looks at the window."""


def check(places: Sequence[Path], language: str | None) -> int:
    """Open a review in a data folder of its own, draw the page that comes first, and say so in one line."""
    if len(places) != 1:
        return _fail("name one file to open")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="rosetta-review-") as folder:
        os.environ["ROSETTA_HOME"] = folder
        with saying_no_screen(no_window):
            running = Running(places, language)
        if running.app.lacking:
            return _fail(f"{running.app.lacking[0]}: missing or damaged")
        return _Check(running).run(places[0])


class _Check:
    """Looks at the window until a page is there that a review leads to."""

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
        if page is None or isinstance(page, ChoosePage):
            why = None if page is None else page.trouble
            return _fail(why.said if why else f"{file} was not opened")
        seconds = time.perf_counter() - self._began
        print(f"rosetta-review {VERSION}: “{page.accessibleName()}” drawn in {seconds:.2f} s")
        return 0

    def _look(self) -> None:
        window = self._running.window
        page = window.page if window is not None else None
        if window is not None and page is not None and not self._running.work.busy:
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
