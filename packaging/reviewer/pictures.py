"""Pictures of the window for the page that a person opens first: the program itself, led through the sample.

    python pictures.py SAMPLE CODE LANGUAGE FOLDER

draws one language without a screen; ``draw`` does so for each, in its own process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import recipe
from rosetta_tui.html.stick_pages import start_here_texts
from sample import LESSONS, Sample

SIZE = 1024, 640
"""Pixels of a picture: about what an old laptop shows."""

KEYS = {"reject": "1", "gist": "2", "acceptable": "3", "excellent": "4"}
_MOST_KEYS = 400
"""Keys of a whole way; each is pressed again only where it changed nothing."""
_LONGEST = 300.0
"""Seconds in which a page has to come, on the busiest machine."""
_STILL = 0.45
"""Seconds in which nothing happens before a picture is taken, and before a key counts as dropped: longer than the guard
against double keys."""


class PictureError(Exception):
    """The program did not come where it was led."""


Drawn = Mapping[str, Sequence[tuple[str, Path]]]
"""Language → what each picture shows, and its file."""


def draw(review: Path, made: Sample, work: Path) -> Drawn:
    """Draw the pictures into a folder."""
    for tag in start_here_texts():
        folder = work / tag
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, str(review), made.code, tag, str(folder)]
        subprocess.run(command, check=True, env=_environment(folder))
    return drawn(work)


def drawn(work: Path) -> Drawn:
    """Return the pictures that were drawn into a folder."""
    return {
        tag: [(words, work / tag / f"{name}.png") for name, words in said["shown"].items()]
        for tag, said in start_here_texts().items()
    }


def _environment(folder: Path) -> Mapping[str, str]:
    fonts = folder / "fonts.conf"
    fonts.write_text('<?xml version="1.0"?><fontconfig></fontconfig>')
    return os.environ | {
        "FONTCONFIG_FILE": str(fonts),
        "PYTHONPATH": str(recipe.ROOT),
        "QT_FONT_DPI": "96",
        "QT_QPA_PLATFORM": "offscreen",
        "QT_SCALE_FACTOR": "1",
    }


class Led:
    """The program, led from page to page by keys; each page is asked what it shows before a key is chosen."""

    def __init__(self, review: Path, code: str, language: str, folder: Path) -> None:
        from review.desktop.program.running import Running

        self._code, self._folder = code, folder
        self._running = Running([review], language)
        self._running.begin()
        self._taken: set[str] = set()

    def lead(self) -> None:
        """Continue until the last page, and take the pictures on the way."""
        for _ in range(_MOST_KEYS):
            self._rest()
            if self._name == "EndPage":
                self._take("end")
                return
            self._press(self._next_key())
        raise PictureError(f"The last page did not come; the last one was {self._name}.")

    def close(self) -> None:
        """End the program."""
        self._running.end()
        self._running.close()

    def _next_key(self) -> str:
        """Say what leads on from what is shown, and take its picture where it has one."""
        shown = {"OrganisationPage": "words", "ConsentPage": "consent"}
        if self._name == "ItemPage":
            return self._at_item()
        if self._name == "AskingPage":
            return self._at_code()
        if self._name in {"RelationPage", "SharingPage"}:
            return {"RelationPage": "3", "SharingPage": "2"}[self._name]
        if self._name not in shown:
            raise PictureError(f"{self._name} was not expected.")
        self._take(shown[self._name])
        return "\r"

    def _at_code(self) -> str:
        """Type what of the code is not there yet."""
        typed = len(self._page.text)
        if typed < len(self._code):
            return self._code[typed]
        self._take("code")
        return "\r"

    def _at_item(self) -> str:
        """Answer a lesson as it has to be, read its explanation, and answer what follows in turn."""
        view = self._page.session.view
        if view.lesson is not None:
            return "\r"
        right = {(source, candidate): rating for source, candidate, rating, _ in LESSONS}
        if (rating := right.get((view.item.source, view.item.candidate))) is not None:
            return KEYS[rating]
        if view.item.number == 2:
            self._take("item")
        return str(2 + view.item.number % 3)

    @property
    def _page(self) -> Any:
        return self._running.window.page if self._running.window is not None else None

    @property
    def _name(self) -> str:
        return type(self._page).__name__

    def _shown(self) -> tuple[object, ...]:
        """Return what tells one state of the program from the next."""
        page = self._page
        view = getattr(getattr(page, "session", None), "view", None)
        item = getattr(view, "item", None)
        places = [bar.value() for bar in page.findChildren(_scroll_bar())] if page else []
        asked = (getattr(item, "id", None), getattr(view, "lesson", None), getattr(page, "text", None))
        return (id(page), *asked, *places)

    def _take(self, name: str) -> None:
        if name in self._taken:
            return
        window = self._running.window
        if window is None or not window.grab().save(str(self._folder / f"{name}.png")):
            raise PictureError(f"{name}.png was not written.")
        self._taken.add(name)

    def _press(self, character: str) -> None:
        """Press a key, and wait until it changed what is shown, or clearly did not."""
        from PySide6.QtCore import QEvent, Qt
        from PySide6.QtGui import QKeyEvent
        from PySide6.QtWidgets import QApplication

        before = self._shown()
        code = Qt.Key.Key_Return if character == "\r" else Qt.Key(ord(character.upper()))
        target = QApplication.focusWidget() or self._page
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, code, Qt.KeyboardModifier.NoModifier, character)
            QApplication.sendEvent(target, event)
        still = time.monotonic()
        while self._shown() == before and time.monotonic() - still < _STILL:
            self._work()
            if self._running.work.busy:
                still = time.monotonic()

    def _rest(self) -> None:
        """Let the program work until there is a page and it has been still for a while."""
        begun = still = time.monotonic()
        shown = None
        while time.monotonic() - still < _STILL or self._page is None:
            self._work()
            if self._running.work.busy or self._page is None or self._shown() != shown:
                still, shown = time.monotonic(), self._shown()
            if time.monotonic() - begun > _LONGEST:
                raise PictureError("The program did not come to rest.")

    def _work(self) -> None:
        from PySide6.QtWidgets import QApplication

        QApplication.processEvents()
        if (window := self._running.window) is not None and window.size().toTuple() != SIZE:
            window.resize(*SIZE)
        time.sleep(0.01)


def _scroll_bar() -> Any:
    from PySide6.QtWidgets import QScrollBar

    return QScrollBar


def main() -> int:
    """Draw the pictures of one language."""
    review, code, language, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home:
        os.environ["ROSETTA_HOME"] = home
        led = Led(Path(review), code, language, Path(folder))
        try:
            led.lead()
        finally:
            led.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
