"""Why a metric has no value: always said next to the null, never left to guess (DESIGN M1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring.metric import Metric
from scoring.specification import specification

_COMPUTED = frozenset(
    {"exact_match_rate", "equivalent_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio"}
)
"""Metrics of the inventory that this version can compute."""


def missing_reasons(
    metrics: Sequence[Metric], values: Mapping[str, float | None]
) -> dict[str, str]:
    """Give a reason for every metric of the inventory that has no value."""
    chosen = {metric.info.id: metric for metric in metrics}
    reasons = {}
    for id_ in specification().metrics:
        if values.get(id_) is not None:
            continue
        if id_ in chosen:
            reasons[id_] = chosen[id_].why_missing
        elif id_ in _COMPUTED:
            reasons[id_] = "not among the metrics of this run"
        else:
            reasons[id_] = "not computed by this version of Rosetta"
    return reasons
