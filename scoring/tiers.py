"""Quality tiers: what a composite tends to mean (§5), and what may be said of it in public (DESIGN T1, T2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import isnan

from corpora.text import comparison_form
from scoring.specification import specification


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


_HIGHEST_WITHOUT_REVIEW = Tier.FUNCTIONAL


def quality_tier(composite: float | None) -> Tier:
    """Name the automatic tier of a composite (§5.1)."""
    if composite is None or isnan(composite):
        return Tier.UNSCORED
    for least, name in specification().tiers:
        if composite >= least:
            return Tier(name)
    return Tier.UNSCORED


def claimable_tier(quality: Tier, *, review_passed: bool, at_floor: bool) -> Tier:
    """Name the tier that may be claimed: no more than functional before a passed review gate.

    A run at the floor claims baseline, whatever its composite.
    """
    if at_floor and quality is not Tier.UNSCORED:
        return Tier.BASELINE
    if not review_passed and quality.rank > _HIGHEST_WITHOUT_REVIEW.rank:
        return _HIGHEST_WITHOUT_REVIEW
    return quality


def clears_floor(least: float | None, best_floor: float | None) -> bool:
    """Say whether the lower end of the composite's interval lies above the best floor."""
    if least is None or best_floor is None:
        return least is not None
    return least > best_floor


def reaches_floor(composite: float | None, least: float | None, best_floor: float | None) -> bool:
    """Say whether a composite lies above the best floor while its interval, which ends at ``least``, does not."""
    if composite is None or least is None or best_floor is None:
        return False
    return least <= best_floor < composite


def mostly_identical(outputs: Sequence[str], references: Sequence[str]) -> bool:
    """Say whether one text makes up more than half of the outputs without the corpus asking for it.

    Empty outputs are left out: they are failures, and they earn nothing. A corpus whose references
    repeat as much as the outputs do is no ground for suspicion.
    """
    shares = [_largest_share(texts) for texts in (outputs, references)]
    return shares[0] > 0.5 and shares[0] > shares[1]


def _largest_share(texts: Sequence[str]) -> float:
    counts = Counter(form for text in texts if (form := comparison_form(text)))
    total = sum(counts.values())
    return counts.most_common(1)[0][1] / total if total > 1 else 0.0


def tier_in_words(
    composite: float | None,
    claimable: Tier,
    *,
    review_passed: bool,
    at_floor: bool,
    mostly_identical: bool = False,
    review: str = "review pending",
    floor: str = "not above the floor",
) -> str:
    """Write what people see, such as ``functional (automatic 0.78; review pending)``.

    ``review`` says why a review has not lifted the tier, ``floor`` how the run stands to the floors that it
    does not clear.
    """
    if composite is None:
        return Tier.UNSCORED.value
    parts = [f"automatic {_shown(composite)}"]
    if mostly_identical:
        parts.append("mostly one and the same output")
    elif at_floor:
        parts.append(floor)
    elif review_passed:
        parts.append("reviewed")
    elif quality_tier(composite).rank > claimable.rank:
        parts.append(review)
    return f"{claimable} ({'; '.join(parts)})"


def _shown(composite: float) -> str:
    """Round to two places, or to as many as it takes to stay in the same tier."""
    for places in range(2, 17):
        shown = f"{composite:.{places}f}"
        if quality_tier(float(shown)) is quality_tier(composite):
            return shown
    return repr(composite)
