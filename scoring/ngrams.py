"""How many n-grams two sequences share, for many pairs at once.

All orders come from one sort: a key packs the pair, the longest n-gram at each place and the side it
comes from, so that n-grams of every lower order lie side by side as well. Counts are exact integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint64]

_KEY_BITS = 64
_FEW_WORDS = 60
"""Up to here counting word by word is faster than setting up arrays."""


def key_fits(pairs: int, symbols: int, order: int) -> bool:
    """Say whether pair, ``order`` symbols and side fit into one 64-bit key."""
    return _bits(pairs - 1) + order * _bits(symbols) + 1 <= _KEY_BITS


def shared_ngrams(ids: Ids, lengths: IntArray, symbols: int, order: int) -> IntArray:
    """Count the n-grams that the two sequences of each pair share.

    ``ids`` holds the symbols (1 … ``symbols``) of output 0, reference 0, output 1, … one after the
    other, ``lengths`` their lengths. Gives an array (pairs, order): the sum over all different n-grams
    of the lesser of both counts, for n = 1 … order.
    """
    width = np.uint64(_bits(symbols))
    keys = np.sort(_keys(ids, lengths, width, order))
    starts = np.flatnonzero(np.concatenate(([True], (keys[1:] >> 1) != (keys[:-1] >> 1))))
    sides = np.concatenate(([0], np.cumsum(keys & np.uint64(1)).astype(np.int64)))
    ends = np.append(starts[1:], len(keys))
    outputs = sides[ends] - sides[starts]
    references = (ends - starts) - outputs
    grams = keys[starts] >> np.uint64(1)
    return _by_order(grams, outputs, references, width, order, len(lengths) // 2)


def _keys(ids: Ids, lengths: IntArray, width: np.uint64, order: int) -> Ids:
    """Pack pair, n-gram (0 after the end of its sequence) and side at every place."""
    sequences = np.arange(len(lengths))
    places = np.arange(len(ids)) + np.repeat(sequences * (order - 1), lengths)
    padded = np.zeros(len(ids) + len(lengths) * (order - 1), dtype=np.uint64)
    padded[places] = ids
    keys = np.repeat((sequences >> 1).astype(np.uint64), lengths)
    for offset in range(order):
        keys <<= width
        keys |= padded[places + offset]
    keys <<= np.uint64(1)
    keys |= np.repeat((1 - (sequences & 1)).astype(np.uint64), lengths)
    return keys


def _by_order(
    grams: Ids, outputs: IntArray, references: IntArray, width: np.uint64, order: int, pairs: int
) -> IntArray:
    """Sum the shared counts, from the longest n-grams down to single symbols."""
    shared = np.zeros((pairs, order), dtype=np.int64)
    last = (np.uint64(1) << width) - np.uint64(1)
    for n in range(order, 0, -1):
        lesser = np.minimum(outputs, references)
        met = np.flatnonzero((lesser > 0) & ((grams & last) > 0))
        pair = (grams[met] >> (width * np.uint64(n))).astype(np.int64)
        shared[:, n - 1] = np.bincount(pair, weights=lesser[met], minlength=pairs)
        grams = grams >> width
        starts = np.flatnonzero(np.concatenate(([True], grams[1:] != grams[:-1])))
        grams = grams[starts]
        outputs = np.add.reduceat(outputs, starts)
        references = np.add.reduceat(references, starts)
    return shared


def shared_by_counting(sequences: Sequence[Sequence[str]], order: int) -> IntArray:
    """Count the same without packed keys: for a few short pairs, or an alphabet too large for a key."""
    pairs = zip(sequences[0::2], sequences[1::2], strict=True)
    rows = [_shared_in_pair(output, reference, order) for output, reference in pairs]
    return np.array(rows, dtype=np.int64)


def _shared_in_pair(output: Sequence[str], reference: Sequence[str], order: int) -> list[int]:
    shared = []
    for n in range(1, order + 1):
        here, there = Counter(_grams(output, n)), Counter(_grams(reference, n))
        shared.append(sum(min(count, there[gram]) for gram, count in here.items() if gram in there))
    return shared


def _grams(sequence: Sequence[str], n: int) -> Iterable[object]:
    if isinstance(sequence, str):
        return [sequence[start : start + n] for start in range(len(sequence) - n + 1)]
    return zip(*(sequence[start:] for start in range(n)), strict=False)


def number_words(lines: Sequence[Sequence[str]]) -> tuple[Ids, IntArray, int]:
    """Number the words of all lines from 1: ids, lengths and how many different words there are."""
    flat = list(chain.from_iterable(lines))
    number = {word: place for place, word in enumerate(dict.fromkeys(flat), start=1)}
    ids = np.fromiter(map(number.__getitem__, flat), dtype=np.uint64, count=len(flat))
    return ids, np.array([len(line) for line in lines]), len(number)


def shared_words(lines: Sequence[Sequence[str]], order: int) -> IntArray:
    """Count shared word n-grams: ``lines`` are the words of output 0, reference 0, output 1, …"""
    if sum(map(len, lines)) <= _FEW_WORDS:
        return shared_by_counting(lines, order)
    ids, lengths, symbols = number_words(lines)
    if not key_fits(len(lines) // 2, symbols, order):
        return shared_by_counting(lines, order)
    return shared_ngrams(ids, lengths, symbols, order)


def _bits(number: int) -> int:
    return max(int(number).bit_length(), 1)
