"""Which word of an output stands for which word of the reference: one pairing for all that compares them.

The entry screen tells of an output's words in several places; they agree because all pair words here.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import Prefix
from rapidfuzz.fuzz import ratio

from corpora.text.words import folded
from scoring.core.analysis import WordAnalysis
from scoring.core.assignment import best_pairs
from scoring.grammar.inflection import features
from scoring.grammar.tagged_word import tagged_word

MOST_WORDS = 120
"""Words of either text that are compared; no sentence has more."""

_LEAST_BEGINNING = 3
"""Letters that two words must begin with, which also are half of the longer one, to be taken for kin."""

_ALIKE = 65
"""Per cent of letters from which on a word that has no lemma is taken for a form of another."""

_LEAST_LETTERS = 4
"""Of shorter words a share says nothing."""

_NEAR = 2
"""Places that words of one class may be apart."""

_SAME_TEXT, _SAME_LEMMA, _KIN, _SAME_CLASS = 64_000_000, 500_000, 3_000, 10
"""What a likeness is worth at least; each is worth more than the next one is for all words of a text."""


def counterparts(
    output: Sequence[WordAnalysis], reference: Sequence[WordAnalysis]
) -> list[int | None]:
    """Return for each word of an output the place of its counterpart in the reference, None where it has none.

    Counterparts are the same word, else words with one lemma, else words that begin alike (or of which one
    has no lemma and the letters are mostly the same), else words of one class in about the same place.
    Words without any such likeness are no pair, nor are words beyond the first 120 of either text.
    """
    ours = [_Looked(word) for word in output[:MOST_WORDS]]
    theirs = [_Looked(word) for word in reference[:MOST_WORDS]]
    found = best_pairs(
        [
            [_worth(word, other, abs(at - place)) for place, other in enumerate(theirs)]
            for at, word in enumerate(ours)
        ]
    )
    return [*found, *[None] * (len(output) - len(found))]


class _Looked:
    """What is compared of a word."""

    def __init__(self, word: WordAnalysis) -> None:
        analyses = [tagged_word(analysis) for analysis in word.analyses]
        self.text = folded(word.word)
        self.lemmas = frozenset(analysis.key for analysis in analyses)
        self.classes = {features(each.tags).get("word class", ()) for each in analyses} - {()}
        """Word class by analysis; a participle that is a noun has two, and is like such a one only."""


def _worth(word: _Looked, other: _Looked, distance: int) -> int:
    near = max(0, 9 - distance)
    if word.text == other.text:
        return _SAME_TEXT + near
    if not word.lemmas.isdisjoint(other.lemmas):
        return _SAME_LEMMA + near
    if kinship := _kinship(word, other):
        return _KIN + 10 * kinship + near
    if distance <= _NEAR and not word.classes.isdisjoint(other.classes):
        return _SAME_CLASS + near
    return 0


def _kinship(word: _Looked, other: _Looked) -> int:
    """Return the per cent of letters that two words have in common; 0 for those that are not kin."""
    begins = Prefix.similarity(word.text, other.text)
    alike = int(ratio(word.text, other.text))
    if begins >= _LEAST_BEGINNING and 2 * begins >= max(len(word.text), len(other.text)):
        return max(1, alike)
    if min(len(word.text), len(other.text)) < _LEAST_LETTERS or (word.lemmas and other.lemmas):
        return 0
    return alike if alike >= _ALIKE else 0
