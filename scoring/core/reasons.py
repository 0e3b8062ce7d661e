"""Why a metric has no value: always said next to the null, never left to guess (DESIGN M1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring.core.metric import CorpusMetric, Metric
from scoring.core.specification import specification


def missing_reasons(
    metrics: Sequence[Metric | CorpusMetric],
    values: Mapping[str, float | None],
    off: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return a reason for every metric of the inventory that has no value.

    ``off`` holds the reasons of those that the run was set up without, or whose model failed
    (``ScoringSetup.off``).
    """
    chosen = {metric.info.id: metric for metric in metrics}
    reasons = {}
    for id_ in specification().metrics:
        if values.get(id_) is not None:
            continue
        if id_ in (off or {}):
            reasons[id_] = (off or {})[id_]
        elif id_ in chosen:
            reasons[id_] = chosen[id_].why_missing
        else:
            reasons[id_] = "not among the metrics of this run"
    return reasons
