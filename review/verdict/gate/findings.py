"""What a verdict rests on, as codes with facts: words for them are made elsewhere, in any language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

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
    """Facts: dropped, of. Most reviewers find so many of the spoilt translations acceptable: who read them?"""
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
    """One reason for a verdict, or one note beside it."""

    code: Code
    facts: Mapping[str, Fact]

    def as_json(self) -> dict[str, Fact]:
        """Return code and facts as one flat object."""
        return {"code": str(self.code), **self.facts}
