"""Dictionaries and word lists that a user brings.

A bilingual dictionary has words and phrases of the source language with their translations; a word list has
words of the target language, which a check may compare an output with; a meaning dictionary says what each
dictionary form of the target language means in English.

No meaning dictionary ships with the program: such dictionaries belong to their makers and communities. The file
is read where it lies and is written down nowhere but by its hash.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from corpora.files.json_types import JsonObject
from corpora.files.toml_text import first_problem, parse_toml
from corpora.text.comparison import alike
from corpora.text.tokens import Word, folded, words
from harness.core.failures import UsageError
from harness.core.storage import read_text
from harness.inputs.table import is_csv, table_cells

_LEMMA = frozenset({"lemma", "head", "headword", "word", "entry", "sro"})
_GLOSSES = ("glosses", "gloss", "meanings", "meaning", "definition", "definitions", "english", "senses")


@dataclass(frozen=True, slots=True)
class GlossDictionary:
    glosses: dict[str, tuple[str, ...]]
    """Lemma in NFC → its glosses, in the order of the file, each once."""
    sha256: str
    """Hash of the file's bytes."""

    def __len__(self) -> int:
        return len(self.glosses)


def read_gloss_dictionary(path: Path, language: str = "") -> GlossDictionary:
    """Read a dictionary from TSV, CSV or JSON; ``language``: shortest tag of the lemmas', as ``alike`` takes it.

    Tables have a lemma and one or more glosses a line, with or without a header; a lemma may be on
    several lines; lines that begin with # are remarks. JSON is an object of lemma → gloss or glosses, or a
    list of objects with ``lemma`` and ``glosses``. UsageError names file, line (or item) and fix.
    """
    text, sha256 = read_text(path, "the dictionary of meanings")
    pairs = _gloss_items(path, text) if path.suffix.lower() == ".json" else _gloss_rows(path, text)
    glosses_by_lemma: dict[str, dict[str, None]] = {}
    for lemma, gloss in pairs:
        form = unicodedata.normalize("NFC", " ".join(alike(lemma, language).split()))
        glosses_by_lemma.setdefault(form, {})[" ".join(gloss.split())] = None
    if not glosses_by_lemma:
        raise UsageError(f"{path}: the dictionary is empty. Give a lemma and its gloss a line.")
    glosses = {lemma: tuple(listed) for lemma, listed in glosses_by_lemma.items()}
    return GlossDictionary(glosses, sha256)


def _gloss_rows(path: Path, text: str) -> Iterator[tuple[str, str]]:
    for place, (where, cells) in enumerate(_stripped(path, text)):
        named = [cell.lower() for cell in cells[:2]]
        if place == 0 and named[0] in _LEMMA and named[-1] in _GLOSSES:
            continue
        if len(cells) < 2 or not cells[0] or not any(cells[1:]):
            raise UsageError(f"{path}: {where}: a lemma and its gloss are wanted, {_parted(path)}.")
        yield from ((cells[0], gloss) for gloss in cells[1:] if gloss)


def _stripped(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table that say something, without spaces around their cells; remarks begin with #."""
    for where, row in table_cells(path, text):
        cells = [cell.strip() for cell in row]
        if any(cells) and not cells[0].startswith("#"):
            yield where, cells


def _parted(path: Path) -> str:
    return f"with a {'comma' if is_csv(path) else 'tab'} between them"


def _gloss_items(path: Path, text: str) -> Iterator[tuple[str, str]]:
    data = _decoded(path, text)
    if isinstance(data, dict):
        items = list(data.items())
    elif isinstance(data, list):
        items = []
        for row in (item if isinstance(item, dict) else {} for item in data):
            lemma = next((row[name] for name in row if str(name).lower() in _LEMMA), None)
            items.append((lemma, next((row[name] for name in _GLOSSES if name in row), None)))
    else:
        raise UsageError(f"{path}: a JSON object or list is wanted.")
    for place, (lemma, glosses) in enumerate(items, 1):
        listed = glosses if isinstance(glosses, list) else [glosses]
        sound = [isinstance(value, str) and bool(value.strip()) for value in (lemma, *listed)]
        if len(sound) < 2 or not all(sound):
            raise UsageError(f"{path}: item {place}: a lemma with its gloss, or a list of glosses, is wanted.")
        yield from ((lemma, gloss) for gloss in listed)


@dataclass(frozen=True, slots=True)
class WordList:
    """The words of a file, in the form for comparison."""

    words: frozenset[str]
    sha256: str
    """Hash of the file's bytes."""


def read_word_list(path: Path) -> WordList:
    """Read a list of words in UTF-8, one a line; lines that begin with # are remarks."""
    text, sha256 = read_text(path, "the word list")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    listed_words = frozenset(folded(word.text) for line in lines for word in words(line))
    if not listed_words:
        raise UsageError(f"{path}: the word list is empty. Give one word a line.")
    return WordList(listed_words, sha256)


@dataclass(frozen=True, slots=True)
class Headword:
    phrase: str
    """As the dictionary writes it."""
    translations: tuple[str, ...]
    """Best first."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A headword found in a text: the words from ``first`` to before ``last``."""

    headword: Headword
    first: int
    last: int


class Dictionary:
    """Finds the longest phrases of a text, without regard to case."""

    def __init__(self, pairs: Iterable[tuple[str, str]], sha256: str | None = None) -> None:
        self.sha256 = sha256
        """Hash of the file it was read from."""
        self._headwords: dict[tuple[str, ...], Headword] = {}
        for phrase, translation in pairs:
            key = _key(words(phrase))
            known = self._headwords.get(key, Headword(phrase, ()))
            if translation not in known.translations:
                known = Headword(known.phrase, (*known.translations, translation))
            if key:
                self._headwords[key] = known
        self._longest = max(map(len, self._headwords), default=0)

    def __len__(self) -> int:
        return len(self._headwords)

    def pairs(self) -> list[tuple[str, tuple[str, ...]]]:
        """List every phrase with its translations, best first."""
        return [(head.phrase, head.translations) for head in self._headwords.values()]

    def lookup(self, phrase: str) -> tuple[str, ...]:
        """Return the translations of one word or phrase; empty where it is not listed."""
        headword = self._headwords.get(_key(words(phrase)))
        return headword.translations if headword else ()

    def longest(self, text: str, found: list[Word]) -> Iterator[Hit]:
        """Cover a text with headwords from left to right, each time the longest that fits.

        A phrase only fits where nothing but white space stands between its words.
        """
        place = 0
        while place < len(found):
            hit = next(self._at(text, found, place), None)
            if hit is not None:
                yield hit
            place = hit.last if hit else place + 1

    def occurring(self, text: str) -> list[Headword]:
        """List every headword that occurs in a text, shorter ones inside longer ones too."""
        text_words = list(words(text))
        hits = (hit for place in range(len(text_words)) for hit in self._at(text, text_words, place))
        return list(dict.fromkeys(hit.headword for hit in hits))

    def target_words(self) -> frozenset[str]:
        """Return all words of the translations, in the form for comparison."""
        texts = (text for head in self._headwords.values() for text in head.translations)
        return frozenset(folded(word.text) for text in texts for word in words(text))

    def _at(self, text: str, found: list[Word], first: int) -> Iterator[Hit]:
        """Yield the headwords that begin at one word, the longest first."""
        for last in range(min(first + self._longest, len(found)), first, -1):
            span = found[first:last]
            headword = self._headwords.get(_key(span))
            between = (text[left.end : right.start] for left, right in pairwise(span))
            if headword and all(map(str.isspace, between)):
                yield Hit(headword, first, last)


def _key(phrase: Iterable[Word]) -> tuple[str, ...]:
    return tuple(folded(word.text) for word in phrase)


def read_dictionary(path: Path) -> Dictionary:
    """Read a dictionary from TSV, CSV or JSON.

    Tables have two columns, source and target, with or without that header; lines that begin with #
    are remarks. JSON is an object of phrase → translation or translations, or a list of objects with
    ``source`` and ``target``. UsageError names file, line and fix.
    """
    text, sha256 = read_text(path, "the dictionary")
    pairs = _json_pairs(path, text) if path.suffix.lower() == ".json" else _table_pairs(path, text)
    dictionary = Dictionary(pairs, sha256)
    if not len(dictionary):
        raise UsageError(f"{path}: the dictionary is empty. Give one phrase and translation a line.")
    return dictionary


def _table_pairs(path: Path, text: str) -> Iterator[tuple[str, str]]:
    for place, (where, cells) in enumerate(_stripped(path, text)):
        if place == 0 and [cell.lower() for cell in cells[:2]] == ["source", "target"]:
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise UsageError(f"{path}: {where}: a phrase and its translation are wanted, {_parted(path)}.")
        yield cells[0], cells[1]


def _json_pairs(path: Path, text: str) -> Iterator[tuple[str, str]]:
    data = _decoded(path, text)
    if isinstance(data, list):
        for place, row in enumerate(data, 1):
            pair = (row.get("source"), row.get("target")) if isinstance(row, dict) else (None, None)
            if not all(isinstance(side, str) and side.strip() for side in pair):
                raise UsageError(f"{path}: item {place}: the texts 'source' and 'target' are wanted.")
            yield str(pair[0]).strip(), str(pair[1]).strip()
    elif isinstance(data, dict):
        yield from mapping_pairs(data, str(path))
    else:
        raise UsageError(f"{path}: a JSON object or list is wanted.")


def mapping_pairs(data: JsonObject, name: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of phrase → translation or translations; UsageError names the phrase's place."""
    for place, (phrase, value) in enumerate(data.items(), 1):
        for translation in value if isinstance(value, list) and value else [value]:
            if not isinstance(translation, str) or not translation.strip() or not phrase.strip():
                raise UsageError(f"{name}: item {place}: the value must be a translation, or a list of them.")
            yield phrase.strip(), translation.strip()


# ---- Coaching data: what a model learns about the language before it translates (§9.6, coached-
# llm).


class Example(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    target: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    notes: str | list[str] = []
    examples: list[Example] = []
    dictionary: dict[str, str | list[str]] = {}


@dataclass(frozen=True, slots=True)
class Coaching:
    notes: tuple[str, ...]
    examples: tuple[Example, ...]
    dictionary: Dictionary
    sha256: str
    """Hash of the file's bytes."""

    def slots(self) -> dict[str, str]:
        """Return what goes into the slots ``{notes}`` and ``{examples}`` of a prompt."""
        examples = (f"{example.source}\n→ {example.target}" for example in self.examples)
        return {
            "notes": "\n".join(f"- {note}" for note in self.notes) or "(no notes)",
            "examples": "\n".join(examples) or "(no examples)",
        }

    def hints(self, sources: Sequence[str]) -> str:
        """Return the part of a message that lists the dictionary's entries which occur in its texts.

        Only these, because a whole dictionary would cost its length again with every entry; and in
        the message, not the system prompt, because that must be the same over the run.
        """
        occurring = map(self.dictionary.occurring, sources)
        headwords = dict.fromkeys(chain.from_iterable(occurring))
        if not headwords:
            return ""
        lines = (f"{head.phrase} = {' / '.join(head.translations)}" for head in headwords)
        return "\n".join(["", "", "Dictionary:", *lines])


def read_coaching(path: Path) -> Coaching:
    """Read a coaching file, JSON or TOML, with ``notes``, ``examples``, ``dictionary``; each may lack.

    UsageError names file, field and fix.
    """
    text, sha256 = read_text(path, "the coaching file")
    try:
        file = _File.model_validate(_decoded(path, text))
    except ValidationError as error:
        toml = text if path.suffix == ".toml" else ""
        raise UsageError(f"{path}: {first_problem(error, toml)}") from error
    notes = (file.notes,) if isinstance(file.notes, str) else tuple(file.notes)
    dictionary = Dictionary(mapping_pairs(file.dictionary, f"{path}: field 'dictionary'"))
    if not (notes or file.examples or len(dictionary)):
        raise UsageError(f"{path}: nothing to coach with. Give notes, examples or a dictionary.")
    return Coaching(notes, tuple(file.examples), dictionary, sha256)


def holds_coaching(path: Path) -> bool:
    """Distinguish coaching data from a plain dictionary, which may be JSON too; False where it cannot be read."""
    if path.suffix not in {".json", ".toml"}:
        return False
    try:
        data = _decoded(path, read_text(path, "the coaching file")[0])
    except UsageError:
        return False
    return isinstance(data, dict) and isinstance(data.get("dictionary"), dict)


def _decoded(path: Path, text: str) -> Any:
    try:
        return parse_toml(text) if path.suffix == ".toml" else json.loads(text)
    except json.JSONDecodeError as error:
        words = f"line {error.lineno}: not valid JSON: {error.msg}. Correct it there."
        raise UsageError(f"{path}: {words}") from error
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.suffix == ".toml" else "JSON"
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageError(f"{path}: not valid {kind}: {why}. Correct it.") from error
