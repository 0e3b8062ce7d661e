"""Which of two languages a word belongs to, as far as the word alone can tell (METRICS §4)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cached_property, lru_cache

import regex

from corpora.text.comparison import script_of, scripts
from corpora.text.words import folded
from scoring.words.reading import reader
from scoring.words.resources import Resources
from scoring.words.source_words import source_word_list

QUOTED = 10
"""A word of the references that stands in this many times as many sources is quoted there (the title of a
film) and does not belong to the target language."""
WRITTEN = 0.1
"""Share of letters from which a script counts as one that a language is written in."""
CAPITALS = 0.25
"""Share of words with a capital inside sentences above which capitals do not tell names (German nouns)."""
_BETWEEN_PARTS = regex.compile(r"[^\p{L}\p{M}\p{N}]+")


class LanguageSide(Enum):
    """What a word says of its language."""

    TARGET = "target"
    SOURCE = "source"
    UNKNOWN = "unknown"
    """The entry has to tell."""
    NONE = "none"
    """It holds a digit and belongs to no language."""


class Sides:
    """Tells the sides of folded words in one run; derived from its texts, cards and word list."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self.side = lru_cache(maxsize=65536)(self._side)
        """Give the side of a folded word."""

    @cached_property
    def common(self) -> frozenset[str]:
        """The source language's common words; empty where the setup names no list."""
        setup = self._resources.setup
        return source_word_list(setup.source_language)[0] if setup.word_list else frozenset()

    @cached_property
    def capitals_tell_names(self) -> bool:
        """Whether capitals are rare enough in the sources to mark names."""
        read = self._resources.bitext.source.read
        readings = [read(entry.source) for entry in self._resources.entries]
        words = sum(len(reading.words) for reading in readings)
        return sum(len(reading.names) for reading in readings) <= CAPITALS * words

    def listed(self, word: str) -> bool:
        """Tell whether a folded word, or each of its parts (l'eau, self-made), is a common source word."""
        if word in self.common:
            return True
        parts = [part for part in _BETWEEN_PARTS.split(word) if len(part) > 1]
        return bool(parts) and parts != [word] and self.common.issuperset(parts)

    def _side(self, word: str) -> LanguageSide:
        if not word.isalpha() and any(map(str.isdigit, word)):
            return LanguageSide.NONE
        if word in self._target_words:
            return LanguageSide.TARGET
        if self._in_source_script(word) or (len(word) > 1 and self.listed(word)):
            return LanguageSide.SOURCE
        return LanguageSide.UNKNOWN

    def _in_source_script(self, word: str) -> bool:
        if not self._only_source:
            return False
        used = {script_of(letter) for letter in word if letter.isalpha()}
        return not used.isdisjoint(self._only_source) and used.isdisjoint(self._target_scripts)

    @cached_property
    def _target_words(self) -> frozenset[str]:
        found = self._resources
        sources = found.bitext.source_frequencies
        seen = found.bitext.target_frequencies
        words = {word for word, number in seen.items() if sources.get(word, 0) < QUOTED * number}
        words.update(map(folded, found.card.loan_words if found.card else ()))
        read = reader(found.writing).read
        for term in found.terms.terms:
            words.update(*(read(rendering).words for rendering in term.renderings))
        return frozenset(words)

    @cached_property
    def _target_scripts(self) -> frozenset[str]:
        return _written(entry.reference for entry in self._resources.entries)

    @cached_property
    def _only_source(self) -> frozenset[str]:
        return _written(entry.source for entry in self._resources.entries) - self._target_scripts


def _written(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(script for script, share in scripts(texts).items() if share >= WRITTEN)


def languages_alike(resources: Resources) -> bool:
    """Tell whether most words of the references are words of the sources too: a word then tells neither.

    Names are left aside; the same language in two scripts is not alike.
    """
    bitext = resources.bitext
    read = bitext.source.read
    names = frozenset[str]().union(*(read(entry.source).names for entry in resources.entries))
    words = bitext.target_frequencies.keys() - names
    return sum(word in bitext.source_frequencies for word in words) * 2 > len(words)
