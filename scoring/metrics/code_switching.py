"""Code-switching: words of the source language that were left standing in the output (METRICS §4)."""

from __future__ import annotations

from functools import cached_property

from corpora.text.tokens import folded
from scoring.core.messages import counted, listed
from scoring.core.metric import Statistics, analyser_key, card_key, content_key, own_signature
from scoring.core.specification import metric_info
from scoring.core.translation import FstAnnotation, Translation
from scoring.metrics.maker import Maker, ResourceRate
from scoring.words.reading import SIGNATURE, Reading, capitalised
from scoring.words.resources import Resources
from scoring.words.source_words import QUOTED, LanguageSide, Sides, languages_alike


class CodeSwitching(ResourceRate):
    """Words that are the source language's and not the target's / words, 0–1, lower is better.

    A word is the target's if the analyser accepts it, or it is in references, in prescribed renderings
    or among the card's loan words. It is the source's if its script is only the source's, or it is a common
    word of the source language or is in this entry's source (two letters or more). Names carried over,
    words with digits, placeholders and addresses are no words here. Source: scoring-specification §2.4.
    Null for an output without a word, an empty one too.
    """

    info = metric_info("code_switching_rate")
    reads_source = True

    @property
    def signature(self) -> str:
        setup = self._setup
        return own_signature(
            f"source:{setup.source_language}|list:{setup.word_list or 'none'}"
            f"|analyser:{analyser_key(setup)}|card:{card_key(setup)}"
            f"|terms:{content_key(setup.terms_sha256)}|quoted:{QUOTED}|{SIGNATURE}"
        )

    @property
    def why_missing(self) -> str:
        return "no output has a word besides names and numbers"

    def stats(self, translation: Translation) -> Statistics | None:
        foreign, number = self._foreign(translation)
        return (len(foreign), number) if number else None

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Name the words of the source language: “2 of 5 words are English: train, station.”"""
        foreign, number = self._foreign(translation)
        if not foreign:
            return ()
        card = self._resources.source_card
        language = card.name if card else self._setup.source_language
        are = "is" if len(foreign) == 1 else "are"
        return (
            f"{len(foreign)} of {counted(number, 'word')} {are} {language}: {listed(foreign)}.",
        )

    @cached_property
    def _sides(self) -> Sides:
        return Sides(self._resources)

    def _foreign(self, translation: Translation) -> tuple[list[str], int]:
        """Return the source language's words as they are in the output, and how many words there are."""
        bitext = self._resources.bitext
        output = bitext.target.read(translation.output)
        if not output.words:
            return [], 0
        source = bitext.source.read(translation.entry.source)
        names, side = self._names(source), self._sides.side
        number, suspects = 0, []
        for word, written in zip(output.words, output.written, strict=True):
            language_side = side(word)
            if language_side is LanguageSide.NONE or (word in names and capitalised(written)):
                continue
            number += 1
            if language_side is LanguageSide.SOURCE or (
                language_side is LanguageSide.UNKNOWN and len(word) > 1 and word in source.distinct
            ):
                suspects.append((word, written))
        known = self._known(translation) if suspects else frozenset()
        return [written for word, written in suspects if word not in known], number

    def _names(self, source: Reading) -> frozenset[str]:
        """Return the names of a source; where capitals are common, common words are no names."""
        names = source.names
        if not names or (self._sides.capitals_tell_names and len(names) * 2 <= len(source.words)):
            return names
        return frozenset(name for name in names if not self._sides.listed(name))

    def _known(self, translation: Translation) -> frozenset[str]:
        """Return the words of this entry's references, and those of the output that the analyser accepts."""
        read, entry = self._resources.bitext.target.read, translation.entry
        texts = (entry.reference, *entry.variants)
        known = frozenset[str]().union(*(read(text).distinct for text in texts))
        fst = translation.annotations.get("fst")
        if not isinstance(fst, FstAnnotation):
            return known
        return known.union(folded(word.word) for word in fst.output if word.accepted is not None)


def why_no_code_switching(resources: Resources) -> str | None:
    """Return why words cannot be told apart: source and target are one language, or nearly."""
    if resources.entries and languages_alike(resources):
        return (
            "source and target share most of their words, so that a word does not tell its language"
        )
    return None


METRICS = {"code_switching_rate": Maker(CodeSwitching, why_no_code_switching)}
