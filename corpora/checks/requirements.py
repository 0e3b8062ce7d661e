"""What a corpus needs before its numbers mean something (benchmark-specification §11.1, §2.3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from corpora.model.raw import RECORD


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


def requirements(corpus: Corpus) -> list[Requirement]:
    """Compare a corpus with the seven minimum requirements, and held_out with its size if it is there."""
    segments = Counter(entry.segment for entry in corpus.entries)
    rows = [
        Requirement("gold_standard entries", 50, segments[Segment.GOLD_STANDARD]),
        Requirement("development entries", 30, segments[Segment.DEVELOPMENT]),
        Requirement("diagnostic entries", 10, segments[Segment.DIAGNOSTIC]),
        _provenance(corpus),
        _tiers(corpus),
        _registers(corpus),
        _consent(corpus),
    ]
    if segments[Segment.HELD_OUT]:
        rows.append(Requirement("held_out entries", 10, segments[Segment.HELD_OUT]))
    return rows


def _provenance(corpus: Corpus) -> Requirement:
    documented = sum(
        bool(entry.provenance or (entry.model_extra or {}).get(RECORD)) for entry in corpus.entries
    )
    return Requirement("entries with provenance", len(corpus.entries), documented)


def _tiers(corpus: Corpus) -> Requirement:
    tiers = sorted({entry.difficulty for entry in corpus.entries if entry.difficulty is not None})
    return Requirement("difficulty tiers", 3, len(tiers), ", ".join(map(str, tiers)))


def _registers(corpus: Corpus) -> Requirement:
    registers = {entry.register_ for entry in corpus.entries if entry.register_}
    return Requirement("registers", 2, len(registers))


def _consent(corpus: Corpus) -> Requirement:
    documented = bool((corpus.dataset.model_extra or {}).get("consent"))
    note = "documented in dataset.consent" if documented else "not documented"
    return Requirement("community consent", 1, int(documented), note)
