"""Word error rate: words changed, left out or added, for each word of the reference (au-harness-metrics).

Words are runs of letters, marks and numbers of any script, in NFC and without case; punctuation is none. Where a
language is written without spaces its characters are counted instead. Nothing is translated, spelled out or stripped
of its accents: the normalisers made for English speech take the marks off ``niwâpamâw`` and cut ``x̱át`` in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from scoring.core.messages import counted
from scoring.core.metric import Compared, FloatArray, RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.setup import ScoringSetup
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.packs.bare_text import bare
from scoring.words.resources import Resources
from scoring.words.tokenizers import bleu_tokenizer

MOST_CELLS = 2_000_000_000
"""Output words times reference words that are compared in under two seconds; a lecture of an hour against itself
is a twentieth of it."""


def spoken_words(text: str, *, characters: bool = False) -> list[str]:
    """Return the words of a text, or its characters, as they are compared."""
    words = bare(text).split()
    return list("".join(words)) if characters else words


def word_edits(output: Sequence[str], reference: Sequence[str]) -> int:
    """Count the words that must be changed, added or taken away; all of the longer where both are too long."""
    if len(output) * len(reference) > MOST_CELLS:
        return max(len(output), len(reference))
    return Levenshtein.distance(output, reference)


def empty_references(id_: str, total: FloatArray) -> dict[str, float | int | None]:
    """Return the field of the card that says how many references have no word; the sums' third number counts them."""
    return {f"{id_}_empty_references": int(total[2])}


class SpokenWords:
    """Splits the texts of a record as its language is written."""

    def __init__(self, setup: ScoringSetup) -> None:
        self._setup = setup

    def __call__(self, text: str, translation: Translation) -> list[str]:
        """Return the words of a text; the language of the record goes before that of the corpus."""
        given = translation.given("language")
        if isinstance(given, str):
            return spoken_words(text, characters=unspaced_language(given, None))
        setup = self._setup
        unspaced = unspaced_language(setup.target_language, setup.script)
        return spoken_words(text, characters=unspaced)


@lru_cache(maxsize=1024)
def unspaced_language(language: str, script: str | None) -> bool:
    """Return whether a language is written without spaces between words."""
    return bleu_tokenizer(language, script) != "13a"


class WordErrorRate(RateMetric):
    """Word errors over reference words, from 0 without an upper end; lower is better.

    Statistics: errors, reference words or 1 where there is none, references without a word. Where the reference has
    no word, every word of the output was added. An empty output leaves out every word of the reference.
    """

    info = pack_metric("au.wer")
    width = 3

    def __init__(self, resources: Resources) -> None:
        self._words = SpokenWords(resources.setup)

    @property
    def signature(self) -> str:
        return own_signature("words:letters-marks-numbers|case:lower|unspaced:characters")

    def stats(self, translation: Translation) -> Statistics:
        output, reference = self._sides(translation)
        return (word_edits(output, reference), max(len(reference), 1), int(not reference))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        """Return how many references have no word."""
        return empty_references(self.info.id, total)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return how many words are changed, left out and added."""
        output, reference = self._sides(translation)
        if len(output) * len(reference) > MOST_CELLS // 100:
            return ()
        edits = {"replace": 0, "insert": 0, "delete": 0}
        for edit in Levenshtein.editops(reference, output):
            edits[edit.tag] += 1
        changed, left_out = edits["replace"], edits["delete"]
        words = f"{counted(len(reference), 'word')}: {changed} changed, {left_out} left out"
        return (f"{words}; {edits['insert']} added.",)

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        """Return the words of both sides."""
        output, reference = (" ".join(words) for words in self._sides(translation))
        return (Compared("words", output, reference, running=True),)

    def _sides(self, translation: Translation) -> tuple[list[str], list[str]]:
        reference = translation.entry.reference
        return self._words(translation.output, translation), self._words(reference, translation)


METRICS = {"au.wer": Maker(WordErrorRate)}
