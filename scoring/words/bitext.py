"""What a corpus itself shows of its two languages: frequent words, and which words translate which.

Word links learned from a corpus' own sentence pairs: IBM model 1.

The model asks, for each source word, how likely each target word is as its translation, and needs nothing but
pairs: no tool, no download, no language knowledge. Source: Brown et al. 1993, “The Mathematics of Statistical
Machine Translation”, model 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from corpora.model.entry import Entry
from scoring.core.metric import FloatArray
from scoring.words.reading import Reader, stem

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
        # expectation: each target token is shared out over the source tokens of its sentence
        share = probability[kind]
        share /= np.bincount(token, share)[token]
        # maximisation: what each source word got, as shares of all that it got
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


FREQUENT = 0.02
"""Share of texts from which a word counts as a function word: it tells nothing of what a text is about."""
LEAST_TEXTS = 3
"""In a small corpus a word of two texts is not yet frequent."""

SIGNATURE = f"stem:5|function-words:>{FREQUENT:.0%},>={LEAST_TEXTS}"


class Bitext:
    """A corpus with the readers of its two languages; everything is worked out where first used."""

    def __init__(
        self, source: Reader, target: Reader, entries: Sequence[Entry], pairs: Sequence[Entry]
    ) -> None:
        """Initialise with the entries of a run and the development entries of its corpus (none that is secret)."""
        self.source, self.target = source, target
        self._texts = list({entry.id: entry for entry in (*entries, *pairs)}.values())
        self._pairs = pairs

    @cached_property
    def source_frequencies(self) -> Counter[str]:
        """In how many sources each folded word stands."""
        return _frequencies(self.source, (entry.source for entry in self._texts))

    @cached_property
    def target_frequencies(self) -> Counter[str]:
        """In how many references and variants each folded word stands."""
        texts = (text for entry in self._texts for text in (entry.reference, *entry.variants))
        return _frequencies(self.target, texts)

    @cached_property
    def source_function_words(self) -> frozenset[str]:
        """Frequent words of the sources."""
        return _function_words(self.source_frequencies, len(self._texts))

    @cached_property
    def target_function_words(self) -> frozenset[str]:
        """Frequent words of the references."""
        references = self.target_frequencies
        if any(entry.variants for entry in self._texts):
            references = _frequencies(self.target, (entry.reference for entry in self._texts))
        return _function_words(references, len(self._texts))

    @cached_property
    def alignment(self) -> Alignment | None:
        """Links between stems of content words; None under LEAST_PAIRS pairs."""
        pairs = alignable(self._pairs)
        if len(pairs) < LEAST_PAIRS:
            return None
        sources = _content(self.source, self.source_function_words, (pair.source for pair in pairs))
        targets = _content(
            self.target, self.target_function_words, (pair.reference for pair in pairs)
        )
        return Alignment(list(zip(sources, targets, strict=True)))


def alignable(pairs: Sequence[Entry]) -> list[Entry]:
    """Return the pairs from which an alignment is learned: with two texts, never secret, the first 5,000."""
    pairs_with_text = (
        entry
        for entry in pairs
        if not entry.secret and entry.source.strip() and entry.reference.strip()
    )
    return list(pairs_with_text)[:MOST_PAIRS]


def alignment_name(pairs: Sequence[Entry]) -> str | None:
    """Name the alignment that these pairs give, for ``ScoringSetup.alignment``; None where they give none."""
    number = len(alignable(pairs))
    return model_name(number) if number >= LEAST_PAIRS else None


def _content(
    reader: Reader, function_words: frozenset[str], texts: Iterable[str]
) -> Iterator[list[str]]:
    """Yield the stems of the content words of each text."""
    for text in texts:
        yield [stem(word) for word in reader.read(text).words if word not in function_words]


def _frequencies(reader: Reader, texts: Iterable[str]) -> Counter[str]:
    frequencies: Counter[str] = Counter()
    for text in texts:
        frequencies.update(reader.distinct(text))
    return frequencies


def _function_words(frequencies: Counter[str], texts: int) -> frozenset[str]:
    least = max(LEAST_TEXTS, FREQUENT * texts)
    return frozenset(word for word, number in frequencies.items() if number >= least)
