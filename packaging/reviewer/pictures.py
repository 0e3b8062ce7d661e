"""Pictures of the window for the page that a person opens first: the program itself, led through the sample.

    python pictures.py SAMPLE CODE LANGUAGE FOLDER

draws one language without a screen; ``draw`` does so for each, in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import recipe
from sample import LESSONS, Sample
from start_here import TEXTS

SIZE = 1024, 640
"""Pixels of a picture: about what an old laptop shows."""

KEYS = {"reject": "1", "gist": "2", "acceptable": "3", "excellent": "4"}
_MOST_STEPS = 60
_LONGEST = 60.0
_STILL = 0.45
"""Seconds in which nothing happens before a picture is taken, longer than the guard against double keys."""


class PictureError(Exception):
    """The program did not come where it was led."""


def draw(review: Path, made: Sample, work: Path) -> Mapping[str, Sequence[tuple[str, Path]]]:
    """Draw the pictures; gives language → what each shows, and its file."""
    drawn: dict[str, Sequence[tuple[str, Path]]] = {}
    for tag, said in tomllib.loads(TEXTS.read_text("utf-8")).items():
        folder = work / "pictures" / tag
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, str(review), made.code, tag, str(folder)]
        subprocess.run(command, check=True, env=_environment(folder))
        drawn[tag] = [(words, folder / f"{name}.png") for name, words in said["shown"].items()]
    return drawn


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
    """The program, led from page to page by keys."""

    def __init__(self, review: Path, code: str, language: str, folder: Path) -> None:
        from review.desktop.running import Running

        self._code, self._folder = code, folder
        self._running = Running([review], language)
        self._running.begin()
        self._lessons = [KEYS[rating] for _, _, rating, _ in LESSONS]
        self._answers = 0
        self._acts = {
            "OrganisationPage": self._at_words,
            "AskingPage": self._at_code,
            "ConsentPage": self._at_consent,
            "SharingPage": self._at_sharing,
            "RelationPage": self._at_relation,
            "ItemPage": self._at_item,
        }

    def lead(self) -> None:
        """Go on until the last page, and take the pictures on the way."""
        for _ in range(_MOST_STEPS):
            self._wait()
            name = type(self._page).__name__
            if name == "EndPage":
                self._take("end")
                return
            self._acts.get(name, self._lost)()
        raise PictureError(f"The last page did not come; the last one was {name}.")

    def close(self) -> None:
        """End the program."""
        self._running.end()
        self._running.close()

    def _at_words(self) -> None:
        self._take("words")
        self._press("\r")

    def _at_code(self) -> None:
        for character in self._code:
            self._press(character)
        self._wait()
        self._take("code")
        self._press("\r")

    def _at_consent(self) -> None:
        self._take("consent")
        self._press("\r")

    def _at_sharing(self) -> None:
        self._press("2")

    def _at_relation(self) -> None:
        self._press("3")

    def _at_item(self) -> None:
        if self._lessons:
            self._press(self._lessons.pop(0))
            self._wait()
            self._press("\r")
            return
        if self._answers == 1:
            self._take("item")
        self._answers += 1
        self._press(str(2 + self._answers % 3))

    def _lost(self) -> None:
        raise PictureError(f"{type(self._page).__name__} was not expected.")

    @property
    def _page(self) -> Any:
        return self._running.window.page if self._running.window is not None else None

    def _take(self, name: str) -> None:
        window = self._running.window
        if window is None or not window.grab().save(str(self._folder / f"{name}.png")):
            raise PictureError(f"{name}.png was not written.")

    def _press(self, character: str) -> None:
        from PySide6.QtCore import QEvent, Qt
        from PySide6.QtGui import QKeyEvent
        from PySide6.QtWidgets import QApplication

        code = Qt.Key.Key_Return if character == "\r" else Qt.Key(ord(character.upper()))
        target = QApplication.focusWidget() or self._page
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, code, Qt.KeyboardModifier.NoModifier, character)
            QApplication.sendEvent(target, event)

    def _wait(self) -> None:
        """Let the program work until it has been still for a while."""
        from PySide6.QtWidgets import QApplication

        begun = still = time.monotonic()
        while time.monotonic() - still < _STILL or self._page is None:
            QApplication.processEvents()
            if self._running.work.busy or self._page is None:
                still = time.monotonic()
            if time.monotonic() - begun > _LONGEST:
                raise PictureError("The program did not come to rest.")
            if (window := self._running.window) is not None and window.size().toTuple() != SIZE:
                window.resize(*SIZE)
            time.sleep(0.01)


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
