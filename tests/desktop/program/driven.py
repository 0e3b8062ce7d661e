"""The program in a process of its own, led by steps; run as ``python -m tests.desktop.program.driven LANGUAGE STEP…``.

Whenever its window has come to rest it prints, in one line of JSON, what is seen there, and does the next step.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget

from harness.store.sqlite.database import home
from review.desktop import look as fonts
from review.desktop.pages.first_pages import ChoosePage
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import TextPane
from review.desktop.program.application import ending_by
from review.desktop.program.running import Running
from review.log.laptop import FILE_NAME, Laptop
from tests.harness.process import ROOT


def _sql(statement: str, *, fresh: bool = False) -> None:
    if fresh:
        (home() / FILE_NAME).unlink()
    with closing(sqlite3.connect(home() / FILE_NAME)) as connection:
        connection.execute(statement)


def _zeroed(data: bytes) -> bytes:
    return data[:100] + bytes(3996) + data[4096:]


def _folder() -> None:
    (home() / FILE_NAME).unlink()
    (home() / FILE_NAME).mkdir()


TROUBLES: dict[str, Callable[[], object]] = {
    "newer": lambda: _sql("PRAGMA user_version = 99"),
    "theirs": lambda: _sql("CREATE TABLE theirs (x)", fresh=True),
    "no database": lambda: (home() / FILE_NAME).write_bytes(b"a letter to my cousin " * 400),
    "damaged": lambda: (home() / FILE_NAME).write_bytes(_zeroed((home() / FILE_NAME).read_bytes())),
    "folder": _folder,
}
"""What became of the laptop's file."""


class Driven:
    """``TROUBLE`` mends the file, lets that become of it and tries again; ``TAG`` is a language of the first page."""

    def __init__(self, language: str, steps: list[str]) -> None:
        self.running, self.left = Running([], language), steps
        self.good = b""
        if steps and steps[0] in TROUBLES:
            Laptop.open(home()).close()
            self.good = (home() / FILE_NAME).read_bytes()
            TROUBLES[steps.pop(0)]()

    def run(self) -> int:
        running = self.running
        with ending_by(running.end, running.app.tell_unforeseen):
            running.begin()
            QTimer.singleShot(0, self.look)
            running.app.exec()
            running.close()
        return running.code

    def look(self) -> None:
        window = self.running.window or self.running.not_open_window
        if window is None or not window.isVisible() or self.running.work.busy:
            QTimer.singleShot(10, self.look)
            return
        QTimer.singleShot(50, lambda: self.tell(window))

    def tell(self, window: QWidget) -> None:
        print(json.dumps(self.seen(window)), flush=True)
        if not self.left:
            self.running.end()
            return
        step, page = self.left.pop(0), getattr(window, "page", None)
        if isinstance(page, ChoosePage):
            page.language.emit(step)
        else:
            file = home() / FILE_NAME
            shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)
            file.write_bytes(self.good)
            if step:
                TROUBLES[step]()
            [again] = [each for each in window.findChildren(Button) if each.text() == "Try again"]
            again.click()
        QTimer.singleShot(10, self.look)

    def seen(self, window: QWidget) -> dict[str, Any]:
        labels = [each.text() for each in window.findChildren(QLabel)]
        panes = [each.toPlainText() for each in window.findChildren(TextPane)]
        buttons = [each.text() for each in window.findChildren(Button) if not each.isHidden()]
        return {
            "texts": [*filter(None, [*labels, *panes])],
            "buttons": buttons,
            "tag": self.running.words.language,
            "mirrored": self.running.app.layoutDirection() is Qt.LayoutDirection.RightToLeft,
            "copy": QCoreApplication.translate("QWidgetTextControl", "&Copy"),
        }


def main(language: str, *steps: str) -> int:
    """``broken`` and ``fonts=FOLDER`` are what is wrong with the program itself."""
    left = list(steps)
    if left[:1] == ["broken"]:
        del left[0]
        # the one step of the program that every start passes
        Running._show_window = lambda running, desk: int("a secret sentence")  # type: ignore[assignment,method-assign]
    elif left and left[0].startswith("fonts="):
        fonts.FOLDER = Path(left.pop(0).removeprefix("fonts="))  # type: ignore[misc]
    return Driven(language, left).run()


Ran = subprocess.CompletedProcess[str]


def driven(home: Path, *steps: str) -> tuple[Ran, list[dict[str, Any]]]:
    """Run the program by steps; gives what was seen before each and after the last."""
    ran = started(home, "-m", "tests.desktop.program.driven", *steps)
    return ran, [json.loads(line) for line in ran.stdout.splitlines()]


def started(home: Path, *asked: str, **more: str) -> Ran:
    environment = {**os.environ, "ROSETTA_HOME": str(home), "LC_ALL": "C.UTF-8", **more}
    command = [sys.executable, *asked]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
