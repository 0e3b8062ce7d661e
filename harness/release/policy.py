"""How exactly, and how often, scores over secret entries are released: the custodian's policy, and its rounding.

Rounding protects little: a count, a pause and the Ladder (``budget``) keep a submitter from climbing. What code can set
exactly, as it can its cost, its speed and the words that an analyser accepts, is rounded hardest. Nothing is shifted, and
an interval contains the exact one: chrF++ 52.37 (47.92 to 56.61) becomes 52 (47 to 57) in steps of 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, floor, isfinite, log2, log10, sqrt
from typing import Final, Literal

from harness.sealed.strict_records import StrictRecord
from scoring.core.messages import counted
from scoring.core.metric_rows import row_of
from scoring.core.specification import COMPOSITE

PolicyName = Literal["official", "strict", "blind", "trusted"]
CHRF: Final = "chrf_plus_plus"
PARTS_FROM: Final = 200
"""Entries from which parts of breakdowns are released."""
LEAST_PART: Final = 20
"""Entries of such a part."""
OFFICIAL: Final = {CHRF: 1.0, COMPOSITE: 0.01, "exact_match_rate": 0.05, "semantic_score": 0.02, "fst_acceptance_rate": 0.1}  # fmt: skip
TRUSTED: Final = {CHRF: 0.1, COMPOSITE: 0.001, "exact_match_rate": 0.01, "semantic_score": 0.01, "fst_acceptance_rate": 0.01}  # fmt: skip


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
    """The day (UTC) before which a blind policy releases nothing."""
    metrics: Mapping[str, float] = field(default_factory=lambda: OFFICIAL)
    """Metrics of a translation that are released, with their steps."""
    share: float = 0.01
    """Step of the headline of another task, as a share of its range."""

    def steps(self, headline: str) -> Mapping[str, float]:
        """Return the metrics that are released, and in which steps; ``headline`` is among them."""
        if headline in self.metrics or (row := row_of(headline)) is None:
            return self.metrics
        span = row.info.high - row.info.low
        return {headline: self.share * (span if isfinite(span) else 1.0)}

    @property
    def whole(self) -> bool:
        """True where cost, speed and parts are released, and more than the first metric."""
        return self.name != "strict"

    @property
    def climbs(self) -> bool:
        """True where every score is released, even one that does not beat the best."""
        return self.name == "trusted"


POLICIES: Final[Mapping[PolicyName, Policy]] = {
    "official": Policy(),
    "strict": Policy("strict", count=1, metrics={CHRF: 5.0}, share=0.05),
    "blind": Policy("blind"),
    "trusted": Policy("trusted", 10, 24.0, 200, metrics=TRUSTED, share=0.001),
}
CERTIFICATES: Final = Policy(count=10, pause_hours=24.0)
"""How many certificates of a run are released, and how far apart."""


def pause_words(hours: float) -> str:
    """Return how long a pause is, in words."""
    return counted(int(hours / 24), "day") if hours and hours % 24 == 0 else f"{hours:g} hours"


# Rounding

Range = tuple[float, float]
"""Lowest and highest value of a metric; infinite where it has none."""
_SPREAD = 0.25
"""Standard deviation of the values of entries that is expected, as a share of the metric's range, or of the value where it has none."""
_Z = 1.96
"""Half of a 95 % interval, in standard errors."""


class ReleasedScore(StrictRecord):
    """A score with its 95 % interval, all in multiples of ``step``; the first metric and the composite have an interval."""

    value: float
    lower: float | None
    upper: float | None
    step: float

    @property
    def interval(self) -> Range | None:
        """Its ends; None where it has none."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)


def range_of(id_: str) -> Range:
    """Return the lowest and highest value of a metric; those of the composite where no table has it."""
    row = row_of(id_)
    return (0.0, 1.0) if row is None else (row.info.low, row.info.high)


def stepped(value: float, lower: float | None, upper: float | None, step: float, ends: Range) -> ReleasedScore:  # fmt: skip
    """Return a score to the nearest multiple of ``step``; the ends of its interval go outward to the next ones.

    So the interval contains the exact one, the exact value and the rounded one. Without ends the score has no interval.
    """
    near = clean(min(ends[1], max(ends[0], rounded(value, step))))
    if lower is None or upper is None:
        return ReleasedScore(value=near, lower=None, upper=None, step=step)
    low, high = -_upward(-min(lower, value), step), _upward(max(upper, value), step)
    low, high = max(ends[0], min(low, near)), min(ends[1], max(high, near))
    return ReleasedScore(value=near, lower=clean(low), upper=clean(high), step=step)


def rounded(value: float, step: float) -> float:
    """Return the multiple of ``step`` that is nearest."""
    return clean(round(value / step) * step)


def _upward(end: float, step: float) -> float:
    """Return the next multiple of ``step`` that is not below ``end``."""
    above = clean(ceil(end / step) * step)
    return above if above >= end else clean(above + step)


def one_two_five(value: float) -> float:
    """Return 1, 2 or 5 times a power of ten, the nearest by ratio (0.005 for 0.0034); 0 stays 0."""
    if not value > 0:
        return 0.0
    steps = (digit * 10.0 ** floor(log10(value)) for digit in (1, 2, 5, 10))
    return clean(min(steps, key=lambda step: abs(log10(step / value))))


def bits(score: ReleasedScore, ends: Range) -> float:
    """Return how many bits a score tells at most, its interval included: the logarithm of what it could have been."""
    span = _span(ends, 0.0) or max(1.0, abs(score.value))
    return (1 if score.lower is None else 3) * log2(span / score.step + 1)


def expected_half(entries: int, ends: Range, value: float) -> float:
    """Return half of the interval that a mean over this number of entries is expected to have: 4.9 points of chrF++ for 100.

    The spread of a metric without ends, such as a ratio of lengths, is expected by the size of its value.
    """
    return _Z * _SPREAD * _span(ends, value) / sqrt(entries) if entries else 0.0


def _span(ends: Range, value: float) -> float:
    span = ends[1] - ends[0]
    return span if isfinite(span) else abs(value)


def clean(value: float) -> float:
    """Return a multiple of a step without the last digits of binary numbers; no minus zero."""
    return float(f"{value:.12g}") + 0.0
