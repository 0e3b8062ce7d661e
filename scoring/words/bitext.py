"""What a corpus itself tells of its two languages: frequent words, and which words translate which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from corpora.model.entry import Entry
from scoring.words.alignment import LEAST_PAIRS, MOST_PAIRS, Alignment, model_name
from scoring.words.reading import Reader, Reading, stem

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
        return _function_words(self.source_frequencies, len(self._texts))

    @cached_property
    def target_function_words(self) -> frozenset[str]:
        """Frequent words of the references."""
        references = _frequencies(self.target.read(entry.reference) for entry in self._texts)
        return _function_words(references, len(self._texts))

    @cached_property
    def alignment(self) -> Alignment | None:
        """Links between stems of content words; None under LEAST_PAIRS pairs."""
        pairs = alignable(self._pairs)
        if len(pairs) < LEAST_PAIRS:
            return None
        sources = _content(self.source, self.source_function_words, (each.source for each in pairs))
        targets = _content(
            self.target, self.target_function_words, (each.reference for each in pairs)
        )
        return Alignment(list(zip(sources, targets, strict=True)))


def alignable(pairs: Sequence[Entry]) -> list[Entry]:
    """Return the pairs from which an alignment is learned: with two texts, never secret, the first 5,000."""
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


def _content(
    reader: Reader, function_words: frozenset[str], texts: Iterable[str]
) -> Iterator[list[str]]:
    """Yield the stems of the content words of each text."""
    for text in texts:
        yield [stem(word) for word in reader.read(text).words if word not in function_words]


def _frequencies(readings: Iterable[Reading]) -> Counter[str]:
    frequencies: Counter[str] = Counter()
    for reading in readings:
        frequencies.update(reading.distinct)
    return frequencies


def _function_words(frequencies: Counter[str], texts: int) -> frozenset[str]:
    least = max(LEAST_TEXTS, FREQUENT * texts)
    return frozenset(word for word, number in frequencies.items() if number >= least)
