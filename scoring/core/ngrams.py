"""How many n-grams an output shares with its references, for many outputs at once.

An output and its references are a group; a pair is the smallest. All orders come from one sort: a key packs
the group, the longest n-gram at each place and the side it comes from (0: the output), so that n-grams of
every lower order lie side by side as well. Counts are exact integers.

An output is measured against one reference, or also against its variants (METRICS §1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain

import numpy as np
import numpy.typing as npt

from corpora.model.entry import Entry
from corpora.text.comparison import is_blank


def references(entry: Entry, *, multi_ref: bool) -> tuple[str, ...]:
    """Return the reference and, where the user asks for several, the entry's variants in their order.

    A variant without any text is no translation and is left out: an empty output would be right by it.
    """
    if not multi_ref:
        return (entry.reference,)
    return (entry.reference, *[text for text in entry.variants if not is_blank(text)])


def signed_number(*, multi_ref: bool) -> str:
    """Return ``nrefs`` of a signature; ``var`` as sacreBLEU writes it where entries differ in their number."""
    return "nrefs:var" if multi_ref else "nrefs:1"


IntArray = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint64]

_KEY_BITS = 64
_FEW_WORDS = 60
"""Up to here counting word by word is faster than setting up arrays."""
_MOST_SIDES = 32
"""Beyond this one array of counts for every side would take too much memory."""


def key_fits(groups: int, symbols: int, order: int, sides: int = 2) -> bool:
    """Return whether group, ``order`` symbols and side fit into one 64-bit key."""
    return _bits(groups - 1) + order * _bits(symbols) + _bits(sides - 1) <= _KEY_BITS


def shared_ngrams(
    ids: Ids, lengths: IntArray, symbols: int, order: int, sides: int = 2
) -> IntArray:
    """Count the n-grams that the output of each group shares with its references.

    ``ids`` holds the symbols (1 … ``symbols``) of output 0, its ``sides`` − 1 references, output 1, … one
    after the other, ``lengths`` their lengths. Gives an array (groups, order): the sum over all different
    n-grams of the lesser of the output's count and the largest count in one reference, for n = 1 … order.
    """
    width, side = np.uint64(_bits(symbols)), np.uint64(_bits(sides - 1))
    # Sorted, equal n-grams of a group stand together, and within them the output before its references.
    keys = np.sort(_keys(ids, lengths, width, order, sides))
    grams = keys >> side
    starts = np.flatnonzero(np.concatenate(([True], grams[1:] != grams[:-1])))
    counts = _counts(keys & ((np.uint64(1) << side) - np.uint64(1)), starts, sides)
    return _by_order(grams[starts], counts, width, order, len(lengths) // sides)


def _counts(sides_of: Ids, starts: IntArray, sides: int) -> list[IntArray]:
    """Count what every side has of each n-gram; the n-grams begin at ``starts``."""
    ends = np.append(starts[1:], len(sides_of))
    references = []
    for side in range(1, sides):
        # how many keys of this side come before each place: two of these numbers make a count
        before = np.concatenate(([0], np.cumsum(sides_of == side)))
        references.append(before[ends] - before[starts])
    return [(ends - starts) - sum(references), *references]


def _keys(ids: Ids, lengths: IntArray, width: np.uint64, order: int, sides: int) -> Ids:
    """Pack group, n-gram (0 after the end of its sequence) and side at every place."""
    # Zeros behind each sequence, so that an n-gram at its end never reaches into the next one.
    sequences = np.arange(len(lengths))
    places = np.arange(len(ids)) + np.repeat(sequences * (order - 1), lengths)
    padded = np.zeros(len(ids) + len(lengths) * (order - 1), dtype=np.uint64)
    padded[places] = ids
    keys = np.repeat((sequences // sides).astype(np.uint64), lengths)
    for offset in range(order):
        keys <<= width
        keys |= padded[places + offset]
    keys <<= np.uint64(_bits(sides - 1))
    keys |= np.repeat((sequences % sides).astype(np.uint64), lengths)
    return keys


def _by_order(
    grams: Ids, counts: list[IntArray], width: np.uint64, order: int, groups: int
) -> IntArray:
    """Sum the shared counts, from the longest n-grams down to single symbols."""
    shared = np.zeros((groups, order), dtype=np.int64)
    last = (np.uint64(1) << width) - np.uint64(1)
    for n in range(order, 0, -1):
        lesser = np.minimum(counts[0], reduce(np.maximum, counts[1:]))
        # an n-gram whose last symbol is 0 runs over the end of its sequence: there is none of this length
        met = np.flatnonzero((lesser > 0) & ((grams & last) > 0))
        group = (grams[met] >> (width * np.uint64(n))).astype(np.int64)
        shared[:, n - 1] = np.bincount(group, weights=lesser[met], minlength=groups)
        # Without its last symbol each is an n-gram of one less; still sorted, those that became equal are added.
        grams = grams >> width
        starts = np.flatnonzero(np.concatenate(([True], grams[1:] != grams[:-1])))
        grams = grams[starts]
        counts = [np.add.reduceat(count, starts) for count in counts]
    return shared


def shared_by_counting(sequences: Sequence[Sequence[str]], order: int, sides: int = 2) -> IntArray:
    """Count the same without packed keys: for few symbols, many sides, or too many symbols for a key."""
    starts = range(0, len(sequences), sides)
    rows = [_shared_in_group(sequences[start : start + sides], order) for start in starts]
    return np.array(rows, dtype=np.int64)


def _shared_in_group(group: Sequence[Sequence[str]], order: int) -> list[int]:
    shared = []
    for n in range(1, order + 1):
        here, there = Counter(_grams(group[0], n)), Counter(_grams(group[1], n))
        for reference in group[2:]:
            there |= Counter(_grams(reference, n))
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


def shared_words(lines: Sequence[Sequence[str]], order: int, sides: int = 2) -> IntArray:
    """Count shared word n-grams: ``lines`` are the words of output 0, its references, output 1, …"""
    if sides > _MOST_SIDES or sum(map(len, lines)) <= _FEW_WORDS:
        return shared_by_counting(lines, order, sides)
    ids, lengths, symbols = number_words(lines)
    if not key_fits(len(lines) // sides, symbols, order, sides):
        return shared_by_counting(lines, order, sides)
    return shared_ngrams(ids, lengths, symbols, order, sides)


def _bits(number: int) -> int:
    return max(int(number).bit_length(), 1)
