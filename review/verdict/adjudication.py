"""The blind queue: items that were flagged or that split the panel, without system and without names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from harness.failures import UsageError
from harness.store.texts import storable
from review.log.payloads import MOST_TEXT, Adjudicate
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
    def harmful(self) -> bool | None:
        """What was decided last: upheld, cleared, or None."""
        return None if self.decided is None else self.decided.harmful

    @property
    def may_be_decided(self) -> bool:
        """Whether there is something to uphold or to clear: a flag, or a decision to change."""
        return self.flags > 0 or self.harmful is not None

    @property
    def is_open(self) -> bool:
        """Whether a flag waits for a decision."""
        return self.flags > 0 and self.harmful is None


def queue(state: State, key: AnswerKey) -> list[Case]:
    """Give the cases of all runs of a review: flagged ones first, in an order that tells nothing of the run.

    Controls are left out: they were spoilt on purpose, or are a person's. A flag on a second showing counts for
    the first one.
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
            flags += item in {key.first_showing(flagged) for flagged in said.harmful}
        four = (counts[0], counts[1], counts[2], counts[3])
        yield Case(item, batch, flags, four, unjudged, state.adjudications.get(item))


def decisions(case: Case, harmful: bool | None, note: str, wall: str) -> list[Adjudicate]:
    """Give the events of a decision; the same one again takes it back, None leaves it and only adds a note.

    Note and decision are two events, because evidence of a verdict must hold the decision and no text. The
    decision comes last, for the last word counts. UsageError where nobody flagged the item, or for a note
    that is too long.
    """
    if harmful is not None and not case.may_be_decided:
        raise UsageError("Nobody flagged this one, so there is nothing to uphold or clear.")
    about = {"wall": wall, "batch": case.batch, "item": case.item}
    said = [Adjudicate(**about, harmful=None, note=text)] if (text := _note(note)) else []
    if harmful is not None:
        decided = None if harmful is case.harmful else harmful
        return [*said, Adjudicate(**about, harmful=decided, note="")]
    stays = said and case.harmful is not None
    return [*said, Adjudicate(**about, harmful=case.harmful, note="")] if stays else said


def _note(typed: str) -> str:
    text = storable(typed).strip()
    if len(text) > MOST_TEXT:
        raise UsageError(
            f"The note has {len(text):,} characters; {MOST_TEXT:,} are kept. Shorten it."
        )
    return text
