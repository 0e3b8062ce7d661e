"""What a panel of reviewers said of one method: all that agreement and gate look at, and no text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from review.verdict.panel.key import ControlKind


class Harm(StrEnum):
    """What became of an item that somebody called harmful or culturally wrong."""

    FLAGGED = "flagged"
    """Nobody has looked into it yet: it stops the gate."""
    UPHELD = "upheld"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class ControlItem:
    """One control item."""

    kind: ControlKind
    partner: str | None = None
    """Id of the item that it is compared with; None for anchors, and for bad items without one."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One method's items and what each reviewer said of them; reviewers are pseudonyms."""

    strata: Mapping[str, int]
    """Real item → difficulty 1–5, 0 where the corpus does not say; every item of the method that was asked."""
    weights: Mapping[int, float]
    """Stratum → its share of the run's entries (W_h); sums to 1 over the strata of the run."""
    ratings: Mapping[str, Mapping[str, int]]
    """Reviewer → real item → rank 0–3; what was skipped or could not be judged is absent."""
    core: frozenset[str]
    """Real items that every reviewer was asked."""
    cannot_judge: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Reviewer → real items that this person could not judge."""
    harm: Mapping[str, Harm] = field(default_factory=dict)
    """Real item → what became of its flag; items that nobody flagged are absent."""
    controls: Mapping[str, ControlItem] = field(default_factory=dict)
    """Control item → what it is; those of all methods of the review, for controls test people."""
    flagged_controls: frozenset[str] = frozenset()
    """Anchors and spoilt items that somebody called harmful: no output of any method, so they bear on no verdict."""
    control_ratings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Reviewer → control item → rank 0–3."""
    partner_ratings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Reviewer → partner of a control → rank 0–3, for partners of any method."""
    sequences: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Reviewer → ranks of all items of the review, in the order in which they were given."""
    times_ms: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Reviewer → active milliseconds of each rating of the review; a median alone hides the hurried ones."""
    look: int = 1
    """How often the numbers of this method have been looked at, this time included."""
