"""Names as they are compared: without case, marks, signs between their words, or look-alike letters."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 80
"""Characters of a name or value that is looked at; a longer one is a text."""

NEAR = 0.8
"""Share of common letters from which on a name resembles another."""

_LOOK_ALIKES = str.maketrans("аеорсухѕіјԁһкмтнвԍոαειοκνρτυχμѵƨ", "aeopcyxsijdhkmthbgnaeioknptuxmvs")
"""Cyrillic, Armenian and Greek letters that are drawn as Latin ones."""

_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def fold(text: str) -> str:
    """Return the letters and digits of a name without case, marks, signs between them, or look-alikes."""
    if text.isascii():  # nearly all names; twenty times as fast
        return _BETWEEN_WORDS.sub("", text.lower())
    return "".join(folded_words(text))


def folded_words(text: str) -> list[str]:
    """Split a name into its words, folded; a camel's hump begins a word."""
    plain = unicodedata.normalize("NFKD", text).translate(_LOOK_ALIKES)
    plain = "".join(each for each in plain if unicodedata.category(each) not in {"Mn", "Cf"})
    folded = _CAMEL.sub(" ", plain).casefold().translate(_LOOK_ALIKES)
    return [word for word in _BETWEEN_WORDS.split(folded) if word]
