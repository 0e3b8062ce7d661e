"""Which keys mean something on the page of an item even while a person types: F1, and those held with Ctrl."""

from __future__ import annotations

from string import ascii_lowercase

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from review.desktop.frame.page import with_control
from review.session.words.keys import RATING_OF, Act, act_of

_LAST_CHARACTER = 0x10FFFF


def control_act(event: QKeyEvent) -> Act | None:
    """Tell what such a key does: F1 helps, Ctrl+Z takes back, Ctrl with a digit rates."""
    if event.key() == Qt.Key.Key_F1:
        return Act.HELP
    if not with_control(event):
        return None
    if event.matches(QKeySequence.StandardKey.Undo):
        return Act.UNDO
    if event.key() > _LAST_CHARACTER:
        return None
    character = chr(event.key()).lower()
    act = None if character in ascii_lowercase else act_of(character)
    return act if act in RATING_OF else None
