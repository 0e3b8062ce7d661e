"""What the events add up to: who agreed, who said what, and what was taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from review.log.payloads import Face, Scope
from review.rating import CannotJudge, Rating, Reason, Relation


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a person decided about an item, the last one of those not taken back."""

    event: str
    """Id of its event."""
    rating: Rating | None
    """None where the person cannot judge the item."""
    why_not: CannotJudge | None
    position: int
    active_ms: int
    face: Face
    override: bool


@dataclass(frozen=True, slots=True)
class ReviewerState:
    """One person's part of one batch."""

    consented: bool = False
    agreed_to: frozenset[str] = frozenset()
    """SHA-256 of the texts to which this person said yes last, on each laptop."""
    share_corrections: bool = False
    relation: Relation | None = None
    """What this person says of themselves and the method; None where they were not asked."""
    decided: tuple[str, ...] = ()
    """Items that this person judged, translated or could not judge, in the order in which that was done."""
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    """By item, in the same order; of those that were translated there is none."""
    translations: Mapping[str, str] = field(default_factory=dict)
    """By item; only of a batch that asks for translations."""
    earlier: Mapping[str, tuple[Rating, ...]] = field(default_factory=dict)
    """By item: differing ratings of the same person from another laptop that a later one replaced."""
    skipped: tuple[str, ...] = ()
    """Items put at the end and not decided since, in that order."""
    trained: Mapping[str, Rating] = field(default_factory=dict)
    reasons: Mapping[str, tuple[Reason, ...]] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    suggestions: Mapping[str, str] = field(default_factory=dict)
    harmful: frozenset[str] = frozenset()
    """Items that this person calls harmful or culturally wrong."""
    undoable: tuple[str, ...] = ()
    """Ids of the events that undo can take back, the next one last."""


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What the organisation decided about an item; the last word counts."""

    harmful: bool | None
    note: str
    reason: str = ""
    """Why, in words that are published; empty where none was recorded."""
    by: str = ""
    """Who decided, likewise."""


@dataclass(frozen=True, slots=True)
class State:
    """Everything that a set of events says, whatever the order in which they arrived."""

    reviewers: Mapping[tuple[str, str], ReviewerState]
    """By batch and reviewer."""
    withdrawn: Mapping[tuple[str, str | None], frozenset[Scope]]
    """By reviewer and batch (None: all): what was taken back."""
    adjudications: Mapping[str, Adjudication]
    """By item."""
    looks: Mapping[str, int]
    """Run id → number of different sets of events that were looked at."""
