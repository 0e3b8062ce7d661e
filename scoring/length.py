"""Length ratio: a warning of truncation (below 0.5) and of inflation (above 2.0)."""

from __future__ import annotations

from unicodedata import normalize

import numpy as np

from scoring.metric import FloatArray, Metric, Statistics
from scoring.signature import own_signature
from scoring.specification import metric_info
from scoring.translation import Translation


class LengthRatio(Metric):
    """Characters of the output / characters of the reference, both in NFC; 1 is ideal, no upper end.

    The corpus value is total / total (scoring-specification §2.1). Null for an empty reference.
    """

    info = metric_info("length_ratio")
    width = 2

    @property
    def signature(self) -> str:
        return own_signature("nrefs:1|unit:character")

    @property
    def why_missing(self) -> str:
        return "the references are empty"

    def stats(self, translation: Translation) -> Statistics | None:
        reference = len(normalize("NFC", translation.entry.reference))
        return (len(normalize("NFC", translation.output)), reference) if reference else None

    def values(self, totals: FloatArray) -> FloatArray:
        reference = totals[:, 1]
        return np.where(
            reference > 0, totals[:, 0] / np.where(reference > 0, reference, 1.0), np.nan
        )
