"""How the words of an output differ from those of the reference, morpheme by morpheme, in words.

The entry screen shows it for every entry that an analyser has looked at, with a gold analysis or without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from corpora.text.words import folded
from scoring.core.analysis import FstAnnotation, WordAnalysis
from scoring.core.wording import faulty, shortened
from scoring.grammar.counterparts import MOST_WORDS, counterparts
from scoring.grammar.inflection import inflection_faults
from scoring.grammar.tagged_word import TaggedWord, tagged_word


@dataclass(frozen=True, slots=True)
class MorphemeDifference:
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
    fault: str = ""
    """What is wrong with the form of the output's word; empty for differences of other kinds."""

    @property
    def named(self) -> frozenset[str]:
        """The words that the sentence quotes, folded."""
        return frozenset(folded(word) for word in (self.output, self.reference) if word)


def morpheme_differences(annotation: FstAnnotation) -> tuple[MorphemeDifference, ...]:
    """Compare the words of an output with their counterparts in the reference, in the output's order.

    A word that stands for one of another lemma differs in that and in nothing else.
    """
    output, reference = annotation.output[:MOST_WORDS], annotation.reference[:MOST_WORDS]
    places = counterparts(output, reference)
    differences: list[MorphemeDifference] = []
    for word, place in zip(output, places, strict=True):
        if place is None:
            differences.append(_surplus(word))
        else:
            differences += _between(word, reference[place])
    met = set(places)
    differences += [_missing(word) for at, word in enumerate(reference) if at not in met]
    return tuple(differences)


def sentences(differences: Iterable[MorphemeDifference]) -> tuple[str, ...]:
    """Say differences word by word: all faults of a word's form in one sentence, and nothing twice."""
    said: list[str] = []
    for (word, _, inflected), group in groupby(
        differences, lambda each: (each.output, each.reference, bool(each.fault))
    ):
        if word is not None and inflected:
            said.append(faulty(word, (each.fault for each in group)))
        else:
            said += [each.words for each in group]
    return tuple({folded(sentence): sentence for sentence in said}.values())


def _between(word: WordAnalysis, other: WordAnalysis) -> Iterator[MorphemeDifference]:
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


def _between_analysed(word: WordAnalysis, other: WordAnalysis) -> Iterator[MorphemeDifference]:
    """Compare the two analyses of one lemma that differ least; name the lemmas where there is none."""
    pairs = [
        (found, expected)
        for found in map(tagged_word, word.analyses)
        for expected in map(tagged_word, other.analyses)
    ]
    same = [pair for pair in pairs if pair[0].key == pair[1].key]
    found, expected = min(same or pairs, key=_distance)
    if not same:
        yield MorphemeDifference(
            word.word,
            other.word,
            "lemma",
            found.lemma,
            expected.lemma,
            f"“{shortened(word.word)}” (lemma {found.lemma}) instead of “{shortened(other.word)}”.",
        )
        return
    for fault in inflection_faults(found.tags, expected.tags):
        sentence = faulty(word.word, (fault.words,))
        yield MorphemeDifference(
            word.word,
            other.word,
            fault.category,
            fault.found,
            fault.expected,
            sentence,
            fault.words,
        )


def _distance(pair: tuple[TaggedWord, TaggedWord]) -> int:
    return len(pair[0].tags ^ pair[1].tags)


def _plain(
    word: WordAnalysis, other: WordAnalysis, category: str, between: str
) -> MorphemeDifference:
    sentence = f"“{shortened(word.word)}” {between} “{shortened(other.word)}”."
    return MorphemeDifference(word.word, other.word, category, word.word, other.word, sentence)


def _surplus(word: WordAnalysis) -> MorphemeDifference:
    known = "" if word.accepted is not None else ", and the analyser does not know it"
    sentence = f"“{shortened(word.word)}” has no counterpart in the reference{known}."
    return MorphemeDifference(word.word, None, "surplus word", word.word, None, sentence)


def _missing(word: WordAnalysis) -> MorphemeDifference:
    return MorphemeDifference(
        None, word.word, "missing word", None, word.word, f"“{shortened(word.word)}” is missing."
    )
