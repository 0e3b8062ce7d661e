"""Where a page of the sitting leads, whatever face shows it."""

from __future__ import annotations

from enum import Enum, auto


class Onward(Enum):
    """What the person chose on a page without an item."""

    GO_ON = auto()
    UNDO = auto()
    HAND_OVER = auto()
    WITHDRAW = auto()
    ANSWERS = auto()
    """The person's own answers, to look at again."""
    HELP = auto()
    LEAVE = auto()
