"""Whether two sentences say the same by a language's own rules (METRICS §6, appendix B).

Both are brought into a normal form and compared: no search, so that the time grows with the length of the
sentences only. The rules are data (``corpora.languages.variant_rules``); any language card may have some.
"""

from __future__ import annotations

import re
from collections.abc import Set
from enum import StrEnum
from itertools import chain

from corpora.languages.variant_rules import VariantRules
from corpora.text.comparison import comparison_form, is_blank
from scoring.core.analysis import FstAnnotation, WordAnalysis
from scoring.grammar.normal_form import Analyses, NormalForms, NormalText, Sentence, VariantClass
from scoring.grammar.prefilter import Prefilter

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
        """Tell whether an output says the same as an accepted sentence; analyses make it surer.

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
        """Tell whether the words of output and reference may stand in any order."""
        analyses = self._analyses(annotation)
        return self._rules.free_word_order and all(
            self._free(self._sentence(found), analyses)
            for found in (annotation.output, annotation.reference)
        )

    def _sentence(self, found: tuple[WordAnalysis, ...]) -> Sentence:
        looked_up = [self._spell(each.word).casefold() for each in found]
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
        for each in VariantClass:
            if self._same(output, accepted, needed - {each}, analyses):
                needed -= {each}
        return tuple(each for each in VariantClass if each in needed)

    def _allowed(self, source: str) -> frozenset[VariantClass]:
        """Leave out the classes that this source does not license."""
        allowed = _EVERY
        said = _WORD.findall(source.casefold())
        endings = self._rules.progressive_endings
        if not any(word.endswith(endings) for word in said):
            allowed -= {VariantClass.PROGRESSIVE_AMBIGUITY}
        if not self._told_by.isdisjoint(said):
            allowed -= {_WE}
        return allowed if self._rules.free_word_order else allowed - {VariantClass.WORD_ORDER}

    def _analyses(self, annotation: FstAnnotation | None) -> Analyses:
        if annotation is None:
            return {}
        from scoring.grammar.tagged_word import tagged_word

        return {
            self._spell(found.word).casefold(): tuple(tagged_word(each) for each in found.analyses)
            for found in chain(annotation.output, annotation.reference)
            if found.analyses
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
        """Tell whether only words within one clause stand in another order."""
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
        """Tell whether the order is free: one clause, as the analyser sees it, else by its joining words."""
        if not self._placed.isdisjoint(sentence.looked_up):
            return False
        readings = [analyses.get(word) for word in sentence.looked_up]
        if None in readings:
            return not sentence.joins_clauses
        verb = self._rules.verb_tag
        return sum(all(verb in each.tags for each in found or ()) for found in readings) < 2
