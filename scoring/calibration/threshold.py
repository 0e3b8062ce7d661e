"""The composite from which people call an output acceptable often enough, and what the tier line decides.

The logistic curve (Newton's method) gives the number, the rising step curve checks its shape, the item bootstrap its
interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.calibration.judgements import DRAWS, SEED, Estimate, Judgements, estimate, once, row_weights
from scoring.core.metric import FloatArray
from scoring.core.specification import Tier, specification


def isotonic(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit y as a never falling step function of x; gives the distinct x, rising, and the curve there.

    Neighbours that fall are pooled to their mean (pool adjacent violators): 0.2, 0.6, 0.4, 0.9 → 0.2, 0.5, 0.5, 0.9.
    """
    values, index, counts = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(index, weights=y) / counts
    pools: list[tuple[float, float, int]] = []
    """Mean, weight and number of values of each level so far."""
    for mean, weight in zip(means, counts, strict=True):
        pool = (float(mean), float(weight), 1)
        while pools and pools[-1][0] >= pool[0]:
            last = pools.pop()
            total = last[1] + pool[1]
            pool = ((last[0] * last[1] + pool[0] * pool[1]) / total, total, last[2] + pool[2])
        pools.append(pool)
    return values, np.repeat([pool[0] for pool in pools], [pool[2] for pool in pools])


def first_reached(x: FloatArray, y: FloatArray, level: float) -> float | None:
    """Return the smallest x at which the rising curve reaches a level; None where it never does."""
    values, curve = isotonic(x, y)
    reached = values[curve >= level]
    return float(reached[0]) if len(reached) else None


_STEPS = 60
_LONGEST = 2.0
"""Longest step; more would overshoot where the curve is flat."""
_BLOCK = 2_000_000
"""Cells of (draws, rows) held at once."""


def logistic(x: FloatArray, share: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit P(good) = 1 / (1 + exp(-(a + b x))) by maximum likelihood; gives a and b per draw.

    ``share`` is the part of each row that is good, 0–1; ``weights`` have the shape (draws, rows). Where x
    parts good from bad without overlap there is no maximum; b then is large and -a/b is in the gap.
    """
    middle, spread = float(x.mean()), float(x.std()) or 1.0
    z = (x - middle) / spread
    size = max(1, _BLOCK // len(x))
    blocks = (weights[start : start + size] for start in range(0, len(weights), size))
    a, b = np.concatenate([_newton(z, share, block) for block in blocks], axis=1)
    return a - b * middle / spread, b / spread


def _newton(z: FloatArray, share: FloatArray, weights: FloatArray) -> FloatArray:
    a, b = np.zeros(len(weights)), np.zeros(len(weights))
    for _ in range(_STEPS):
        values = 1.0 / (1.0 + np.exp(-np.clip(a[:, None] + b[:, None] * z, -40.0, 40.0)))
        off = weights * (share - values)
        bend = weights * values * (1.0 - values)
        # Solve the symmetric 2×2 systems of all draws; a flat one, of separated rows, gets no step.
        h11, h12, h22 = bend.sum(axis=1), bend @ z, bend @ (z * z)
        g1, g2 = off.sum(axis=1), off @ z
        determinant = h11 * h22 - h12 * h12
        flat = determinant <= 1e-12 * (h11 * h22 + 1e-300)
        below = np.where(flat, 1.0, determinant)
        step = (np.where(flat, 0.0, (g1 * h22 - g2 * h12) / below), np.where(flat, 0.0, (g2 * h11 - g1 * h12) / below))
        length = np.hypot(*step)
        shorter = np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300))
        a, b = a + shorter * step[0], b + shorter * step[1]
        if length.max() < 1e-10:
            break
    return np.stack([a, b])


LEAST_ITEMS = 100
"""Rated items from which a threshold may be proposed."""
LEAST_OF_EACH = 10
"""Items whose raters mostly say acceptable, and items whose raters mostly do not, that must be there."""
LEVEL = 0.70
"""Share of ratings that must be acceptable or better."""


def tier_line() -> float:
    """Return the composite from which an output or run is called deployable (§5.1)."""
    return next(least for least, name in specification().tiers if name == Tier.DEPLOYABLE)


@dataclass(frozen=True, slots=True)
class ThresholdProposal:
    """A threshold with its interval, or the reason why none is proposed."""

    proposed: bool
    reason: str
    level: float
    """Share of ratings that must be acceptable or better."""
    items: int
    specification: float
    """The specification's line for ``deployable``."""
    threshold: Estimate = Estimate(None)  # noqa: RUF009  frozen, so it can be shared
    """Composite at which the logistic curve reaches the level; None where it was not worked out."""
    shape: float | None = None
    """Composite at which the rising step curve first reaches the level; None where it never does."""
    shape_agrees: bool | None = None
    """Whether that lies within the interval; None where no threshold was worked out."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Rated outputs by what the tier line says and what most of their raters say."""

    line: float
    both: int
    """At or above the line, and acceptable to most raters."""
    score_only: int
    """At or above the line, but not acceptable: what people would have been given wrongly."""
    people_only: int
    """Below the line, but acceptable: what would have been withheld wrongly."""
    neither: int

    @property
    def agreement(self) -> float | None:
        """Share of outputs on which score and people agree, None without outputs."""
        total = self.both + self.score_only + self.people_only + self.neither
        return (self.both + self.neither) / total if total else None


def decisions(judgements: Judgements) -> Decisions:
    """Count what the composite would have decided, and what people decided; a tie of raters is a no."""
    known = ~np.isnan(judgements.composite)
    score = judgements.composite[known] >= tier_line()
    people = judgements.acceptable[known] > 0.5

    def count(chosen: npt.NDArray[np.bool_]) -> int:
        return int(np.count_nonzero(chosen))

    return Decisions(
        tier_line(), count(score & people), count(score & ~people), count(~score & people), count(~score & ~people)
    )


def propose_threshold(
    judgements: Judgements, *, level: float = LEVEL, draws: int = DRAWS, seed: int = SEED
) -> ThresholdProposal:
    """Find where P(acceptable or better) reaches a level, and say whether that may be proposed."""
    known = ~np.isnan(judgements.composite)
    x, share = judgements.composite[known], judgements.acceptable[known]
    present, index = np.unique(judgements.item_index[known], return_inverse=True)
    items = len(present)
    refusal = _too_little(items, x, share) or _no_overlap(x, share)
    if refusal:
        return ThresholdProposal(False, refusal, level, items, tier_line())
    a, b = logistic(x, share, once(len(x)))
    if b[0] <= 0:
        return ThresholdProposal(False, _WRONG_WAY, level, items, tier_line())
    curves, slopes = logistic(x, share, row_weights(index, draws, seed))
    # A draw's curve that does not rise never reaches the level: at infinity.
    drawn = np.where(slopes > 0, _crossing(curves, np.where(slopes > 0, slopes, 1.0), level), np.inf)
    crossing = estimate(float(_crossing(a, b, level)[0]), drawn, seed)
    shape = first_reached(x, share, level)
    agrees = (
        crossing.interval is not None
        and shape is not None
        and crossing.interval.lower <= shape <= crossing.interval.upper
    )
    reason = _doubt(crossing, x)
    endless = crossing.interval is None or not np.isfinite(crossing.interval.upper)
    return ThresholdProposal(
        not reason,
        reason or "the curve reaches the level among the composites that were rated",
        level,
        items,
        tier_line(),
        Estimate(crossing.value, None if endless else crossing.interval),
        shape,
        agrees,
    )


_WRONG_WAY = (
    "a higher composite goes with worse ratings here, so no composite can stand for acceptable; look "
    "whether ids and the direction of the scale are right, else do not use the composite for this language"
)


def _too_little(items: int, x: FloatArray, share: FloatArray) -> str:
    good, bad = int(np.count_nonzero(share > 0.5)), int(np.count_nonzero(share <= 0.5))
    if items < LEAST_ITEMS:
        return f"{items} rated items with a composite are too few: {LEAST_ITEMS} are needed, {LEAST_ITEMS - items} more"
    if min(good, bad) < LEAST_OF_EACH:
        return (
            f"{good} outputs are acceptable to most raters and {bad} are not; {LEAST_OF_EACH} of each are "
            "needed to see where the one becomes the other"
        )
    if x.min() == x.max():
        return "all composites are equal"
    return ""


def _no_overlap(x: FloatArray, share: FloatArray) -> str:
    """Refuse a curve where the composite parts good from bad with nothing between: it has no slope."""
    if set(np.unique(share)) - {0.0, 1.0}:
        return ""
    highest, lowest = float(x[share == 0].max()), float(x[share == 1].min())
    if highest >= lowest:
        return ""
    return (
        f"every output up to {highest:.3f} is bad and every one from {lowest:.3f} is good: any line between "
        "them fits as well, so there is no curve to read one from"
    )


def _crossing(a: FloatArray, b: FloatArray, level: float) -> FloatArray:
    return np.asarray((np.log(level / (1.0 - level)) - a) / b)


def _doubt(found: Estimate, x: FloatArray) -> str:
    if found.value is None or found.interval is None or not np.isfinite(found.interval.upper):
        return (
            "the composite hardly tells acceptable from not: in more than one of forty resamples it does "
            "not rise with the ratings"
        )
    if not x.min() <= found.value <= x.max():
        return (
            f"the curve reaches the level at {found.value:.3f}, outside of the composites that were rated "
            f"({x.min():.3f} to {x.max():.3f}); rate outputs that are nearer to it"
        )
    return ""
