"""Word links learned from a corpus' own sentence pairs: IBM model 1.

The model asks, for each source word, how likely each target word is as its translation, and needs nothing but
pairs: no tool, no download, no language knowledge. Source: Brown et al. 1993, “The Mathematics of Statistical
Machine Translation”, model 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from scoring.core.metric import FloatArray

LEAST_PAIRS = 200
"""With fewer pairs nearly every word is seen once, and one sight links it to all words around it."""
MOST_PAIRS = 5000
ROUNDS = 5
LEAST_LINK = 0.01
"""Probability from which a target word counts as a translation of a source word."""

IntArray = npt.NDArray[np.int64]


def model_name(pairs: int) -> str:
    """Name the model and its size, as ``ScoringSetup.alignment`` has it."""
    return f"IBM model 1, {ROUNDS} rounds, links from {LEAST_LINK}, {pairs:,} pairs"


class Alignment:
    """Which target words are translations of which source words."""

    def __init__(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
        """Learn from (source words, target words) of each pair; a pair with an empty side is left out.

        The same pairs in the same order give the same links.
        """
        full = [(source, target) for source, target in pairs if source and target][:MOST_PAIRS]
        self.pairs = len(full)
        """How many pairs it was learned from."""
        self._sources = ["", *sorted(set(chain.from_iterable(source for source, _ in full)))]
        targets = sorted(set(chain.from_iterable(target for _, target in full)))
        self._targets = {word: place for place, word in enumerate(targets)}
        number = {word: place for place, word in enumerate(self._sources)}
        source, target, probability = ibm1(
            [[0, *(number[word] for word in words)] for words, _ in full],
            [[self._targets[word] for word in words] for _, words in full],
        )
        kept = np.flatnonzero((probability >= LEAST_LINK) & (source > 0))
        kept = kept[np.argsort(target[kept], kind="stable")]
        self._linked = [self._sources[number] for number in source[kept].tolist()]
        self._probability = probability[kept].tolist()
        self._first = np.searchsorted(target[kept], np.arange(len(targets) + 1)).tolist()
        self._known: dict[str, Mapping[str, float]] = {}

    def links(self, target: str) -> Mapping[str, float]:
        """Return the source words that a target word translates, with the probability of each, 0–1."""
        if target not in self._targets:
            return {}
        if target not in self._known:
            self._known[target] = self._read(self._targets[target])
        return self._known[target]

    def _read(self, place: int) -> Mapping[str, float]:
        span = slice(self._first[place], self._first[place + 1])
        return dict(zip(self._linked[span], self._probability[span], strict=True))


def ibm1(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], rounds: int = ROUNDS
) -> tuple[IntArray, IntArray, FloatArray]:
    """Estimate t(target word | source word) by expectation maximisation from a uniform start.

    Sentences are sequences of word numbers, none empty; a null word is a source word like any other. Gives
    source words, target words and probabilities of every pair of words that stand together in a sentence pair.
    """
    if not sources:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    token, key, words = _pairings(sources, targets)
    pairs, kind = np.unique(key, return_inverse=True)
    source, target = np.divmod(pairs, words)
    probability = np.full(len(pairs), 1.0 / words)
    for _ in range(rounds):
        share = probability[kind]
        share /= np.bincount(token, share)[token]
        counted = np.bincount(kind, share, len(pairs))
        probability = counted / np.bincount(source, counted)[source]
    return source, target, probability


def _pairings(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> tuple[IntArray, IntArray, int]:
    """Pair each target token with each source token of its sentence.

    Gives the number of the target token, the pair of words as one number, and the number of target words.
    """
    source, source_sizes = _flat(sources)
    target, target_sizes = _flat(targets)
    sizes = np.repeat(source_sizes, target_sizes)
    begins = np.repeat(np.cumsum(source_sizes) - source_sizes, target_sizes)
    token = np.repeat(np.arange(len(target)), sizes)
    place = np.arange(len(token)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    words = int(target.max()) + 1
    return token, source[begins[token] + place] * words + target[token], words


def _flat(sentences: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    listed = list(sentences)
    sizes = np.fromiter(map(len, listed), np.int64, len(listed))
    return np.fromiter(chain.from_iterable(listed), np.int64, int(sizes.sum())), sizes
