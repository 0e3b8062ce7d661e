"""What a corpus needs before its numbers mean something (benchmark-specification §11.1, §2.3).

Also what a corpus is made of, in counts that show nothing of its texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Final

from corpora.model.corpus import RECORD, Corpus
from corpora.model.entry import Entry, Segment
from corpora.model.task import TRANSLATION
from corpora.model.task_records import RECORDS
from corpora.text.comparison import normal_form, scripts

NOT_GIVEN = "not given"

LEAST: Final = {Segment.GOLD_STANDARD: 50, Segment.DEVELOPMENT: 30, Segment.DIAGNOSTIC: 10, Segment.HELD_OUT: 10}
"""Fewest entries of each segment (§2.3); held_out only where it is there."""
LEAST_TIERS: Final = 3
LEAST_REGISTERS: Final = 2


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
    fields: dict[str, int]
    """Field of the task's records, beside source and reference → entries that have it; none of translations."""


def statistics(corpus: Corpus) -> Statistics:
    """Count what the entries of a corpus carry."""
    entries = corpus.reveal_here()
    task = corpus.dataset.task
    known = [] if task == TRANSLATION else RECORDS[task].model_fields
    given = [entry.model_extra or {} for entry in entries]
    counts = {name: sum(fields.get(name) is not None for fields in given) for name in known}
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
        fields={name: count for name, count in sorted(counts.items()) if count},
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


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row of the table: how much is needed and how much there is."""

    name: str
    needed: int
    found: int
    note: str = ""

    @property
    def met(self) -> bool:
        """True where there is enough."""
        return self.found >= self.needed

    @property
    def short_by(self) -> int:
        """How much is missing, 0 where it is met."""
        return max(0, self.needed - self.found)


@dataclass(frozen=True, slots=True)
class ConsentStanding:
    """Whether the community's consent is documented; ``harness.consent.given`` looks at its signature."""

    documented: bool
    note: str


def requirements(corpus: Corpus, consent: ConsentStanding) -> list[Requirement]:
    """Compare a corpus with the seven minimum requirements, and held_out with its size if it is there.

    They are of translations; corpora of other tasks have none.
    """
    if corpus.dataset.task != TRANSLATION:
        return []
    entries = corpus.reveal_here()
    segments = Counter(entry.segment for entry in entries)
    # Count entries with a provenance; what stayed closed in a vault cannot be examined.
    opened = [entry for entry in entries if not entry.not_stored]
    records = [entry.provenance or (entry.model_extra or {}).get(RECORD) for entry in opened]
    documented = sum(map(bool, records))
    closed = len(entries) - len(opened)
    note = f"{closed} closed ones not examined" if closed else ""
    tiers = sorted({entry.difficulty for entry in entries if entry.difficulty is not None})
    registers = {entry.register_ for entry in entries if entry.register_}
    sizes = {one: Requirement(f"{one} entries", LEAST[one], segments[one]) for one in LEAST}
    held_out = sizes.pop(Segment.HELD_OUT)
    rows = [
        *sizes.values(),
        Requirement("entries with provenance", len(opened), documented, note),
        Requirement("difficulty tiers", LEAST_TIERS, len(tiers), ", ".join(map(str, tiers))),
        Requirement("registers", LEAST_REGISTERS, len(registers)),
        Requirement("community consent", 1, int(consent.documented), consent.note),
    ]
    return [*rows, held_out] if held_out.found else rows


LOOKED_OVER: Final = frozenset({"agreed", "corrected"})
"""What a second speaker may have said of an entry's translation, as ``speakers`` of the entry has it."""


@dataclass(frozen=True, slots=True)
class LookedOver:
    """How many entries a second speaker looked over."""

    entries: int
    of: int
    """Entries whose ``speakers`` can be read; what stayed closed in a vault cannot."""
    closed: int


def looked_over(corpus: Corpus) -> LookedOver | None:
    """Count the entries that a second speaker looked over, as their ``speakers`` say; None where no entry says who spoke."""
    opened = [entry for entry in corpus.reveal_here() if not entry.not_stored]
    stated = [(entry.model_extra or {}).get("speakers") for entry in opened]
    if not any(stated):
        return None
    number = 0
    for speakers in stated:
        known = [one for one in speakers if isinstance(one, dict)] if isinstance(speakers, list) else []
        number += any(one.get("outcome") in LOOKED_OVER for one in known)
    return LookedOver(number, len(opened), len(corpus.entries) - len(opened))
