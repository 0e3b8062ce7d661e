"""What a corpus itself tells of its two languages: frequent words, and which words translate which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from corpora.entry import Entry
from scoring.alignment import LEAST_PAIRS, MOST_PAIRS, Alignment, model_name
from scoring.reading import Reader, Reading, stem

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
        """Take the entries of a run and the development entries of its corpus (none that is secret)."""
        self.source, self.target = source, target
        self._texts = list({entry.id: entry for entry in (*entries, *pairs)}.values())
        self._pairs = pairs

    @cached_property
    def source_frequencies(self) -> Counter[str]:
        """In how many sources each folded word stands."""
        return _frequencies(self.source.read(entry.source) for entry in self._texts)

    @cached_property
    def target_frequencies(self) -> Counter[str]:
        """In how many references and variants each folded word stands."""
        texts = (text for entry in self._texts for text in (entry.reference, *entry.variants))
        return _frequencies(self.target.read(text) for text in texts)

    @cached_property
    def source_function_words(self) -> frozenset[str]:
        """Frequent words of the sources."""
        return _function_words(self._texts, (entry.source for entry in self._texts), self.source)

    @cached_property
    def target_function_words(self) -> frozenset[str]:
        """Frequent words of the references."""
        return _function_words(self._texts, (entry.reference for entry in self._texts), self.target)

    @cached_property
    def alignment(self) -> Alignment | None:
        """Links between stems of content words; None under LEAST_PAIRS pairs."""
        pairs = alignable(self._pairs)
        if len(pairs) < LEAST_PAIRS:
            return None
        return Alignment(
            [(self._source_stems(entry), self._target_stems(entry)) for entry in pairs]
        )

    def _source_stems(self, entry: Entry) -> list[str]:
        words = self.source.read(entry.source).words
        return [stem(word) for word in words if word not in self.source_function_words]

    def _target_stems(self, entry: Entry) -> list[str]:
        words = self.target.read(entry.reference).words
        return [stem(word) for word in words if word not in self.target_function_words]


def alignable(pairs: Sequence[Entry]) -> list[Entry]:
    """Give the pairs from which an alignment is learned: with two texts, never secret, the first 5,000."""
    found = (
        entry
        for entry in pairs
        if not entry.secret and entry.source.strip() and entry.reference.strip()
    )
    return list(found)[:MOST_PAIRS]


def alignment_name(pairs: Sequence[Entry]) -> str | None:
    """Name the alignment that these pairs give, for ``ScoringSetup.alignment``; None where they give none."""
    number = len(alignable(pairs))
    return model_name(number) if number >= LEAST_PAIRS else None


def _frequencies(readings: Iterable[Reading]) -> Counter[str]:
    frequencies: Counter[str] = Counter()
    for reading in readings:
        frequencies.update(reading.distinct)
    return frequencies


def _function_words(
    entries: Sequence[Entry], texts: Iterable[str], reader: Reader
) -> frozenset[str]:
    least = max(LEAST_TEXTS, FREQUENT * len(entries))
    frequencies = _frequencies(map(reader.read, texts))
    return frozenset(word for word, number in frequencies.items() if number >= least)
