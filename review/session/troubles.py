"""What to tell a reviewer when something could not be saved: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from review.log.saving import NotSaved, Problem
from review.session.words import Words, msgid

TROUBLES: Final[Mapping[Problem, str]] = {
    Problem.DISK_FULL: msgid(
        "This was not saved: the computer's disk is full. Free some space, then press the key again."
    ),
    Problem.READ_ONLY: msgid(
        "This was not saved: the program may not write on this computer's disk. "
        "Ask for help, then press the key again."
    ),
    Problem.MOVED: msgid(
        "This was not saved: the file with your answers was moved or its disk is gone. "
        "Put it back, then press the key again."
    ),
    Problem.BUSY: msgid(
        "This was not saved: the program is open in another window. "
        "Close that window, then press the key again."
    ),
    Problem.DAMAGED: msgid(
        "This was not saved: the file with your answers is damaged. "
        "Stop here and ask for help; do not delete anything."
    ),
    Problem.NOT_OURS: msgid(
        "This was not saved: another program uses the name of the file with your answers. "
        "Stop here and ask for help."
    ),
    Problem.OTHER: msgid(
        "This was not saved. Press the key again. If that does not help, stop here and ask for help."
    ),
}
"""Problem → words, to be translated."""


def trouble_words(words: Words, error: NotSaved) -> str:
    """Say in the reviewer's language why nothing was saved; the item and its text stay."""
    return words(TROUBLES[error.problem])
