"""Prescribed terms: source phrases with the renderings that count as right (scoring-specification §2.4).

Finding a term's rendering in an output, in whatever form the sentence asks for (METRICS §4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from corpora.text.alike import alike
from corpora.text.tokens import folded
from scoring.core.translation import FstAnnotation, Translation, WordAnalysis
from scoring.grammar.gold_analysis import tagged_word
from scoring.words.reading import Reader, reader


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
        """Return whether a longer term covers this one."""
        longer = other.last - other.first > self.last - self.first
        return longer and other.first <= self.first and self.last <= other.last


class Terminology:
    """Finds prescribed terms in a source text."""

    def __init__(self, pairs: Iterable[tuple[str, tuple[str, ...]]], sha256: str = "") -> None:
        """Initialise with (source phrase, renderings) pairs; ``sha256`` names the file they come from.

        Phrases that differ in case only are one term; a phrase without a word or a rendering is none.
        """
        self.sha256 = sha256
        self._read = reader().read
        renderings: dict[tuple[str, ...], dict[str, None]] = {}
        for phrase, targets in pairs:
            written = [alike(target) for target in targets if target.strip()]
            if (words := self._read(alike(phrase)).words) and written:
                renderings.setdefault(words, {}).update(dict.fromkeys(written))
        self.terms = tuple(
            DictionaryTerm(words, tuple(rendering)) for words, rendering in renderings.items()
        )
        self._by_first: dict[str, list[DictionaryTerm]] = {}
        for term in self.terms:
            self._by_first.setdefault(term.source[0], []).append(term)
        self._places = lru_cache(maxsize=8192)(lambda text: tuple(self._find(text)))

    def __len__(self) -> int:
        return len(self.terms)

    def occurring(self, text: str) -> tuple[DictionaryTerm, ...]:
        """Return every term whose words are in a text in its order, each once; case is ignored."""
        return tuple(dict.fromkeys(place.term for place in self._places(text)))

    def applying(self, text: str) -> tuple[DictionaryTerm, ...]:
        """Return the terms that a text asks for: of terms inside one another only the longest."""
        places = self._places(text)
        outer = (place for place in places if not any(place.inside(other) for other in places))
        return tuple(dict.fromkeys(place.term for place in outer))

    def coverage(self, texts: Iterable[str], function_words: Collection[str]) -> float:
        """Return the share of the running words of some texts that are in a term, 0–1; 0 without a word.

        Function words count on neither side: nobody lists them, and half of a text are such.
        """
        known = total = 0
        for text in texts:
            inside = {at for place in self._places(text) for at in range(place.first, place.last)}
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


LEAST_STEM = 3
"""Letters that must stay when an ending is taken off."""


class Renderings:
    """Finds renderings by lemma where the analyser gives one, else by word with the card's endings."""

    def __init__(self, target: Reader, endings: Iterable[str]) -> None:
        self._target = target
        self._endings = tuple(folded(ending.lstrip("-")) for ending in endings if ending.strip("-"))
        self._forms = lru_cache(maxsize=65536)(self._stripped)
        self._plain = lru_cache(maxsize=8192)(self._without_lemmas)

    def found(self, terms: Sequence[DictionaryTerm], translation: Translation) -> list[str | None]:
        """Return for each term the first of its renderings that is in the output, None where none does."""
        fst = _analyses(translation)
        lemmas = _lemmas((*fst.reference, *fst.output)) if fst else {}
        return self._found_in(translation.output, terms, lemmas)

    def expected(self, terms: Sequence[DictionaryTerm], translation: Translation) -> list[bool]:
        """Return for each term whether the reference or a variant renders it so; the output has no say.

        Without any reference all terms are expected.
        """
        entry, fst = translation.entry, _analyses(translation)
        texts = [text for text in (entry.reference, *entry.variants) if text.strip()]
        lemmas = _lemmas(fst.reference) if fst else {}
        rows = [self._found_in(text, terms, lemmas) for text in texts]
        return [
            not rows or any(row[place] is not None for row in rows) for place in range(len(terms))
        ]

    def _found_in(
        self, text: str, terms: Sequence[DictionaryTerm], lemmas: Mapping[str, frozenset[str]]
    ) -> list[str | None]:
        written = self._with_lemmas(text, lemmas) if lemmas else self._plain(text)
        anywhere = frozenset[str]().union(*written)
        return [
            next(
                (to for to in term.renderings if self._stands(to, written, anywhere, lemmas)), None
            )
            for term in terms
        ]

    def _stands(
        self,
        rendering: str,
        written: list[frozenset[str]],
        anywhere: frozenset[str],
        lemmas: Mapping[str, frozenset[str]],
    ) -> bool:
        words = self._target.read(rendering).words
        if not words or self._wanted(words[0], lemmas).isdisjoint(anywhere):
            return False
        return _in_order([self._wanted(word, lemmas) for word in words], written)

    def _without_lemmas(self, text: str) -> list[frozenset[str]]:
        return [self._forms(word) for word in self._target.read(text).words]

    def _with_lemmas(self, text: str, lemmas: Mapping[str, frozenset[str]]) -> list[frozenset[str]]:
        """Return for each word of a text the forms in which a rendering may have it."""
        return [
            lemmas[word] | {word} if word in lemmas else self._forms(word)
            for word in self._target.read(text).words
        ]

    def _wanted(self, word: str, lemmas: Mapping[str, frozenset[str]]) -> frozenset[str]:
        """Return the forms of a rendering's word: an output may add an ending to it or to its stem, but a
        bare stem is another word (English “long” for Esperanto “longa”)."""
        return self._forms(word) | lemmas.get(word, frozenset()) | {f"{word}-"}

    def _stripped(self, word: str) -> frozenset[str]:
        """Return a folded word, and what stays without each ending marked as a stem with a hyphen."""
        endings = (ending for ending in self._endings if word.endswith(ending))
        stems = (word.removesuffix(ending) for ending in endings)
        return frozenset({word, *(f"{stem}-" for stem in stems if len(stem) >= LEAST_STEM)})


def _in_order(wanted: list[frozenset[str]], written: list[frozenset[str]]) -> bool:
    for first in range(len(written) - len(wanted) + 1):
        if all(
            not forms.isdisjoint(there)
            for forms, there in zip(wanted, written[first:], strict=False)
        ):
            return True
    return False


def _analyses(translation: Translation) -> FstAnnotation | None:
    fst = translation.annotations.get("fst")
    return fst if isinstance(fst, FstAnnotation) else None


def _lemmas(words: Iterable[WordAnalysis]) -> dict[str, frozenset[str]]:
    """Return the lemmas of the words that the analyser knows, folded; of an acceptor there are none."""
    return {_folded(word.word): _lemmas_of(word.analyses) for word in words if word.analyses}


_folded = lru_cache(maxsize=65536)(folded)


@lru_cache(maxsize=65536)
def _lemmas_of(analyses: tuple[str, ...]) -> frozenset[str]:
    """Return the lemmas of analyser strings; the parts of a compound are written as one word."""
    return frozenset(tagged_word(analysis).key.replace("#", "") for analysis in analyses)
