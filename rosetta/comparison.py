"""Two runs held against each other, metric by metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.card.exporting import refuse_to_leave
from harness.compare.comparing import compare_runs, require_two
from harness.compare.pairs import Pair
from harness.core.failures import UsageError
from harness.store.file.database import opened
from harness.store.runs import find_run
from rosetta_tui.compare.sentences import sentence
from scoring.core.inventory import metric_named, unknown_metric


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """How two runs differ by one metric, over the entries that both have."""

    metric: str
    first: float
    second: float
    difference: float
    """``second - first``."""
    ci_lower: float
    ci_upper: float
    """Ends of the 95 % interval of the difference, by paired bootstrap."""
    p: float
    """Of the approximate randomisation, by Holm over all pairs of the comparison."""
    p_bootstrap: float
    significant: bool
    better: str | None
    """``first`` or ``second``; None where that may be chance, or no direction is better."""
    sentence: str
    """The same in words; A is the first run, B the second."""


class RunComparison(Mapping[str, MetricDifference]):
    """The differences of two runs by metric id; any name of a metric finds its own, such as ``chrf++``."""

    def __init__(self, pair: Pair) -> None:
        self.left_out: Mapping[str, str] = dict(pair.left_out)
        """Metric id → why the two do not compare by it."""
        self._differences = {id_: _difference(pair, id_) for id_ in pair.by_metric}

    def __getitem__(self, name: str) -> MetricDifference:
        """Return the difference by a metric; KeyError says why there is none."""
        id_ = metric_named(name)
        if id_ is None:
            raise KeyError(unknown_metric(name))
        if id_ not in self._differences:
            raise KeyError(f"{id_}: {self.left_out.get(id_, 'it has no value in both')}")
        return self._differences[id_]

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the metrics by which the two compare."""
        return iter(self._differences)

    def __len__(self) -> int:
        """Return by how many metrics they compare."""
        return len(self._differences)


def _difference(pair: Pair, metric: str) -> MetricDifference:
    difference = pair.by_metric[metric]
    sure = pair.significant(metric)
    return MetricDifference(
        metric=metric,
        first=difference.first,
        second=difference.second,
        difference=difference.difference,
        ci_lower=difference.lower,
        ci_upper=difference.upper,
        p=pair.p_adjusted[metric],
        p_bootstrap=difference.p_bootstrap,
        significant=sure,
        better=difference.ahead if sure and difference.direction != "neither" else None,
        sentence=sentence(pair, metric),
    )


def compared(store: Path, first: str, second: str) -> RunComparison:
    """Compare two complete runs of a store by their ids; UsageError with the reasons where they do not compare.

    Of runs with secret entries UsageError too: only ``rosetta vault compare`` shows how they differ.
    """
    with opened(store) as connection:
        refuse_to_leave(connection, [find_run(connection, run_id) for run_id in (first, second)])
        comparison = compare_runs(connection, [first, second])
    require_two(comparison)
    if comparison.running:
        raise UsageError("One of the two runs is not complete. Wait for it, or continue with it.")
    return RunComparison(comparison.pairs[0])
