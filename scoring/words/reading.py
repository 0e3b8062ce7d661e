"""Texts taken apart for the behavioural metrics: words in the order of the text, names, numbers.

Every behavioural metric looks at the same sources, references and outputs, so that a text is taken apart once
and kept for a while.
"""

from __future__ import annotations

import re
from functools import cache, cached_property, lru_cache
from itertools import compress, filterfalse
from sys import intern

import regex

from corpora.languages.cards import WritingSystem
from corpora.text.tokens import JOINERS, folded, pieces, words

_UNSPACED = (
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ーｰ\p{Script=Thai}\p{Script=Lao}"
    r"\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]"
)
_FROM_THAI_ON = re.compile("[\u0e00-\U0010ffff]")
"""What a text without letters of these scripts hardly has; found in a tenth of the time."""
_UNSPACED_LETTER = regex.compile(_UNSPACED)
_PART = regex.compile(rf"{_UNSPACED}\p{{M}}*|(?:(?!{_UNSPACED}).)+", regex.DOTALL)
_DIGITS = re.compile(r"\d+")
"""Digits that Python reads: newer Unicode versions, which `regex` may know, have more."""
_BETWEEN_DIGITS = frozenset(".,'’٫٬\u00a0\u202f\u2009")
_BEFORE_A_SENTENCE = frozenset(".?!…:;。？！।॥؟።፧᙮\"“”„«»‹›'‘’(（[【「『¿¡—–•\n")
STEM = 5
"""Letters of a word's stem."""
MOST_READ = 1536
"""Texts of which the reading is kept, some 5 kB each: the three of each entry that metrics look at together."""
SIGNATURE = "words:folded|unspaced:characters"
"""How texts are taken apart, for the signatures of those who use it."""


class Reading:
    """One text, taken apart. Placeholders, tags and addresses are left out."""

    def __init__(self, text: str, written: tuple[str, ...], words: tuple[str, ...]) -> None:
        self._text = text
        self.written = written
        """The words as they are in the text; in a script without spaces each character is a word."""
        self.words = words
        """The same words folded; numbers without a letter are none."""

    @cached_property
    def distinct(self) -> frozenset[str]:
        """Folded words, each once."""
        return frozenset(self.words)

    @cached_property
    def stems(self) -> frozenset[str]:
        """First letters of the folded words."""
        return frozenset([word[:STEM] for word in self.words])

    @cached_property
    def names(self) -> frozenset[str]:
        """Folded words that are capitalised without being the first of a sentence, whole and without
        what an apostrophe or a hyphen sets apart; empty for a script without capitals."""
        return names_in(self._text)

    @cached_property
    def numbers(self) -> tuple[tuple[str, ...], ...]:
        """Numbers that stand alone: first the whole without its separators, then its parts."""
        return tuple(number for number, alone in self._all_numbers if alone)

    @cached_property
    def digits(self) -> frozenset[str]:
        """All wholes and parts of numbers, those inside words (COVID-19) too."""
        return frozenset(part for number, _ in self._all_numbers for part in number)

    @cached_property
    def _all_numbers(self) -> list[tuple[tuple[str, ...], bool]]:
        # Numbers of a text, each as whole and parts, and whether it stands alone.
        numbers: list[tuple[list[str], bool]] = []
        end = -1
        for word in words(self._text) if _DIGITS.search(self._text) else ():
            alone = not any(map(str.isalpha, word.text))
            for match in _DIGITS.finditer(word.text):
                start = word.start + match.start()
                digits = "".join(str(int(digit)) for digit in match[0])
                between = self._text[end:start]
                joined = between in _BETWEEN_DIGITS or (between == " " and len(digits) == 3)
                if numbers and end >= 0 and alone and joined:
                    numbers[-1][0].append(digits)
                else:
                    numbers.append(([digits], alone))
                end = word.start + match.end()
        wholes = ((["".join(digits), *(digits if len(digits) > 1 else ())], alone) for digits, alone in numbers)
        return [(tuple(number.lstrip("0") or "0" for number in parts), alone) for parts, alone in wholes]

    @cached_property
    def repeats(self) -> tuple[int, ...]:
        """Places of words with which a sequence ends that was there before: of three words, of eight
        characters where most words are single characters."""
        if len(self.distinct) == len(self.words):
            return ()
        single = sum(len(word) == 1 for word in self.words)
        length = 8 if single * 2 > len(self.words) and _UNSPACED_LETTER.search(self._text) else 3
        seen: set[tuple[str, ...]] = set()
        places = []
        for end in range(length, len(self.words) + 1):
            sequence = self.words[end - length : end]
            if sequence in seen:
                places.append(end - 1)
            seen.add(sequence)
        return tuple(places)


class Reader:
    """Takes texts of one language apart."""

    def __init__(self, joiners: str = JOINERS, letters: str = "") -> None:
        self._joiners, self._letters = joiners, letters
        self.read = lru_cache(maxsize=MOST_READ)(self._read)
        """Give the reading of a text."""
        self._piece = lru_cache(maxsize=16_384)(self._take_apart)

    def forget(self) -> None:
        """Empty the caches of texts."""
        self.read.cache_clear()
        self._piece.cache_clear()

    def distinct(self, text: str) -> frozenset[str] | set[str]:
        """Return the folded words of a text, each once, as ``read`` finds them; nothing of it is kept."""
        given = pieces(text)
        if len(given) == 1 or unspaced(text):
            return self._read(text).distinct
        letters = map(str.isalpha, given)
        distinct = set(compress(_folded_pieces(text), letters))
        for piece in filterfalse(str.isalpha, given):
            distinct.update(self._piece(piece)[1])
        return distinct

    def _read(self, text: str) -> Reading:
        written = pieces(text)
        folded = [""] * len(written) if len(written) == 1 or unspaced(text) else _folded_pieces(text)
        # a piece of letters alone is one word, as most are; the others are taken apart, from the last one on
        for place in range(len(written) - 1, -1, -1):
            if not (folded[place] and written[place].isalpha()):
                as_written, as_folded = self._piece(written[place])
                written[place : place + 1], folded[place : place + 1] = as_written, as_folded
        return Reading(text, tuple(map(intern, written)), tuple(map(intern, folded)))

    def _take_apart(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if text.isalpha() and not unspaced(text):  # one word, as most pieces are
            return (text,), (folded(text),)
        written = tuple(
            part
            for word in words(text, self._joiners, self._letters)
            for part in parts(word.text)
            if any(map(str.isalpha, part))
        )
        return written, tuple(folded(word) for word in written)


def _folded_pieces(text: str) -> list[str]:
    """Fold a text as a whole and cut it at its spaces, which no folding makes, takes away or joins with a letter."""
    return folded(text).split(" ")


def reader(writing: WritingSystem | None = None) -> Reader:
    """Return the reader of a writing; the same for all who ask, so that they share what it keeps."""
    if writing is None:
        return _reader(JOINERS, "")
    return _reader(writing.joiners, writing.word_letters)


@cache
def _reader(joiners: str, letters: str) -> Reader:
    return Reader(joiners, letters)


def parts(word: str) -> list[str]:
    """Split what stands between two spaces into words, where its script sets no spaces between them."""
    if not unspaced(word):
        return [word]
    return list(_PART.findall(word))


def unspaced(word: str) -> bool:
    """Return whether a word has a letter of a script without spaces."""
    if word.isascii() or _FROM_THAI_ON.search(word) is None:
        return False
    return _UNSPACED_LETTER.search(word) is not None


def stem(word: str) -> str:
    """Return the first five letters: endings differ between forms of a word, and few texts show all forms."""
    return word[:STEM]


def names_in(text: str) -> frozenset[str]:
    """Return the names of a text (``Reading.names``)."""
    if text[1:] == text[1:].lower():  # a capital at the very beginning tells no name
        return frozenset()
    names: set[str] = set()
    end = 0
    for word in words(text):
        starts = end == 0 or not _BEFORE_A_SENTENCE.isdisjoint(text[end : word.start])
        end = word.end
        if capitalised(word.text[1:] if starts else word.text):
            name = folded(word.text)
            names.add(name)
            names.update(part for part in regex.split(r"[^\p{L}\p{M}\p{N}]", name) if len(part) > 1)
    return frozenset(names)


def capitalised(word: str) -> bool:
    """Return whether a word has a capital letter anywhere: Paris, iPhone."""
    return word != word.lower()
