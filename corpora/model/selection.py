"""Which entries of a corpus take part in a run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from corpora.files.problems import Findings, shown
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, EntryId, Segment


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters, then a sample, then a limit; the empty selection takes every entry."""

    segments: tuple[Segment, ...] = ()
    difficulties: tuple[int, ...] = ()
    entry_ids: tuple[EntryId, ...] = ()
    """Text from a command line also names the entry whose id is that number."""
    limit: int | None = None
    """At most so many, the first in the order of the corpus."""
    sample: int | None = None
    """So many at random; all where there are fewer."""
    seed: int = 0

    def apply(self, corpus: Corpus) -> tuple[int, ...]:
        """Return the positions of the chosen entries, in the order of the corpus.

        Raises CorpusError for an id that is not there, and for a filter that leaves nothing.
        """
        findings = Findings(corpus.dataset.id)
        self._check(findings)
        chosen = list(range(len(corpus.entries)))
        if self.entry_ids:
            wanted = self._wanted(corpus, findings)
            chosen = [at for at in chosen if str(corpus.entries[at].id) in wanted]
        chosen = self._by_segment(corpus, chosen, findings)
        chosen = self._by_difficulty(corpus, chosen, findings)
        if self.sample is not None:
            chosen = sorted(
                sorted(chosen, key=lambda at: self._lot(corpus.entries[at]))[: self.sample]
            )
        return tuple(chosen[: self.limit])

    def _check(self, findings: Findings) -> None:
        for name, number in (("limit", self.limit), ("sample", self.sample)):
            if number is not None and number < 1:
                findings.error("It must be at least 1.", "Give a larger number.", field=name)
        for tier in self.difficulties:
            if not 1 <= tier <= 5:
                findings.error("There are tiers 1 to 5.", "Give one of these.", field="difficulty")
        findings.stop_if_failed()

    def _wanted(self, corpus: Corpus, findings: Findings) -> set[str]:
        wanted = dict.fromkeys(str(each) for each in self.entry_ids)
        present = dict.fromkeys(str(entry.id) for entry in corpus.entries)
        few = ", ".join(shown(each) for each in list(present)[:3])
        for each in wanted:
            if each not in present:
                findings.error(
                    f"No entry has the id {shown(each)}.",
                    f"Give ids of the file; it begins with {few}.",
                    entry=each,
                )
        findings.stop_if_failed()
        return set(wanted)

    def _by_segment(self, corpus: Corpus, chosen: list[int], findings: Findings) -> list[int]:
        if not self.segments:
            return chosen
        left = [at for at in chosen if corpus.entries[at].segment in self.segments]
        named = ", ".join(self.segments)
        _refuse_nothing(left, chosen, f"the segment filter ({named})", "segment", findings)
        return left

    def _by_difficulty(self, corpus: Corpus, chosen: list[int], findings: Findings) -> list[int]:
        if not self.difficulties:
            return chosen
        left = [at for at in chosen if corpus.entries[at].difficulty in self.difficulties]
        named = ", ".join(map(str, self.difficulties))
        _refuse_nothing(left, chosen, f"the difficulty filter ({named})", "difficulty", findings)
        return left

    def _lot(self, entry: Entry) -> bytes:
        """Draw a lot that depends on seed and id only, so that every Python draws the same."""
        return hashlib.sha256(f"{self.seed}:{entry.id}".encode()).digest()


def _refuse_nothing(
    left: list[int], before: list[int], what: str, field: str, findings: Findings
) -> None:
    if not left:
        findings.error(
            f"No entry is left: {what} matches none of the {len(before)} entries before it.",
            "`rosetta corpus show` counts what there is; choose something else.",
            field=field,
        )
        raise findings.failure()
