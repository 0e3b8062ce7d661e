"""What a corpus is made of, in counts that show nothing of its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from statistics import median

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from corpora.text.comparison import normal_form, scripts

NOT_GIVEN = "not given"


@dataclass(frozen=True, slots=True)
class SideStatistics:
    """The sources or the references of a corpus."""

    scripts: dict[str, float]
    """Share (0–1) of letters by Unicode script, largest first."""
    median_characters: float
    median_words: float
    """Runs between white space; 1 for scripts that write no spaces."""
    longest: int
    """Characters."""
    normal_forms: dict[str, int]
    """Texts by the canonical normal form they are in."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of entries by what they carry, and the two sides."""

    entries: int
    by_segment: dict[str, int]
    by_difficulty: dict[str, int]
    by_register: dict[str, int]
    by_context: dict[str, int]
    by_provenance: dict[str, int]
    by_variety: dict[str, int]
    by_orthography: dict[str, int]
    with_variants: int
    variants: int
    with_analysis: int
    source: SideStatistics
    reference: SideStatistics


def statistics(corpus: Corpus) -> Statistics:
    """Count what the entries of a corpus carry."""
    entries = corpus.entries
    return Statistics(
        entries=len(entries),
        by_segment=_count(entries, lambda entry: entry.segment),
        by_difficulty=_count(entries, lambda entry: entry.difficulty),
        by_register=_count(entries, lambda entry: entry.register_),
        by_context=_count(entries, lambda entry: entry.context),
        by_provenance=_count(entries, lambda entry: entry.provenance),
        by_variety=_count(entries, lambda entry: entry.variety),
        by_orthography=_count(entries, lambda entry: entry.orthography),
        with_variants=sum(bool(entry.variants) for entry in entries),
        variants=sum(len(entry.variants) for entry in entries),
        with_analysis=sum(bool(entry.morphological_analysis) for entry in entries),
        source=_side([entry.source for entry in entries]),
        reference=_side([entry.reference for entry in entries]),
    )


def _count(entries: Iterable[Entry], of: Callable[[Entry], Hashable]) -> dict[str, int]:
    """Count by value, in order of value, those without one last."""
    counts = Counter(of(entry) for entry in entries)
    missing = counts.pop(None, 0)
    named = {str(value): count for value, count in sorted(counts.items(), key=lambda i: str(i[0]))}
    return named | ({NOT_GIVEN: missing} if missing else {})


def _side(texts: list[str]) -> SideStatistics:
    lengths = [len(text) for text in texts]
    return SideStatistics(
        scripts=scripts(texts),
        median_characters=float(median(lengths)),
        median_words=float(median(len(text.split()) for text in texts)),
        longest=max(lengths),
        normal_forms=dict(Counter(normal_form(text).value for text in texts)),
    )
