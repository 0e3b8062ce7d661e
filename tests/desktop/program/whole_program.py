"""The program from its start to its end in a process of its own, used as a person does.

Run as ``python -m tests.desktop.program.whole_program FILE SECRET``; exit code 0 where all of it came true. The
offscreen screen has no window manager, so keys go straight to what has the focus.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSettings, QTimer, QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication, QLineEdit

from review.desktop.item.pauses import EndPage
from review.desktop.pages.first_pages import AskingPage, ChoosePage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.parts.choosing import ChoiceRows
from review.desktop.program.running import Running, run
from tests.desktop.visit_scene import Entry

COMMENT = "a comment that nobody else reads"
DRAFT = "half a better wording"


class Whole(Entry):
    """The program as ``run`` starts it, and ``waitUntil`` as of a bot."""

    def __init__(self, running: Running) -> None:
        assert running.window is not None
        assert running.visit is not None
        self.qtbot = self  # type: ignore[assignment]
        self.window, self.visit, self.work = running.window, running.visit, running.work
        self.keys = 0

    def waitUntil(self, true: Callable[[], object]) -> None:
        end = time.monotonic() + 300
        while not true():
            assert time.monotonic() < end
            QApplication.processEvents()
            time.sleep(0.005)

    def judge(self, number: int, key: str, text: str = "", end: str = "") -> None:
        """Press a key at an item, once it takes them; type, and press the key that ends it."""

        def takes() -> bool:
            self.idle()
            session = self.visit.flow.session
            item = session.view.item if session is not None else None
            return item is not None and item.number == number and session.time.takes_keys()

        self.waitUntil(takes)
        self.press(key)
        self.type(text)
        self.press(*end)


def play(running: Running, file: str, secret: str) -> None:
    """Judge everything, write, change the size, look for a folder, hand in and close."""
    if running.window is None or running.window.page is None:
        QTimer.singleShot(5, partial(play, running, file, secret))
        return
    try:
        whole = Whole(running)
        whole.page(AskingPage).findChild(QLineEdit).setText(secret)
        whole.press("\r")
        whole.to_item()
        whole.judge(1, "c", COMMENT, "\r")
        whole.judge(1, "4")
        whole.judge(2, "e", DRAFT, "\x1b")
        running.look.larger()
        whole.judge(2, "2")
        whole.judge(3, "1")
        whole.page(EndPage)
        whole.press("x")
        page = whole.page(HandOverPage)
        whole.click("Another folder …")
        whole.waitUntil(lambda: str(Path.home()) in whole.read)
        whole.press("\x1b")
        whole.waitUntil(lambda: "No stick was found." in whole.read)
        page.findChildren(ChoiceRows)[-1].chosen.emit(0)
        whole.waitUntil(lambda: "Saved and checked" in whole.read)
        whole.press("\r")
        whole.page(EndPage)
        assert "Handed in at" in whole.read
        whole.press("q")
        whole.page(ChoosePage)
        opened = QFileOpenEvent(QUrl.fromLocalFile(file))  # as macOS hands a file over
        QApplication.postEvent(running.app, opened)
        whole.waitUntil(lambda: isinstance(running.window.page, AskingPage))
        settings = QSettings("QtProject")
        settings.setValue("FileDialog/lastVisited", "/media/secret")
        settings.sync()
        running.window.close()
    except BaseException:  # noqa: BLE001  whatever it is, the test must see it
        traceback.print_exc()
        os._exit(3)


def main(file: str, secret: str) -> int:
    begin = Running.begin

    def played(running: Running) -> None:
        begin(running)
        QTimer.singleShot(0, partial(play, running, file, secret))

    Running.begin = played  # type: ignore[assignment,method-assign]
    return run([Path(file)], "en")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
