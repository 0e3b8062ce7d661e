"""Whether an answer is the expected one: exact match and F1 of words (crosslingual-rag-metrics §1–2)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import regex

from corpora.languages.tags import is_language_tag, same_language, tag_script, texts_script
from corpora.text.comparison import comparison_form, scripts
from corpora.text.messages import counted, listed
from corpora.text.tokens import bare, composed
from scoring.core.metric import RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.setup import Translation
from scoring.metrics.maker import Maker, ResourceRate
from scoring.packs.judged import JudgeScore

_BY_CHARACTER = ("ja", "zh", "lzh", "wuu", "yue")
"""Japanese, and the languages that Chinese characters are written for."""


class ExactAnswer(RateMetric):
    """Share of answers that are the reference without case and punctuation; 0–1, higher is better.

    An empty answer is right where the reference is empty too, else wrong. Where neither text has a letter or
    a number, as two emoji, they are compared as they stand.
    """

    info = pack_metric("lbrag.em")
    signature = own_signature("nrefs:1|case:lower|kept:letters,marks,numbers")

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
        language = language_of(translation, self._setup.target_language)
        answer, reference = translation.output, translation.entry.reference
        ours, theirs = (answer_words(text, language) for text in (answer, reference))
        unit = "character" if by_character(language) else "word"
        shared = f"{(ours & theirs).total():,} shared"
        return (f"{shared}; answer: {counted(ours.total(), unit)}, reference: {theirs.total():,}.",)


def language_of(translation: Translation, target_language: str) -> str:
    """Return the language of a record: its own ``language``, else the target language of the corpus."""
    own = translation.given("language")
    if isinstance(own, str) and is_language_tag(own.replace("_", "-")):
        return own
    return target_language


@lru_cache(maxsize=256)
def by_character(language: str) -> bool:
    """Return whether a language's words are its characters: Japanese and Chinese, in their own scripts."""
    unspaced = any(same_language(language, tag) for tag in _BY_CHARACTER)
    return unspaced and tag_script(language) != "Latn"


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


# ---- Whether an answer is in the language that was asked for, read from its letters
# (crosslingual-rag-metrics §3–4).
#
# Letters tell scripts, not languages: an English answer to a German question is consistent, as it
# is in the seed.

LEAST_CONSISTENT = 0.6
"""Share of letters from which an answer counts as one in the language (§4)."""

_SEVERAL: Final = {
    "Jpan": ("Hani", "Hira", "Kana"), "Hrkt": ("Hira", "Kana"), "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",), "Hant": ("Hani",), "Hanb": ("Hani", "Bopo"), "Latf": ("Latn",),
    "Latg": ("Latn",), "Aran": ("Arab",), "Cyrs": ("Cyrl",), "Geok": ("Geor",), "Syre": ("Syrc",),
    "Syrj": ("Syrc",), "Syrn": ("Syrc",),
}  # fmt: skip
"""Codes of ISO 15924 that are no script of Unicode → the scripts whose letters they mean."""

_WRITTEN_IN: Final = {
    "Latn": "af ca co cs cy da de en eo es et eu fi fo fr fy ga gd gl gv ht haw hr hu id is it la lb lt lv mg mi"
    " mt nb nl nn no oc pl pt qu rm ro rw se sk sl sm sn so sq sv sw to tr vi wo xh yo zu",
    "Cyrl": "be bg mk ru uk",
    "Grek": "el",
    "Hebr": "he yi",
    "Arab": "ar fa ps ur",
    "Deva": "hi mr ne",
    "Beng": "as bn",
    "Gujr": "gu",
    "Orya": "or",
    "Taml": "ta",
    "Telu": "te",
    "Knda": "kn",
    "Mlym": "ml",
    "Sinh": "si",
    "Thai": "th",
    "Laoo": "lo",
    "Khmr": "km",
    "Mymr": "my",
    "Tibt": "bo dz",
    "Geor": "ka",
    "Armn": "hy",
    "Ethi": "am ti",
    "Kore": "ko",
    "Jpan": "ja",
    "Hans": "zh lzh wuu yue",
}
"""Languages that are written in one way only, by script. Plains Cree, Inuktitut, Serbian and others that are
written in several are not here: for them only a tag, or a text, can tell."""
_NEUTRAL: Final = r"\p{Script=Common}\p{Script=Inherited}"
_LETTER: Final = regex.compile(rf"(?V1)[[\p{{L}}\p{{M}}]--[{_NEUTRAL}]]")
"""A letter or mark of some script; those that all scripts share (ー, ʼ, a combining accent) tell nothing."""


class AnswerLetters(NamedTuple):
    """The letters of an answer, counted."""

    ours: int
    """Those of the language's scripts."""
    all: int
    others: tuple[str, ...]
    """Letters of other scripts, the most frequent first."""


class LanguageConsistency(ResourceRate):
    """Mean over entries of the share of an answer's letters that its language is written with; 0–1, higher is better.

    The scripts are those of the language tag; without one, those that the language is always written in, else that
    of the reference, else that of all references. An answer without letters, such as a number or an empty one, scores
    1. Null where nothing tells the script.
    """

    info = pack_metric("lbrag.rlc")
    why_missing = "nothing tells in which script the language is written"

    @property
    def signature(self) -> str:
        setup = self._setup
        scripts = ",".join(_language_scripts(setup.target_language) or (setup.script or "none",))
        return own_signature(f"unit:letter|scripts:{scripts}|empty:1{self._threshold}")

    _threshold = ""

    def stats(self, translation: Translation) -> Statistics | None:
        answer_letters = self.letters(translation)
        if answer_letters is None:
            return None
        return (self.entry_value(consistency(answer_letters)), 1)

    def entry_value(self, consistency: float) -> float:
        """Compute the value of an entry from the share of letters."""
        return consistency

    def letters(self, translation: Translation) -> AnswerLetters | None:
        """Return the counted letters of an answer; None where its script is unknown."""
        scripts = self.scripts(translation)
        return letters_in(translation.output, scripts) if scripts else None

    def scripts(self, translation: Translation) -> tuple[str, ...]:
        """Return the scripts of an entry's language by their codes; empty where nothing tells."""
        setup = self._setup
        language = language_of(translation, setup.target_language)
        named = _language_scripts(language)
        if named:
            return named
        written = texts_script(scripts([translation.entry.reference]))
        if written is None and language == setup.target_language:
            written = setup.script
        return _known_scripts(written) if written else ()

    def explain(self, translation: Translation) -> tuple[str, ...]:
        answer_letters = self.letters(translation)
        if answer_letters is None:
            return (_NO_SCRIPT,)
        scripts = ", ".join(self.scripts(translation))
        if not answer_letters.all:
            return ("There are no letters, so none is of another script.",)
        summary = f"{answer_letters.ours:,} of {answer_letters.all:,} letters are of the language's script ({scripts})"
        return (f"{summary}; others: {listed(answer_letters.others)}." if answer_letters.others else f"{summary}.",)


class ConsistentAnswer(LanguageConsistency):
    """Share of answers with a consistency of 0.6 or more; 0–1, higher is better."""

    info = pack_metric("lbrag.rlc_ok")
    _threshold = f"|from:{LEAST_CONSISTENT}"

    def entry_value(self, consistency: float) -> float:
        return float(consistency >= LEAST_CONSISTENT)


_NO_SCRIPT = (
    "Nothing tells in which script the language is written: name it in the tag of the language, as in crk-Latn."
)


def consistency(letters: AnswerLetters) -> float:
    """Return the share of letters that are the language's, 0–1; 1 without letters."""
    return letters.ours / letters.all if letters.all else 1.0


def letters_in(text: str, scripts: tuple[str, ...]) -> AnswerLetters:
    """Count the letters and marks of a text, and those of some scripts."""
    ours = _of_scripts(scripts)
    counts = Counter(composed(text))
    letters = {letter: count for letter, count in counts.most_common() if _LETTER.match(letter)}
    others = tuple(letter for letter in letters if not ours.match(letter))
    missed = sum(letters[letter] for letter in others)
    total = sum(letters.values())
    return AnswerLetters(total - missed, total, others)


@lru_cache(maxsize=256)
def _language_scripts(language: str) -> tuple[str, ...]:
    """Return the scripts that a tag names, else those that its language is always written in."""
    named = tag_script(language)
    if named is not None:
        return _known_scripts(named)
    for script, languages in _WRITTEN_IN.items():
        if any(same_language(language, tag) for tag in languages.split()):
            return _known_scripts(script)
    return ()


@lru_cache(maxsize=256)
def _known_scripts(code: str) -> tuple[str, ...]:
    """Return Unicode's scripts for a code; empty where it names none that letters have."""
    scripts = _SEVERAL.get(code, (code,))
    try:
        _of_scripts(scripts)
    except regex.error:
        return ()
    return () if set(scripts) & {"Zyyy", "Zinh", "Zzzz"} else scripts


@lru_cache(maxsize=256)
def _of_scripts(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile("[" + "".join(rf"\p{{Script={script}}}" for script in scripts) + "]")


# ---- What the translation of evidence costs, and what F1 it buys (crosslingual-rag-metrics
# §5–6).


class TranslationCost(RateMetric):
    """Mean tokens of translated evidence of an entry, from the record's ``evidence``; lower is better.

    Each block states its ``token_count``, alone or in its ``metadata``; one without any was not translated. Null for
    a record without the field: an empty list says that nothing was translated.
    """

    info = pack_metric("lbrag.cost")
    signature = own_signature("unit:token|counts:stated")
    why_missing = "no record says what was translated (field evidence; [] where nothing was)"

    def stats(self, translation: Translation) -> Statistics | None:
        cost = translation_cost(translation.given("evidence"))
        return None if cost is None else (cost, 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        if translation_cost(translation.given("evidence")) is not None:
            return ()
        return (_NO_COST,)


class BridgingEfficiency(ResourceRate):
    """Mean over entries of (F1 of the answer − F1 of the baseline's answer) / tokens; any value, higher is better.

    The baseline answers the same entry: the annotation ``baseline`` has its answer, else the record. An entry without
    cost has the value 0, whatever the baseline says. Null without evidence, or with a cost and no baseline.
    """

    info = pack_metric("lbrag.cnbe")
    signature = own_signature("f1:lbrag.f1|cost:lbrag.cost|paired:id")
    why_missing = "it takes a baseline: rosetta compare RUN --baseline RUN --view lbrag"

    def stats(self, translation: Translation) -> Statistics | None:
        cost = translation_cost(translation.given("evidence"))
        if cost is None:
            return None
        if cost <= 0:
            return (0.0, 1)
        scores = self._scores(translation)
        return None if scores is None else ((scores[0] - scores[1]) / cost, 1)

    def _scores(self, translation: Translation) -> tuple[float, float] | None:
        """Return the F1 of the answer and that of the baseline's; None without a baseline."""
        baseline = translation.annotations.get("baseline")
        if baseline is None:
            baseline = translation.given("baseline")
        if not isinstance(baseline, str):
            return None
        reference = translation.entry.reference
        language = language_of(translation, self._setup.target_language)
        ours = answer_f1(translation.output, reference, language)
        return ours, answer_f1(baseline, reference, language)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        cost = translation_cost(translation.given("evidence"))
        if cost is None:
            return (_NO_COST,)
        if cost <= 0:
            return ("Nothing was translated, so nothing was bought: 0.",)
        scores = self._scores(translation)
        if scores is None:
            return ("This entry has no baseline answer.",)
        spent = counted(int(cost), "token") if cost.is_integer() else f"{cost:,.1f} tokens"
        values = f"F1 {scores[0]:.3f} against {scores[1]:.3f} of the baseline"
        return (f"{values}, for {spent} of translation.",)


_NO_COST = "The record does not say how many tokens were translated (evidence, token_count)."


def translation_cost(evidence: Any) -> float | None:
    """Sum the token counts of a record's evidence, ≥ 0; None where it is no list of blocks with such counts."""
    if not isinstance(evidence, list | tuple):
        return None
    counts = [_token_count(block) for block in evidence]
    stated = [count for count in counts if count is not None]
    total = math.fsum(stated) if all(map(math.isfinite, stated)) else math.nan
    return total if math.isfinite(total) else None


def _token_count(block: Any) -> float | None:
    """Return a block's token count, None where it states none, NaN where it is no count."""
    if not isinstance(block, Mapping):
        return math.nan
    metadata = block.get("metadata")
    count = block.get("token_count")
    if count is None and isinstance(metadata, Mapping):
        count = metadata.get("token_count")
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count < _MOST:
        return math.nan
    return float(count)


_MOST = 10**15
"""Tokens of one block; up to here sums of counts are exact."""


# ---- Whether an answer means what the expected one means, as a judge sees it (crosslingual-rag-
# metrics §7).


class SemanticAgreement(JudgeScore):
    """Mean of the judge's scores of 0–1 for equal meaning; higher is better."""

    info = pack_metric("lbrag.semantic_score")
    judge = "judge_semantic"


METRICS = {
    "lbrag.em": Maker(lambda _: ExactAnswer()),
    "lbrag.f1": Maker(AnswerF1),
    "lbrag.rlc": Maker(LanguageConsistency),
    "lbrag.rlc_ok": Maker(ConsistentAnswer),
    "lbrag.cost": Maker(lambda _: TranslationCost()),
    "lbrag.cnbe": Maker(BridgingEfficiency),
    "lbrag.semantic_score": Maker(SemanticAgreement),
}
