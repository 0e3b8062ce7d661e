"""What is told of runs over secret entries, how exactly and how often: the custodian's policy.

Rounding protects little: a count, a pause and the Ladder (``budget``) keep a submitter from climbing. What code can set
exactly, as it can its cost, its speed and the words that an analyser accepts, is rounded hardest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal, get_args

from scoring.core.messages import counted
from scoring.core.metric_rows import row_of
from scoring.core.specification import COMPOSITE

PolicyName = Literal["official", "strict", "blind", "trusted"]
NAMES: Final[tuple[PolicyName, ...]] = get_args(PolicyName)
CHRF: Final = "chrf_plus_plus"
PARTS_FROM: Final = 200
"""Entries from which parts of breakdowns are told."""
LEAST_PART: Final = 20
"""Entries of such a part."""

STEPS: Final[Mapping[PolicyName, Mapping[str, float]]] = {
    "official": {CHRF: 1, COMPOSITE: 0.01, "exact_match_rate": 0.05, "semantic_score": 0.02, "fst_acceptance_rate": 0.1},
    "strict": {CHRF: 5},
    "trusted": {CHRF: 0.1, COMPOSITE: 0.001, "exact_match_rate": 0.01, "semantic_score": 0.01, "fst_acceptance_rate": 0.01},
}  # fmt: skip
_SHARE_OF_RANGE: Final[Mapping[PolicyName, float]] = {"official": 0.01, "strict": 0.05, "trusted": 0.001}  # fmt: skip
"""Step of the headline of another task than translation."""


@dataclass(frozen=True)
class Policy:
    """What a submitter gets about a version of a corpus."""

    name: PolicyName = "official"
    count: int = 3
    """Answers to one submitter."""
    pause_hours: float = 168.0
    """Between two of them."""
    everybody: int = 20
    """Answers to all submitters together; then the custodian rotates the corpus (benchmark specification §9.3)."""
    opens: str = ""
    """The day (UTC) before which a blind policy tells nothing."""

    @property
    def told_as(self) -> PolicyName:
        """Under which policy's steps scores are told: after its day a blind one is official."""
        return "official" if self.name == "blind" else self.name

    def steps(self, headline: str) -> Mapping[str, float]:
        """Return the metrics that are told, and in which steps; ``headline`` is among them."""
        found = STEPS[self.told_as]
        if headline in found or (row := row_of(headline)) is None:
            return found
        span = row.info.high - row.info.low
        return {headline: _SHARE_OF_RANGE[self.told_as] * (span if isfinite(span) else 1.0)}

    @property
    def whole(self) -> bool:
        """Return whether cost, speed and parts are told, and more than the first metric."""
        return self.name != "strict"

    @property
    def climbs(self) -> bool:
        """Return whether every score is told, whether it beats the best one or not."""
        return self.name == "trusted"

    def words(self) -> str:
        """Return what leaves under it, in a few sentences."""
        chrf = STEPS[self.told_as][CHRF]
        told = (
            f"chrF++ to {chrf:g}, composite, exact match, semantic score, FST acceptance, tier, cost and speed, rounded"
            if self.whole
            else f"chrF++ in steps of {chrf:g}, and the tier"
        )
        when = f"Nothing before {self.opens or 'a day that you name'}, then for all at once: " if self.name == "blind" else ""  # fmt: skip
        again = (
            "A later answer tells new numbers only if chrF++ beats the best one told by more than chance explains. "
            if self.count > 1 and not self.climbs
            else ""
        )
        pause = f", {pause_words(self.pause_hours)} apart" if self.count > 1 else ""
        return (
            f"{self.name}: {when}{told}. {counted(self.count, 'answer')} to each submitter{pause}; {self.everybody:,} to all together, "
            f"then the corpus is rotated. {again}No text, no entry, no row."
        )


POLICIES: Final[Mapping[PolicyName, Policy]] = {
    "official": Policy(),
    "strict": Policy("strict", count=1),
    "blind": Policy("blind"),
    "trusted": Policy("trusted", count=10, pause_hours=24.0, everybody=200),
}


def pause_words(hours: float) -> str:
    """Return how long a pause is."""
    return counted(int(hours / 24), "day") if hours and hours % 24 == 0 else f"{hours:g} hours"
