"""All that ratings show about the metrics of some runs: agreement, weights, threshold, and what was decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from scoring.calibration.families import FamilyAgreement, SystemLanguage, family_agreements
from scoring.calibration.judgements import DRAWS, SEED, Estimate, Judgements, estimate, row_weights
from scoring.calibration.measures import Measure, measures
from scoring.calibration.threshold import (
    LEVEL,
    Decisions,
    ThresholdProposal,
    decisions,
    propose_threshold,
)
from scoring.calibration.weights import WeightProposal, propose_weights, reweighed

MOST_OUTPUTS = 10_000
"""Rated outputs that are examined together: time and memory for their pairs grow with the square."""


@dataclass(frozen=True, slots=True)
class SystemShare:
    """One system in people's eyes and in the composite's, over its rated outputs."""

    system: str
    outputs: int
    acceptable: Estimate
    """Mean share of raters who called an output acceptable or better, 0–1."""
    composite: float | None
    """Mean composite of the same outputs."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The whole report; nothing of it is applied to anything."""

    items: int
    outputs: int
    measures: tuple[Measure, ...]
    systems: tuple[SystemShare, ...]
    decisions: Decisions
    weights: WeightProposal
    threshold: ThresholdProposal
    threshold_of_weights: ThresholdProposal | None
    """The same on composites by the proposed weights; None where no weights are proposed."""
    draws: int
    seed: int
    families: tuple[FamilyAgreement, ...] = ()
    """How far each metric agrees with people in each language family; empty where nobody said the languages."""


def calibrate(
    judgements: Judgements,
    profile: str | None,
    *,
    languages: Mapping[str, SystemLanguage] | None = None,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = SEED,
    tell: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Make the report; ``profile`` is the one that all runs share, else None; ``tell`` hears what is at work.

    ``languages``: those of each system, for the agreement by language family.

    ValueError without rows, and with more than MOST_OUTPUTS.
    """
    if not 0 < len(judgements) <= MOST_OUTPUTS:
        raise ValueError(
            f"{len(judgements):,} rated outputs; from 1 to {MOST_OUTPUTS:,} are wanted"
        )
    measured = measures(judgements, draws=draws, seed=seed, tell=tell)
    tell("language families")
    families = family_agreements(judgements, languages, measured, draws=draws, seed=seed) if languages else ()  # fmt: skip
    tell("weights")
    weights = propose_weights(judgements, profile, draws=draws, seed=seed)
    tell("threshold")
    threshold = propose_threshold(judgements, level=level, draws=draws, seed=seed)
    return Calibration(
        judgements.item_count,
        len(judgements),
        measured,
        system_shares(judgements, draws=draws, seed=seed),
        decisions(judgements),
        weights,
        threshold,
        _threshold_of(judgements, weights, level, draws, seed),
        draws,
        seed,
        families,
    )


def _threshold_of(
    judgements: Judgements, proposed: WeightProposal, level: float, draws: int, seed: int
) -> ThresholdProposal | None:
    """Find the threshold on composites by the proposed weights: a line holds for the weights that it was found with."""
    if proposed.weights is None:
        return None
    again = replace(judgements, composite=reweighed(judgements, proposed.weights))
    return propose_threshold(again, level=level, draws=draws, seed=seed)


def system_shares(
    judgements: Judgements, *, draws: int = DRAWS, seed: int = SEED
) -> tuple[SystemShare, ...]:
    """Return for each system how many of its outputs people would accept, with an item-bootstrap interval."""
    return tuple(
        _share(judgements, number, name, draws, seed)
        for number, name in enumerate(judgements.system_names)
    )


def _share(judgements: Judgements, number: int, name: str, draws: int, seed: int) -> SystemShare:
    rows = judgements.system_index == number
    share, mixed = judgements.acceptable[rows], judgements.composite[rows]
    index = np.unique(judgements.item_index[rows], return_inverse=True)[1]
    weights = row_weights(index, draws, seed)
    drawn = weights @ share / weights.sum(axis=1)
    known = mixed[~np.isnan(mixed)]
    return SystemShare(
        name,
        len(share),
        estimate(float(share.mean()), drawn, seed),
        float(known.mean()) if len(known) else None,
    )
