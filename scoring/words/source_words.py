"""Common words of the source language, by which words left untranslated are known (METRICS §4).

The list is that of the package ``wordfreq``. Its data file is read directly, because importing the package
takes half a second. With it, and the texts, words tell which of two languages they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, cached_property, lru_cache

import regex

from corpora.files.packed_list import changed
from corpora.languages.cards import LanguageCard, WritingSystem
from corpora.languages.tags import language_of
from corpora.model.entry import Entry, OpenEntry, only_open
from corpora.text.comparison import FORMS, script_of, scripts
from corpora.text.tokens import folded
from scoring.core.setup import ScoringSetup, alike_entry
from scoring.words.bitext import Bitext, Terminology, no_terms
from scoring.words.reading import names_in, reader
from scoring.words.word_lists import listed_words

# ---- What metrics are made from: the setup, and what is too large to be written down with it.
#
# A reader of stored statistics (a card, a second terminal) makes the same metrics from the setup
# alone: only taking statistics needs the rest.


@dataclass(frozen=True)
class Resources:
    """The setup with its data; what is derived from them is worked out where it is first used."""

    setup: ScoringSetup
    card: LanguageCard | None = None
    """Of the target language."""
    source_card: LanguageCard | None = None
    covered: Sequence[Entry] = ()
    """All entries that the run covers, as the corpus has them."""
    pairs: Sequence[OpenEntry] = ()
    """Open entries of the whole corpus, from which an alignment may be learned."""
    terms: Terminology = field(default_factory=no_terms)
    gloss_dictionary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Target lemma → glosses in the source language (Plains Cree semantic verdicts)."""

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """The covered entries in the form that metrics read."""
        return self._alike(self.covered)

    def _alike(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return entries in the form that metrics read; the list itself where that changes none."""
        languages = self.languages
        return entries if languages is None else changed(entries, lambda entry: alike_entry(entry, *languages))

    def with_setup(self, setup: ScoringSetup) -> Resources:
        """Return the resources with other metrics or annotators in their setup; tables of their texts are shared.

        ValueError where the setup is of other languages or another script.
        """
        for name in ("source_language", "target_language", "script", "text_form"):
            if getattr(setup, name) != getattr(self.setup, name):
                raise ValueError(f"the setup has another {name}")
        made = copy(self)
        object.__setattr__(made, "setup", setup)
        return made

    @cached_property
    def languages(self) -> tuple[str, str, str] | None:
        """Shortest tags of source and target, and the form in which look-alikes are read as one; None for a run of before."""
        setup = self.setup
        if setup.text_form not in FORMS:
            return None
        return language_of(setup.source_language), language_of(setup.target_language), setup.text_form

    @property
    def writing(self) -> WritingSystem | None:
        """How the target is written; None without a language card."""
        return None if self.card is None else self.card.writing(self.setup.script)

    @property
    def source_writing(self) -> WritingSystem | None:
        """How the source is written; None without a language card."""
        card = self.source_card
        return None if card is None else card.writing(None)

    @cached_property
    def bitext(self) -> Bitext:
        """Return what the corpus shows of its two languages, for all metrics that need it."""
        pairs = self.entries if self.pairs == self.covered else self._alike(self.pairs)
        return Bitext(reader(self.source_writing), reader(self.writing), self.entries, only_open(pairs))

    def forget(self) -> None:
        """Empty the caches of texts, which fill again where they are used."""
        self.__dict__.pop("bitext", None)
        for writing in (self.source_writing, self.writing):
            reader(writing).forget()


@cache
def source_word_list(language: str) -> tuple[frozenset[str], str | None]:
    """Return the most frequent words of a language, folded, of two letters or more, and the list's name.

    The name holds version and size; it is None, and the list empty, where ``listed_words`` has none.
    ValueError where the file is damaged.
    """
    most, name = listed_words(language)
    return frozenset(word for word in map(folded, most) if len(word) > 1), name


QUOTED = 10
"""A word of the references that is in this many times as many sources is quoted there (the title of a
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
        self.side = lru_cache(maxsize=16_384)(self._side)
        """Give the side of a folded word."""

    @cached_property
    def common(self) -> frozenset[str]:
        """The source language's common words; empty where the setup names no list."""
        setup = self._resources.setup
        return source_word_list(setup.source_language)[0] if setup.word_list else frozenset()

    @cached_property
    def capitals_tell_names(self) -> bool:
        """Return whether capitals are rare enough in the sources to mark names."""
        read = self._resources.bitext.source.read
        words = names = 0
        for entry in self._resources.entries:
            reading = read(entry.source)
            words += len(reading.words)
            names += len(reading.names)
        return names <= CAPITALS * words

    def listed(self, word: str) -> bool:
        """Return whether a folded word, or each of its parts (l'eau, self-made), is a common source word."""
        if word in self.common or word.isalpha():  # a word of letters has no parts
            return word in self.common
        parts = [part for part in _BETWEEN_PARTS.split(word) if len(part) > 1]
        return bool(parts) and parts != [word] and self.common.issuperset(parts)

    def _side(self, word: str) -> LanguageSide:
        if not word.isalpha() and any(map(str.isdecimal, word)):
            return LanguageSide.NONE
        if word in self._prescribed or self._of_target(word):
            return LanguageSide.TARGET
        used = {script_of(letter) for letter in word if letter.isalpha()} if self._only_source else set()
        in_source_script = not used.isdisjoint(self._only_source) and used.isdisjoint(self._target_scripts)
        if in_source_script or (len(word) > 1 and self.listed(word)):
            return LanguageSide.SOURCE
        return LanguageSide.UNKNOWN

    def _of_target(self, word: str) -> bool:
        bitext = self._resources.bitext
        return bitext.source_frequencies.get(word, 0) < QUOTED * bitext.target_frequencies.get(word, 0)

    @cached_property
    def _prescribed(self) -> frozenset[str]:
        """Words of the target language that the references need not have."""
        resources = self._resources
        words = set(map(folded, resources.card.loan_words if resources.card else ()))
        read = reader(resources.writing).read
        for term in resources.terms.terms:
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
    """Return whether most words of the references are words of the sources too: a word then tells neither.

    Names are left aside; the same language in two scripts is not alike.
    """
    sources, targets = resources.bitext.source_frequencies, resources.bitext.target_frequencies
    names = {name for entry in resources.entries for name in names_in(entry.source)}
    words = len(targets) - sum(name in targets for name in names)
    return sum(word in targets and word not in names for word in sources) * 2 > words
