"""Terminology adherence: whether the output respects prescribed vocabulary (METRICS §4)."""

from __future__ import annotations

from functools import cached_property

from scoring.core.metric import Statistics, analyser_key, card_key, content_key, own_signature
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker, ResourceRate
from scoring.words.resources import Resources
from scoring.words.terminology import LEAST_STEM, DictionaryTerm, Renderings


class TerminologyAdherence(ResourceRate):
    """Prescribed terms that the output renders as prescribed / those that apply, 0–1, higher is better.

    A term applies where it is in the source and the reference or a variant renders it as prescribed:
    elsewhere it has another sense (the key of a keyboard) and the dictionary is wrong for the sentence. What
    the output says decides nothing of that. Each term counts once an entry, of terms inside one another the
    longest; an empty output keeps none. Null where no term applies. Source: scoring-specification §2.4.
    """

    info = metric_info("terminology_adherence")
    reads_source = True

    @property
    def signature(self) -> str:
        setup = self._setup
        return own_signature(
            f"terms:{content_key(setup.terms_sha256)}|analyser:{analyser_key(setup)}"
            f"|card:{card_key(setup)}|stem:>={LEAST_STEM}|applies:references"
        )

    @property
    def why_missing(self) -> str:
        return "no prescribed term applies to an entry"

    @cached_property
    def _renderings(self) -> Renderings:
        return renderings(self._resources)

    def stats(self, translation: Translation) -> Statistics | None:
        terms = self._applying(translation)
        if not terms:
            return None
        renderings = self._renderings.found(terms, translation)
        return (sum(has is not None for has in renderings), len(terms))

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Name the prescribed terms that the output does not have, with what was prescribed."""
        terms = self._applying(translation)
        lacking = [
            f"“{' '.join(term.source)}” should be {' or '.join(term.renderings)}"
            for term, has in zip(terms, self._renderings.found(terms, translation), strict=True)
            if has is None
        ]
        return (f"{'; '.join(lacking)}.",) if lacking else ()

    def _applying(self, translation: Translation) -> list[DictionaryTerm]:
        """Return the terms that apply to an entry, worked out once whatever the outputs say."""
        entry = translation.entry
        key = (entry.source, entry.reference, entry.variants, "fst" in translation.annotations)
        applying = self._known.get(key)
        if applying is None:
            terms = self._resources.terms.applying(entry.source)
            expected = self._renderings.expected(terms, translation) if terms else []
            applying = [term for term, wanted in zip(terms, expected, strict=True) if wanted]
            self._known[key] = applying
        return applying

    @cached_property
    def _known(self) -> dict[tuple[str, str, tuple[str, ...], bool], list[DictionaryTerm]]:
        """By what decides; there are no more than entries."""
        return {}


def renderings(resources: Resources) -> Renderings:
    """Make what finds renderings in the target language's outputs."""
    endings = resources.card.affixes if resources.card else ()
    return Renderings(resources.bitext.target, endings)


def why_no_terminology(resources: Resources) -> str | None:
    """Return that nothing is prescribed, or None."""
    return None if resources.setup.terms else "no terms are prescribed: give a dictionary"


METRICS = {"terminology_adherence": Maker(TerminologyAdherence, why_no_terminology)}
