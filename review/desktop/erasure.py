"""The way through deleting everything: handing over first, if the person wants, and the last page."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from review.desktop.desk import Desk
from review.desktop.erase_page import ErasePage
from review.desktop.erased_page import ErasedPage
from review.desktop.hand_over_page import HandOverPage
from review.desktop.window import Window
from review.session.erasing import Remains
from review.session.waiting import hand_over_all


class Erasure(QObject):
    """Lies over whatever page is shown, which is still there where nothing was deleted."""

    def __init__(self, window: Window, desk: Desk) -> None:
        super().__init__(window)
        self._window, self._desk = window, desk
        window.erase.connect(self.start)

    def start(self) -> None:
        """Say what would be lost, and ask."""
        page = ErasePage(self._desk)
        page.erased.connect(self._erased)
        page.hand_over.connect(self._hand_over)
        self._window.show_over(page)

    def _hand_over(self) -> None:
        opening = self._desk.opening
        page = HandOverPage(self._desk, partial(hand_over_all, opening.laptop), opening.sticks)
        self._window.show_over(page)
        page.left.connect(self.start)  # after the window has uncovered what lies below

    def _erased(self, remains: tuple[Remains, ...]) -> None:
        self._window.show_last(ErasedPage(self._desk, remains))
