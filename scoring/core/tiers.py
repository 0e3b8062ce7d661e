"""Quality tiers: what a composite tends to mean (§5); ``scoring.card.claim`` says what may be claimed."""

from __future__ import annotations

from enum import StrEnum
from math import isnan

from scoring.core.specification import specification


class Tier(StrEnum):
    """The tiers of §5, from the lowest; their order is their rank."""

    UNSCORED = "unscored"
    BASELINE = "baseline"
    EMERGING = "emerging"
    FUNCTIONAL = "functional"
    DEPLOYABLE = "deployable"
    FLUENT = "fluent"

    @property
    def rank(self) -> int:
        """Place from the lowest, 0 for unscored."""
        return list(Tier).index(self)


def quality_tier(composite: float | None) -> Tier:
    """Name the automatic tier of a composite (§5.1)."""
    if composite is None or isnan(composite):
        return Tier.UNSCORED
    for least, name in specification().tiers:
        if composite >= least:
            return Tier(name)
    return Tier.UNSCORED
