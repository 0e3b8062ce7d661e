"""What every face says from the list of reviews to the person's code: sentences that name no key."""

from __future__ import annotations

from string import ascii_lowercase
from typing import NamedTuple

from harness.core.failures import HarnessError
from harness.sealed.strict_records import FileError
from review.files.reviewer_codes import ALPHABET
from review.session.choice import Choice
from review.session.words.catalogue import Words, msgid
from review.session.words.troubles import Trouble, trouble, trouble_of_file

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
    letters: tuple[str, ...] = ()
    """What the answer can be made of, for whoever types with the mouse."""


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
        words("A file with words of a language is damaged and is not used: {name}", name=name)
        for name in words.damaged
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
        words("8 letters and digits. Capital or small, with or without the line between."),
        tuple(ALPHABET),
    )


def same_card(words: Words, letters: str) -> str:
    """Return what the person who was here last types; ``letters`` are the first of their code."""
    return words("If your code begins with {letters}, type 1.", letters=letters)
