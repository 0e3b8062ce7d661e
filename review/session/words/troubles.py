"""What to tell a reviewer when something did not work: what happened, and what to do, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from harness.core.failures import HarnessError
from harness.core.storage import StorageProblem, words_for
from harness.sealed.keys import KeysNotWrittenError
from harness.sealed.stick import StickError
from harness.sealed.strict_records import FileError, FileProblem
from review.files.identities import CodeError, CodeProblem
from review.log.table import NotSaved
from review.session.view import View
from review.session.words.catalogue import Words, msgid

# Why nothing was saved → words, to be translated; the item and its text stay
SAVING: Final[Mapping[StorageProblem, str]] = {
    StorageProblem.DISK_FULL: msgid(
        "This was not saved: the computer's disk is full. Free some space, then press the key again."
    ),
    StorageProblem.READ_ONLY: msgid(
        "This was not saved: the program may not write on this computer's disk. Ask for help, then press the key again."
    ),
    StorageProblem.GONE: msgid(
        "This was not saved: the file with your answers was moved, or its disk is gone. "
        "Put it back, then press the key again."
    ),
    StorageProblem.BUSY: msgid(
        "This was not saved: the program is open in another window. Close that window, then press the key again."
    ),
    StorageProblem.DAMAGED: msgid(
        "This was not saved: the file with your answers is damaged. Stop here and ask for help. Do not delete anything."
    ),
    StorageProblem.NOT_OURS: msgid(
        "This was not saved: another program uses the name of the file with your answers. Stop here and ask for help."
    ),
    StorageProblem.OTHER: msgid(
        "This was not saved. Press the key again. If that does not help, stop here and ask for help."
    ),
}

# Why a file is not taken → words, to be translated
FILES: Final[Mapping[FileProblem, str]] = {
    FileProblem.NOT_OURS: msgid("This is not a file with sentences for you. Choose another file."),
    FileProblem.CUT_SHORT: msgid("A part of this file is missing. Copy it again from the stick."),
    FileProblem.DAMAGED: msgid("This file is damaged or was changed. Ask for a new copy."),
    FileProblem.REPACKED: msgid("Another program changed this file. Ask for it again as it was, and do not unpack it."),
    FileProblem.TOO_LARGE: msgid("This file is too large. Choose another file."),
    FileProblem.NEWER: msgid("This file needs a newer version of this program. Ask for it."),
    FileProblem.LOCKED: msgid("This file opens with the secret words on your card."),
    FileProblem.WRONG_KEY: msgid(
        "This file does not open. Look at the words on your card again, or ask whether it is for this computer."
    ),
    FileProblem.INVALID: msgid("Something is wrong in this file. Ask for a new one."),
}

_NOT_THERE = msgid("It is not there. Put the stick in and try again. Your answers are safe on this computer.")
# What is wrong with a stick or folder → words, to be translated
STICKS: Final[Mapping[StorageProblem, str]] = {
    StorageProblem.DISK_FULL: msgid(
        "There is too little room there. Free some space or take another stick. Your answers are safe on this computer."
    ),
    StorageProblem.READ_ONLY: msgid(
        "Nothing can be written there. Take off the lock of the stick or take another one. "
        "Your answers are safe on this computer."
    ),
    StorageProblem.GONE: _NOT_THERE,
    StorageProblem.DISK_FAILS: _NOT_THERE,
    StorageProblem.CHANGED: msgid(
        "This stick does not keep what is written on it. Take another one. Your answers are safe on this computer."
    ),
    StorageProblem.TOO_LARGE: msgid("This file is too large. Choose another file."),
    StorageProblem.OTHER: msgid(
        "This place cannot be used. Take another stick or folder. Your answers are safe on this computer."
    ),
}

# Why what was typed is no code → words, to be translated
CODES: Final[Mapping[CodeProblem, str]] = {
    CodeProblem.LENGTH: msgid("A code has 8 letters and digits. Look at your card again."),
    CodeProblem.CHARACTER: msgid(
        "One character cannot be right. A code has digits, and letters without I, L, O and U."
    ),
    CodeProblem.CHECK: msgid(
        "This code cannot be right: one character is wrong, or two are swapped. Look at your card again."
    ),
}


class OtherReviewerError(HarnessError):
    """The code is a right one, but this batch is not for its person."""


class InWindowError(HarnessError):
    """The batch asks for something that only the window offers."""


# Why a review cannot go on here → words, to be translated
OTHERS: Final[Mapping[type[HarnessError], str]] = {
    OtherReviewerError: msgid("This code is for other sentences. Look at your card again."),
    InWindowError: msgid(
        "These sentences are to be translated. That is done in the window: start rosetta-review. Or in lines: rosetta review open --lines"
    ),
}


class Trouble(NamedTuple):
    """A failure in the reviewer's language."""

    said: str
    # One line for whoever helps, in English; no text of a reviewer or an item; empty where all was
    # said
    detail: str


def trouble_of_file(words: Words, error: HarnessError, file: Path) -> Trouble:
    """Return which file it is about; one that is next to it may be whole."""
    message = trouble(words, error).said
    why = str(error).partition(". ")[0].rstrip(".")
    return Trouble(words("{name}: {said}", name=file.name, said=message), f"{file}: {why}")


def trouble(words: Words, error: HarnessError) -> Trouble:
    """Return a failure in the reviewer's language; its own words are the detail, where they say more than that."""
    match error:
        case NotSaved():
            return Trouble(words(words_for(SAVING, error.problem)), error.detail)
        case KeysNotWrittenError():
            return Trouble(words(words_for(SAVING, error.problem)), str(error))
        case FileError():
            typed = error.problem in {FileProblem.LOCKED, FileProblem.WRONG_KEY}
            return Trouble(words(FILES[error.problem]), "" if typed else str(error))
        case StickError():
            return Trouble(words(words_for(STICKS, error.problem)), str(error))
        case CodeError():
            message = CODES[error.problem]
        case OtherReviewerError() | InWindowError():
            message = OTHERS[type(error)]
        case _:
            return Trouble(words("That did not work. Ask for help."), str(error))
    return Trouble(words(message), "")


def for_whoever_helps(words: Words, detail: str) -> str:
    """Return the technical line below a trouble."""
    return words("For the person who helps: {detail}", detail=detail)


def trouble_of_view(view: View) -> Trouble | None:
    """Return what went wrong with the last key; None where nothing did."""
    return Trouble(view.trouble, view.detail) if view.trouble else None
