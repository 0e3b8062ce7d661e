"""Translations of speech: BLEU, METEOR, and what BERTScore and COMET make of them (au-harness-metrics).

The texts are those of the records. The normalisers made for English, which the system of the document uses on every
language, are not applied: they take the marks off ``niwâpamâw``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from corpora.text.comparison import is_blank
from scoring.core.metric import RateMetric, Statistics, content_key, own_signature, plain_key
from scoring.core.packs import pack_metric
from scoring.core.setup import Translation
from scoring.metrics.chrf_bleu import Bleu, References
from scoring.metrics.maker import Maker
from scoring.metrics.semantic import Comet, why_no_comet
from scoring.packs.au.speech import SpokenWords
from scoring.words.source_words import Resources

MOST_LETTERS = 1_000_000
"""Letters of an output that BLEU looks at."""
MOST_WORDS = 20_000
"""Words of an output that METEOR looks at, and most words of a reference."""
MOST_CELLS = 10_000_000
"""Output words times reference words likewise; the output's words behind them are left out."""


class SpeechBleu(Bleu):
    """BLEU of a corpus, 0–100, higher is better: that of the scoring specification under the pack's name.

    Of an output the first ``MOST_LETTERS`` are examined.
    """

    info = pack_metric("au.bleu")

    def stats_many(self, translations: Sequence[Translation]) -> list[Statistics | None]:
        cut = [replace(one, output=one.output[:MOST_LETTERS]) for one in translations]
        return super().stats_many(cut)


class SpeechComet(Comet):
    """COMET as the scoring specification has it, under the pack's name: mean of the scores, 0–1, higher is better."""

    info = pack_metric("au.comet")


class BertScore(RateMetric):
    """Mean BERTScore F1, 0–1, higher is better, of the scores of a model or of a file.

    A score outside the range counts as its nearer end; an empty output as 0. Null without a score.
    """

    info = pack_metric("au.bertscore")
    why_missing = "no output has a BERTScore"

    def __init__(self, resources: Resources) -> None:
        self._facts = resources.setup.annotators.get("bertscore", {})

    @property
    def signature(self) -> str:
        facts = self._facts
        model = plain_key(facts.get("model", "none"))
        layer = facts.get("layer")
        how = "from:file" if layer is None else f"from:model|layer:{layer}|idf:no|rescaled:no"
        return own_signature(f"model:{model}-{content_key(facts.get('sha256'))}|{how}|value:F1")

    def stats(self, translation: Translation) -> Statistics | None:
        score = translation.annotations.get("bertscore")
        if not isinstance(score, int | float) or not math.isfinite(score):
            return None
        return (0.0 if is_blank(translation.output) else min(max(float(score), 0.0), 1.0), 1)


def why_no_bertscore(resources: Resources) -> str | None:
    """Return what is missing where there are no scores."""
    if "bertscore" in resources.setup.annotators:
        return None
    return "no BERTScore: name the folder of a model, or a file of scores, with --bertscore"


class Meteor(RateMetric):
    """Mean METEOR, 0–1, higher is better (Banerjee and Lavie 2005, as nltk computes it).

    Words match as they stand or by English stem; as synonyms where nltk's WordNet is on this machine and the
    target is English. In other languages only equal words match, and the signature says which. An empty output is
    0; null where the reference has no word, or more than ``MOST_WORDS``.
    """

    info = pack_metric("au.meteor")
    why_missing = "no reference has a word"

    def __init__(self, resources: Resources) -> None:
        language = resources.setup.target_language.replace("_", "-").split("-")[0].lower()
        self._english = language in {"en", "eng"}
        self._words = SpokenWords(resources.setup)

    @property
    def signature(self) -> str:
        matches = "exact"
        if self._english:
            matches = "exact+stem+wordnet" if self._nltk.wordnet() else "exact+stem"
        key = f"match:{matches}|case:lower|alpha:0.9|beta:3|gamma:0.5"
        return own_signature(f"{key}|nltk:{nltk_version()}")

    @property
    def _nltk(self) -> ModuleType:
        """Return the module that needs nltk, which may not be installed where this metric is only shown."""
        from scoring.packs.au import meteor

        return meteor

    def stats(self, translation: Translation) -> Statistics | None:
        reference = self._words(translation.entry.reference, translation)
        if not 0 < len(reference) <= MOST_WORDS:
            return None
        most = min(MOST_WORDS, MOST_CELLS // len(reference))
        output = self._words(translation.output, translation)[:most]
        score = self._nltk.meteor(reference, output, english=self._english)
        return (score, 1)


@cache
def nltk_version() -> str:
    """Return the version of nltk, ``none`` where it is not installed."""
    try:
        return version("nltk")
    except PackageNotFoundError:
        return "none"


def why_no_meteor(_: Resources) -> str | None:
    """Return what is missing."""
    if nltk_version() == "none":
        return "METEOR is computed by nltk, which is not installed: rosetta doctor says how"
    return None


METRICS = {
    "au.bleu": Maker(lambda resources: SpeechBleu(resources.setup.bleu_tokenizer, References.of(resources.setup))),
    "au.meteor": Maker(Meteor, why_no_meteor),
    "au.bertscore": Maker(BertScore, why_no_bertscore),
    "au.comet": Maker(SpeechComet, why_no_comet),
}
