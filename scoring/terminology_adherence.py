"""Terminology adherence: whether the output respects prescribed vocabulary (METRICS §4)."""

from __future__ import annotations

from functools import cached_property

from scoring.metric import Statistics
from scoring.rate import Rate
from scoring.renderings import LEAST_STEM, Renderings
from scoring.resources import Resources
from scoring.signature import own_signature
from scoring.specification import metric_info
from scoring.terminology import Term
from scoring.translation import Translation


class TerminologyAdherence(Rate):
    """Prescribed terms of the source that the output renders as prescribed / those that apply, 0–1.

    Higher is better. A term that a reference or variant renders otherwise has another sense there (the key of
    a keyboard) and applies only to an output that has it. Each term counts once an entry, of terms inside one
    another the longest; an empty output keeps none. Null where no term applies. Source:
    scoring-specification §2.4.
    """

    info = metric_info("terminology_adherence")

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @property
    def signature(self) -> str:
        setup = self._resources.setup
        return own_signature(
            f"terms:{(setup.terms_sha256 or 'none')[:12]}"
            f"|analyser:{setup.analyser.sha256[:12] if setup.analyser else 'none'}"
            f"|card:{(setup.language_card_sha256 or 'none')[:12]}|stem:>={LEAST_STEM}|sense:references"
        )

    @property
    def why_missing(self) -> str:
        return "no prescribed term applies to an entry"

    @cached_property
    def _renderings(self) -> Renderings:
        return renderings(self._resources)

    def stats(self, translation: Translation) -> Statistics | None:
        kept, missing = self._kept_and_missing(translation)
        applying = len(kept) + len(missing)
        return (len(kept), applying) if applying else None

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Name the prescribed terms that the output does not have, with what was prescribed."""
        return tuple(
            f"“{' '.join(term.source)}” should be {' or '.join(term.renderings)}"
            for term in self._kept_and_missing(translation)[1]
        )

    def _kept_and_missing(self, translation: Translation) -> tuple[list[Term], list[Term]]:
        terms = self._resources.terms.applying(translation.entry.source)
        found = self._renderings.found(terms, translation) if terms else []
        kept = [term for term, has in zip(terms, found, strict=True) if has is not None]
        left = [term for term, has in zip(terms, found, strict=True) if has is None]
        expected = self._renderings.expected(left, translation) if left else []
        return kept, [term for term, wanted in zip(left, expected, strict=True) if wanted]


def renderings(resources: Resources) -> Renderings:
    """Make what finds renderings in the target language's outputs."""
    endings = resources.card.affixes if resources.card else ()
    return Renderings(resources.bitext.target, endings)


def why_no_terminology(resources: Resources) -> str | None:
    """Say that nothing is prescribed."""
    return None if resources.setup.terms else "no terms are prescribed: give a dictionary"
