"""Exact and equivalent match: outputs that are right as they stand (scoring-specification §2.1)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from corpora.languages.language import VariantRules
from corpora.text.comparison import comparison_form, is_blank
from scoring.core.metric import MatchRate, Statistics, card_key, own_signature
from scoring.core.specification import metric_info
from scoring.core.translation import FstAnnotation, Translation
from scoring.grammar.normal_form import VariantClass
from scoring.grammar.variants import Equivalence, LintVerdict
from scoring.metrics.maker import Maker

if TYPE_CHECKING:
    from scoring.words.resources import Resources


class ExactMatch(MatchRate):
    """Share of outputs equal to the reference in comparison form; one in which nothing is seen never is."""

    info = metric_info("exact_match_rate")

    def stats(self, translation: Translation) -> Statistics:
        output, reference = translation.output, translation.entry.reference
        equal = comparison_form(output) == comparison_form(reference)
        return (int(equal and not is_blank(output)), 1)


class EquivalentMatch(MatchRate):
    """Share of outputs equal to the reference, to one of ``variants[]``, or to one of these by the rules of
    the language (METRICS §6, appendix B).

    In a corpus with variants, entries without any count by their reference: matches / total. Null for a
    corpus without a single variant in a language without rules, where it would only repeat the exact match.
    """

    info = metric_info("equivalent_match_rate")

    def __init__(
        self, *, has_variants: bool, rules: VariantRules | None = None, card: str = "none"
    ) -> None:
        """Initialise with the rules of the target's language card, which ``card`` names for the signature."""
        self.has_variants = has_variants
        """Whether any entry of the corpus has variants, so that a run in progress knows from the start."""
        self.rules = rules
        self._card = card

    @property
    def signature(self) -> str:
        return own_signature(f"nrefs:variants|rules:{self._card}|case:mixed|punct:yes|space:folded")

    @property
    def why_missing(self) -> str:
        if self.has_variants or self._card != "none":
            return super().why_missing
        return _NO_VARIANTS

    def stats(self, translation: Translation) -> Statistics | None:
        if not self.has_variants and self.rules is None:
            return None
        return (int(self.verdict(translation) in _RIGHT), 1)

    def verdict(self, translation: Translation) -> LintVerdict:
        """Return the verdict of appendix B on one output."""
        if is_blank(translation.output):
            return LintVerdict.NO_OUTPUT
        output, entry = comparison_form(translation.output), translation.entry
        if output == comparison_form(entry.reference):
            return LintVerdict.EXACT
        if any(output == comparison_form(variant) for variant in entry.variants):
            return LintVerdict.EQUIVALENT
        return LintVerdict.EQUIVALENT if self._accepted(translation) else LintVerdict.MISS

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return what made the output right although it is not the reference."""
        if self.verdict(translation) is not LintVerdict.EQUIVALENT:
            return ()
        accepted = self._accepted(translation)
        if accepted is None or self.rules is None:
            return ("Equal to one of the other translations that the corpus accepts.",)
        classes = self._equivalence.classes(
            translation.output, accepted, translation.entry.source, _annotation(translation)
        )
        listed = "; ".join(_WORDS[variant_class] for variant_class in classes or ())
        what = "the reference" if accepted == translation.entry.reference else "a listed variant"
        if not listed:
            return (f"Says the same as {what}: only capitals or punctuation differ.",)
        return (f"Says the same as {what} by the rules of the language: {listed}.",)

    def _accepted(self, translation: Translation) -> str | None:
        """Return the accepted sentence that the output says the same as, None where there is none."""
        if self.rules is None:
            return None
        output, entry = translation.output, translation.entry
        annotation = _annotation(translation)
        for accepted in (entry.reference, *entry.variants):
            if self._equivalence.equivalent(output, accepted, entry.source, annotation):
                return accepted
        return None

    @cached_property
    def _equivalence(self) -> Equivalence:
        return Equivalence(self.rules or VariantRules())


_NO_VARIANTS = "no entry of this corpus lists variants, and the language has no rules for them"
_RIGHT = frozenset({LintVerdict.EXACT, LintVerdict.EQUIVALENT})

_WORDS = {
    VariantClass.WORD_ORDER: "the words are in another order, which is free",
    VariantClass.ORTHOGRAPHIC: "a word is spelled in another accepted way",
    VariantClass.OPTIONAL_PARTICLE: "a word that may be left out stands or is missing",
    VariantClass.LEMMA_SYNONYM: "a word is replaced by one of the same meaning",
    VariantClass.PROGRESSIVE_AMBIGUITY: "the action is marked as under way, as in the source",
    VariantClass.INCLUSIVE_EXCLUSIVE: "“we” includes the person spoken to or not, which the source leaves open",
}


def equivalent_match(resources: Resources) -> EquivalentMatch:
    """Make the metric; the signature names the card and its content, because the rules are in it."""
    setup, card = resources.setup, resources.card
    named = f"{setup.language_card}-{card_key(setup)}"
    return EquivalentMatch(
        has_variants=setup.has_variants,
        rules=card.variants if card is not None and setup.variant_rules else None,
        card=named if setup.variant_rules else "none",
    )


def why_no_equivalents(resources: Resources) -> str | None:
    """Return why the rate would only repeat the exact match, None where it would not."""
    setup = resources.setup
    return None if setup.has_variants or setup.variant_rules else _NO_VARIANTS


def _annotation(translation: Translation) -> FstAnnotation | None:
    annotation = translation.annotations.get("fst")
    return annotation if isinstance(annotation, FstAnnotation) else None


METRICS = {
    "exact_match_rate": Maker(lambda _: ExactMatch()),
    "equivalent_match_rate": Maker(equivalent_match, why_no_equivalents),
}
