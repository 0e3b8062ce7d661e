"""Translation edit rate (Snover et al. 2006): edits of words and shifts of phrases per reference word."""

from __future__ import annotations

from unicodedata import normalize

import numpy as np

from scoring.metric import FloatArray, Metric, Statistics
from scoring.signature import sacrebleu_signature
from scoring.specification import metric_info
from scoring.tercom import edits
from scoring.translation import Translation


class Ter(Metric):
    """TER in per cent (0 is best, no upper end), equal to sacreBLEU's tercom on NFC texts.

    Statistics: edits, reference words. An empty output costs one edit per reference word; a text
    against an empty reference is 100 (scoring-specification §2.1). Never null.
    """

    info = metric_info("ter")
    width = 2

    @property
    def signature(self) -> str:
        return sacrebleu_signature("nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no")

    def stats(self, translation: Translation) -> Statistics:
        output = normalize("NFC", translation.output).lower().split()
        reference = normalize("NFC", translation.entry.reference).lower().split()
        return (edits(output, reference), len(reference))

    def values(self, totals: FloatArray) -> FloatArray:
        edited, words = totals[:, 0], totals[:, 1]
        rate = edited / np.where(words > 0, words, 1.0)
        return 100.0 * np.where(words > 0, rate, (edited > 0).astype(np.float64))
