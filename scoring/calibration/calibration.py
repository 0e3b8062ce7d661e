"""All that ratings show about the metrics of some runs: agreement, weights, threshold, and what was decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.calibration.judgements import DRAWS, SEED, Estimate, IndexArray, Judgements, estimate, once, row_weights
from scoring.calibration.measures import COMPOSITE, LENGTH, Measure, kendall_tau_b, measures
from scoring.calibration.threshold import LEVEL, Decisions, ThresholdProposal, decisions, propose_threshold
from scoring.calibration.weights import WeightProposal, propose_weights, reweighed
from scoring.core.metric import FloatArray, share

# ---- Which metrics predict people, by language family (scoring-specification §4.3) ----
#
# Outputs of different pairs of languages are never compared with each other: where one language's
# texts are easier, or its raters stricter, any metric would seem to see it. So tau-b is computed
# within each pair and averaged over the pairs of a family, weighed by their outputs: 60 outputs
# at 0.2 and 20 at 0.6 give (60 · 0.2 + 20 · 0.6) / 80 = 0.3.

LEAST_ENTRIES = 50
"""Rated entries of a family from which agreement is told: with 50, the 95 % interval of a tau is about ±0.2 wide."""


@dataclass(frozen=True, slots=True)
class SystemLanguage:
    """The languages of one system's outputs."""

    pair: str
    target: str
    """Tag of the language of the outputs."""
    family: str | None
    """None where it is unknown."""


@dataclass(frozen=True, slots=True)
class FamilyMeasure:
    """One metric against people, in one family."""

    metric: str
    """Metric id, ``composite`` or ``length_only``."""
    outputs: int
    """Rated outputs for which the metric has a value."""
    tau_b: Estimate
    """Kendall's tau-b within each pair of languages, averaged; -1 to 1, more is more agreement."""


@dataclass(frozen=True, slots=True)
class FamilyAgreement:
    """All metrics in one family."""

    family: str | None
    languages: tuple[str, ...]
    """Tags of the languages of the outputs."""
    pairs: tuple[str, ...]
    entries: int
    outputs: int
    measures: tuple[FamilyMeasure, ...]
    """The best first; empty under ``LEAST_ENTRIES`` entries."""


def family_agreements(
    judgements: Judgements,
    languages: Mapping[str, SystemLanguage],
    measured: Sequence[Measure] = (),
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[FamilyAgreement, ...]:
    """Return how far each metric agrees with people in each family; ``languages`` by system of ``judgements``.

    Families stand by the number of their outputs, the unknown one last. All metrics see the same draws of entries.
    ``measured``: the agreement over all outputs, which is not computed again where there is one pair of languages.
    """
    of_row = [languages[system] for system in judgements.systems]
    if measured and len(set(of_row)) == 1:
        language, entries = of_row[0], judgements.item_count
        rows = measured if entries >= LEAST_ENTRIES else ()
        same = [FamilyMeasure(row.metric, row.outputs, row.tau_b) for row in rows]
        ranked = tuple(sorted(same, key=_order))
        names = (language.family, (language.target,), (language.pair,))
        return (FamilyAgreement(*names, entries, len(judgements), ranked),)
    weights = row_weights(judgements.item_index, draws, seed)
    families = dict.fromkeys(language.family for language in of_row)
    agreements = [_family(judgements, of_row, family, weights, seed) for family in families]
    return tuple(sorted(agreements, key=lambda one: (one.family is None, -one.outputs)))


def _family(
    judgements: Judgements, of_row: Sequence[SystemLanguage], family: str | None, weights: FloatArray, seed: int
) -> FamilyAgreement:
    rows = np.array([place for place, language in enumerate(of_row) if language.family == family])
    pairs = tuple(dict.fromkeys(of_row[place].pair for place in rows))
    strata = [rows[[of_row[place].pair == pair for place in rows]] for pair in pairs]
    entries = len(np.unique(judgements.item_index[rows]))
    # composite, metrics and the length of the output, oriented so that more is better
    values = {metric: judgements.oriented(metric) for metric in judgements.metrics}
    scores = {COMPOSITE: judgements.composite, **values, LENGTH: judgements.length}
    ranked = [
        _measure(metric, scores[metric], judgements.people, strata, weights, seed)
        for metric in (scores if entries >= LEAST_ENTRIES else ())
        if np.isfinite(scores[metric][rows]).any()
    ]
    return FamilyAgreement(
        family,
        tuple(dict.fromkeys(of_row[place].target for place in rows)),
        pairs,
        entries,
        len(rows),
        tuple(sorted(ranked, key=_order)),
    )


def _order(measure: FamilyMeasure) -> float:
    return 2.0 if measure.tau_b.value is None else -measure.tau_b.value


def _measure(
    metric: str, values: FloatArray, people: FloatArray, strata: Sequence[IndexArray], weights: FloatArray, seed: int
) -> FamilyMeasure:
    known = [rows[np.isfinite(values[rows])] for rows in strata]
    point = _averaged(values, people, known, once(len(values)))
    drawn = _averaged(values, people, known, weights)
    if metric == LENGTH and point[0] < 0:  # the direction that fits better, as in the table of all
        point, drawn = -point, -drawn
    return FamilyMeasure(metric, sum(map(len, known)), estimate(float(point[0]), drawn, seed))


def _averaged(values: FloatArray, people: FloatArray, strata: Sequence[IndexArray], weights: FloatArray) -> FloatArray:
    """Return tau-b for each draw, averaged over the strata that have one; shape (draws,), NaN where none has."""
    taus = np.array([kendall_tau_b(values[rows], people[rows], weights[:, rows]) for rows in strata if len(rows)])
    sizes = np.array([[len(rows)] for rows in strata if len(rows)], dtype=np.float64)
    shares = np.where(np.isnan(taus), 0.0, sizes)
    return share((np.nan_to_num(taus) * shares).sum(axis=0), shares.sum(axis=0))


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
        raise ValueError(f"{len(judgements):,} rated outputs; from 1 to {MOST_OUTPUTS:,} are wanted")
    measured = measures(judgements, draws=draws, seed=seed, tell=tell)
    tell("language families")
    families = family_agreements(judgements, languages, measured, draws=draws, seed=seed) if languages else ()
    tell("weights")
    weights = propose_weights(judgements, profile, draws=draws, seed=seed)
    tell("threshold")
    threshold = propose_threshold(judgements, level=level, draws=draws, seed=seed)
    of_weights = None
    if weights.weights is not None:  # a line holds for the weights that it was found with
        again = replace(judgements, composite=reweighed(judgements, weights.weights))
        of_weights = propose_threshold(again, level=level, draws=draws, seed=seed)
    return Calibration(
        judgements.item_count,
        len(judgements),
        measured,
        system_shares(judgements, draws=draws, seed=seed),
        decisions(judgements),
        weights,
        threshold,
        of_weights,
        draws,
        seed,
        families,
    )


def system_shares(judgements: Judgements, *, draws: int = DRAWS, seed: int = SEED) -> tuple[SystemShare, ...]:
    """Return for each system how many of its outputs people would accept, with an item-bootstrap interval."""
    shares = []
    for number, name in enumerate(judgements.system_names):
        rows = judgements.system_index == number
        acceptable, mixed = judgements.acceptable[rows], judgements.composite[rows]
        index = np.unique(judgements.item_index[rows], return_inverse=True)[1]
        weights = row_weights(index, draws, seed)
        drawn = weights @ acceptable / weights.sum(axis=1)
        share = estimate(float(acceptable.mean()), drawn, seed)
        known = mixed[~np.isnan(mixed)]
        mean = float(known.mean()) if len(known) else None
        shares.append(SystemShare(name, len(acceptable), share, mean))
    return tuple(shares)
