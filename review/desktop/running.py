"""From the start of the program to its end: the laptop's file, then the window, then the first page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt

from harness.failures import HarnessError
from harness.store.database import home
from review.desktop.application import Application, languages_of_system
from review.desktop.desk import Desk
from review.desktop.leaving import ending_by, saying_no_screen
from review.desktop.look import SIZES, Look, Theme
from review.desktop.not_open_window import NotOpenWindow, not_open
from review.desktop.visit import Visit
from review.desktop.window import Window
from review.desktop.work import Work
from review.log.laptop import Laptop
from review.session.erasing import finish_erasing
from review.session.opening import Opening, words_of_system
from review.session.troubles import Trouble
from review.session.words import Words

COLOURS = "window colours"
TEXT_SIZE = "window text size"
"""Names of settings in the laptop's file."""

_USUAL_SIZE = SIZES[1]


class Running(QObject):
    """Holds what lives as long as the program."""

    def __init__(self, places: Sequence[Path], language: str | None) -> None:
        super().__init__()
        self._places, self._language = places, language
        self._system = languages_of_system()
        self._opening: Opening | None = None
        self._first_words = Words.load(language) if language else words_of_system(self._system)
        self.app = Application(lambda: self.words)
        self.app.failed.connect(self._tell)
        self.look = Look(self._theme_of_system(), _USUAL_SIZE, self._keep)
        self.work = Work()
        self.window: Window | None = None
        self.visit: Visit | None = None
        self._not_open: NotOpenWindow | None = None

    @property
    def words(self) -> Words:
        """The words of now; those of the system until the laptop's file is open."""
        return self._opening.words if self._opening is not None else self._first_words

    def begin(self) -> None:
        """Open the laptop's file, away from the window."""
        self.work.do(_laptop, self._opened, self._not_opened)

    def end(self) -> None:
        """Close the window, which keeps what is typed, and everything else."""
        if self.window is not None:
            self.window.close()
        self.app.quit()

    def close(self) -> None:
        """Wait for what is under way and close the laptop's file."""
        self.work.finish()
        if self._opening is not None:
            self._opening.laptop.close()

    # the laptop's file

    def _opened(self, laptop: Laptop) -> None:
        self._opening = Opening(
            laptop,
            places=[place for place in self._places if place.exists()] or None,
            missing=[place for place in self._places if not place.exists()],
            language=self._language,
            system=self._system,
        )
        self._look_as_remembered(laptop)
        self.app.speak()
        self._show_window(Desk(self._opening, self.work, self.look))

    def _show_window(self, desk: Desk) -> None:
        self.window = Window(desk)
        self.window.reworded.connect(self.app.speak)
        self.visit = Visit(self.window, desk)
        self.app.file_asked.connect(self.visit.take)
        self.visit.begin()

    def _not_opened(self, error: HarnessError) -> None:
        self.look.apply(self.app)
        window = NotOpenWindow(self.words, not_open(self.words, error))
        window.again.connect(self._again)
        window.show()
        self._not_open = window

    def _again(self) -> None:
        if self._not_open is not None and not self.work.busy:
            self._not_open.hide()
            self.begin()

    # looks

    def _theme_of_system(self) -> Theme:
        dark = self.app.styleHints().colorScheme() is Qt.ColorScheme.Dark
        return Theme.DARK if dark else Theme.LIGHT

    def _look_as_remembered(self, laptop: Laptop) -> None:
        with suppress(HarnessError, ValueError):
            self.look.set_theme(Theme(laptop.setting(COLOURS) or ""))
        with suppress(HarnessError, ValueError):
            self.look.set_size(int(laptop.setting(TEXT_SIZE) or ""))
        self.look.apply(self.app)

    def _keep(self, name: str, value: str) -> None:
        """Remember a setting; where it cannot be kept, it holds for now."""
        if self._opening is not None:
            keep = partial(self._opening.laptop.set_setting, name, value)
            self.work.do(keep, lambda _: None, lambda _: None)

    def _tell(self, trouble: Trouble) -> None:
        if self.window is not None:
            self.window.tell(trouble)


def _laptop() -> Laptop:
    finish_erasing(home())
    return Laptop.open(home())


def run(places: Sequence[Path], language: str | None) -> int:
    """Run the window until it is closed; gives the exit code."""
    with saying_no_screen(no_screen):
        running = Running(places, language)
    with ending_by(running.end, running.app.tell_unforeseen):
        running.begin()
        code = running.app.exec()
        running.close()
    return code


def no_screen() -> str:
    """Say that there is nothing to draw a window on."""
    return words_of_system()(
        "The window cannot be shown: this computer offers no screen to draw on. "
        "Start the program where you see windows."
    )
