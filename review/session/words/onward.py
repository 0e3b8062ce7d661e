"""Where a page of the sitting leads, whatever face shows it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from review.session.words.keys import Act


class Onward(Enum):
    """What the person chose on a page without an item."""

    GO_ON = auto()
    UNDO = auto()
    HAND_OVER = auto()
    SHARING = auto()
    """Whether what the person wrote may be used."""
    WITHDRAW = auto()
    ANSWERS = auto()
    """The person's own answers, to look at again."""
    UNSAVED = auto()
    """The next sentence with words that are not saved."""
    HELP = auto()
    LEAVE = auto()


ONWARD_OF: Final[Mapping[Act, Onward]] = {
    Act.UNDO: Onward.UNDO,
    Act.HAND_OVER: Onward.HAND_OVER,
    Act.SHARING: Onward.SHARING,
    Act.WITHDRAW: Onward.WITHDRAW,
    Act.UNSAVED: Onward.UNSAVED,
    Act.HELP: Onward.HELP,
    Act.QUIT: Onward.LEAVE,
}
"""Act → where its key leads; on the page of an item, undo and the way to unsaved words are done there."""
