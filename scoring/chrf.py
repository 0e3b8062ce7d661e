"""chrF++ (Popović 2017): character n-grams up to six and word n-grams up to two, F with β = 2."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from scoring.metric import FloatArray, Metric, Statistics
from scoring.ngrams import IntArray, key_fits, shared_by_counting, shared_ngrams, shared_words
from scoring.signature import sacrebleu_signature
from scoring.specification import metric_info
from scoring.translation import Translation

_CHARACTERS = 6
_WORDS = 2
_ORDERS = _CHARACTERS + _WORDS
_CHUNK = 64
_FEW_LETTERS = 60
"""Up to here counting one by one is faster than setting up arrays."""
_FACTOR = 4.0
"""β²: recall counts twice as much as precision."""
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class ChrfPlusPlus(Metric):
    """chrF++ in 0–100, higher is better; equal to sacreBLEU's chrF with word order 2 on NFC texts.

    The primary surface metric for languages with long words (scoring-specification §2.1). The
    statistics are sacreBLEU's own 24 integers (output, reference and shared n-grams per order), so that
    sentence and corpus values are the same numbers that it prints. Never raises, never null.
    """

    info = metric_info("chrf_plus_plus")
    width = 3 * _ORDERS

    @property
    def signature(self) -> str:
        return sacrebleu_signature("nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no")

    def stats(self, translation: Translation) -> Statistics:
        return _statistics([translation])[0]

    def stats_many(self, translations: Sequence[Translation]) -> list[Statistics | None]:
        rows: list[Statistics | None] = []
        for start in range(0, len(translations), _CHUNK):
            rows += _statistics(translations[start : start + _CHUNK])
        return rows

    def values(self, totals: FloatArray) -> FloatArray:
        outputs, references, shared = totals[:, 0::3], totals[:, 1::3], totals[:, 2::3]
        effective = (outputs > 0) & (references > 0)
        orders = np.maximum(effective.sum(axis=1), 1)
        precision = _mean_share(shared, outputs, effective, orders)
        recall = _mean_share(shared, references, effective, orders)
        below = _FACTOR * precision + recall
        score = (1 + _FACTOR) * precision * recall / np.where(below > 0, below, 1.0)
        return np.asarray(100.0 * score)


def _mean_share(
    shared: FloatArray, counts: FloatArray, effective: npt.NDArray[np.bool_], orders: IntArray
) -> FloatArray:
    """Average shared / counts over the orders that both sides have."""
    share = np.where(effective, shared / np.where(counts > 0, counts, 1.0), 0.0)
    return np.asarray(share.sum(axis=1) / orders)


def _statistics(translations: Sequence[Translation]) -> list[Statistics]:
    texts = [
        normalize("NFC", text)
        for item in translations
        for text in (item.output, item.entry.reference)
    ]
    words = [_words(text) for text in texts]
    letters = ["".join(text.split()) for text in texts]
    shared = np.hstack([_shared_letters(letters), shared_words(words, _WORDS)])
    counts = np.hstack([_ngram_counts(letters, _CHARACTERS), _ngram_counts(words, _WORDS)]).reshape(
        len(translations), 2, _ORDERS
    )
    outputs, references = counts[:, 0], counts[:, 1]
    rows = np.stack([np.where(references > 0, outputs, 0), references, shared], axis=2)
    return [tuple(row) for row in rows.reshape(len(translations), -1).tolist()]


def _words(text: str) -> list[str]:
    """Split at white space, one punctuation mark at a word's end, else at its start, set apart."""
    words = []
    for word in text.split():
        if len(word) == 1 or word.isalnum():
            words.append(word)
        elif word[-1] in _PUNCTUATION:
            words += (word[:-1], word[-1])
        elif word[0] in _PUNCTUATION:
            words += (word[0], word[1:])
        else:
            words.append(word)
    return words


def _ngram_counts(sequences: Sequence[Sequence[str]], order: int) -> IntArray:
    lengths = np.array([len(sequence) for sequence in sequences])[:, None]
    return np.asarray(np.maximum(lengths - np.arange(order), 0))


def _shared_letters(letters: Sequence[str]) -> IntArray:
    """Count shared character n-grams; halves a chunk whose alphabet is too large for one key."""
    if sum(map(len, letters)) <= _FEW_LETTERS:
        return shared_by_counting(letters, _CHARACTERS)
    codes = np.frombuffer("".join(letters).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    present = np.zeros(int(codes.max()) + 1, dtype=np.uint64)
    present[codes] = 1
    symbols = int(present.sum())
    if not key_fits(len(letters) // 2, symbols, _CHARACTERS):
        return _halved(letters)
    lengths = np.array([len(text) for text in letters])
    return shared_ngrams(np.cumsum(present)[codes], lengths, symbols, _CHARACTERS)


def _halved(letters: Sequence[str]) -> IntArray:
    if len(letters) == 2:
        return shared_by_counting(letters, _CHARACTERS)
    middle = len(letters) // 4 * 2
    return np.vstack([_shared_letters(letters[:middle]), _shared_letters(letters[middle:])])
