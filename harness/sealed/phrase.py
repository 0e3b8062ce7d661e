"""Words that people hear, copy and compare: check phrases, and the made-up words of passphrases.

A check phrase is six words instead of 64 hexadecimal digits. They are those of ``word_list``: eleven bits each, 60
of a digest and 6 that check them, in the way of BIP-39. Sixty bits alone could be searched for, so each digest is
stretched by scrypt first: who wants another file with the same words pays for it 2⁶⁰ times.

Made-up words have five letters, 16 bits each: consonant, vowel, consonant, vowel, consonant. The letters sound alike
in most languages that use the Latin alphabet, and the words mean nothing in any. Passphrases on cards are such words;
so were the check phrases of earlier versions, 96 bits, which are read on.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Final

from harness.core.failures import UsageError
from harness.sealed.sealing import stretch

# ---- The words of check phrases, in alphabetical order; the place of a word is its eleven bits.
# Never changed.
#
# They are plain English words of four to eight letters. The first four letters of each are its
# own; no two differ by one letter more, less, other or swapped, and in the CMU Pronouncing
# Dictionary none sounds like another common word, and no two differ by one sound only.

LIST: Final = tuple(Path(__file__).with_name("phrase_words.txt").read_text("utf-8").split())


_CONSONANTS = "bdfghklmnprstvyz"
_VOWELS = "aiou"
_PATTERN = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)


def made_up(data: bytes) -> str:
    """Write an even number of bytes as words; different bytes give different words."""
    words = []
    for high, low in zip(data[::2], data[1::2], strict=True):
        number, letters = high << 8 | low, ""
        for alphabet in reversed(_PATTERN):
            number, place = divmod(number, len(alphabet))
            letters = alphabet[place] + letters
        words.append(letters)
    return " ".join(words)


def draw_words(count: int = 5) -> str:
    """Draw random words: a passphrase for a card, 16 bits a word."""
    return made_up(secrets.token_bytes(2 * count))


def is_made_up(word: str) -> bool:
    """Return whether a word, in lower case, can be one of these."""
    return len(word) == len(_PATTERN) and all(
        letter in alphabet for letter, alphabet in zip(word, _PATTERN, strict=True)
    )


WORDS: Final = 6
BOUND: Final = 60
"""Bits of a digest that the words hold."""
WORK: Final = 11
"""scrypt with N = 2¹¹, r = 8, p = 1: 2 MiB and some thousandths of a second for each try."""

_SALT: Final = b"rosetta-check-phrase"
_CHECK = 6
_WORD = 11
_PLACES: Final = {word: place for place, word in enumerate(LIST)}
_EARLIER_BYTES = 12


class PhraseError(UsageError):
    """What was typed is no phrase of such words."""


@lru_cache(maxsize=1024)
def phrase(digest: str, *, earlier: bool = False) -> str:
    """Return the six words of a SHA-256 (hexadecimal); ``earlier`` gives those that earlier versions showed."""
    if earlier:
        return made_up(bytes.fromhex(digest)[:_EARLIER_BYTES])
    stretched = stretch(bytes.fromhex(digest), _SALT, work=WORK, length=8)
    bound = int.from_bytes(stretched, "big") >> 64 - BOUND
    number = bound << _CHECK | _checks(bound)
    places = (number >> _WORD * at & (1 << _WORD) - 1 for at in reversed(range(WORDS)))
    return " ".join(LIST[place] for place in places)


def says(words: str, digest: str) -> bool:
    """Return whether words, as ``read_words`` gives them, are those of a SHA-256, in the form of any version."""
    return words in {phrase(digest, earlier=True), phrase(digest)}


def read_words(typed: str) -> str:
    """Read six words as people type them: any case, any spaces, hyphens or commas between them.

    Made-up words of earlier versions are taken as they are. PhraseError names the word that is on no list, with those
    that are nearest, and tells six words that do not belong together: one is another word, or two are swapped.
    """
    plain = unicodedata.normalize("NFKC", typed)
    typed_words = "".join(letter if letter.isalpha() else " " for letter in plain).lower().split()
    if not typed_words:
        raise PhraseError("No word was typed.")
    listed = all(word in _PLACES for word in typed_words)
    if listed and len(typed_words) == WORDS and _holds(typed_words):
        return " ".join(typed_words)
    if sum(map(is_made_up, typed_words)) * 2 > len(typed_words) and not listed:
        return _read_earlier(typed_words)
    if all(map(is_made_up, typed_words)):
        return " ".join(typed_words)
    for number, word in enumerate(typed_words, 1):
        if word not in _PLACES:
            # Words that are one slip away, or begin as it does, else those that look most like it.
            near = [one for one in LIST if one[:4] == word[:4] or _is_one_slip(one, word)]
            offered = " or ".join(map(repr, near or get_close_matches(word, LIST)))
            nearest = f" Is it {offered}?" if offered else ""
            raise PhraseError(f"Word {number}, {word!r}, is none of the words that there are.{nearest}")
    if len(typed_words) != WORDS:
        raise PhraseError(f"There are {WORDS} words, and {len(typed_words)} were typed.")
    raise PhraseError(
        "These six words do not belong together: one of them is another word, or two are swapped. Compare them one by one."
    )


def _is_one_slip(one: str, other: str) -> bool:
    """Return whether one letter was left out, added, another, or swapped with the next."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((at for at, (x, y) in pairs if x != y), min(len(one), len(other)))
    a, b = one[same:], other[same:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] + a[2:] == b and len(a) > 1)


def _read_earlier(found: Sequence[str]) -> str:
    for number, word in enumerate(found, 1):
        if not is_made_up(word):
            raise PhraseError(
                f"Word {number} cannot be right: each of these made-up words has five letters, as in 'fobab'. "
                "Look at it again."
            )
    return " ".join(found)


def _holds(found: Sequence[str]) -> bool:
    number = 0
    for word in found:
        number = number << _WORD | _PLACES[word]
    return number & (1 << _CHECK) - 1 == _checks(number >> _CHECK)


def _checks(bound: int) -> int:
    """Return the first bits of the SHA-256 of the bits that are bound, as eight bytes."""
    return hashlib.sha256(bound.to_bytes(8, "big")).digest()[0] >> 8 - _CHECK
