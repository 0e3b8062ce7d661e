"""Exact and equivalent match: outputs that are right as they stand (scoring-specification §2.1)."""

from __future__ import annotations

import numpy as np

from corpora.text import comparison_form
from scoring.metric import FloatArray, Metric, Statistics
from scoring.signature import own_signature
from scoring.specification import metric_info
from scoring.translation import Translation


class MatchRate(Metric):
    """A rate whose entries are right or wrong: statistics (1 if right, 1), value in 0–1, higher is better.

    Every entry counts in the denominator, a failed one as wrong (DESIGN M2).
    """

    width = 2

    @property
    def signature(self) -> str:
        return own_signature("nrefs:1|case:mixed|punct:yes|space:folded")

    def values(self, totals: FloatArray) -> FloatArray:
        total = totals[:, 1]
        return np.where(total > 0, totals[:, 0] / np.where(total > 0, total, 1.0), np.nan)


class ExactMatch(MatchRate):
    """Share of outputs equal to the reference in comparison form; an empty output never is."""

    info = metric_info("exact_match_rate")

    def stats(self, translation: Translation) -> Statistics:
        output = comparison_form(translation.output)
        return (int(output != "" and output == comparison_form(translation.entry.reference)), 1)


class EquivalentMatch(MatchRate):
    """Share of outputs equal to the reference or to one of the entry's ``variants[]``.

    In a corpus with variants, entries without any count by their reference: matches / total. Null for a
    corpus without a single variant, where it would only repeat the exact match.
    """

    info = metric_info("equivalent_match_rate")

    def __init__(self, *, has_variants: bool) -> None:
        self.has_variants = has_variants
        """Whether any entry of the corpus has variants, so that a run in progress knows from the start."""

    @property
    def signature(self) -> str:
        return own_signature("nrefs:variants|case:mixed|punct:yes|space:folded")

    @property
    def why_missing(self) -> str:
        return (
            "no entry of this corpus lists variants"
            if not self.has_variants
            else super().why_missing
        )

    def stats(self, translation: Translation) -> Statistics | None:
        if not self.has_variants:
            return None
        output = comparison_form(translation.output)
        entry = translation.entry
        accepted = (comparison_form(text) for text in (entry.reference, *entry.variants))
        return (int(output != "" and output in accepted), 1)
