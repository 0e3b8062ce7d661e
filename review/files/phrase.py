"""Six made-up words that two people can compare over the telephone, instead of 64 hexadecimal digits.

Each word stands for 16 bits, as consonant, vowel, consonant, vowel, consonant. The letters sound alike
in most languages that use the Latin alphabet, and the words mean nothing in any.
"""

from __future__ import annotations

import secrets
import unicodedata
from typing import Final

from harness.failures import UsageError

WORDS: Final = 6
"""Words of a check phrase: 96 bits."""

_CONSONANTS = "bdfghklmnprstvyz"
_VOWELS = "aiou"
_PATTERN = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)


class PhraseError(UsageError):
    """What was typed is not a phrase of such words."""


def phrase(digest: str) -> str:
    """Give the six words of a SHA-256 (hexadecimal): its first 96 bits, two bytes a word."""
    return words(bytes.fromhex(digest)[: 2 * WORDS])


def words(data: bytes) -> str:
    """Write an even number of bytes as words; different bytes give different words."""
    pairs = zip(data[::2], data[1::2], strict=True)
    return " ".join(_word(high << 8 | low) for high, low in pairs)


def draw_words(count: int = 5) -> str:
    """Draw random words: a passphrase for a reviewer's card, 16 bits a word."""
    return words(secrets.token_bytes(2 * count))


def read_words(typed: str) -> str:
    """Read words as people type them: any case, any spaces, hyphens or commas between them.

    Raises PhraseError, naming the word that cannot be one.
    """
    parts = "".join(
        letter if letter.isalpha() else " " for letter in unicodedata.normalize("NFKC", typed)
    )
    found = parts.lower().split()
    for number, word in enumerate(found, 1):
        if not _is_word(word):
            raise PhraseError(
                f"Word {number} cannot be right: each word has five letters, as in {_word(0x2A51)!r}. "
                "Look at it again."
            )
    if not found:
        raise PhraseError("No word was typed.")
    return " ".join(found)


def _word(number: int) -> str:
    letters = []
    for alphabet in reversed(_PATTERN):
        number, place = divmod(number, len(alphabet))
        letters.append(alphabet[place])
    return "".join(reversed(letters))


def _is_word(word: str) -> bool:
    return len(word) == len(_PATTERN) and all(
        letter in alphabet for letter, alphabet in zip(word, _PATTERN, strict=True)
    )
