"""Which language an answer is written in: by its letters, and by the common words of languages that share them.

The words are the lists of the package ``wordfreq``; without it, or without a list of the language, only scripts that
one language has for itself can be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

import regex

from corpora.text.comparison import scripts
from corpora.text.tokens import folded
from scoring.words.source_words import source_word_list

_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("ar", "fa", "ur"), ("Arabic",)),
    **dict.fromkeys(("bg", "mk", "ru", "uk"), ("Cyrillic",)),
    **dict.fromkeys(("hi", "mr", "ne"), ("Devanagari",)),
    "bn": ("Bengali",),
    "el": ("Greek",),
    "gu": ("Gujarati",),
    "he": ("Hebrew",),
    "ja": ("Hiragana", "Katakana", "Han"),
    "kn": ("Kannada",),
    "ko": ("Hangul",),
    "ml": ("Malayalam",),
    "pa": ("Gurmukhi",),
    "ta": ("Tamil",),
    "te": ("Telugu",),
    "th": ("Thai",),
    "zh": ("Han",),
}
_LATIN = (
    "en",
    "es",
    "pt",
    "fr",
    "de",
    "it",
    "pl",
    "vi",
    "fi",
    "nl",
    "sv",
    "tr",
    "id",
    "ro",
    "cs",
    "hu",
)
"""Languages in roman letters that are told apart."""
_KANA = 0.05
"""Share of letters from which Chinese characters are Japanese."""
_MOSTLY = 0.5
"""Share of letters that must be of the language's script."""
_COMMON = 0.2
"""Least share of an answer's words that are among the 5,000 most common of its language."""
_WORD = regex.compile(r"[\p{L}\p{M}]{2,}")


class UndecidedError(ValueError):
    """It cannot be told here whether a text is in a language; says why."""


def written_in(text: str, language: str) -> bool:
    """Return whether a text is in a language, by its two-letter code; UndecidedError where it cannot be told."""
    expected = _SCRIPTS.get(language, ("Latin",))
    shares = scripts([text])
    if sum(shares.get(script, 0.0) for script in expected) < _MOSTLY:
        return False
    if "Han" in expected:
        kana = shares.get("Hiragana", 0.0) + shares.get("Katakana", 0.0)
        return (kana >= _KANA) is (language == "ja")
    others = [
        other_language
        for other_language in (*_SCRIPTS, *_LATIN)
        if _SCRIPTS.get(other_language, ("Latin",)) == expected
    ]
    if others == [language]:
        return True
    return _by_words(text, language, others)


def _by_words(text: str, language: str, others: list[str]) -> bool:
    words = list(map(folded, _WORD.findall(text)))
    lists = {
        listed_language: source_word_list(listed_language)
        for listed_language in {language, *others}
    }
    if lists[language][1] is None:
        raise UndecidedError(f"there is no list of words here by which {language!r} is known")
    known = {
        candidate_language: sum(word in common for word in words)
        for candidate_language, (common, _) in lists.items()
    }
    return known[language] >= max(_COMMON * len(words), *known.values())


def word_lists_key() -> str:
    """Name the lists in a signature."""
    try:
        return f"wordfreq-{version('wordfreq')}"
    except PackageNotFoundError:
        return "none"
