"""What was copied in this window: on X11 and elsewhere the system may keep it longer than the program lives."""

from __future__ import annotations

from PySide6.QtGui import QClipboard, QGuiApplication


def forget_clipboard() -> None:
    """Empty the clipboard where it holds something that was copied here; what others copied stays."""
    clipboard = QGuiApplication.clipboard()
    if clipboard.ownsClipboard():
        clipboard.clear()
    if clipboard.supportsSelection() and clipboard.ownsSelection():
        clipboard.clear(QClipboard.Mode.Selection)
