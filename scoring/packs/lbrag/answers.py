"""Whether an answer is the expected one: exact match and F1 of words (crosslingual-rag-metrics §1–2)."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from corpora.languages.tags import is_language_tag, same_language, tag_script
from corpora.text.comparison import comparison_form
from scoring.core.messages import counted
from scoring.core.metric import RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker, ResourceRate
from scoring.packs.bare_text import bare

_BY_CHARACTER = ("ja", "zh", "lzh", "wuu", "yue")
"""Japanese, and the languages that Chinese characters are written for."""


class ExactAnswer(RateMetric):
    """Share of answers that are the reference without case and punctuation; 0–1, higher is better.

    An empty answer is right where the reference is empty too, else wrong. Where neither text has a letter or
    a number, as two emoji, they are compared as they stand.
    """

    info = pack_metric("lbrag.em")

    @property
    def signature(self) -> str:
        return own_signature("nrefs:1|case:lower|kept:letters,marks,numbers")

    def stats(self, translation: Translation) -> Statistics:
        return (int(same_answer(translation.output, translation.entry.reference)), 1)


class AnswerF1(ResourceRate):
    """Mean over entries of the F1 of shared words, each as many times as it stands; 0–1, higher is better.

    Words are separated by spaces, and are single characters in Japanese and Chinese. Two texts without words score 1
    where they are the same answer.
    """

    info = pack_metric("lbrag.f1")

    @property
    def signature(self) -> str:
        unit = "character" if by_character(self._setup.target_language) else "word"
        return own_signature(f"nrefs:1|case:lower|kept:letters,marks,numbers|unit:{unit}")

    def stats(self, translation: Translation) -> Statistics:
        language = language_of(translation, self._setup.target_language)
        return (answer_f1(translation.output, translation.entry.reference, language), 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return how many words the two texts share."""
        language = language_of(translation, self._setup.target_language)
        answer, reference = translation.output, translation.entry.reference
        ours, theirs = (answer_words(text, language) for text in (answer, reference))
        unit = "character" if by_character(language) else "word"
        shared = f"{(ours & theirs).total():,} shared"
        return (f"{shared}; answer: {counted(ours.total(), unit)}, reference: {theirs.total():,}.",)


def language_of(translation: Translation, target_language: str) -> str:
    """Return the language of a record: its own ``language``, else the target language of the corpus."""
    own = translation.given("language")
    return (
        own if isinstance(own, str) and is_language_tag(own.replace("_", "-")) else target_language
    )


@lru_cache(maxsize=256)
def by_character(language: str) -> bool:
    """Return whether a language's words are its characters: Japanese and Chinese, in their own scripts."""
    return tag_script(language) != "Latn" and any(
        same_language(language, tag) for tag in _BY_CHARACTER
    )


def answer_words(text: str, language: str) -> Counter[str]:
    """Count the words of an answer in a language."""
    words = bare(text)
    return Counter(words.replace(" ", "") if by_character(language) else words.split())


def same_answer(answer: str, reference: str) -> bool:
    """Return whether two texts are the same without case and punctuation."""
    ours, theirs = bare(answer), bare(reference)
    if ours or theirs:
        return ours == theirs
    return comparison_form(answer) == comparison_form(reference)


def answer_f1(answer: str, reference: str, language: str) -> float:
    """Return the F1 of shared words, 0–1."""
    ours, theirs = answer_words(answer, language), answer_words(reference, language)
    if not ours and not theirs:
        return float(same_answer(answer, reference))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


METRICS = {"lbrag.em": Maker(lambda _: ExactAnswer()), "lbrag.f1": Maker(AnswerF1)}
