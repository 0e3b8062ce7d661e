"""A review that can be opened: what its file tells before it is, which files are copies, and the words about all that."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

from harness.core.failures import HarnessError
from harness.sealed.carried_files import ReviewFile, read_one
from harness.sealed.sealing import Lock, lock_of
from harness.sealed.strict_records import FileError
from review.files.batch import open_batch
from review.files.identities import ALPHABET
from review.log.laptop import StoredBatch
from review.session.words.catalogue import Words, msgid
from review.session.words.troubles import Trouble, trouble, trouble_of_file

_LONGEST_MARK = 300
# Bytes of a file whose head is read for the list; in a larger one nobody waits for it
_MOST_PEEKED = 2**21


@dataclass(frozen=True, slots=True)
class Choice:
    """A review that can be opened: a file, or one that is kept on this computer."""

    title: str  # As it stands on the card; of a file that is locked or damaged its name
    # Who asks, as far as the file tells before it is opened; empty for one that is locked or
    # damaged
    organisation: str = ""
    batch: str | None = None  # Id of one that is kept here
    path: Path | None = None  # Of a file
    # Name of the review in the zip or mail that the file is; empty for the first in it, or the file
    # itself
    inside: str = ""
    lock: Lock | None = None  # What opens it; None where it lies open
    # Items that the remembered person answered; None where nobody is remembered, or it is for
    # others
    done: int | None = None
    total: int = 0  # Items of that person
    # Of a file: what all its copies have in common, whatever their names and places; empty where
    # that is not known
    content: str = ""

    def kept_as(self, kept: Choice | None) -> Choice:
        """Return a file with how far the person is in it, where it is ``kept`` here."""
        if kept is None:
            return self
        return replace(self, batch=kept.batch, done=kept.done, total=kept.total)

    @property
    def place(self) -> str:
        """Folder of a file that is not kept here; empty for one that is."""
        return str(self.path.parent.absolute()) if self.path and self.batch is None else ""


def of_file(path: Path, inside: str = "") -> Choice:
    """Return a file, or one in a zip or mail, as something to open; whether it is a review, opening it tells."""
    data, lock, head = b"", None, None
    # What cannot be read, or is none of ours, opening it says; a file that is too large to wait for is not read here
    with suppress(HarnessError, OSError):
        if path.stat().st_size <= _MOST_PEEKED:
            data = read_one(path, ReviewFile.BATCH, inside)
    with suppress(OSError):
        if data:
            lock = lock_of(data)
        elif path.is_file():
            with path.open("rb") as file:
                lock = lock_of(file.read(64))
    if lock is None:
        with suppress(HarnessError):
            head = open_batch(data)
    # The file's name without the ending, and without what mail or a system put behind that
    name = Path(inside or path).name
    end = name.casefold().find(ReviewFile.BATCH.value)
    stem = name[:end] if end > 0 else Path(name).stem
    if head is None:
        content = _hash(data) if data else ""
        return Choice(stem, path=path, inside=inside, lock=lock, content=content)
    title, organisation = head.manifest.title.strip(), head.manifest.organisation.name.strip()
    content = _hash(head.manifest_bytes)
    return Choice(title or stem, organisation, path=path, inside=inside, content=content)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def contents(kept: StoredBatch) -> tuple[str, str]:
    """Return what the copies of a review's file have in common: those that lie open, and those that are locked."""
    return _hash(kept.manifest), _hash(kept.members)


def copies_once(choices: Iterable[Choice]) -> list[Choice]:
    """Return of each review the first of its copies; a damaged one is no copy."""
    once = {choice.content or str(choice.path): choice for choice in reversed(list(choices))}
    return list(reversed(once.values()))


def mark_of(choice: Choice) -> str | None:
    """Name a file by what a copy of it keeps; None where it is none, or gone."""
    if choice.path is None:
        return None
    try:
        facts = choice.path.stat()
    except OSError:
        return None
    name = f"{choice.path.name} {choice.inside}".strip()
    return f"file {facts.st_size} {int(facts.st_mtime)} {name}"[:_LONGEST_MARK]


# ---- What every face says from the list of reviews to the person's code: sentences that name no
# key.

REVIEW_TRANSLATIONS = msgid("Review translations")
WHICH_SENTENCES = msgid("Which sentences do you want to look at?")
NOTHING_YET = msgid("There is nothing to look at yet.")
NOTHING_FOUND = msgid("No sentences were found. Put the stick into this computer.")


def other_files(words: Words, count: int) -> str:
    """Return words about files that hold nothing for the person; nothing if there are none."""
    if not count:
        return ""
    return words.plural(
        "{n} other file is there. It holds no sentences for you.",
        "{n} other files are there. They hold no sentences for you.",
        count,
    )


NOTHING_BEGUN = msgid("Nothing was begun. Your code is not kept for the next person.")


class AskedLine(NamedTuple):
    """One line that the person is to type."""

    place: str
    asked: str
    about: str
    # What the answer can be made of, for whoever types with the mouse
    letters: tuple[str, ...] = ()


# which review


def what_it_is_called(words: Words) -> str:
    """Return how to know the file."""
    return words("The name of the file on it ends in {ending}.", ending=".rosetta-batch")


def which_file(words: Words) -> str:
    """Return which file to look for among folders."""
    return words("Find the file whose name ends in {ending}.", ending=".rosetta-batch")


def damaged_words(words: Words) -> tuple[str, ...]:
    """Return which catalogues of the community cannot be used."""
    return tuple(
        words("A file with words of a language is damaged and is not used: {name}", name=name) for name in words.damaged
    )


def where(words: Words, choice: Choice) -> str:
    """Return whose review it is, as far as that is known, and where it lies or how far the remembered person is."""
    if choice.place:
        new = words("new, on {place}", place=choice.place)
        return f"{choice.organisation} · {new}" if choice.organisation else new
    if choice.done is None:
        return choice.organisation
    far = words("{done} of {total} done", done=choice.done, total=choice.total)
    return f"{choice.organisation} · {far}"


def why_not_open(words: Words, choice: Choice, error: HarnessError) -> Trouble:
    """Return why a review does not open; of a file also which one it is, for another may be whole."""
    if choice.path is None or not isinstance(error, FileError):
        return trouble(words, error)
    return trouble_of_file(words, error, choice.path)


# what is typed


def secret_words(words: Words) -> AskedLine:
    """Return the prompt for the words that open a file."""
    return AskedLine(
        words("Open the file"),
        words("Which secret words are on your card?"),
        words("Type them with a space between them. Opening takes a few seconds."),
        (*ascii_lowercase, " "),
    )


def code_of_card(words: Words) -> AskedLine:
    """Return the prompt for the code of the person."""
    return AskedLine(
        words("Your card"),
        words("Which code is on your card?"),
        words("8 letters and digits."),
        tuple(ALPHABET),
    )


def same_card(words: Words, letters: str) -> str:
    """Return what the person who was here last types; ``letters`` are the first of their code."""
    return words("If your code begins with {letters}, type 1.", letters=letters)
