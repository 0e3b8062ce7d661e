"""Finding a term's rendering in an output, in whatever form the sentence asks for (METRICS §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from corpora.words import folded
from scoring.analysis import FstAnnotation
from scoring.reading import Reader, Reading
from scoring.terminology import Term
from scoring.translation import Translation

LEAST_STEM = 3
"""Letters that must stay when an ending is taken off."""


class Renderings:
    """Finds renderings by lemma where the analyser gives one, else by word with the card's endings."""

    def __init__(self, target: Reader, endings: Iterable[str]) -> None:
        self._target = target
        self._endings = tuple(folded(ending.lstrip("-")) for ending in endings if ending.strip("-"))
        self._forms = lru_cache(maxsize=65536)(self._stripped)

    def found(self, term: Term, translation: Translation) -> str | None:
        """Give the first of a term's renderings that stands in the output, None where none does."""
        return self._found_in(translation.output, term, translation)

    def expected(self, term: Term, translation: Translation) -> bool:
        """Tell whether no reference or variant goes without a rendering of a term."""
        entry = translation.entry
        texts = (text for text in (entry.reference, *entry.variants) if text.strip())
        return all(self._found_in(text, term, translation) is not None for text in texts)

    def _found_in(self, text: str, term: Term, translation: Translation) -> str | None:
        reading = self._target.read(text)
        if not reading.words:
            return None
        lemmas = _lemmas(translation)
        written = self._written(reading, lemmas)
        for rendering in term.renderings:
            wanted = [self._wanted(word, lemmas) for word in self._target.read(rendering).words]
            if wanted and _in_order(wanted, written):
                return rendering
        return None

    def _written(
        self, reading: Reading, lemmas: Mapping[str, frozenset[str]]
    ) -> list[frozenset[str]]:
        return [
            lemmas[word] | {word} if word in lemmas else self._forms(word) for word in reading.words
        ]

    def _wanted(self, word: str, lemmas: Mapping[str, frozenset[str]]) -> frozenset[str]:
        forms = self._forms(word)
        return forms | lemmas[word] if word in lemmas else forms

    def _stripped(self, word: str) -> frozenset[str]:
        """Give a folded word with and without each ending."""
        stems = (word.removesuffix(ending) for ending in self._endings)
        return frozenset({word, *(stem for stem in stems if len(stem) >= LEAST_STEM)})


def _in_order(wanted: list[frozenset[str]], written: list[frozenset[str]]) -> bool:
    for first in range(len(written) - len(wanted) + 1):
        if all(
            not forms.isdisjoint(there)
            for forms, there in zip(wanted, written[first:], strict=False)
        ):
            return True
    return False


def _lemmas(translation: Translation) -> dict[str, frozenset[str]]:
    """Give the lemmas of the words that the analyser knows, folded; of an acceptor there are none."""
    fst = translation.annotations.get("fst")
    if not isinstance(fst, FstAnnotation):
        return {}
    return {
        folded(word.word): frozenset(map(_lemma, word.analyses))
        for word in (*fst.reference, *fst.output)
        if word.analyses
    }


@lru_cache(maxsize=65536)
def _lemma(analysis: str) -> str:
    """Give the lemma of an analyser string: the first piece that is no prefix tag (PV/e, RdplW)."""
    pieces = analysis.split("+")
    lemma = next((piece for piece in pieces if piece and "/" not in piece), pieces[0])
    return folded(lemma)
