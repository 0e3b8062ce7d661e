"""Whether an answer is in the language that was asked for, read from its letters (crosslingual-rag-metrics §3–4).

Letters tell scripts, not languages: an English answer to a German question is consistent, as it is in the seed.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Final, NamedTuple

import regex

from corpora.languages.tags import same_language, tag_script, texts_script
from scoring.core.messages import listed
from scoring.core.metric import Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker, ResourceRate
from scoring.packs.bare_text import composed
from scoring.packs.lbrag.answers import language_of

LEAST_CONSISTENT = 0.6
"""Share of letters from which an answer counts as one in the language (§4)."""

_SEVERAL: Final = {
    "Jpan": ("Hani", "Hira", "Kana"),
    "Hrkt": ("Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
    "Hanb": ("Hani", "Bopo"),
    "Latf": ("Latn",),
    "Latg": ("Latn",),
    "Aran": ("Arab",),
    "Cyrs": ("Cyrl",),
    "Geok": ("Geor",),
    "Syre": ("Syrc",),
    "Syrj": ("Syrc",),
    "Syrn": ("Syrc",),
}
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

    @property
    def signature(self) -> str:
        setup = self._setup
        scripts = ",".join(_language_scripts(setup.target_language) or (setup.script or "none",))
        return own_signature(f"unit:letter|scripts:{scripts}|empty:1{self._threshold}")

    _threshold = ""

    @property
    def why_missing(self) -> str:
        return "nothing tells in which script the language is written"

    def stats(self, translation: Translation) -> Statistics | None:
        answer_letters = self.letters(translation)
        return (
            None if answer_letters is None else (self.entry_value(consistency(answer_letters)), 1)
        )

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
        written = texts_script([translation.entry.reference])
        if written is None and language == setup.target_language:
            written = setup.script
        return _known_scripts(written) if written else ()

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return how many letters are of the language's script, and which are not."""
        answer_letters = self.letters(translation)
        if answer_letters is None:
            return (_NO_SCRIPT,)
        scripts = ", ".join(self.scripts(translation))
        if not answer_letters.all:
            return ("There are no letters, so none is of another script.",)
        summary = f"{answer_letters.ours:,} of {answer_letters.all:,} letters are of the language's script ({scripts})"
        return (
            f"{summary}; others: {listed(answer_letters.others)}."
            if answer_letters.others
            else f"{summary}.",
        )


class ConsistentAnswer(LanguageConsistency):
    """Share of answers with a consistency of 0.6 or more; 0–1, higher is better."""

    info = pack_metric("lbrag.rlc_ok")
    _threshold = f"|from:{LEAST_CONSISTENT}"

    def entry_value(self, consistency: float) -> float:
        return float(consistency >= LEAST_CONSISTENT)


_NO_SCRIPT = (
    "Nothing tells in which script the language is written: "
    "name it in the tag of the language, as in crk-Latn."
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


METRICS = {"lbrag.rlc": Maker(LanguageConsistency), "lbrag.rlc_ok": Maker(ConsistentAnswer)}
