"""The program from its start to its end in a process of its own, used by a script of waits and keys.

Run as ``python -m tests.desktop.program.whole_program judge|erase FILE SECRET``; exit code 0 where the script came
through. The offscreen screen has no window manager, so keys go straight to what has the focus.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit

from review.desktop.frame.page import Page
from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import EndPage
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.ending_pages import ErasedPage, ErasePage
from review.desktop.pages.first_pages import (
    AskingPage,
    ConsentPage,
    OrganisationPage,
    RelationPage,
    SharingPage,
)
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import ChoiceRows, Tick
from review.desktop.program.running import Running, run
from tests.review.session.scenes import CODE

COMMENT = "a comment that nobody else reads"
DRAFT = "half a better wording"

_ENTER, _ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
_SECONDS = 40
_BROKEN, _TOO_LATE = 3, 4

Wait = Callable[[], bool]


class Script:
    """Each step presses keys, then waits for what must follow."""

    def __init__(self, running: Running, secret: str) -> None:
        self._running, self._secret = running, secret

    @property
    def page(self) -> Page | None:
        return None if self._running.window is None else self._running.window.page

    def shows(self, kind: type[Page], said: str = "") -> Wait:
        """Wait for a page, and for words on it."""
        return lambda: (
            isinstance(self.page, kind)
            and not self._running.work.busy
            and any(said in each.text() for each in self.page.findChildren(QLabel))
        )

    def judges(self, number: int) -> Wait:
        """Wait for an item that takes keys."""

        def takes() -> bool:
            page = self.page
            if not isinstance(page, ItemPage) or self._running.work.busy:
                return False
            item = page.session.view.item
            return (
                item is not None
                and item.number == number
                and page.texts.translation_seen
                and page.session.time.takes_keys()
            )

        return takes

    def press(self, *keys: str | Qt.Key) -> None:
        for key in keys:
            code, text = (ord(key.upper()), key) if isinstance(key, str) else (int(key), "")
            for kind in (QKeyEvent.Type.KeyPress, QKeyEvent.Type.KeyRelease):
                target = QApplication.focusWidget() or self.page
                assert target is not None
                event = QKeyEvent(kind, code, Qt.KeyboardModifier.NoModifier, text)
                QApplication.sendEvent(target, event)

    def click(self, words: str) -> None:
        assert self.page is not None
        found = [each for each in self.page.findChildren(Button) if each.text() == words]
        found[
            -1
        ].click()  # the page may have been drawn anew: older ones are gone with the next events

    def fill(self, text: str) -> None:
        page = self.page
        assert isinstance(page, AskingPage)
        page.findChild(QLineEdit).setText(text)
        page.enter()

    def judge(self) -> Iterator[Wait]:
        """Judge everything, write, change colours, look for a folder, hand over and close."""
        yield self.shows(AskingPage, "secret words")
        self.fill(self._secret)
        yield self.shows(OrganisationPage)
        self.press(_ENTER)
        yield self.shows(AskingPage, "code")
        self.fill(CODE)
        yield self.shows(ConsentPage)
        self.press(_ENTER)
        yield self.shows(SharingPage)
        self.press("2")
        yield self.shows(RelationPage)
        self.press("3")
        yield self.judges(1)
        self.press("c", *COMMENT, _ENTER)
        yield self.judges(1)
        self.press("4")
        yield self.judges(2)
        self.press("e", *DRAFT)
        self.press(_ESC)
        yield self.judges(2)
        self._running.look.larger()
        self.press("2")
        yield self.judges(3)
        self.press("1")
        yield self.shows(EndPage)
        self.press("x")
        yield self.shows(HandOverPage, "No stick was found.")
        page = self.page
        assert isinstance(page, HandOverPage)
        self.click("Another folder …")
        yield self.shows(HandOverPage, str(Path.home()))
        self.press(_ESC)
        yield self.shows(HandOverPage, "No stick was found.")
        page.findChildren(ChoiceRows)[-1].chosen.emit(0)
        yield self.shows(HandOverPage, "Saved and checked")
        self.press(_ENTER)
        yield self.shows(EndPage, "Handed over at")
        self.press("q")
        yield self.shows(ChoosePage)
        self.close()

    def erase(self) -> Iterator[Wait]:
        """Delete everything from this computer."""
        yield self.shows(ChoosePage)
        assert self._running.window is not None
        self._running.window.erase.emit()
        yield self.shows(ErasePage, "3 answers are kept")
        assert self.page is not None
        self.page.findChild(Tick).setChecked(True)
        self.click("Delete everything")
        yield self.shows(ErasedPage, "Everything is deleted")
        assert self._running.look is not None
        self._running.look.larger()
        assert not self._running.work.busy, "nothing is left to be remembered"
        self.press(_ENTER)
        yield lambda: False

    def close(self) -> None:
        assert self._running.window is not None
        self._running.window.close()


class Player:
    """Goes through a script while the program runs."""

    def __init__(self, steps: Iterator[Wait]) -> None:
        self._steps = steps
        self._wait: Wait = lambda: True
        self._timer = QTimer(interval=5)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        self._late = QTimer(interval=_SECONDS * 1000, singleShot=True)
        self._late.timeout.connect(lambda: os._exit(_TOO_LATE))
        self._late.start()

    def _look(self) -> None:
        try:
            if self._wait():
                self._wait = next(self._steps)
        except StopIteration:
            self._timer.stop()
        except BaseException:  # noqa: BLE001  whatever it is, the test must see it
            traceback.print_exc()
            os._exit(_BROKEN)


def main() -> int:
    what, file, secret = sys.argv[1:]
    begin = Running.begin
    players = []

    def played(running: Running) -> None:
        begin(running)
        script = Script(running, secret)
        players.append(Player(script.judge() if what == "judge" else script.erase()))

    Running.begin = played  # type: ignore[assignment,method-assign]
    return run([Path(file)] if what == "judge" else [], "en")


if __name__ == "__main__":
    sys.exit(main())
