"""From the start of the program to its end: the laptop's file, then the window, then the first page.

The way through deleting everything: handing in first, if the person wants, and the last page. Anyone who has just
built a bundle can have it checked: whether this very program opens a review and draws its first page.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer

from harness.core.version import VERSION
from harness.store.sqlite.database import home
from review.desktop.frame.page import Page
from review.desktop.frame.work import AppContext, Work
from review.desktop.look import SIZES, Look, Setting, Theme
from review.desktop.pages.ending_pages import ErasedPage, ErasePage
from review.desktop.pages.first_pages import ChoosePage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.program.application import (
    Application,
    OneWindow,
    ending_by,
    forget_clipboard,
    languages_of_system,
    saying_no_screen,
)
from review.desktop.program.no_window import no_window
from review.desktop.program.visit import Visit
from review.desktop.program.window import NotOpenWindow, Window, not_complete, not_open
from review.session.opening import Opening, is_there
from review.session.waiting import erase_everything, hand_over_all, open_laptop, why_not_erased
from review.session.words.catalogue import Words, words_of_system
from review.session.words.troubles import Trouble


class Erasure(QObject):
    """Lies over whatever page is shown, which is still there where nothing was deleted.

    Nothing else leads away from its pages: what is being deleted must not be written to meanwhile.
    """

    def __init__(self, window: Window, desk: AppContext) -> None:
        super().__init__(window)
        self._window, self._desk = window, desk
        window.erase.connect(self.start)

    def start(self) -> None:
        """Show what would be lost, and ask."""
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
        self._desk.work.do(
            delete,
            lambda remains: self._window.show_last(ErasedPage(self._desk, remains)),
            lambda error: page.tell_not_deleted(why_not_erased(self._desk.words, error)),
        )


_USUAL_SIZE = SIZES[1]


# What is read before anything is drawn
_Read = tuple[Opening, dict[Setting, str | None]]


class Running(QObject):
    def __init__(self, places: Sequence[Path], language: str | None) -> None:
        super().__init__()
        self._places, self._language = places, language
        self._system = languages_of_system()
        self._opening: Opening | None = None
        self._places_asked: list[Path] = []  # Files of a later start that wait for the window
        self._first_words = Words.load(language) if language else words_of_system(self._system)
        self.app = Application(lambda: self.words)
        self.app.failed.connect(self._tell)
        self.work = Work()
        self.look: Look | None = None
        self.window: Window | None = None
        self.visit: Visit | None = None
        self.not_open_window: NotOpenWindow | None = None
        self._why: Trouble | None = None
        self._ended = False
        self.code = 0  # How the program ends: 1 where it could not be used

    @property
    def words(self) -> Words:
        return self._opening.words if self._opening is not None else self._first_words

    @property
    def trouble(self) -> Trouble | None:
        """Why there is no window with reviews, where another one says so."""
        return self._why

    def begin(self) -> None:
        """Open the laptop's file, away from the window; of a program that is not complete say so instead."""
        if self.app.lacking:
            self.code = 1
            why = not_complete(self.words, self.app.lacking)
            print(f"{why.said}\n{why.detail}", file=sys.stderr, flush=True)
            self._show_not_open(why, self.words("The program is not complete"))
            return
        find = partial(_find, self._places, self._language, self._system)
        self.work.do(find, self._opened, lambda error: self._show_not_open(not_open(self.words, error)))

    def come_forward(self, files: Sequence[Path]) -> None:
        """Show the window above others, and open what a later start was asked for."""
        if self.window is not None:
            self.window.come_forward()
        self._places_asked = list(files[:1])
        self._take_asked()

    def _take_asked(self) -> None:
        while self.visit is not None and self._places_asked:
            self.visit.take(self._places_asked.pop())

    def end(self) -> None:
        """Close the window, which keeps what is typed, and with it the program."""
        self._ended = True
        if self.window is not None:
            self.window.close()
        QTimer.singleShot(0, self.app.quit)  # heard even before the program runs

    def close(self) -> None:
        """Wait for what is under way and close the laptop's file.

        The window is closed first: what is typed is kept even where the screen was taken away.
        """
        if self.window is not None:
            self.window.close()
        self.work.finish()
        if self._opening is not None:
            self._opening.laptop.close()

    # the laptop's file

    def _opened(self, read: _Read) -> None:
        self._opening, settings = read
        if self._ended:
            return
        self.app.speak()
        self.look = self._dressed(settings)
        self._show_window(AppContext(self._opening, self.work, self.look))

    def _show_window(self, desk: AppContext) -> None:
        self.window = Window(desk)
        self.window.reworded.connect(self.app.speak)
        self.visit = Visit(self.window, desk)
        self._erasure = Erasure(self.window, desk)
        self.app.file_asked.connect(self.visit.take)
        self.visit.begin()
        self._take_asked()

    def _show_not_open(self, why: Trouble, title: str = "") -> None:
        """Show a window that stands alone; with a ``title`` trying again would not help."""
        if self._ended:
            return
        self.look, self._why = self._dressed({}), why
        self.not_open_window = NotOpenWindow(self.words, why, title)
        self.not_open_window.again.connect(self._again)
        self.not_open_window.show()

    def _again(self) -> None:
        if self.not_open_window is not None and not self.work.busy:
            self.not_open_window.hide()
            self._why = None
            self.begin()

    # looks

    def _dressed(self, settings: Mapping[Setting, str | None]) -> Look:
        dark = self.app.styleHints().colorScheme() is Qt.ColorScheme.Dark
        theme, size = Theme.DARK if dark else Theme.LIGHT, settings.get(Setting.TEXT_SIZE)
        with suppress(ValueError):
            theme = Theme(settings.get(Setting.COLOURS) or theme)
        pixels = int(size) if size and size.isascii() and size.isdigit() else _USUAL_SIZE
        look = Look(theme, pixels, self._keep)
        look.shows_keys = settings.get(Setting.SHOWS_KEYS) != "no"
        look.apply(self.app)
        return look

    def _keep(self, name: Setting, value: str) -> None:
        """Remember a setting; where it cannot be kept, or everything was deleted, it holds for now."""
        over = self.window is not None and self.window.is_over
        if self._opening is not None and not over:
            keep = partial(self._opening.laptop.set_setting, name, value)
            self.work.do(keep, lambda _: None, lambda _: None)

    def _tell(self, trouble: Trouble) -> None:
        if self.window is not None and self.window.page is not None:
            self.window.tell(trouble)
        else:
            self._show_not_open(trouble)


def _find(places: Sequence[Path], language: str | None, system: Sequence[str]) -> _Read:
    """Open the laptop's file; raises NotSaved or StoreError where it cannot be used."""
    there = {place: is_there(place) for place in places}
    here = [place for place in places if there[place]]
    missing = [place for place in places if not there[place]]
    laptop = open_laptop(home())
    try:
        opening = Opening(laptop, places=here or None, missing=missing, language=language, system=system)
        return opening, {name: laptop.setting(name) for name in Setting}
    except BaseException:
        laptop.close()
        raise


def run(places: Sequence[Path], language: str | None) -> int:
    """Run the window until it is closed; gives the exit code."""
    with saying_no_screen(no_window):
        running = Running(places, language)
    with ending_by(running.end, running.app.tell_unforeseen):
        one = OneWindow(home())
        if not one.is_ours(places):
            print(running.words("The program is open already: its window comes forward now."))
            return 0
        one.files_asked.connect(running.come_forward)
        running.begin()
        code = running.app.exec()
        running.close()
        one.close()
        return code or running.code


_FAILED = 1
_SECONDS = 60.0
_PAUSE = 10  # Milliseconds between two looks at the window


def check(places: Sequence[Path], language: str | None) -> int:
    """Open a review in its own data folder, draw the page that comes first, and say so in one line."""
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
    """Return why nothing can be drawn and what was tried; the program ends without another word, so tidy up now."""
    shutil.rmtree(folder, ignore_errors=True)
    return f"{no_window(said_by_qt, answers=False)}\n{_tried()}"


def _tried() -> str:
    """Return on which screen the program tried to draw, and in which own data folder."""
    names = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY", "ROSETTA_HOME")
    values = ((name, os.environ.get(name)) for name in names)
    tried = (f"{name}={value}" if value else f"no {name}" for name, value in values)
    return f"Tried with {', '.join(tried)}."


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
            reason = "its page was not drawn" if shown else "no window came"
            return _fail(f"{file}: {reason} within {_SECONDS:.0f} s.\n{_tried()}")
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
