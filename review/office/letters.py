"""Letters that a keyboard may lack, for the row of buttons that every reviewer has."""

from __future__ import annotations

import unicodedata

from corpora.cards import find_card
from corpora.scripts import resolve_script
from corpora.words import JOINERS
from corpora.writing import Writing
from harness.preparing import language_folders
from review.files.batch_form import MOST_LETTERS

_DASHES_AND_QUOTES = frozenset({"Pd", "Pi", "Pf", "Ps", "Pe", "Cf"})


def letters_of(tag: str) -> tuple[str, ...]:
    """Give the letters and marks of a language that are not on every keyboard; none where it has no card.

    A script with more of them than fit a row, such as syllabics, needs a keyboard of its own: of it none are
    given, because some of them would be worse than none. CardError where the card of the language is damaged.
    """
    found = find_card(tag, language_folders())
    if found is None:
        return ()
    card = found.card
    letters = _lacking(card.writing(resolve_script(tag, card, ())))
    return letters if len(letters) <= MOST_LETTERS else ()


def _lacking(writing: Writing) -> tuple[str, ...]:
    """Give what a keyboard with the letters a–z lacks, in the order of the alphabet."""
    joiners = "" if writing.joiners == JOINERS else writing.joiners
    every = [*writing.graphemes, *writing.word_letters, *joiners]
    return tuple(dict.fromkeys(each for each in every if _is_lacking(each)))


def _is_lacking(letter: str) -> bool:
    kinds = {unicodedata.category(character) for character in letter}
    return not letter.isascii() and kinds.isdisjoint(_DASHES_AND_QUOTES)
