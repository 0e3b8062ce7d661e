"""Two texts told apart at a glance, as nearly all can be, before their normal forms are made."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import chain

from corpora.languages.variant_rules import VariantRules
from scoring.core.analysis import FstAnnotation
from scoring.grammar.normal_form import MOST_KEPT, heads

_PART = 1 << 80  # more than the hashes of a text's parts can add up to


class Prefilter:
    """Weighs texts by the parts of their words that no class of differences takes away or changes."""

    def __init__(self, rules: VariantRules, spell: Callable[[str], str]) -> None:
        """``spell`` gives a word in the spelling that rules are looked up in."""
        self._rules = rules
        self._spell = spell
        self._heads = heads(rules)
        self._gone = frozenset(rules.progressive) | frozenset(rules.optional_particles)
        self._exchanged = frozenset(
            part for word in chain(self._heads, *rules.clusive_words) for part in word.split("-")
        )
        self._begins, self._ends = _pieces_of_affixes(rules)
        self._telling_words = re.compile(
            "|".join(map(re.escape, chain(self._heads, *rules.clusive_tags))) or "(?!)"
        )
        self._weight = lru_cache(maxsize=MOST_KEPT)(self._weigh)
        self._telling = lru_cache(maxsize=MOST_KEPT)(self._tells)

    def apart(self, output: str, accepted: str, annotation: FstAnnotation | None) -> bool:
        """Tell two texts apart by their words alone; False says nothing.

        They differ where they have another number of parts that no class takes away, or other parts that no
        class changes; what a class reads from an analysis may change any part.
        """
        ours, theirs = (sum(map(self._weight, text.split())) for text in (output, accepted))
        if ours == theirs or ours // _PART != theirs // _PART:
            return ours != theirs
        words = () if annotation is None else (*annotation.output, *annotation.reference)
        return not any(self._telling(word.analyses) for word in words)

    def _weigh(self, piece: str) -> int:
        """Count in units of _PART the parts of a word that no class takes away; those that no class changes
        add their hashes."""
        bare = unicodedata.normalize("NFC", piece).strip(self._rules.ignored_marks)
        word = self._spell(bare.casefold() if self._rules.ignore_case else bare).casefold()
        weight = 0
        for part in self._heads.get(word, word).split("-"):
            if part and part not in self._gone:
                weight += _PART
                if not (
                    part in self._exchanged
                    or part.startswith(self._begins)
                    or part.endswith(self._ends)
                ):
                    weight += abs(hash(part))
        return weight

    def _tells(self, analyses: tuple[str, ...]) -> bool:
        """Tell whether a class may have something to say about these analyses of a word."""
        return any(map(self._telling_words.search, analyses))


def _pieces_of_affixes(rules: VariantRules) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the beginnings and the ends of words for “we”, cut at their hyphens."""
    begins, ends = set[str](), set[str]()
    for affixes in rules.clusive_affixes:
        for begin, end in (affixes.exclusive, affixes.inclusive):
            begins.update(part for part in begin.split("-") if part)
            ends.update(part for part in end.split("-") if part)
    return tuple(begins), tuple(ends)
