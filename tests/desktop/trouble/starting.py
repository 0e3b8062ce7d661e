"""The program as it starts on a data folder in trouble; run as ``python -m tests.desktop.trouble.starting WHAT…``.

After each trouble it prints, in one line of JSON, what is read in its window; then the trouble is mended.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel

from harness.store.file.database import home
from review.desktop.parts.buttons import Button
from review.desktop.parts.texts import TextPane
from review.desktop.program.running import Running
from review.log.laptop import FILE_NAME, Laptop


def _file() -> Path:
    return home() / FILE_NAME


def _newer() -> None:
    with closing(sqlite3.connect(_file())) as connection:
        connection.execute("PRAGMA user_version = 99")


def _theirs() -> None:
    _file().unlink()
    with closing(sqlite3.connect(_file())) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def _no_database() -> None:
    _file().write_bytes(b"a letter to my cousin " * 400)


def _damaged() -> None:
    data = bytearray(_file().read_bytes())
    data[100:4096] = bytes(3996)
    _file().write_bytes(data)


def _folder() -> None:
    _file().unlink()
    _file().mkdir()


BEGINNINGS: dict[str, Callable[[], None]] = {
    "newer": _newer,
    "theirs": _theirs,
    "no database": _no_database,
    "damaged": _damaged,
    "folder": _folder,
}


def main(names: list[str]) -> None:
    """Go through the troubles, and at last to the first page."""
    Laptop.open(home()).close()
    good = _file().read_bytes()
    running = Running([], "en")
    left = [*names, ""]
    BEGINNINGS[left[0]]()

    def look() -> None:
        window = running.window or running.not_open_window
        if window is None or not window.isVisible() or running.work.busy:
            QTimer.singleShot(10, look)
            return
        print(json.dumps([left.pop(0), *_read(window)]), flush=True)
        if not left:
            running.end()
            return
        _mend(good)
        if left[0]:
            BEGINNINGS[left[0]]()
        _press("Try again")
        QTimer.singleShot(10, look)

    running.begin()
    QTimer.singleShot(0, look)
    running.app.exec()
    running.close()


def _mend(good: bytes) -> None:
    if _file().is_dir():
        shutil.rmtree(_file())
    _file().unlink(missing_ok=True)
    _file().write_bytes(good)


def _press(words: str) -> None:
    for window in QApplication.topLevelWidgets():
        for button in window.findChildren(Button):
            if button.isVisible() and button.text() == words:
                button.click()
                return


def _read(window: object) -> list[str]:
    shown = window.findChildren(QLabel) + window.findChildren(TextPane)  # type: ignore[attr-defined]
    texts = [each.toPlainText() if isinstance(each, TextPane) else each.text() for each in shown]
    return [text for text in texts if text]


if __name__ == "__main__":
    main(sys.argv[1:])
