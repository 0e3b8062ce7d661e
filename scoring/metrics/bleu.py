"""BLEU (Papineni et al. 2002): word n-gram precision, for comparison with the literature."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

import numpy as np

from scoring.core.metric import FloatArray, Metric, Statistics, sacrebleu_signature
from scoring.core.ngrams import IntArray, references, shared_words, signed_number
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker
from scoring.words.tokenizers import load_tokenizer, tokenizer_signature

_ORDERS = 4
_CHUNK = 256
"""Texts that are counted together, outputs and references."""


class Bleu(Metric):
    """BLEU in 0–100, higher is better; equal to sacreBLEU's with ``exp`` smoothing on NFC texts.

    A corpus metric (scoring-specification §2.1): the value of one entry follows the same formula,
    without effective order, and is 0 for most entries of under four words. With several references an
    n-gram counts as many times as in that which has it most often, and the length is held against the nearest,
    the shorter of two. Null where the tokenizer cannot be loaded, so that a language is never scored with
    a tokenizer that cannot split it.
    """

    info = metric_info("bleu")
    width = 2 + 2 * _ORDERS

    def __init__(self, tokenizer: str = "13a", *, multi_ref: bool = False) -> None:
        self.tokenizer = tokenizer
        self.multi_ref = multi_ref
        """Whether ``variants[]`` are references too."""
        self._missing = ""
        self._named = tokenizer
        try:
            self._tokens = load_tokenizer(tokenizer)
            self._named = tokenizer_signature(tokenizer)
        except ValueError as error:
            self._missing = str(error)

    @property
    def signature(self) -> str:
        number = signed_number(multi_ref=self.multi_ref)
        return sacrebleu_signature(f"{number}|case:mixed|eff:no|tok:{self._named}|smooth:exp")

    @property
    def why_missing(self) -> str:
        return self._missing or super().why_missing

    def stats(self, translation: Translation) -> Statistics | None:
        return self.stats_many([translation])[0]

    def stats_many(self, translations: Sequence[Translation]) -> list[Statistics | None]:
        if self._missing:
            return [None] * len(translations)
        groups = [
            (item.output, *references(item.entry, multi_ref=self.multi_ref))
            for item in translations
        ]
        rows: list[Statistics | None] = [None] * len(groups)
        for sides, places in _by_length(groups).items():
            most = max(_CHUNK // sides, 1)
            for start in range(0, len(places), most):
                chosen = places[start : start + most]
                for place, row in zip(
                    chosen, self._chunk([groups[place] for place in chosen], sides), strict=True
                ):
                    rows[place] = row
        return rows

    def _chunk(self, groups: Sequence[tuple[str, ...]], sides: int) -> list[Statistics]:
        """Compute the statistics of outputs with ``sides`` − 1 references each."""
        lines = [self._tokens(normalize("NFC", text)) for group in groups for text in group]
        lengths = np.array([len(line) for line in lines]).reshape(-1, sides)
        outputs = lengths[:, :1]
        possible = np.maximum(outputs - np.arange(_ORDERS), 0)
        shared = shared_words(lines, _ORDERS, sides)
        rows = np.hstack([outputs, _nearest(outputs, lengths[:, 1:]), shared, possible])
        return [tuple(row) for row in rows.tolist()]

    def values(self, totals: FloatArray) -> FloatArray:
        output, reference = totals[:, 0], totals[:, 1]
        shared, possible = totals[:, 2 : 2 + _ORDERS], totals[:, 2 + _ORDERS :]
        brevity = np.where(output < reference, 1 - reference / np.maximum(output, 1.0), 0.0)
        logs = _log_precisions(shared, possible).mean(axis=1)
        defined = (shared.sum(axis=1) > 0) & (possible[:, -1] > 0)
        return np.where(defined, 100.0 * np.exp(np.where(defined, brevity + logs, 0.0)), 0.0)


def _by_length(groups: Sequence[tuple[str, ...]]) -> dict[int, list[int]]:
    """Group by the number of texts: number → places."""
    places: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(len(group), []).append(place)
    return places


def _nearest(outputs: IntArray, lengths: IntArray) -> IntArray:
    """Choose the reference length next to the output's, shape (n, 1); of two the shorter."""
    if lengths.shape[1] == 1:
        return lengths
    distances = 2 * np.abs(lengths - outputs) + (lengths > outputs)
    return np.take_along_axis(lengths, distances.argmin(axis=1, keepdims=True), axis=1)


def _log_precisions(shared: FloatArray, possible: FloatArray) -> FloatArray:
    """Compute logarithms; an order without a match gets half, a quarter, … of one match."""
    misses = np.cumsum((shared == 0) & (possible > 0), axis=1)
    smoothed = np.where(shared > 0, shared, np.ldexp(1.0, -misses))
    return np.asarray(np.log(smoothed / np.maximum(possible, 1.0)))


METRICS = {
    "bleu": Maker(
        lambda resources: Bleu(resources.setup.bleu_tokenizer, multi_ref=resources.setup.multi_ref)
    )
}
