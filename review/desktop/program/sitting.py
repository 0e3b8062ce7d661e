"""One person's sitting in the window: the page of an item, and every page that lies between two items.

Lets go of code that was needed to start and to open a review, and is hardly needed to rate.

Most of a library's code that is in memory ran once: while its types were made, a signature was checked, a file
unsealed. The system takes such pages back by itself when memory is short, once it has found them.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Final, TypeVar

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from harness.core.failures import HarnessError
from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk
from review.desktop.item.answers_page import AnswersPage
from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import PAUSES, EndPage
from review.desktop.item.translation_page import TranslationPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.pages.help_page import HelpPage
from review.desktop.pages.sharing_page import SharingPage
from review.desktop.pages.withdraw_page import WithdrawPage
from review.desktop.parts.clipboard import forget_clipboard
from review.desktop.program.window import Window
from review.files.batch import Batch
from review.log.payloads import Scope
from review.session.handing_over import Exported
from review.session.session import Session
from review.session.view import ShownItem, View
from review.session.words import page as page_words
from review.session.words.onward import Onward
from review.session.words.troubles import trouble

_MAPPED: Final = Path("/proc/self/maps")
_MEMORY: Final = Path("/proc/self/smaps")
_CODE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ [1-9]\d* +(/.*)\n")
"""A mapping of a file's code, which nobody writes to."""
_CHANGED: Final = "Anonymous:"
"""How much of a mapping differs from its file, and would be lost."""
_DONTNEED: Final = 4
"""Of madvise(2): what is not changed is read from its file again when it is next needed."""


def let_go_of_code() -> int:
    """Take the code of libraries out of this process's memory, on Linux; gives how many mappings were let go.

    What runs next comes back from the system's copy of the file, without a look at the disk as long as there is
    memory to spare. Only libraries are let go that cannot be unloaded any more: their place stays theirs.
    """
    if sys.platform != "linux":
        return 0
    mapped = map(_CODE.match, _lines(_MAPPED))
    staying = {code[3] for code in mapped if code is not None and _stays(code[3])}
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return sum(
        advise(begin, end - begin, _DONTNEED) == 0
        for begin, end, file in _unchanged()
        if file in staying
    )


def _unchanged() -> Iterator[tuple[int, int, str]]:
    """Yield the code of files that is mapped as it stands in the file: addresses, and the file."""
    code: re.Match[str] | None = None
    for line in _lines(_MEMORY):
        if line.startswith(_CHANGED):
            if code is not None and int(line.split()[1]) == 0:
                yield int(code[1], 16), int(code[2], 16), code[3]
            code = None
        elif found := _CODE.match(line):
            code = found


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="surrogateescape") as lines:
        yield from lines


@cache
def _stays(file: str) -> bool:
    """Keep a library that is loaded from ever being unloaded; False for what is none."""
    try:
        ctypes.CDLL(file, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)  # ctypes never closes what it opened
    except OSError:
        return False
    return True


Result = TypeVar("Result")


class Sitting(QObject):
    """Leads from page to page until the person stops; everything they gave is on the disk at each step."""

    ended = Signal()
    """The person stopped, and the session is closed."""

    def __init__(self, window: Window, desk: Desk, batch: Batch, session: Session) -> None:
        super().__init__()
        self._window, self._desk, self._batch, self._session = window, desk, batch, session
        self._items: ItemPage | TranslationPage | None = None
        """The page of an item, while it is shown."""
        self._leading = False
        """True from a choice until the page it leads to: what is pressed meanwhile was not meant for that."""
        self._ending = False
        self._pages: Mapping[Onward, Callable[[], None]] = {
            Onward.HAND_OVER: self._hand_over,
            Onward.SHARING: self._ask_sharing,
            Onward.WITHDRAW: self._ask_withdraw,
            Onward.HELP: self._help,
            Onward.ANSWERS: self._look_again,
            Onward.LEAVE: self._end,
        }
        self._draw: Callable[[], None] = self.start
        """Shows the page that is shown now once more, in the words of now."""
        window.reworded.connect(self._reword)
        window.closing.connect(self._forget_copies)

    def start(self) -> None:
        """Show where the person is."""
        self._show(self._session.view)

    def keep_typed(self) -> None:
        """Keep as a draft what stands in an open box."""
        if self._items is not None and isValid(self._items):
            self._items.keep_typed()

    # which page

    def _show(self, view: View) -> None:
        """Show the page that belongs to a view."""
        self._draw = self.start
        if view.item is not None:
            self._show_item()
        elif PAUSES.get(view.phase) is EndPage:
            self._do(self._session.answered, partial(self._show_pause, view))
        elif view.phase in PAUSES:
            self._show_pause(view, ())
        else:
            self._end()

    def _show_item(self) -> None:
        kind = TranslationPage if self._session.translating else ItemPage
        page = kind(self._desk, self._session)
        page.onward.connect(self._go)
        page.away.connect(self._show)
        page.left.connect(partial(self._go, Onward.LEAVE))
        self._put(page)
        self._items = page
        self._do(let_go_of_code, lambda _: None)

    def _show_pause(self, view: View, answered: tuple[ShownItem, ...]) -> None:
        translating = self._session.translating
        page = PAUSES[view.phase](self._desk, view, answered, translating=translating)
        page.onward.connect(self._go)
        self._put(page)

    def _put(self, page: Page) -> None:
        self._items, self._leading = None, False
        self._window.show_page(page)

    def _go(self, onward: Onward) -> None:
        """Go where a page leads, after everything that is being saved."""
        if not self._leading:
            self._leading = True
            self._do(lambda: onward, self._lead)

    def _lead(self, onward: Onward) -> None:
        if onward is Onward.GO_ON:
            self._do(self._session.go_on, self._show)
        elif onward is Onward.UNDO:
            self._do(self._session.undo, self._show)
        elif onward is Onward.UNSAVED:
            self._do(self._session.go_to_unsaved, self._show)
        else:
            self._pages[onward]()

    def _lead_back(self, page: Page, draw: Callable[[], None]) -> None:
        """Show a page that leads back to where the person was."""
        self._draw = draw
        page.left.connect(self.start)
        self._put(page)

    # pages that lead back

    def _hand_over(self) -> None:
        places = partial(self._desk.opening.hand_over_places, self._batch)
        page = HandOverPage(self._desk, self._export, places, self._session.view)
        page.unsaved.connect(partial(self._go, Onward.UNSAVED))
        self._lead_back(page, self._hand_over)

    def _export(self, folder: Path) -> list[Exported]:
        return [self._session.export(folder)]

    def _help(self) -> None:
        session = self._session
        guide = page_words.guide(session.words, session.manifest)
        page = HelpPage(self._desk, guide, translating=session.translating)
        self._lead_back(page, self._help)

    def _look_again(self) -> None:
        self._do(self._session.answered, self._show_answers)

    def _show_answers(self, answered: tuple[ShownItem, ...]) -> None:
        page = AnswersPage(self._desk, answered, translating=self._session.translating)
        page.chosen.connect(self._change)
        self._lead_back(page, partial(self._show_answers, answered))

    def _change(self, item: str) -> None:
        if not self._leading:
            self._leading = True
            self._do(partial(self._session.go_to, item), self._show)

    def _ask_sharing(self) -> None:
        page = SharingPage(self._desk, self._session.manifest, self._session.view.shares)
        page.chosen.connect(self._share)
        self._lead_back(page, self._ask_sharing)

    def _share(self, shares: bool) -> None:
        if not self._leading:
            self._leading = True
            self._do(partial(self._session.share, shares), self._show)

    def _ask_withdraw(self) -> None:
        page = WithdrawPage(self._desk, translating=self._session.translating)
        page.chosen.connect(self._withdraw)
        self._lead_back(page, self._ask_withdraw)

    def _withdraw(self, scope: Scope) -> None:
        if not self._leading:
            self._leading = True
            self._do(partial(self._session.withdraw, scope), self._show)

    # the end

    def _end(self) -> None:
        """Close the session after everything that is under way."""
        self._ending = True
        self.keep_typed()
        self._forget_copies()
        self._do(self._session.close, lambda _: self._ended())

    def _ended(self) -> None:
        self._window.reworded.disconnect(self._reword)
        self._window.closing.disconnect(self._forget_copies)
        self.ended.emit()

    def _forget_copies(self) -> None:
        """Let no secret sentence stay in the clipboard."""
        if self._session.manifest.secret:
            forget_clipboard()

    # what holds on every page

    def _reword(self) -> None:
        """Say the page that is shown in the language of now; what is typed is kept before."""
        self.keep_typed()
        self._session.words = self._desk.words
        self._do(lambda: self._session.view, lambda _: self._draw())

    def _do(self, call: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Do something away from the window; where it fails, the page stays and says why."""
        self._desk.work.do(call, then, self._failed)

    def _failed(self, error: HarnessError) -> None:
        self._leading = False
        if self._ending:
            self._ended()
        else:
            self._window.tell(trouble(self._desk.words, error))
