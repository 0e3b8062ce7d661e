"""chrF++ (Popović 2017): character n-grams up to six and word n-grams up to two, F with β = 2."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import accumulate
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from scoring.core.metric import FloatArray, Metric, Statistics, sacrebleu_signature
from scoring.core.ngrams import (
    IntArray,
    key_fits,
    references,
    shared_by_counting,
    shared_ngrams,
    shared_words,
    signed_number,
)
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker

CHARACTERS = 6
WORDS = 2
_ORDERS = CHARACTERS + WORDS
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
    sentence and corpus values are the same numbers that it prints. Of several references the one counts
    by which the entry scores best, the first of equals. Never raises, never null.
    """

    info = metric_info("chrf_plus_plus")
    width = 3 * _ORDERS

    def __init__(self, *, multi_ref: bool = False) -> None:
        self.multi_ref = multi_ref
        """Whether ``variants[]`` are references too."""

    @property
    def signature(self) -> str:
        number = signed_number(multi_ref=self.multi_ref)
        return sacrebleu_signature(f"{number}|case:mixed|eff:yes|nc:6|nw:2|space:no")

    def stats(self, translation: Translation) -> Statistics | None:
        return self.stats_many([translation])[0]

    def stats_many(self, translations: Sequence[Translation]) -> list[Statistics | None]:
        given = [references(item.entry, multi_ref=self.multi_ref) for item in translations]
        rows = _statistics_of_pairs(
            [
                (item.output, reference)
                for item, texts in zip(translations, given, strict=True)
                for reference in texts
            ]
        )
        if len(rows) == len(translations):
            return [*rows]
        return [rows[place] for place in self._nearest(rows, list(map(len, given)))]

    def _nearest(self, rows: Sequence[Statistics], numbers: Sequence[int]) -> list[int]:
        """Return the place of each entry's best row; ``numbers`` says how many rows every entry has."""
        scores = self.values(np.array(rows, dtype=np.float64)).tolist()
        ends = accumulate(numbers)
        return [
            max(range(end - number, end), key=scores.__getitem__)
            for number, end in zip(numbers, ends, strict=True)
        ]

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return which variant the score is by, where it is not the reference."""
        given = references(translation.entry, multi_ref=self.multi_ref)
        rows = _statistics_of_pairs([(translation.output, reference) for reference in given])
        place = self._nearest(rows, [len(rows)])[0]
        if place == 0:
            return ()
        return (f"Measured by variant {place}, the nearest of {len(given)} accepted translations.",)

    def values(self, totals: FloatArray) -> FloatArray:
        outputs, references, shared = totals[:, 0::3], totals[:, 1::3], totals[:, 2::3]
        # effective order: an order that one side is too short for is left out of the mean
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
    """Average shared / counts over the orders that both sides have.

    Added order by order, as sacreBLEU does, so that of two references as good as each other both take the same.
    """
    share = np.where(effective, shared / np.where(counts > 0, counts, 1.0), 0.0)
    return np.asarray(reduce(np.add, share.T) / orders)


_Pair = tuple[str, str]
"""Output and reference."""


def _statistics_of_pairs(pairs: Sequence[_Pair]) -> list[Statistics]:
    rows: list[Statistics] = []
    for start in range(0, len(pairs), _CHUNK):
        rows += _statistics(pairs[start : start + _CHUNK])
    return rows


def _statistics(pairs: Sequence[_Pair]) -> list[Statistics]:
    parts = [_parts(text) for pair in pairs for text in pair]
    words, letters = [part[0] for part in parts], [part[1] for part in parts]
    if any(letters[0::2]):
        shared = np.hstack([_shared_letters(letters), shared_words(words, WORDS)])
    else:  # no output has a letter
        shared = np.zeros((len(pairs), _ORDERS), dtype=np.int64)
    counts = np.hstack([_ngram_counts(letters, CHARACTERS), _ngram_counts(words, WORDS)]).reshape(
        len(pairs), 2, _ORDERS
    )
    possible, expected = counts[:, 0], counts[:, 1]
    # As sacreBLEU counts: of an order that the reference is too short for, the output has no n-grams either.
    rows = np.stack([np.where(expected > 0, possible, 0), expected, shared], axis=2)
    return [tuple(row) for row in rows.reshape(len(pairs), -1).tolist()]


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[list[str], str]:
    """Return the words and the letters of a text; a reference is compared with several outputs at a time."""
    composed = normalize("NFC", text)
    return split_words(composed), "".join(composed.split())


def split_words(text: str) -> list[str]:
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
        return shared_by_counting(letters, CHARACTERS)
    # Each letter is numbered by its rank among those of the chunk, from 1: so a key takes the fewest bits.
    codes = np.frombuffer("".join(letters).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    present = np.zeros(int(codes.max()) + 1, dtype=np.uint64)
    present[codes] = 1
    symbols = int(present.sum())
    if not key_fits(len(letters) // 2, symbols, CHARACTERS):
        return _halved(letters)
    lengths = np.array([len(text) for text in letters])
    return shared_ngrams(np.cumsum(present)[codes], lengths, symbols, CHARACTERS)


def _halved(letters: Sequence[str]) -> IntArray:
    if len(letters) == 2:
        return shared_by_counting(letters, CHARACTERS)
    middle = len(letters) // 4 * 2  # even: an output stays with its reference
    return np.vstack([_shared_letters(letters[:middle]), _shared_letters(letters[middle:])])


METRICS = {
    "chrf_plus_plus": Maker(lambda resources: ChrfPlusPlus(multi_ref=resources.setup.multi_ref))
}
