"""Which runs do not compare with others, and why not."""

from __future__ import annotations

from collections.abc import Sequence

from corpora.model.entry import EntryId
from harness.compare.rows import CorpusRow, OrderedRun

_TEXTS = slice(CorpusRow._fields.index("source"), CorpusRow._fields.index("reference") + 1)
"""Where an entry has the numbers of its texts."""


def refusals(
    read: Sequence[OrderedRun], first: OrderedRun
) -> tuple[dict[str, str], tuple[EntryId, ...]]:
    """Find the runs that do not compare with the first usable one, and the entries that all others have."""
    refused: dict[str, str] = {}
    common = [row.entry.id for row in first.rows]
    for side in read:
        why = _why_refused(side, first, common)
        if why is None:
            there = side.by_id
            common = [id_ for id_ in common if id_ in there]
        else:
            refused[side.run.run_id] = why
    return refused, tuple(common)


def _why_refused(side: OrderedRun, first: OrderedRun, common: Sequence[EntryId]) -> str | None:
    if not side.rows:
        return _why_empty(side)
    if side.sha256 != first.sha256:
        return (
            f"its corpus is another: {side.run.dataset_id} (sha256 {side.sha256[:12]}), not "
            f"{first.run.dataset_id} (sha256 {first.sha256[:12]}) as of run {first.run.run_id[:8]}"
        )
    by_id = side.by_id
    if len(by_id) < len(side.rows):
        return "several of its entries have the same id, so they cannot be told from each other"
    both = [id_ for id_ in common if id_ in by_id]
    if not both:
        return "it has no entry in common with the runs before it"
    texts = first.by_id
    if side is not first and any(
        by_id[id_].entry[_TEXTS] != texts[id_].entry[_TEXTS] for id_ in both
    ):
        return (
            f"its entries have other sources or references than those of run {first.run.run_id[:8]}, "
            "although the file is the same: it was read in another form"
        )
    return None


def _why_empty(side: OrderedRun) -> str:
    if side.withheld:
        return (
            f"its card came without the texts of its {side.withheld:,} secret entries, so their scores "
            "cannot be compared here; compare where the run was made"
        )
    return "none of its entries is done yet"
