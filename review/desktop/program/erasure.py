"""The way through deleting everything: handing over first, if the person wants, and the last page."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from harness.core.failures import HarnessError
from review.desktop.frame.desk import Desk
from review.desktop.pages.erase_page import ErasePage
from review.desktop.pages.erased_page import ErasedPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.parts.clipboard import forget_clipboard
from review.desktop.program.window import Window
from review.session.erasing import Remains, erase_everything, why_not_erased
from review.session.waiting import hand_over_all


class Erasure(QObject):
    """Lies over whatever page is shown, which is still there where nothing was deleted.

    Nothing else leads away from its pages: what is being deleted must not be written to meanwhile.
    """

    def __init__(self, window: Window, desk: Desk) -> None:
        super().__init__(window)
        self._window, self._desk = window, desk
        window.erase.connect(self.start)

    def start(self) -> None:
        """Say what would be lost, and ask."""
        page = ErasePage(self._desk)
        page.left.connect(self._window.uncover)
        page.hand_over.connect(self._hand_over)
        page.delete.connect(partial(self._delete, page))
        self._window.hold(page)

    def _hand_over(self) -> None:
        opening = self._desk.opening
        page = HandOverPage(self._desk, partial(hand_over_all, opening.laptop), opening.sticks)
        page.left.connect(self.start)
        self._window.hold(page)

    def _delete(self, page: ErasePage) -> None:
        """Delete everything, whatever becomes of the page; what was copied is forgotten even if it ends now."""
        forget_clipboard()
        delete = partial(erase_everything, self._desk.opening.laptop)
        self._desk.work.do(delete, self._erased, partial(self._not_erased, page))

    def _erased(self, remains: tuple[Remains, ...]) -> None:
        self._window.show_last(ErasedPage(self._desk, remains))

    def _not_erased(self, page: ErasePage, error: HarnessError) -> None:
        page.tell_not_deleted(why_not_erased(self._desk.words, error))
