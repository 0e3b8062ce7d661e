"""Outputs that fail in part: what a mean hides, told with its share beside every score (DESIGN T2).

A method that drops most words, adds as many, repeats one sentence or leaves the source as it is may still
earn a fair composite from the rest. Counted entry by entry, so that a run knows its caveats while it continues.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING
from unicodedata import normalize

from corpora.files.packed_list import HashSet
from corpora.text.comparison import bare_form

if TYPE_CHECKING:
    from corpora.model.entry import Entry
    from scoring.core.metric import EntryStatistics

LEAST_SHARE = 0.25
"""Share of the entries from which a caveat is told."""
MOST_IDENTICAL = 0.5
"""Share of one text among the outputs beyond which they are mostly one and the same."""
SHORT, LONG = 0.5, 2.0
"""Length of an output / length of its reference that is out of range below, and above."""
FEWEST_WORDS = 4
"""Shorter references say nothing about the order of words."""
MOST_IN_ORDER = 0.25
"""Share of neighbours in order up to which the order of words is destroyed. Measured on 1,000 sentences: 2.8 % and 4.3 % of
a rule-based translator (English–Spanish, Spanish–English); of shuffled references 89–99 % in ten corpora, and 54 % in the
demonstration, whose sentences are short."""


class CaveatKind(StrEnum):
    """The ways in which outputs fail, in the order in which they are shown."""

    REPEATED = "repeated"
    """One text stands for several sources, digits and punctuation aside."""
    SHORT = "short"
    """Empty, or less than half as long as the reference."""
    LONG = "long"
    """More than twice as long as the reference."""
    UNTRANSLATED = "untranslated"
    """The source copied, or most words left in its language."""
    DISORDERED = "disordered"
    """The words of the reference in destroyed order; not counted in languages of free word order."""


@dataclass(frozen=True, slots=True)
class Caveat:
    """One way in which a part of the outputs fails."""

    kind: CaveatKind
    share: float
    """Of the entries; where one text is repeated of the distinct sources, for the order of words of those whose
    reference has four words or more; 0–1."""
    entries: int
    """How many that are."""
    of: int
    threshold: float
    """The share from which it is told."""


class OutputTally:
    """Counts over the outputs of a run so far what their caveats are."""

    def __init__(self, *, free_word_order: bool = False) -> None:
        self._order_counts = not free_word_order
        self._entries = self._ordered = 0
        self._counts: Counter[CaveatKind] = Counter()
        self._sources = HashSet()
        self._outputs = _Repetition()
        self._references = _Repetition()

    def add(self, entries: Iterable[Entry], outputs: Iterable[str], statistics: Iterable[EntryStatistics]) -> None:
        """Count outputs in; all three go by entry. Without code-switching only copies of the source count."""
        for entry, output, taken in zip(entries, outputs, statistics, strict=True):
            self._entries += 1
            source = bare_form(entry.source)
            self._sources.add(source)
            self._outputs.add(output, source)
            self._references.add(entry.reference, source)
            length = len(normalize("NFC", entry.reference))
            ratio = len(normalize("NFC", output)) / length if length else 1.0
            self._counts[CaveatKind.SHORT] += ratio < SHORT
            self._counts[CaveatKind.LONG] += ratio > LONG
            switched, form = taken.get("code_switching_rate"), bare_form(output)
            copied = bool(form) and form == source != bare_form(entry.reference)
            foreign = switched is not None and switched[0] * 2 > switched[1]
            self._counts[CaveatKind.UNTRANSLATED] += foreign or copied
            if self._order_counts and len(bare_form(entry.reference).split()) >= FEWEST_WORDS:
                self._ordered += 1
                texts = (entry.reference, *entry.variants)
                disordered = all(is_disordered(output, text) for text in texts)
                self._counts[CaveatKind.DISORDERED] += disordered

    @property
    def identical(self) -> bool:
        """True where one text makes up more than half of the outputs and the references do not repeat as much.

        Empty outputs are left out: they are failures, and they earn nothing.
        """
        share = self._outputs.largest_share
        return share > MOST_IDENTICAL and share > self._references.largest_share

    def caveats(self) -> tuple[Caveat, ...]:
        """Return the caveats so far, each with its share."""
        # the distinct sources that got one text; 0 where the references repeat as much
        repeated = self._outputs.most_sources
        repeated = repeated if repeated > max(1, self._references.most_sources) else 0
        counts = {**self._counts, CaveatKind.REPEATED: repeated}
        of = {CaveatKind.REPEATED: len(self._sources), CaveatKind.DISORDERED: self._ordered}
        counted = ((kind, counts.get(kind, 0), of.get(kind, self._entries)) for kind in CaveatKind)
        return tuple(
            Caveat(kind, number / of, number, of, LEAST_SHARE)
            for kind, number, of in counted
            if number and number / of >= LEAST_SHARE
        )


class _Repetition:
    """Counts how often each text comes, and for how many distinct sources.

    Only hashes are kept, and counts of the texts that come again: of 100,000 entries the texts would take 100 MB.
    """

    def __init__(self) -> None:
        self._texts, self._pairs = HashSet(), HashSet()
        self._again: Counter[int] = Counter()
        """How often a text came after its first time, by its hash."""
        self._sources: Counter[int] = Counter()
        """For how many further sources."""
        self._number = self._most = 0
        self.most_sources = 0
        """Distinct sources of the text that has most of them."""

    def add(self, text: str, source: str) -> None:
        """Count one text in, unless nothing of it can be seen."""
        form = bare_form(text)
        if not form:
            return
        key = hash(form)
        new, new_pair = self._texts.add(form), self._pairs.add((form, source))
        self._number += 1
        if not new:
            self._again[key] += 1
            self._sources[key] += new_pair
        self._most = max(self._most, 1 + self._again.get(key, 0))
        self.most_sources = max(self.most_sources, 1 + self._sources.get(key, 0))

    @property
    def largest_share(self) -> float:
        """Share of the most frequent text, 0 for a single one."""
        return self._most / self._number if self._number > 1 else 0.0


def is_disordered(output: str, reference: str) -> bool:
    """Return whether an output has half of the reference's words, four at least, in destroyed order.

    The shared words are numbered by their place in the reference. For the reference "a b c d e" and the output
    "e c x d b" the numbers are 3 1 2 0: one of three neighbours (1 2) is in order, which is more than a quarter.
    """
    positions: defaultdict[str, deque[int]] = defaultdict(deque)
    words = bare_form(reference).split()
    for position, word in enumerate(words):
        positions[word].append(position)
    given = bare_form(output).split()
    shared = [positions[word].popleft() for word in given if positions.get(word)]
    if len(shared) < max(FEWEST_WORDS, len(words) / 2):
        return False
    rank = {position: number for number, position in enumerate(sorted(shared))}
    ranks = [rank[position] for position in shared]
    in_order = sum(second == first + 1 for first, second in pairwise(ranks))
    return in_order <= MOST_IN_ORDER * (len(ranks) - 1)
