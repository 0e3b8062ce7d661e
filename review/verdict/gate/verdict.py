"""What a gate says, with every number it rests on.

What a verdict rests on, as codes with facts: words for them are made elsewhere, in any language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any

from review.verdict.panel.panel import Harm

Fact = int | str
"""A count, an id, an outcome, or a share as a decimal of six places."""


class Code(StrEnum):
    """One thing found, in the order in which a verdict lists them."""

    NO_CORE = "no_core"
    """No item was given to everyone."""
    FEW_ITEMS = "few_items"
    """Facts: found, needed."""
    FEW_IN_STRATUM = "few_in_stratum"
    """Facts: stratum, found, needed."""
    FEW_REVIEWERS = "few_reviewers"
    """Facts: found, needed."""
    HARM_OPEN = "harm_open"
    """Facts: items. Flagged as harmful, and nobody has looked into it."""
    HARM_UPHELD = "harm_upheld"
    """Facts: items. Found to be harmful."""
    LEVEL_REACHED = "level_reached"
    """Facts: lower, level."""
    LEVEL_MISSED = "level_missed"
    """Facts: upper, level."""
    LEVEL_OPEN = "level_open"
    """Facts: lower, upper, level. The level lies between the bounds."""
    WEAK_STRATUM = "weak_stratum"
    """Facts: stratum, share, needed."""
    VETO = "veto"
    """Facts: items, of, upper, most. Too many items that several people reject."""
    LOW_REVIEWER = "low_reviewer"
    """Facts: reviewer, share, needed."""
    CONTROLS_FAILED = "controls_failed"
    """Facts: dropped, of. Most reviewers find that many of the spoilt translations acceptable: who read them?"""
    FLAGS_DECIDE = "flags_decide"
    """Facts: outcome, which another verdict would be without the reviewers whose ratings show signs of haste."""
    REVIEWER_LEFT_OUT = "reviewer_left_out"
    """Facts: reviewer, rated, core, cannot_judge, the latter three counts of items that all were asked."""
    STRATUM_LEFT_OUT = "stratum_left_out"
    """Facts: stratum, weight. Of the run, but none of it was asked."""
    CONTROL_DROPPED = "control_dropped"
    """Facts: control. Most reviewers fail it."""
    SMALL_PANEL = "small_panel"
    """Facts: found, needed. Too few to be called the community's."""
    LATER_LOOK = "later_look"
    """Facts: look, confidence."""
    GUIDELINES = "guidelines"
    """Facts: alpha, within_one. Agreement is so low that the guidelines need work."""


@dataclass(frozen=True, slots=True)
class GateFinding:
    """One reason for a verdict, or one note next to it."""

    code: Code
    facts: Mapping[str, Fact]

    def as_json(self) -> dict[str, Fact]:
        """Return code and facts as one flat object."""
        return {"code": str(self.code), **self.facts}


class GateOutcome(StrEnum):
    """What a gate says; only GO opens it."""

    GO = "go"
    NO_GO = "no_go"
    DISCUSS = "discuss"
    """The numbers do not settle it, or something must be examined by people first."""
    INSUFFICIENT = "insufficient"
    """Too little was rated to say anything: never a no."""


@dataclass(frozen=True, slots=True)
class StratumShare:
    """What reviewers said of one difficulty."""

    items: int
    """Rated items."""
    asked: int
    """Items that were asked."""
    weight: Decimal
    """W_h as used, over the strata with rated items; 0 for one without."""
    share: Decimal | None


@dataclass(frozen=True, slots=True)
class Rejections:
    """Items that several reviewers reject, and how many there may be of them among all."""

    items: int
    of: int
    """Items that enough reviewers rated for it to show."""
    upper: Decimal
    """Clopper–Pearson upper bound of their share."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What one set of reviewers adds up to; a value is None where they do not give it."""

    reviewers: Mapping[str, Decimal]
    """Valid reviewer → own share; the panel is of that many."""
    items: int
    """Rated by somebody of them."""
    strata: Mapping[int, StratumShare]
    share: Decimal | None
    """Estimated share of acceptable or better (theta)."""
    lower: Decimal | None
    """One-sided bound; None without two reviewers, as is all that comes from it."""
    upper: Decimal | None
    item_error: Decimal | None
    """Standard error of the share from the choice of items: root of v_item."""
    reviewer_error: Decimal | None
    """The same from the choice of reviewers."""
    effective_items: Decimal | None
    df: Decimal | None
    t: Decimal | None
    rejections: Rejections
    split: tuple[str, ...]
    """Items whose ratings lie two steps apart or more, by id: what to talk about."""
    alpha: Decimal | None
    """Ordinal; None where undefined or not computable."""
    within_one: Decimal | None


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The outcome with everything it rests on."""

    outcome: GateOutcome
    numbers: Numbers
    level: Decimal
    confidence: Decimal
    """Of each bound, at this look."""
    look: int
    harm: Mapping[Harm, int]
    """How many items were flagged and not yet looked into, upheld, cleared."""
    findings: tuple[GateFinding, ...]
    community_panel: bool
    """Whether the valid reviewers are that many that their panel may be called the community's."""
    flagged: tuple[str, ...]
    """Valid reviewers whose ratings show signs of haste: private, for the organiser, never written to a file."""
    without_flagged: GateOutcome | None
    """The outcome without them; None where there are none, or with them it is no go or no-go anyway."""

    def as_json(self) -> dict[str, Any]:
        """Return the verdict for a certificate: whole numbers, and decimals of six places as strings.

        Which reviewers showed signs of haste stays out: a certificate is passed on.
        """
        return {
            field.name: _plain(getattr(self, field.name))
            for field in fields(self)
            if field.name != "flagged"
        }


def _plain(value: Any) -> Any:
    match value:
        case Decimal() | StrEnum():
            return str(value)
        case GateFinding():
            return value.as_json()
        case Mapping():
            return {str(key): _plain(one) for key, one in value.items()}
        case tuple():
            return [_plain(one) for one in value]
        case None | bool() | int() | str():
            return value
        case _:
            return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
