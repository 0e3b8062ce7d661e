"""Common words of the source language, by which words left untranslated are known (METRICS §4).

The list is that of the package ``wordfreq``. Its data file is read directly, because importing the package
takes half a second. With it, and the texts, words tell which of two languages they belong to.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, cached_property, lru_cache
from importlib.metadata import distribution, version
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgpack
import regex

from corpora.languages.language import LanguageCard, WritingSystem
from corpora.languages.tags import language_of
from corpora.model.entry import Entry, OpenEntry, only_open
from corpora.text.comparison import FORMS, script_of, scripts
from corpora.text.tokens import folded
from scoring.core.setup import ScoringSetup, alike_entry
from scoring.words.bitext import Bitext, Terminology
from scoring.words.reading import names_in, reader, unspaced

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
    entries: Sequence[Entry] = ()
    """All entries that the run covers."""
    pairs: Sequence[OpenEntry] = ()
    """Open entries of the whole corpus, from which an alignment may be learned."""
    terms: Terminology = field(default_factory=lambda: Terminology(()))
    gloss_dictionary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Target lemma → glosses in the source language (Plains Cree semantic verdicts)."""

    def __post_init__(self) -> None:
        """Convert the entries into the form that metrics read."""
        if self.languages is None:
            return
        read = {id(entry): alike_entry(entry, *self.languages) for entry in self.entries}
        pairs = only_open(read.get(id(pair)) or alike_entry(pair, *self.languages) for pair in self.pairs)
        object.__setattr__(self, "entries", [read[id(entry)] for entry in self.entries])
        object.__setattr__(self, "pairs", pairs)

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

    @property
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
        return Bitext(reader(self.source_writing), reader(self.writing), self.entries, self.pairs)


MOST = 5000
"""How many of the most frequent words are taken; a rarer word is more likely a name or a loan."""
_DAMAGED = "{} of the package wordfreq cannot be read; install the package again"

_CODES = {
    "ara": "ar", "arb": "ar", "ben": "bn", "bos": "sh", "bs": "sh", "bul": "bg", "cat": "ca",
    "ces": "cs", "cze": "cs", "dan": "da", "deu": "de", "dut": "nl", "ell": "el", "eng": "en",
    "fas": "fa", "fin": "fi", "fra": "fr", "fre": "fr", "ger": "de", "gre": "el", "hbs": "sh",
    "heb": "he", "hin": "hi", "hr": "sh", "hrv": "sh", "hun": "hu", "ice": "is", "ind": "id",
    "isl": "is", "ita": "it", "iw": "he", "kor": "ko", "lav": "lv", "lit": "lt", "lvs": "lv",
    "mac": "mk", "may": "ms", "mkd": "mk", "msa": "ms", "nld": "nl", "no": "nb", "nob": "nb",
    "nor": "nb", "per": "fa", "pes": "fa", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro",
    "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl", "spa": "es", "sr": "sh", "srp": "sh",
    "swe": "sv", "tam": "ta", "tgl": "fil", "tl": "fil", "tur": "tr", "ukr": "uk", "urd": "ur",
    "vie": "vi", "zlm": "ms", "zsm": "ms",
}  # fmt: skip
"""Other tags of the languages that the package has a list of."""


@cache
def source_word_list(language: str) -> tuple[frozenset[str], str | None]:
    """Return the most frequent words of a language, folded, of two letters or more, and the list's name.

    The name holds version and size; it is None, and the list empty, where the package is not installed or
    has no list of the language, or none that fits words of single characters (Chinese, Japanese).
    ValueError where the file is damaged.
    """
    most, name = listed_words(language)
    return frozenset(word for word in map(folded, most) if len(word) > 1), name


def listed_words(language: str) -> tuple[list[str], str | None]:
    """Return the most frequent words of a language as the package lists them, and the list's name.

    No words, and None, where ``source_word_list`` has none. ValueError where the file is damaged.
    """
    file = list_file(language)
    if file is None:
        return [], None
    # without numbers of several digits, which stand for all numbers of their length
    words = chain.from_iterable(_bands(file))
    most = list(islice((word for word in words if not re.search(r"\d[\d.,]", word)), MOST))
    if sum(map(unspaced, most)) * 2 > len(most):
        return [], None
    return most, f"wordfreq {version('wordfreq')} {file.name.split('.')[0]}, {len(most):,} words"


def has_list(language: str) -> bool:
    """Return whether ``listed_words`` has a list; one that is as it was installed is not read for it.

    Reading one takes as long as a bare interpreter's start, and the doctor asks for every language card.
    ValueError where the file is damaged.
    """
    file = list_file(language)
    if file is None:
        return False
    code = file.name.removeprefix("small_").partition(".")[0]
    with suppress(OSError):  # which reading it tells in words
        if _recorded().get(file.name) == hashlib.sha256(file.read_bytes()).digest():
            return code not in _UNSPACED
    return listed_words(language)[1] is not None


_UNSPACED = frozenset({"ja", "zh"})
"""Codes of the package's lists of words of single characters."""


@cache
def _recorded() -> dict[str, bytes]:
    """Return name → SHA-256 of each list as the package was installed (RECORD of its wheel)."""
    listed = distribution("wordfreq").files or []
    kept = ((file.name, file.hash) for file in listed if file.hash and file.hash.mode == "sha256")
    return {name: base64.urlsafe_b64decode(f"{hash_.value}=") for name, hash_ in kept}


def list_file(language: str) -> Path | None:
    """Return wordfreq's list of a language's frequent words; None where it has none, or is not installed."""
    spec = find_spec("wordfreq")
    tag = language.replace("_", "-").split("-")[0].lower()
    code = _CODES.get(tag, tag)
    if spec is None or not spec.submodule_search_locations or not re.fullmatch("[a-z]{2,3}", code):
        return None
    file = Path(spec.submodule_search_locations[0], "data", f"small_{code}.msgpack.gz")
    return file if file.is_file() else None


def _bands(file: Path) -> list[list[str]]:
    """Read the words in bands of falling frequency (the package's cBpack format)."""
    try:
        with gzip.open(file) as packed:
            data: Any = msgpack.unpackb(packed.read())
        header, bands = data[0], data[1:]
    except (OSError, EOFError, zlib.error, ValueError, TypeError, LookupError) as error:
        raise ValueError(f"{_DAMAGED.format(file.name)} ({error})") from error
    if header != {"format": "cB", "version": 1}:
        raise ValueError(f"{_DAMAGED.format(file.name)} (its header is {header!r})")
    return list(bands)


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
        self.side = lru_cache(maxsize=65536)(self._side)
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
        if word in self.common:
            return True
        parts = [part for part in _BETWEEN_PARTS.split(word) if len(part) > 1]
        return bool(parts) and parts != [word] and self.common.issuperset(parts)

    def _side(self, word: str) -> LanguageSide:
        if not word.isalpha() and any(map(str.isdigit, word)):
            return LanguageSide.NONE
        if word in self._target_words:
            return LanguageSide.TARGET
        used = {script_of(letter) for letter in word if letter.isalpha()} if self._only_source else set()
        in_source_script = not used.isdisjoint(self._only_source) and used.isdisjoint(self._target_scripts)
        if in_source_script or (len(word) > 1 and self.listed(word)):
            return LanguageSide.SOURCE
        return LanguageSide.UNKNOWN

    @cached_property
    def _target_words(self) -> frozenset[str]:
        resources = self._resources
        sources = resources.bitext.source_frequencies
        seen = resources.bitext.target_frequencies
        words = {word for word, number in seen.items() if sources.get(word, 0) < QUOTED * number}
        words.update(map(folded, resources.card.loan_words if resources.card else ()))
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
    bitext = resources.bitext
    names = frozenset[str]().union(*(names_in(entry.source) for entry in resources.entries))
    words = bitext.target_frequencies.keys() - names
    return len(words & bitext.source_frequencies.keys()) * 2 > len(words)
