"""Letters that a keyboard may lack, for the buttons that every reviewer has."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from corpora.languages.cards import find_card
from corpora.languages.scripts import CODES, resolve_script
from corpora.languages.writing import WritingSystem
from corpora.text.comparison import script_of
from corpora.text.visible import plain
from corpora.text.words import JOINERS
from harness.setup.preparing import language_folders
from review.files.batch_form import LONGEST_LETTER, MOST_LETTERS

_DASHES_AND_QUOTES = frozenset({"Pd", "Pi", "Pf", "Ps", "Pe", "Cf"})
_COMPOSED_WHILE_TYPED = frozenset(
    {"Hani", "Hans", "Hant", "Jpan", "Hira", "Kana", "Kore", "Hang", "Bopo", "Yiii"}
)
"""Scripts (ISO 15924) of more signs than anybody would look through; whoever writes them has an input method."""

_MARKS_BELONG = frozenset({"Latn", "Cyrl", "Grek"})
"""Scripts in which a letter with a mark is one letter; elsewhere marks are typed by themselves."""


def letters_of(tag: str, texts: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the letters and marks of a language that are not on every keyboard, at most ``MOST_LETTERS``.

    They are those of its card, in the order of the alphabet; of more than fit, those that ``texts`` use most,
    and none where ``texts`` use none of them, because a part of an alphabet would be worse than nothing.
    Where no card tells of the script, they are what ``texts`` use beyond ASCII. CardError where the card of
    the language is damaged.
    """
    found = find_card(tag, language_folders())
    card = None if found is None else found.card
    script = resolve_script(tag, card, texts)
    if script is None or script in _COMPOSED_WHILE_TYPED:
        return ()
    writing = None if card is None else card.writings.get(script)
    if writing is None:
        used = Counter(_used(texts, script))
        return _most_frequent(sorted(used, key=_decomposed), used)
    lacking = _lacking(writing)
    text = unicodedata.normalize("NFC", "\n".join(texts)).lower()
    used = Counter({each: text.count(each) for each in lacking})
    if len(lacking) > MOST_LETTERS and not used.total():
        return ()
    return _most_frequent(lacking, used)


def _most_frequent(letters: Sequence[str], used: Counter[str]) -> tuple[str, ...]:
    """Keep as many as fit, the most used ones, in the order in which they come."""
    kept = set(sorted(letters, key=lambda letter: -used[letter])[:MOST_LETTERS])
    return tuple(letter for letter in letters if letter in kept)


def _lacking(writing: WritingSystem) -> tuple[str, ...]:
    """Return what a keyboard with the letters a–z lacks, in the order of the alphabet."""
    joiners = "" if writing.joiners == JOINERS else writing.joiners
    every = [*writing.graphemes, *writing.word_letters, *joiners]
    return tuple(dict.fromkeys(each for each in every if _is_lacking(each)))


def _is_lacking(letter: str) -> bool:
    shown = plain(letter) == letter
    return shown and not letter.isascii() and _kinds(letter).isdisjoint(_DASHES_AND_QUOTES)


def _used(texts: Iterable[str], script: str) -> Iterator[str]:
    """Yield every letter and mark of a script that stands in texts, beyond ASCII and in lower case."""
    for text in texts:
        composed = unicodedata.normalize("NFC", text).lower()
        for letter in _letters(composed) if script in _MARKS_BELONG else composed:
            if not letter.isascii() and len(letter) <= LONGEST_LETTER and _is_of(letter, script):
                yield letter


def _letters(text: str) -> Iterator[str]:
    """Part a text so that marks stay with their letters (``g̃``)."""
    letter = ""
    for character in text:
        if letter and unicodedata.combining(character):
            letter += character
        else:
            yield letter
            letter = character
    yield letter


def _is_of(letter: str, script: str) -> bool:
    """Tell whether it is a letter of the script, or a mark or sign that many scripts share."""
    if any(kind[0] not in "LM" for kind in _kinds(letter)):
        return False
    own = CODES.get(script_of(letter[0]))
    shared = unicodedata.combining(letter[0]) or unicodedata.category(letter[0]) == "Lm"
    return own == script or (own is None and bool(shared))


def _kinds(letter: str) -> set[str]:
    return {unicodedata.category(character) for character in letter}


def _decomposed(letter: str) -> tuple[str, str]:
    """Sort ``á`` beside ``a``, whatever its code point."""
    return unicodedata.normalize("NFD", letter), letter
