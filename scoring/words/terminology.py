"""Prescribed terms: source phrases with the renderings that count as right (scoring-specification §2.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from scoring.words.reading import reader


@dataclass(frozen=True, slots=True)
class DictionaryTerm:
    """One line of the coaching dictionary."""

    source: tuple[str, ...]
    """Words of the source phrase, folded."""
    renderings: tuple[str, ...]
    """Target phrases as the dictionary writes them, best first."""


@dataclass(frozen=True, slots=True)
class _Place:
    term: DictionaryTerm
    first: int
    last: int

    def inside(self, other: _Place) -> bool:
        """Tell whether a longer term covers this one."""
        longer = other.last - other.first > self.last - self.first
        return longer and other.first <= self.first and self.last <= other.last


class Terminology:
    """Finds prescribed terms in a source text."""

    def __init__(self, pairs: Iterable[tuple[str, tuple[str, ...]]], sha256: str = "") -> None:
        """Take (source phrase, renderings) pairs; ``sha256`` names the file they come from.

        Phrases that differ in case only are one term; a phrase without a word or a rendering is none.
        """
        self.sha256 = sha256
        self._read = reader().read
        renderings: dict[tuple[str, ...], dict[str, None]] = {}
        for phrase, targets in pairs:
            written = [target for target in targets if target.strip()]
            if (words := self._read(phrase).words) and written:
                renderings.setdefault(words, {}).update(dict.fromkeys(written))
        self.terms = tuple(
            DictionaryTerm(words, tuple(found)) for words, found in renderings.items()
        )
        self._by_first: dict[str, list[DictionaryTerm]] = {}
        for term in self.terms:
            self._by_first.setdefault(term.source[0], []).append(term)
        self._places = lru_cache(maxsize=8192)(lambda text: tuple(self._find(text)))

    def __len__(self) -> int:
        return len(self.terms)

    def occurring(self, text: str) -> tuple[DictionaryTerm, ...]:
        """Return every term whose words stand in a text in its order, each once; case is ignored."""
        return tuple(dict.fromkeys(place.term for place in self._places(text)))

    def applying(self, text: str) -> tuple[DictionaryTerm, ...]:
        """Return the terms that a text asks for: of terms inside one another only the longest."""
        places = self._places(text)
        outer = (place for place in places if not any(place.inside(other) for other in places))
        return tuple(dict.fromkeys(place.term for place in outer))

    def coverage(self, texts: Iterable[str], function_words: Collection[str]) -> float:
        """Return the share of the running words of some texts that stand in a term, 0–1; 0 without a word.

        Function words count on neither side: nobody lists them, and half of a text are such.
        """
        known = total = 0
        for text in texts:
            inside = {at for each in self._places(text) for at in range(each.first, each.last)}
            content = [
                at for at, word in enumerate(self._read(text).words) if word not in function_words
            ]
            total += len(content)
            known += len(inside.intersection(content))
        return known / total if total else 0.0

    def _find(self, text: str) -> Iterator[_Place]:
        words = self._read(text).words
        for first, word in enumerate(words):
            for term in self._by_first.get(word, ()):
                last = first + len(term.source)
                if words[first:last] == term.source:
                    yield _Place(term, first, last)
