"""A key that is held down is one press, on every system.

X11 sends a held key as released and pressed again at the same millisecond; where Qt reads the two apart, it
takes the second for a new press. Where a screen reader listens, Qt leaves out the times, and nothing is known.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QKeyEvent


class HeldKeys(QObject):
    """Filters what reaches a QWindow; such a press goes on as the repetition that it is."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._released: tuple[int, int] | None = None
        """Key, and when it was released by the server's clock, in milliseconds."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember each release, and look at each press."""
        if isinstance(event, QKeyEvent):
            key = event.key(), event.timestamp()
            if event.type() == QEvent.Type.KeyRelease:
                self._released = key if event.timestamp() else None
            elif event.type() == QEvent.Type.KeyPress and not event.isAutoRepeat():
                held, self._released = key == self._released, None
                if held:
                    QCoreApplication.sendEvent(watched, _repeated(event))
                return held
        return False


def _repeated(event: QKeyEvent) -> QKeyEvent:
    again = QKeyEvent(
        event.type(),
        event.key(),
        event.modifiers(),
        event.nativeScanCode(),
        event.nativeVirtualKey(),
        event.nativeModifiers(),
        event.text(),
        True,
        event.count(),
    )
    again.setTimestamp(event.timestamp())
    return again
