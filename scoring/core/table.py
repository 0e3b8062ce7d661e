"""The statistics of many entries as one matrix, so that every sum of them is one product.

Corpus values, breakdowns, floors and bootstrap draws differ only in how they weigh the rows.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from corpora.files.problems import StoredValueError
from scoring.core.metric import FloatArray, Metric, Statistics
from scoring.core.specification import Weighing, specified

EntryStatistics = Mapping[str, Statistics | None]
"""Statistics of one entry by metric id; None where the metric has nothing to look at."""

FAILED: Final[Statistics] = ()
"""Stands for the statistics of an entry at which the code of an installed pack failed: it has no value there."""


class StatisticsError(StoredValueError):
    """Statistics of entries are damaged, or are those of other metrics than they are read with."""

    def __init__(self) -> None:
        super().__init__(
            "the statistics of an entry are damaged, or were taken with other metrics; "
            "score the outputs again"
        )


class Table:
    """Rows are entries, columns the statistics of all metrics side by side."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        matrix: FloatArray,
        present: FloatArray,
        weighing: Weighing | None = None,
    ) -> None:
        self.metrics = tuple(metrics)
        self.weighing = weighing or specified()
        """By which the composites of its values are made."""
        self.matrix = matrix
        """Shape (entries, sum of widths); zeros where a metric has nothing."""
        self.present = present
        """Shape (entries, metrics); 1.0 where the metric has statistics, else 0.0."""
        ends = np.cumsum([metric.width for metric in self.metrics])
        self._columns = {
            metric.info.id: slice(int(end) - metric.width, int(end))
            for metric, end in zip(self.metrics, ends, strict=True)
        }

    @classmethod
    def of(
        cls,
        metrics: Sequence[Metric],
        statistics: Sequence[EntryStatistics],
        weighing: Weighing | None = None,
    ) -> Table:
        """Build the table of the statistics of some entries."""
        by_metric = [[entry.get(metric.info.id) for entry in statistics] for metric in metrics]
        return cls.of_columns(metrics, by_metric, len(statistics), weighing)

    @classmethod
    def of_columns(
        cls,
        metrics: Sequence[Metric],
        by_metric: Sequence[Sequence[Statistics | None]],
        entries: int,
        weighing: Weighing | None = None,
    ) -> Table:
        """Build the table of the statistics that each metric took from some entries."""
        columns, present = [], np.zeros((entries, len(metrics)))
        for place, (metric, rows) in enumerate(zip(metrics, by_metric, strict=True)):
            present[:, place] = 1.0 if all(rows) else [bool(row) for row in rows]
            columns.append(_columns(rows, metric.width))
        matrix = np.hstack(columns) if columns else np.zeros((entries, 0))
        return cls(metrics, matrix, present, weighing)

    def __len__(self) -> int:
        return len(self.matrix)

    def rows(self, places: Sequence[int] | npt.NDArray[np.int64]) -> Table:
        """Return the table of some of the entries."""
        chosen = np.asarray(places, dtype=np.int64)
        return Table(self.metrics, self.matrix[chosen], self.present[chosen], self.weighing)

    def only(self, ids: Collection[str]) -> Table:
        """Return the table of some of the metrics, in the order of the table."""
        places = [place for place, metric in enumerate(self.metrics) if metric.info.id in ids]
        if len(places) == len(self.metrics):
            return self
        metrics = [self.metrics[place] for place in places]
        columns = [self.columns(metric.info.id) for metric in metrics]
        matrix = np.hstack(columns) if columns else self.matrix[:, :0]
        return Table(metrics, matrix, self.present[:, places], self.weighing)

    def with_rows(self, sums: FloatArray) -> Table:
        """Return a table of the same metrics whose rows are sums of these rows, shape (n, sum of widths)."""
        present = np.broadcast_to(
            self.present.max(axis=0, initial=0.0), (len(sums), len(self.metrics))
        )
        return Table(self.metrics, sums, present, self.weighing)

    def columns(self, id_: str) -> FloatArray:
        """Return one metric's statistics, shape (entries, width)."""
        return self.matrix[:, self._columns[id_]]

    def totals(self) -> FloatArray:
        """Sum all rows, shape (1, sum of widths)."""
        return np.asarray(self.matrix.sum(axis=0, keepdims=True))

    def values(self, sums: FloatArray) -> dict[str, FloatArray]:
        """Compute n values per metric from sums of rows, shape (n, sum of widths); NaN where there is none."""
        return {
            metric.info.id: metric.values(sums[:, self._columns[metric.info.id]])
            for metric in self.metrics
        }

    @cached_property
    def row_values(self) -> dict[str, FloatArray]:
        """Return the values of every row, be it an entry or a sum of several; worked out once."""
        return self.values(self.matrix)

    def entry_values(self) -> dict[str, FloatArray]:
        """Return every entry's own values; NaN where a metric has nothing to look at."""
        return {
            metric.info.id: np.where(
                self.present[:, place] > 0, self.row_values[metric.info.id], np.nan
            )
            for place, metric in enumerate(self.metrics)
        }

    def corpus_values(self) -> dict[str, float | None]:
        """Return the corpus values; None where no entry has statistics or the sum has no value."""
        return present_values(self.values(self.totals()), np.atleast_1d(self.present.any(axis=0)))


def _columns(rows: Sequence[Statistics | None], width: int) -> FloatArray:
    """Return one metric's statistics as an array; StatisticsError unless they are ``width`` numbers each."""
    nothing = (0.0,) * width
    there = rows if all(rows) else [row or nothing for row in rows]
    numbers = chain.from_iterable(cast("Sequence[Statistics]", there))
    try:
        packed = struct.pack(f"{len(rows) * width}d", *numbers)
    except struct.error as error:
        raise StatisticsError from error
    return np.frombuffer(packed, np.float64).reshape(len(rows), width)


def present_values(
    values: Mapping[str, FloatArray], present: npt.NDArray[np.bool_]
) -> dict[str, float | None]:
    """Return arrays of one value each as numbers, None for NaN and for metrics without statistics."""
    return {
        id_: float(value[0]) if there and not np.isnan(value[0]) else None
        for (id_, value), there in zip(values.items(), present, strict=True)
    }
