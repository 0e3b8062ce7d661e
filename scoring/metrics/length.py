"""Length ratio: a warning of truncation (below 0.5) and of inflation (above 2.0)."""

from __future__ import annotations

from unicodedata import normalize

from scoring.core.metric import RateMetric, Statistics, own_signature
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker


class LengthRatio(RateMetric):
    """Characters of the output / characters of the reference, both in NFC; 1 is ideal, no upper end.

    The corpus value is total / total (scoring-specification §2.1). Null for an empty reference.
    """

    info = metric_info("length_ratio")

    @property
    def signature(self) -> str:
        return own_signature("nrefs:1|unit:character")

    @property
    def why_missing(self) -> str:
        return "the references are empty"

    def stats(self, translation: Translation) -> Statistics | None:
        reference = len(normalize("NFC", translation.entry.reference))
        return (len(normalize("NFC", translation.output)), reference) if reference else None


METRICS = {"length_ratio": Maker(lambda _: LengthRatio())}
