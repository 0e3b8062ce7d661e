"""Made-up words of five letters, 16 bits each: passphrases on cards, and the check phrases of earlier versions.

Each is consonant, vowel, consonant, vowel, consonant. The letters sound alike in most languages that use the Latin
alphabet, and the words mean nothing in any.
"""

from __future__ import annotations

import secrets

_CONSONANTS = "bdfghklmnprstvyz"
_VOWELS = "aiou"
_PATTERN = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)


def made_up(data: bytes) -> str:
    """Write an even number of bytes as words; different bytes give different words."""
    pairs = zip(data[::2], data[1::2], strict=True)
    return " ".join(_word(high << 8 | low) for high, low in pairs)


def draw_words(count: int = 5) -> str:
    """Draw random words: a passphrase for a reviewer's card, 16 bits a word."""
    return made_up(secrets.token_bytes(2 * count))


def is_made_up(word: str) -> bool:
    """Tell whether a word, in lower case, can be one of these."""
    return len(word) == len(_PATTERN) and all(
        letter in alphabet for letter, alphabet in zip(word, _PATTERN, strict=True)
    )


def _word(number: int) -> str:
    letters = []
    for alphabet in reversed(_PATTERN):
        number, place = divmod(number, len(alphabet))
        letters.append(alphabet[place])
    return "".join(reversed(letters))
