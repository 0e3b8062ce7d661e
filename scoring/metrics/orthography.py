"""Orthographic accuracy: words written by the rules of their script (scoring-specification §2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from corpora.text.tokens import folded
from scoring.core.messages import counted, listed, shortened
from scoring.core.metric import Statistics, card_key, own_signature
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker, ResourceRate
from scoring.words.resources import Resources
from scoring.words.spelling import Spelling


class OrthographicAccuracy(ResourceRate):
    """Words that break no rule of the language card / words, 0–1, higher is better; statistics are both.

    Words of other scripts are code-switching and no spelling: they count on neither side. Letters of names
    and loan words are right in words with a capital at their beginning and in those that the card's loan
    words, the references or the entry's source have: else another language of the same script would pass. An
    output without a word counts as one wrong word for each word of the reference (DESIGN M2).
    """

    info = metric_info("orthographic_accuracy")
    reads_source = True

    @property
    def signature(self) -> str:
        setup = self._setup
        return own_signature(
            f"rules:letters,scripts,marks,joiners,forbidden,composed"
            f"|foreign-letters:capitals,loans,references,source|script:{setup.script or 'default'}"
            f"|card:{card_key(setup)}"
        )

    @property
    def why_missing(self) -> str:
        if self._setup.language_card is None:
            return why_no_card(self._setup.target_language)
        return "no output has a word in the script of the language"

    def stats(self, translation: Translation) -> Statistics | None:
        spelling = self._spelling
        if spelling is None:
            return None
        words, wrong = spelling.counts(translation.output, translation.entry.source)
        if words:
            return (words - wrong, words)
        if spelling.has_words(translation.output):
            return None
        expected, _ = spelling.counts(translation.entry.reference)
        return (0, expected) if expected else None

    def explain(self, translation: Translation) -> tuple[str, ...]:
        spelling = self._spelling
        if spelling is None:
            return ()
        words, faults = spelling.judged(translation.output, translation.entry.source)
        if words:
            sentences = (_said(words, faults),) if faults else ()
            return (*sentences, *_foreign(spelling.foreign(translation.output)))
        if spelling.has_words(translation.output):
            return ("All words are in another script; how they are spelt is not judged.",)
        return ("The output has no word; each word of the reference counts as wrong.",)

    @cached_property
    def _spelling(self) -> Spelling | None:
        resources = self._resources
        if resources.card is None or resources.writing is None:
            return None
        bitext = resources.bitext
        loans = {*map(folded, resources.card.loan_words), *bitext.target_frequencies}
        return Spelling(resources.writing, loans, bitext.source)


def why_no_orthography(resources: Resources) -> str | None:
    """Return why the metric is off with these resources; None where it is not."""
    if resources.card is None:
        return why_no_card(resources.setup.target_language)
    return None


def why_no_card(language: str) -> str:
    """Return that rules of spelling are missing, and how to get them."""
    return (
        f"there is no language card for {language}, so that its rules of spelling are not known; "
        f"`rosetta language check {language}` tells where to put one"
    )


def _said(words: int, faults: Mapping[str, str]) -> str:
    named = listed(f"{shortened(word)} ({why})" for word, why in faults.items())
    breaks = "breaks" if len(faults) == 1 else "break"
    return f"{len(faults)} of {counted(words, 'word')} {breaks} a rule: {named}."


def _foreign(words: list[str]) -> tuple[str, ...]:
    if not words:
        return ()
    return (f"In another script, and not judged: {listed(map(shortened, words))}.",)


METRICS = {"orthographic_accuracy": Maker(OrthographicAccuracy, why_no_orthography)}
