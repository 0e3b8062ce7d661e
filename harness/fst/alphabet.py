"""The symbols of an analyser: which words they can spell, and which of them people may see."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

MOST_LETTERS = 200
"""Longest word that is looked up; no language has longer ones, and hostile outputs do."""

_SPECIAL = re.compile(r"@(?:[PNRDCU]\..*|_.*_|0)@", re.DOTALL)
_SHOWN_BY_NATIVE = re.compile(r"@(?:[PNRDCU]\.[^@]*|_[A-Z_]+_|0)@")


class Alphabet:
    """The numbered symbols; the first ``inputs`` of them may stand in a word."""

    def __init__(self, symbols: Sequence[str], inputs: int) -> None:
        self.symbols = tuple(symbols)
        self.inputs = inputs
        self.shown = tuple("" if special(symbol) else symbol for symbol in symbols)
        """By number: what the symbol adds to an analysis."""

    @cached_property
    def _numbers(self) -> dict[str, int]:
        letters = enumerate(self.shown[: self.inputs])
        return {letter: number for number, letter in letters if letter and number}

    @cached_property
    def _letter(self) -> re.Pattern[str]:
        longest_first = sorted(self._numbers, key=len, reverse=True)
        several = [re.escape(letter) for letter in longest_first if len(letter) > 1]
        single = "".join(re.escape(letter) for letter in longest_first if len(letter) == 1)
        return re.compile("|".join([*several, *([f"[{single}]"] if single else [])]) or r"(?!)")

    def spell(self, word: str) -> list[int] | None:
        """Return a word as symbol numbers, the longest symbol first; None where it cannot be spelt.

        An engine that takes an unknown letter for the end of the word would accept what merely begins
        like a word of the language, and untranslated English most of all.
        """
        if len(word) > MOST_LETTERS:
            return None
        letters = self._letter.findall(word)
        if sum(map(len, letters)) != len(word) or not letters:
            return None
        numbers = self._numbers
        return [numbers[letter] for letter in letters]


def special(symbol: str) -> bool:
    """Tell whether a symbol stands for no letter: epsilon, a flag diacritic, unknown, identity."""
    return _SPECIAL.fullmatch(symbol) is not None


def shown(analysis: str) -> str:
    """Take the special symbols out of an analysis as another engine gives it."""
    return _SHOWN_BY_NATIVE.sub("", analysis) if "@" in analysis else analysis
