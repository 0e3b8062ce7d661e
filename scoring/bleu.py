"""BLEU (Papineni et al. 2002): word n-gram precision, for comparison with the literature."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

import numpy as np

from scoring.metric import FloatArray, Metric, Statistics
from scoring.ngrams import shared_words
from scoring.signature import sacrebleu_signature
from scoring.specification import metric_info
from scoring.tokenizers import load_tokenizer, tokenizer_signature
from scoring.translation import Translation

_ORDERS = 4
_CHUNK = 128


class Bleu(Metric):
    """BLEU in 0–100, higher is better; equal to sacreBLEU's with ``exp`` smoothing on NFC texts.

    A corpus metric (scoring-specification §2.1): the value of one entry follows the same formula,
    without effective order, and is 0 for most entries of under four words. Null where the tokenizer
    cannot be loaded, so that a language is never scored with a tokenizer that cannot split it.
    """

    info = metric_info("bleu")
    width = 2 + 2 * _ORDERS

    def __init__(self, tokenizer: str = "13a") -> None:
        self.tokenizer = tokenizer
        self._missing = ""
        self._named = tokenizer
        try:
            self._tokens = load_tokenizer(tokenizer)
            self._named = tokenizer_signature(tokenizer)
        except ValueError as error:
            self._missing = str(error)

    @property
    def signature(self) -> str:
        return sacrebleu_signature(f"nrefs:1|case:mixed|eff:no|tok:{self._named}|smooth:exp")

    @property
    def why_missing(self) -> str:
        return self._missing or super().why_missing

    def stats(self, translation: Translation) -> Statistics | None:
        return self.stats_many([translation])[0]

    def stats_many(self, translations: Sequence[Translation]) -> list[Statistics | None]:
        if self._missing:
            return [None] * len(translations)
        rows: list[Statistics | None] = []
        for start in range(0, len(translations), _CHUNK):
            rows += self._chunk(translations[start : start + _CHUNK])
        return rows

    def _chunk(self, translations: Sequence[Translation]) -> list[Statistics]:
        lines = [
            self._tokens(normalize("NFC", text))
            for item in translations
            for text in (item.output, item.entry.reference)
        ]
        lengths = np.array([len(line) for line in lines]).reshape(-1, 2)
        possible = np.maximum(lengths[:, :1] - np.arange(_ORDERS), 0)
        rows = np.hstack([lengths, shared_words(lines, _ORDERS), possible])
        return [tuple(row) for row in rows.tolist()]

    def values(self, totals: FloatArray) -> FloatArray:
        output, reference = totals[:, 0], totals[:, 1]
        shared, possible = totals[:, 2 : 2 + _ORDERS], totals[:, 2 + _ORDERS :]
        brevity = np.where(output < reference, 1 - reference / np.maximum(output, 1.0), 0.0)
        logs = _log_precisions(shared, possible).mean(axis=1)
        defined = (shared.sum(axis=1) > 0) & (possible[:, -1] > 0)
        return np.where(defined, 100.0 * np.exp(np.where(defined, brevity + logs, 0.0)), 0.0)


def _log_precisions(shared: FloatArray, possible: FloatArray) -> FloatArray:
    """Take logarithms; an order without a match gets half, a quarter, … of one match."""
    misses = np.cumsum((shared == 0) & (possible > 0), axis=1)
    smoothed = np.where(shared > 0, shared, 0.5**misses)
    return np.asarray(np.log(smoothed / np.maximum(possible, 1.0)))
