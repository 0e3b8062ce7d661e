"""The composite: a weighted mean of what has a value, with weights re-normalised (§4).

A number without its parts flatters, so the composite always lists its inputs, effective weights, what
is missing and why, and how much of the profile's weight is covered.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite, log2
from typing import TYPE_CHECKING, TypeVar

from scoring.core.messages import percent
from scoring.core.specification import Tier, Weighing, specification, specified

if TYPE_CHECKING:
    from scoring.core.metric import FloatArray

Values = TypeVar("Values", float, "FloatArray")

STRUCTURAL_KEY = "fst_acceptance_rate"
"""The metric whose value decides for profile A (METRICS §7)."""


@dataclass(frozen=True, slots=True)
class Input:
    """One metric inside a composite."""

    metric: str
    value: float
    """On the metric's own scale."""
    normalised: float
    """0–1, 1 is perfect (§4.2)."""
    weight: float
    """Target weight of §4.3."""
    effective_weight: float
    """Share of the composite after re-normalisation; all of them sum to 1."""


@dataclass(frozen=True, slots=True)
class Composite:
    """A composite with everything needed to recompute and to judge it."""

    value: float | None
    """0–1, higher is better; None where no input has a value."""
    profile: str
    """``A`` or ``B`` (§4.3)."""
    profile_reason: str
    inputs: tuple[Input, ...]
    missing: dict[str, str]
    """Metrics of the profile without a value, and why."""
    coverage: float
    """Share of the profile's weight that has a value, 0–1."""
    weighing: Weighing = field(default_factory=specified)
    """Of which weights it is made, and by which lines its tier is named."""

    @property
    def tier(self) -> Tier:
        """The automatic tier."""
        return self.weighing.tier(self.value)


def composite(
    values: Mapping[str, object],
    reasons: Mapping[str, str] | None = None,
    weighing: Weighing | None = None,
) -> Composite:
    """Fold values by metric id into a composite; by the specification's weights where no others are given.

    A boolean, NaN or infinity is not a value. ``reasons`` says why a metric has none.
    """
    reasons, weighing = reasons or {}, weighing or specified()
    numbers = {
        id_: number for id_, value in values.items() if (number := _number(value)) is not None
    }
    profile = profile_for(numbers)
    weights = weighing.profiles[profile]
    present = {id_: weight for id_, weight in weights.items() if id_ in numbers}
    covered = sum(present.values())
    inputs = tuple(
        Input(id_, numbers[id_], normalised(id_, numbers[id_]), weight, weight / covered)
        for id_, weight in present.items()
    )
    return Composite(
        value=sum(i.weight * i.normalised for i in inputs) / covered if inputs else None,
        profile=profile,
        profile_reason=_profile_reason(profile, reasons),
        inputs=inputs,
        missing={id_: reasons.get(id_, "no value") for id_ in weights if id_ not in present},
        coverage=covered / sum(weights.values()),
        weighing=weighing,
    )


def counting_gaps(mixed: Composite, attainable: Collection[str]) -> float | None:
    """Return the composite in which an input without a value counts as nothing where others have one.

    ``attainable`` are the inputs of which the corpus gives worthless outputs a value. Weights are the
    composite's own; without a gap the composite is the stated one. It serves the claim alone: leaving an input without
    a value must not lift a run above floors that have it.
    """
    present = {part.metric for part in mixed.inputs}
    counted = present | set(attainable)
    weights = mixed.weighing.profiles["A" if STRUCTURAL_KEY in counted else mixed.profile]
    if mixed.value is None or counted & weights.keys() <= present:
        return mixed.value
    whole = sum(weight for id_, weight in weights.items() if id_ in counted)
    reached = sum(
        weights[part.metric] * part.normalised for part in mixed.inputs if part.metric in weights
    )
    return min(mixed.value, reached / whole)


def composites(
    values: Mapping[str, FloatArray],
    profile: str,
    *,
    complete: bool = False,
    weighing: Weighing | None = None,
) -> FloatArray:
    """Fold arrays of values, one composite per place; NaN means no value there.

    For entries the weight of a missing value moves to the others. For bootstrap draws the caller passes
    the metrics of the point estimate and asks for ``complete``: a draw without one of them has no
    composite, so that all draws weigh the same inputs.
    """
    import numpy as np  # a list of runs reads composites, and does without

    weights = (weighing or specified()).profiles[profile]
    used = [id_ for id_ in weights if id_ in values]
    if not used:
        length = len(next(iter(values.values()))) if values else 0
        return np.full(length, np.nan)
    scaled = np.stack([normalised(id_, values[id_]) for id_ in used])
    weight = np.array([weights[id_] for id_ in used])[:, None] * ~np.isnan(scaled)
    covered = weight.sum(axis=0)
    total = (weight * np.nan_to_num(scaled)).sum(axis=0)
    enough = np.isfinite(scaled).all(axis=0) if complete else covered > 0
    return np.where(enough, total / np.where(covered > 0, covered, 1.0), np.nan)


def profile_note(profile: str, *, calibrated: bool = False) -> str:
    """Return which reading of §4.3 the weights of a profile follow, where it contradicts itself; else empty.

    Its introduction gives structural metrics 50 %. Its table gives them 0.25 + 0.15, its rationale and
    benchmark-specification §4.2 say 40 %, and with 50 % the weights would not sum to 1.
    """
    if profile != "A" or calibrated:
        return ""
    metrics = specification().metrics
    weights = specification().profiles[profile]
    share = sum(weight for id_, weight in weights.items() if metrics[id_].category == "structural")
    return f"structural metrics weigh {percent(share)}, by the table of §4.3; its introduction says 50 %"


def composite_metrics() -> frozenset[str]:
    """Return the ids of all metrics that enter a composite of either profile."""
    return frozenset().union(*specification().profiles.values())


def profile_for(values: Mapping[str, object]) -> str:
    """Choose profile A where the FST metric has a value, B otherwise."""
    return "A" if _number(values.get(STRUCTURAL_KEY)) is not None else "B"


def _profile_reason(profile: str, reasons: Mapping[str, str]) -> str:
    if profile == "A":
        return "FST acceptance has a value"
    return f"FST acceptance has no value: {reasons.get(STRUCTURAL_KEY, 'it was not computed')}"


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return float(value)


def normalised(id_: str, values: Values) -> Values:
    """Normalise a composite metric's values to 0–1 with 1 as perfect (§4.2)."""
    match specification().metrics[id_].normalization:
        case "percent":
            return values / 100.0
        case "invert":
            return 1.0 - values
        case _:
            return values


def cost_adjusted(composite: float | None, cost_per_entry_usd: float | None) -> float | None:
    """Return composite / log2(1 + 1000 × cost per entry) (§6.3).

    None at cost 0, where the formula divides by zero and lists say "free", and at unknown cost
    (DESIGN M6).
    """
    if composite is None or cost_per_entry_usd is None or cost_per_entry_usd <= 0:
        return None
    divisor = log2(1 + cost_per_entry_usd * 1000)
    return composite / divisor if divisor else None
