"""``python -m benchmarks.window_probe ours|bare ARGUMENTS``: a window that tells how long each key waited.

One line on the standard output for each digit key: what is painted now, milliseconds from the key to the end
of that paint, milliseconds of it in the durable commit. ``bare`` shows texts of its own and saves nothing.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QFont, QKeyEvent, QWindow
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTextEdit, QVBoxLayout, QWidget

MARK = "Mark"
"""How the text that tells one item from the next begins."""


class Probe(QObject):
    """Watches what reaches the program, and what is painted of it."""

    def __init__(self) -> None:
        super().__init__()
        self.commit_ms = 0.0
        self._pressed: float | None = None
        self._shown = ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Note keys as they reach the window, and texts as they are painted."""
        if event.type() == QEvent.Type.KeyPress and isinstance(watched, QWindow):
            digit = isinstance(event, QKeyEvent) and event.text() in set("1234")
            self._pressed = time.perf_counter() if digit else None
        elif event.type() == QEvent.Type.Paint and isinstance(shown := watched.parent(), QTextEdit):
            text = shown.toPlainText()[: len(MARK) + 4]
            if text.startswith(MARK) and text != self._shown:
                self._shown = text
                QTimer.singleShot(0, lambda: self._painted(text))  # when this paint is over
        return False

    def _painted(self, text: str) -> None:
        waited = (time.perf_counter() - self._pressed) * 1000 if self._pressed else -1.0
        print(f"{text} {waited:.3f} {self.commit_ms:.3f}", flush=True)
        self._pressed, self.commit_ms = None, 0.0


class Bare(QWidget):
    """Two texts and four buttons, repainted at each digit: the least that such a window can do."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self._texts = iter(texts)
        self._source, self._candidate = QTextEdit(), QTextEdit()
        column = QVBoxLayout(self)
        for pane, pixels in ((self._source, 20), (self._candidate, 27)):
            font = QFont()
            font.setPixelSize(pixels)
            pane.setFont(font)
            pane.setReadOnly(True)
            pane.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            column.addWidget(QLabel("Text"))
            column.addWidget(pane)
        for word in ("Reject", "Gist", "Acceptable", "Excellent"):
            button = QPushButton(word)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            column.addWidget(button)
        self._next()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        """Show the next text."""
        if event.text() in set("1234"):
            self._next()

    def _next(self) -> None:
        text = next(self._texts, "")
        self._source.setPlainText(f"I saw his dog in the garden behind the old house. {text[:8]}")
        self._candidate.setPlainText(text)


def text_of(number: int) -> str:
    """Return the translation of an item."""
    return f"{MARK}{number:04d} Hieraŭ mi vidis lian hundon en la ĝardeno malantaŭ la malnova domo."


def bare(items: int) -> int:
    """Run the least window."""
    app, probe = QApplication([]), Probe()
    app.installEventFilter(probe)
    window = Bare([text_of(number) for number in range(items)])
    window.resize(1024, 600)
    window.show()
    return app.exec()


def ours(file: Path) -> int:
    """Run the reviewer's window with this batch; the probe watches as soon as there is an application."""
    from review.desktop.program import program  # noqa: PLC0415  the bare window does without
    from review.log.laptop import Laptop  # noqa: PLC0415  the bare window does without

    probe, record, begin = Probe(), Laptop.record, QApplication.exec

    def timed(laptop: Laptop, *given: Any) -> object:
        begun = time.perf_counter()
        events = record(laptop, *given)
        probe.commit_ms += (time.perf_counter() - begun) * 1000
        return events

    def watched(*_: object) -> int:
        app = QApplication.instance()
        assert app is not None
        app.installEventFilter(probe)
        return begin()

    Laptop.record = timed  # type: ignore[method-assign,assignment]
    QApplication.exec = watched  # type: ignore[method-assign]
    return program.main([str(file)])


if __name__ == "__main__":
    which, what = sys.argv[1:]
    sys.exit(bare(int(what)) if which == "bare" else ours(Path(what)))
