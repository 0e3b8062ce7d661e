"""Whether two sentences say the same by a language's own rules (METRICS §6, appendix B).

Both are brought into a normal form and compared: no search, so that the time grows with the length of the
sentences only. The rules are data (``corpora.languages.language``); any language card may have some.

Two texts told apart at a glance, as nearly all can be, before their normal forms are made.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Set
from enum import StrEnum
from functools import lru_cache
from itertools import chain

from corpora.languages.language import VariantRules
from corpora.text.comparison import comparison_form, is_blank
from scoring.core.translation import FstAnnotation, WordAnalysis
from scoring.grammar.gold_analysis import tagged_word
from scoring.grammar.normal_form import (
    MOST_KEPT,
    Analyses,
    NormalForms,
    NormalText,
    Sentence,
    VariantClass,
    heads,
)

_PART = 1 << 80  # more than the hashes of a text's parts can add up to


class Prefilter:
    """Weighs texts by the parts of their words that no class of differences takes away or changes.

    Two texts that differ cost a twentieth of a comparison of normal forms: the constant floor compares its
    candidates with every reference (``floors`` in docs/internals/benchmarks.md).
    """

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
        self._whole_weight = lru_cache(maxsize=MOST_KEPT)(self._weigh_text)
        self._telling = lru_cache(maxsize=MOST_KEPT)(self._tells)

    def apart(self, output: str, accepted: str, annotation: FstAnnotation | None) -> bool:
        """Return whether two texts differ for certain by their words alone; False proves nothing.

        They differ where they have another number of parts that no class takes away, or other parts that no
        class changes; what a class reads from an analysis may change any part.
        """
        ours, theirs = self._whole_weight(output), self._whole_weight(accepted)
        if ours == theirs or ours // _PART != theirs // _PART:
            return ours != theirs
        words = () if annotation is None else (*annotation.output, *annotation.reference)
        return not any(self._telling(word.analyses) for word in words)

    def _weigh_text(self, text: str) -> int:
        return sum(map(self._weight, text.split()))

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
        """Return whether a class may have something to say about these analyses of a word."""
        return any(map(self._telling_words.search, analyses))


def _pieces_of_affixes(rules: VariantRules) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the beginnings and the ends of words for “we”, cut at their hyphens."""
    begins, ends = set[str](), set[str]()
    for affixes in rules.clusive_affixes:
        for begin, end in (affixes.exclusive, affixes.inclusive):
            begins.update(part for part in begin.split("-") if part)
            ends.update(part for part in end.split("-") if part)
    return tuple(begins), tuple(ends)


_WORD = re.compile(r"\w+")
_EVERY = frozenset(VariantClass)
_WE = VariantClass.INCLUSIVE_EXCLUSIVE


class LintVerdict(StrEnum):
    """What the rules say of an output."""

    EXACT = "EXACT"
    """Equal to the reference in comparison form."""
    EQUIVALENT = "EQUIVALENT"
    """Equal to a listed variant, or to any of these under the rules."""
    MISS = "MISS"
    NO_OUTPUT = "NO_OUTPUT"


class Equivalence:
    """The rules of one language, ready to compare sentences."""

    def __init__(self, rules: VariantRules) -> None:
        self._rules = rules
        self._clause_words = frozenset(rules.clause_words)
        self._placed = frozenset(rules.placed_words)
        self._told_by = frozenset(rules.clusive_told_by)
        self._forms = NormalForms(rules)
        self._spell = self._forms.spell
        self._prefilter = Prefilter(rules, self._spell)

    def equivalent(
        self, output: str, accepted: str, source: str, annotation: FstAnnotation | None = None
    ) -> bool:
        """Return whether an output says the same as an accepted sentence; analyses make it surer.

        An empty output never does.
        """
        if is_blank(output):
            return False
        if comparison_form(output) == comparison_form(accepted):
            return True
        if self._prefilter.apart(output, accepted, annotation):
            return False
        return self._same(output, accepted, self._allowed(source), self._analyses(annotation))

    def free_order(self, annotation: FstAnnotation) -> bool:
        """Return whether the words of output and reference may be in any order."""
        analyses = self._analyses(annotation)
        return self._rules.free_word_order and all(
            self._free(self._sentence(words), analyses)
            for words in (annotation.output, annotation.reference)
        )

    def _sentence(self, found: tuple[WordAnalysis, ...]) -> Sentence:
        looked_up = [self._spell(word_analysis.word).casefold() for word_analysis in found]
        return Sentence([], looked_up, not self._clause_words.isdisjoint(looked_up))

    def classes(
        self, output: str, accepted: str, source: str, annotation: FstAnnotation | None = None
    ) -> tuple[VariantClass, ...] | None:
        """Name the classes that are needed to make an output equivalent, None where none do.

        Empty: only capitals or punctuation differ, if anything. Of several sets of classes that would do,
        it is the one that is left when each class in turn is given up if the rest suffices.
        """
        needed, analyses = self._allowed(source), self._analyses(annotation)
        if not self._same(output, accepted, needed, analyses):
            return None
        for variant_class in VariantClass:
            if self._same(output, accepted, needed - {variant_class}, analyses):
                needed -= {variant_class}
        return tuple(each for each in VariantClass if each in needed)

    def _allowed(self, source: str) -> frozenset[VariantClass]:
        """Omit the classes that this source does not license."""
        allowed = _EVERY
        source_words = _WORD.findall(source.casefold())
        endings = self._rules.progressive_endings
        if not any(word.endswith(endings) for word in source_words):
            allowed -= {VariantClass.PROGRESSIVE_AMBIGUITY}
        if not self._told_by.isdisjoint(source_words):
            allowed -= {_WE}
        return allowed if self._rules.free_word_order else allowed - {VariantClass.WORD_ORDER}

    def _analyses(self, annotation: FstAnnotation | None) -> Analyses:
        if annotation is None:
            return {}
        return {
            self._spell(word_analysis.word).casefold(): tuple(
                tagged_word(analysis) for analysis in word_analysis.analyses
            )
            for word_analysis in chain(annotation.output, annotation.reference)
            if word_analysis.analyses
        }

    def _same(self, output: str, accepted: str, on: Set[VariantClass], analyses: Analyses) -> bool:
        ours, theirs = (self._forms.of(text, on, analyses) for text in (output, accepted))
        if not ours.sentences or theirs.under_way - ours.under_way:
            return False
        if ours.particles - theirs.particles and theirs.particles - ours.particles:
            return False  # one word for another is no optional word
        if max(len(ours.speakers), len(theirs.speakers)) > 1:  # who says both tells them apart
            return self._same(output, accepted, on - {_WE}, analyses)
        if ours.flat == theirs.flat:
            return True
        return VariantClass.WORD_ORDER in on and self._reordered(ours, theirs, analyses)

    def _reordered(self, ours: NormalText, theirs: NormalText, analyses: Analyses) -> bool:
        """Return whether only words within one clause are in another order."""
        return len(ours.sentences) == len(theirs.sentences) and all(
            one.words == other.words
            or (
                sorted(one.words) == sorted(other.words)
                and self._free(one, analyses)
                and self._free(other, analyses)
            )
            for one, other in zip(ours.sentences, theirs.sentences, strict=True)
        )

    def _free(self, sentence: Sentence, analyses: Analyses) -> bool:
        """Return whether the order is free: one clause, as the analyser sees it, else by its joining words."""
        if not self._placed.isdisjoint(sentence.looked_up):
            return False
        readings = [analyses.get(word) for word in sentence.looked_up]
        if None in readings:
            return not sentence.joins_clauses
        verb = self._rules.verb_tag
        return (
            sum(
                all(verb in tagged_word.tags for tagged_word in reading or ())
                for reading in readings
            )
            < 2
        )
