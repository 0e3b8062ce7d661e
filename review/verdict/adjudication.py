"""The blind queue: items that were flagged or that split the panel, without system and without names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from review.log.payloads import Adjudicate
from review.log.state import Adjudication, State
from review.rating import RANKS
from review.verdict.add_up import is_split
from review.verdict.counted import counted
from review.verdict.key import AnswerKey


@dataclass(frozen=True, slots=True)
class Case:
    """One item to decide about."""

    item: str
    batch: str
    """Where it was rated."""
    flags: int
    """People who call it harmful or culturally wrong."""
    counts: tuple[int, int, int, int]
    """How many people gave each rating, from reject to excellent."""
    cannot_judge: int
    decided: Adjudication | None
    """The last word so far."""

    @property
    def is_split(self) -> bool:
        """Whether ratings lie two steps apart or more."""
        return is_split(self.counts)

    @property
    def is_open(self) -> bool:
        """Whether a flag waits for a decision."""
        return self.flags > 0 and (self.decided is None or self.decided.harmful is None)


def queue(state: State, key: AnswerKey) -> list[Case]:
    """Give the cases of all runs of a review: flagged ones first, in an order that tells nothing of the run.

    Controls are left out: they were spoilt on purpose.
    """
    cases = [case for case in _cases(state, key) if case.flags or case.is_split or case.decided]
    return sorted(cases, key=lambda case: (not case.flags, sha256(case.item.encode()).digest()))


def _cases(state: State, key: AnswerKey) -> Iterator[Case]:
    heard = counted(state, key)
    for item, about in key.items.items():
        if about.control is not None:
            continue
        counts, flags, unjudged, batch = [0] * RANKS, 0, 0, key.batches[0]
        for _, place, said in heard:
            judged = said.judgements.get(item)
            if judged is not None:
                batch = place
                unjudged += judged.rating is None
                if judged.rating is not None:
                    counts[judged.rating.rank] += 1
            flags += item in said.harmful
        four = (counts[0], counts[1], counts[2], counts[3])
        yield Case(item, batch, flags, four, unjudged, state.adjudications.get(item))


def decisions(case: Case, harmful: bool | None, note: str, wall: str) -> list[Adjudicate]:
    """Give the events of a decision; None for ``harmful`` leaves what was decided and only adds a note.

    Note and decision are two events, because evidence of a verdict must hold the decision and no text. The
    decision comes last, for the last word counts.
    """
    about = {"wall": wall, "batch": case.batch, "item": case.item}
    said = [Adjudicate(**about, harmful=None, note=note)] if note else []
    before = None if case.decided is None else case.decided.harmful
    decided = before if harmful is None else harmful
    return said if decided is None else [*said, Adjudicate(**about, harmful=decided, note="")]
