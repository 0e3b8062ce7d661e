"""FST acceptance: how many words of the outputs a morphological analyser knows (scoring-specification §2.2)."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from functools import cached_property

from corpora.text.messages import counted, listed, percent, shortened
from corpora.text.tokens import folded
from scoring.core.metric import FloatArray, RateMetric, Statistics, analyser_key, card_key, own_signature
from scoring.core.setup import Acceptance, ScoringSetup, Translation, WordAnalysis
from scoring.core.specification import metric_info
from scoring.metrics.maker import Maker, ResourceRate
from scoring.words.source_words import Resources
from scoring.words.spelling import Spelling

LEAST_ACCEPTANCE = 0.5
"""Share of the references' words that an analyser must accept before it may judge outputs (METRICS §2)."""
_OTHER_FORMS = {
    Acceptance.LOWER_CASED: "Accepted only when lower-cased",
    Acceptance.NORMALISED: "Accepted only after the language card's spelling replacements",
}


class FstAcceptance(RateMetric):
    """Accepted words / words, 0–1, higher is better; statistics (accepted, words, all accepted).

    It is no measure of quality on its own: a strict analyser accepts about 60 % of human Cree, so that the
    acceptance of the references is next to it. An output without a word counts as one rejected word
    for each word of the reference (DESIGN M2).
    """

    info = metric_info("fst_acceptance_rate")
    width = 3

    def __init__(self, setup: ScoringSetup) -> None:
        self._setup = setup

    @property
    def signature(self) -> str:
        analyser = self._setup.analyser
        kind = "acceptor" if analyser is not None and analyser.acceptor else "analyser"
        return own_signature(
            f"fst:{analyser_key(self._setup)}|kind:{kind}|accept:written,lower,normalised|card:{card_key(self._setup)}"
        )

    @property
    def why_missing(self) -> str:
        return why_no_acceptance(self._setup) or "neither outputs nor references have a word"

    def stats(self, translation: Translation) -> Statistics | None:
        annotation = translation.fst
        if annotation is None:
            return None
        output, reference = annotation.output, annotation.reference
        if not output:
            return (0, len(reference), 0) if reference else None
        accepted = _accepted(output)
        return (accepted, len(output), int(accepted == len(output)))

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        return {"fst_accepted": int(total[0]), "fst_accepted_entries": int(total[2])}

    def explain(self, translation: Translation) -> tuple[str, ...]:
        annotation = translation.fst
        if annotation is None:
            return ()
        whom = (
            "the spell-checker (an acceptor, which gives no analyses)"
            if self._setup.analyser is not None and self._setup.analyser.acceptor
            else "the analyser"
        )
        sentences = [_verdict(annotation.output, whom)]
        for form, how in _OTHER_FORMS.items():
            if chosen := [word.word for word in annotation.output if word.accepted is form]:
                sentences.append(f"{how}: {listed(map(shortened, chosen))}.")
        if annotation.reference:
            accepted = _accepted(annotation.reference)
            share = f"{accepted} of {len(annotation.reference)}"
            sentences.append(f"Of the reference's own words it accepts {share}.")
        return tuple(sentences)


def why_no_acceptance(setup: ScoringSetup) -> str | None:
    """Return why an analyser cannot judge the words of this run; None where it can."""
    analyser = setup.analyser
    if analyser is None:
        return (
            f"there is no analyser for {setup.target_language} here; "
            f"`rosetta language check {setup.target_language}` tells where to put one"
        )
    share = analyser.reference_acceptance
    if share is None:
        return "the references have no word that an analyser could be asked about"
    if share < LEAST_ACCEPTANCE:
        return (
            f"{analyser.name} accepts only {percent(share)} of the {analyser.reference_words:,} words of the "
            f"references (under {percent(LEAST_ACCEPTANCE)}): look for a wrong analyser, script or normal form"
        )
    return None


def _accepted(words: Sequence[WordAnalysis]) -> int:
    return len(words) - [word.accepted for word in words].count(None)


def _verdict(words: Sequence[WordAnalysis], whom: str) -> str:
    if not words:
        return "The output has no word; each word of the reference counts as rejected."
    rejected = [word.word for word in words if word.accepted is None]
    accepted = len(words) - len(rejected)
    are = "is" if len(words) == 1 else "are"
    summary = f"{accepted} of {counted(len(words), 'word')} {are} accepted by {whom}"
    others = f"; rejected: {listed(map(shortened, rejected))}" if rejected else ""
    return f"{summary}{others}."


# ---- Orthographic accuracy: words written by the rules of their script (scoring-specification
# §2.2).


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
            sentences = []
            if faults:
                named = listed(f"{shortened(word)} ({why})" for word, why in faults.items())
                breaks = "breaks" if len(faults) == 1 else "break"
                share = f"{len(faults)} of {counted(words, 'word')}"
                sentences.append(f"{share} {breaks} a rule: {named}.")
            if foreign := spelling.foreign(translation.output):
                others = listed(map(shortened, foreign))
                sentences.append(f"In another script, and not judged: {others}.")
            return tuple(sentences)
        if spelling.has_words(translation.output):
            return ("All words are in another script; how they are spelt is not judged.",)
        return ("The output has no word; each word of the reference counts as wrong.",)

    @cached_property
    def _spelling(self) -> Spelling | None:
        resources = self._resources
        if resources.card is None or resources.writing is None:
            return None
        bitext = resources.bitext
        loans = ChainMap(bitext.target_frequencies, dict.fromkeys(map(folded, resources.card.loan_words), 1))
        return Spelling(resources.writing, loans, bitext.source)


def why_no_orthography(resources: Resources) -> str | None:
    """Return why the metric is off with these resources; None where it is not."""
    return None if resources.card else why_no_card(resources.setup.target_language)


def why_no_card(language: str) -> str:
    """Return that rules of spelling are missing, and how to get them."""
    return (
        f"there is no language card for {language}, so that its rules of spelling are not known; "
        f"`rosetta language check {language}` tells where to put one"
    )


METRICS = {
    "fst_acceptance_rate": Maker(
        lambda resources: FstAcceptance(resources.setup), lambda resources: why_no_acceptance(resources.setup)
    ),
    "orthographic_accuracy": Maker(OrthographicAccuracy, why_no_orthography),
}
