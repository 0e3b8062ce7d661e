"""Translation edit rate (Snover et al. 2006): edits of words and shifts of phrases per reference word."""

from __future__ import annotations

from unicodedata import normalize

import numpy as np

from scoring.core.metric import FloatArray, Metric, Statistics
from scoring.core.references import references, signed_number
from scoring.core.signature import sacrebleu_signature
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.metrics.tercom import edits


class Ter(Metric):
    """TER in per cent (0 is best, no upper end), equal to sacreBLEU's tercom on NFC texts.

    Statistics: edits, reference words. An empty output costs one edit per reference word; a text
    against an empty reference is 100 (scoring-specification §2.1). Of several references the fewest edits
    count, over the mean of their lengths. Never null.
    """

    info = metric_info("ter")
    width = 2

    def __init__(self, *, multi_ref: bool = False) -> None:
        self.multi_ref = multi_ref
        """Whether ``variants[]`` are references too."""

    @property
    def signature(self) -> str:
        number = signed_number(multi_ref=self.multi_ref)
        return sacrebleu_signature(f"{number}|case:lc|tok:tercom|norm:no|punct:yes|asian:no")

    def stats(self, translation: Translation) -> Statistics:
        output = _words(translation.output)
        given = references(translation.entry, multi_ref=self.multi_ref)
        targets = list(map(_words, given))
        if len(targets) == 1:
            return (edits(output, targets[0]), len(targets[0]))
        fewest = min([edits(output, target) for target in targets])
        return (fewest, sum(map(len, targets)) / len(targets))

    def values(self, totals: FloatArray) -> FloatArray:
        edited, words = totals[:, 0], totals[:, 1]
        rate = edited / np.where(words > 0, words, 1.0)
        return 100.0 * np.where(words > 0, rate, (edited > 0).astype(np.float64))


def _words(text: str) -> list[str]:
    return normalize("NFC", text).lower().split()


METRICS = {"ter": Maker(lambda found: Ter(multi_ref=found.setup.multi_ref))}
