"""How the words of an output differ from those of the reference, morpheme by morpheme, in words.

The entry screen shows it for every entry that an analyser has looked at, with a gold analysis or without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.fuzz import ratio

from corpora.words import folded
from scoring.analysis import FstAnnotation, WordAnalysis
from scoring.assignment import best_pairs
from scoring.inflection import features, inflection_faults
from scoring.tagged_word import TaggedWord, tagged_word
from scoring.wording import shortened

_MOST_WORDS = 120
"""Words of either text that are compared; no sentence has more."""

_ALIKE = 60
"""Per cent of letters from which on two words are taken for forms of one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which an output differs from the reference."""

    output: str | None
    """Word of the output; None where a word of the reference has no counterpart."""
    reference: str | None
    """Word of the reference; None where a word of the output has no counterpart."""
    category: str
    """What differs: ``person``, ``case`` … of the inflection, ``lemma``, ``unknown word``, ``word``,
    ``missing word``, ``surplus word``."""
    found: str | None
    """What the output's word has there."""
    expected: str | None
    """What the reference's word has there."""
    words: str
    """The difference as a sentence; it quotes the output, which is hostile until shown through the one
    display function."""


def morpheme_differences(annotation: FstAnnotation) -> tuple[Difference, ...]:
    """Compare the words of an output with their counterparts in the reference, in the output's order.

    Counterparts are the same word, forms of one lemma, words that look alike, else words of the same
    class in about the same place.
    """
    output = annotation.output[:_MOST_WORDS]
    reference = annotation.reference[:_MOST_WORDS]
    counterparts = best_pairs(_likeness(output, reference))
    differences: list[Difference] = []
    for word, place in zip(output, counterparts, strict=True):
        if place is None:
            differences.append(_surplus(word))
        else:
            differences += _between(word, reference[place])
    met = set(counterparts)
    differences += [_missing(word) for at, word in enumerate(reference) if at not in met]
    return tuple(differences)


def _likeness(output: Sequence[WordAnalysis], reference: Sequence[WordAnalysis]) -> list[list[int]]:
    """Weigh pairs: a sure counterpart is worth more than any nearness."""
    ours = [_Looked(word) for word in output]
    theirs = [_Looked(word) for word in reference]
    return [
        [_worth(word, other, abs(at - place)) for place, other in enumerate(theirs)]
        for at, word in enumerate(ours)
    ]


class _Looked:
    """What is compared of a word when counterparts are looked for."""

    def __init__(self, word: WordAnalysis) -> None:
        analyses = [tagged_word(analysis) for analysis in word.analyses]
        self.text = folded(word.word)
        self.lemmas = frozenset(analysis.key for analysis in analyses)
        self.classes = frozenset(
            name for each in analyses for name in features(each.tags).get("word class", ())
        )


def _worth(word: _Looked, other: _Looked, distance: int) -> int:
    near = max(0, 9 - distance)
    if word.text == other.text:
        return 1000 + near
    if word.lemmas & other.lemmas:
        return 400 + near
    alike = ratio(word.text, other.text)
    if alike >= _ALIKE and not (word.lemmas and other.lemmas):
        return 100 + int(alike) + near
    if word.classes & other.classes:
        return 20 + near if distance <= 2 else 0
    return 1 + near if distance <= 1 and not (word.classes and other.classes) else 0


def _between(word: WordAnalysis, other: WordAnalysis) -> Iterator[Difference]:
    """Say how a word differs from its counterpart."""
    if folded(word.word) == folded(other.word):
        return
    if word.accepted is None:
        yield _plain(
            word, other, "unknown word", "is no word the analyser knows; the reference has"
        )
    elif not word.analyses or not other.analyses:
        yield _plain(word, other, "word", "instead of")
    else:
        yield from _between_analysed(word, other)


def _between_analysed(word: WordAnalysis, other: WordAnalysis) -> Iterator[Difference]:
    """Compare the two analyses of one lemma that differ least; name the lemmas where there is none."""
    pairs = [
        (found, expected)
        for found in map(tagged_word, word.analyses)
        for expected in map(tagged_word, other.analyses)
    ]
    same = [pair for pair in pairs if pair[0].key == pair[1].key]
    found, expected = min(same or pairs, key=_distance)
    if not same:
        yield Difference(
            word.word,
            other.word,
            "lemma",
            found.lemma,
            expected.lemma,
            f"“{shortened(word.word)}” (lemma {found.lemma}) instead of “{shortened(other.word)}”.",
        )
        return
    for fault in inflection_faults(found.tags, expected.tags):
        sentence = f"“{shortened(word.word)}”: {fault.words}."
        yield Difference(
            word.word, other.word, fault.category, fault.found, fault.expected, sentence
        )


def _distance(pair: tuple[TaggedWord, TaggedWord]) -> int:
    return len(pair[0].tags ^ pair[1].tags)


def _plain(word: WordAnalysis, other: WordAnalysis, category: str, between: str) -> Difference:
    sentence = f"“{shortened(word.word)}” {between} “{shortened(other.word)}”."
    return Difference(word.word, other.word, category, word.word, other.word, sentence)


def _surplus(word: WordAnalysis) -> Difference:
    known = "" if word.accepted is not None else ", and the analyser does not know it"
    sentence = f"“{shortened(word.word)}” has no counterpart in the reference{known}."
    return Difference(word.word, None, "surplus word", word.word, None, sentence)


def _missing(word: WordAnalysis) -> Difference:
    return Difference(
        None, word.word, "missing word", None, word.word, f"“{shortened(word.word)}” is missing."
    )
