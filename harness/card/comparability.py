"""Ids of entries as they are on cards, and the hash by which runs over the same entries are found."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from corpora.model.entry import EntryId


NO_SEGMENT = "no segment"  # What is in place of a segment for entries without one
_SAFE_INTEGER = 2**53 - 1


def card_id(entry_id: EntryId) -> EntryId:
    """Return an id as it is on a card: a whole number that JSON readers would round is a string."""
    if isinstance(entry_id, int) and abs(entry_id) > _SAFE_INTEGER:
        return str(entry_id)
    return entry_id


def ids_sha256(ids: Any) -> str:
    """Return the hash over a run's entry ids in any order, by which runs on the same entries are found."""
    return hashlib.sha256("\n".join(sorted(map(json.dumps, ids))).encode()).hexdigest()


# ---- The command that makes two runs comparable, where there is one; light enough for lists of
# runs.


class ScoredTerms(NamedTuple):
    """A run by its short id, and the terms with which it was scored."""

    run: str
    sha256: str | None  # None for a run without terms and coaching


def terms_remedy(first: ScoredTerms, second: ScoredTerms) -> str:
    """Return the command that scores one run with the terms of the other, if only one has any; else an empty text."""
    for run, other in ((first, second), (second, first)):
        if other.sha256 and not run.sha256:
            return f"; `rosetta score --rescore {run.run} --terms FILE`, with the terms or coaching of run {other.run}, makes them comparable"
    return ""
