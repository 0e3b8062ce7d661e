"""A metric is a pair: translation → statistics, summed statistics → value (DESIGN §4).

Because statistics add up, the running corpus score is exact after every entry, a breakdown is another
sum, and a bootstrap draw is a weighted sum.

Its signature says everything that a value depends on, in sacreBLEU's ``key:value|…`` form. A rate is a count of
words, terms or entries over another.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import ClassVar, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from corpora.files.installed import version
from corpora.files.problems import StoredValueError
from scoring.core.setup import ScoringSetup, Translation
from scoring.core.specification import MetricInfo, Weighing, specified

Statistics = tuple[float, ...]
"""The additive numbers that one metric takes from one translation."""
FloatArray = npt.NDArray[np.float64]


class Compared(NamedTuple):
    """One of the things that a value compares. All of it may quote the output: hostile text."""

    name: str
    given: str
    """As the output has it; empty where it has none."""
    wanted: str
    """As it is wanted, or ``given`` where that is right; empty where none is wanted."""
    running: bool = False
    """True for running text, whose words are compared one by one."""


class Metric(ABC):
    """One metric. Stateless between calls, so that any process gets the same integers."""

    info: ClassVar[MetricInfo]
    width: ClassVar[int]
    """How many numbers ``stats`` gives."""
    reads_source: ClassVar[bool] = False
    """True where the value says how the output fits its source: an entry without a source has none."""
    has_verdicts: ClassVar[bool] = False
    """True where an entry's value stands for a verdict (``verdict_of``)."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything that the value depends on, in sacreBLEU's ``key:value|…`` form."""

    @property
    def why_missing(self) -> str:
        """Return why the metric has no value, where it has none (DESIGN M1)."""
        return "no entry has anything for it to look at"

    @abstractmethod
    def stats(self, translation: Translation) -> Statistics | None:
        """Compute the additive statistics of one translation; None if the metric has nothing to look at."""

    def stats_many(self, translations: Sequence[Translation]) -> list[Statistics | None]:
        """Compute the statistics of several translations; faster metrics do them together."""
        return [self.stats(translation) for translation in translations]

    @abstractmethod
    def values(self, totals: FloatArray) -> FloatArray:
        """Compute n values from sums of statistics of shape (n, width); NaN where there is none."""

    def explain(self, translation: Translation) -> tuple[str, ...]:  # noqa: ARG002
        """Return what this translation's value comes from; empty where the value says it all.

        The words may quote the output, which is hostile until shown through the one display function.
        """
        return ()

    def compared(self, translation: Translation) -> tuple[Compared, ...]:  # noqa: ARG002
        """Return what the value compares; empty where that is the two texts as they stand, or nothing."""
        return ()

    def verdict_of(self, statistics: Statistics) -> str | None:  # noqa: ARG002
        """Return the verdict that an entry's statistics stand for; None where there is none."""
        return None

    def further(self, total: FloatArray) -> dict[str, float | int | None]:  # noqa: ARG002
        """Return further fields of the card that a sum of statistics tells, by name."""
        return {}

    def value(self, total: Sequence[float] | FloatArray) -> float | None:
        """Compute the value from one sum of statistics, None if there is none."""
        value = float(self.values(np.asarray(total, dtype=np.float64).reshape(1, self.width))[0])
        return None if np.isnan(value) else value


class CorpusMetric(ABC):
    """A metric over a whole corpus whose parts do not add up, so that it has no interval."""

    info: ClassVar[MetricInfo]

    @property
    @abstractmethod
    def signature(self) -> str:
        """Return the metric's signature, as ``Metric.signature`` does."""

    @property
    @abstractmethod
    def why_missing(self) -> str:
        """Return why there is no value, where there is none (DESIGN M1)."""

    @abstractmethod
    def corpus_value(self, translations: Sequence[Translation]) -> float | None:
        """Return the value over all translations of a run; None where there is nothing to look at."""


def oriented(values: FloatArray, better: str) -> FloatArray:
    """Return values for which more is better; a ratio whose ideal is 1 becomes its distance from it."""
    match better:
        case "lower":
            return -values
        case "neither":
            return -np.abs(values - 1.0)
        case _:
            return values


ENGINE = "rosetta-1"
"""Which code takes the statistics; changes whenever an integer could."""


def own_signature(parts: str) -> str:
    """Sign a value whose definition is our own."""
    return f"{parts}|norm:NFC|engine:{ENGINE}"


@cache
def sacrebleu_signature(parts: str) -> str:
    """Sign a value that equals sacreBLEU's: its own signature, then normal form and engine."""
    return f"{parts}|version:{version('sacrebleu')}|norm:NFC|engine:{ENGINE}"


def plain_key(text: object) -> str:
    """Return a name without the characters that part a signature."""
    return str(text).replace("|", "/").replace(":", "=")


def content_key(sha256: str | None) -> str:
    """Name a file in a signature by its content; ``none`` where there is no such file."""
    return (sha256 or "none")[:12]


def card_key(setup: ScoringSetup) -> str:
    """Name the target's language card in a signature."""
    return content_key(setup.language_card_sha256)


def analyser_key(setup: ScoringSetup) -> str:
    """Name the analyser in a signature; engines agree, so that none is named."""
    return content_key(None if setup.analyser is None else setup.analyser.sha256)


class RateMetric(Metric):
    """Statistics (counted, all), value counted / all; null over nothing.

    A subclass may add numbers after these two, which do not enter the value.
    """

    width = 2

    def values(self, totals: FloatArray) -> FloatArray:
        return share(totals[:, 0], totals[:, 1])


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide place by place; NaN where there is nothing to be a part of."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


class MatchRate(RateMetric):
    """A rate whose entries are right or wrong: statistics (1 if right, 1), value in 0–1, higher is better.

    Every entry counts in the denominator, a failed one as wrong (DESIGN M2).
    """

    @property
    def signature(self) -> str:
        return own_signature("nrefs:1|case:mixed|punct:yes|space:folded")


# ---- The statistics of many entries as one matrix, so that every sum of them is one product.
#
# Corpus values, breakdowns, floors and bootstrap draws differ only in how they weigh the rows.

EntryStatistics = Mapping[str, Statistics | None]
"""Statistics of one entry by metric id; None where the metric has nothing to look at."""
FAILED: Final[Statistics] = ()
"""Stands for the statistics of an entry at which the code of an installed pack failed: it has no value there."""


class StatisticsError(StoredValueError):
    """Statistics of entries are damaged, or are those of other metrics than they are read with."""

    def __init__(self) -> None:
        super().__init__(
            "the statistics of an entry are damaged, or were taken with other metrics; score the outputs again"
        )


class Table:
    """Rows are entries, columns the statistics of all metrics side by side."""

    def __init__(
        self, metrics: Sequence[Metric], matrix: FloatArray, present: FloatArray, weighing: Weighing | None = None
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
        cls, metrics: Sequence[Metric], statistics: Sequence[EntryStatistics], weighing: Weighing | None = None
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

    @classmethod
    def joined(cls, tables: list[Table]) -> Table:
        """Return the rows of several tables as one; the list is emptied, so that not all rows are held twice."""
        first = tables[0]
        if len(tables) == 1:
            return first
        rows = sum(map(len, tables))
        matrix = np.empty((rows, first.matrix.shape[1]), np.result_type(*{table.matrix.dtype for table in tables}))
        present = np.empty((rows, first.present.shape[1]), np.result_type(*{table.present.dtype for table in tables}))
        while tables:
            table = tables.pop()
            matrix[rows - len(table) : rows], present[rows - len(table) : rows] = table.matrix, table.present
            rows -= len(table)
        return cls(first.metrics, matrix, present, first.weighing)

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
        most = self.present.max(axis=0, initial=0)
        present = np.broadcast_to(most, (len(sums), len(self.metrics)))
        return Table(self.metrics, sums, present, self.weighing)

    def columns(self, id_: str) -> FloatArray:
        """Return one metric's statistics, shape (entries, width)."""
        return self.matrix[:, self._columns[id_]].astype(np.float64, copy=False)

    def sums(self, id_: str) -> FloatArray:
        """Sum one metric's statistics."""
        return np.asarray(self.matrix[:, self._columns[id_]].sum(axis=0, dtype=np.float64))

    def totals(self) -> FloatArray:
        """Sum all rows, shape (1, sum of widths)."""
        return np.asarray(self.matrix.sum(axis=0, keepdims=True, dtype=np.float64))

    def small(self) -> Table:
        """Return the table with its statistics in the smallest integers that hold them, where all are whole."""
        matrix = self.matrix
        if not (matrix == np.rint(matrix)).all() or np.abs(matrix).max(initial=0) >= 2**31:
            return self
        kinds = (np.int8, np.int16, np.int32)
        kind = next(kind for kind in kinds if np.abs(matrix).max(initial=0) <= np.iinfo(kind).max)
        return Table(self.metrics, matrix.astype(kind), self.present.astype(np.bool_), self.weighing)

    def values(self, sums: FloatArray) -> dict[str, FloatArray]:
        """Compute n values per metric from sums of rows, shape (n, sum of widths); NaN where there is none."""
        sums = sums.astype(np.float64, copy=False)
        return {metric.info.id: metric.values(sums[:, self._columns[metric.info.id]]) for metric in self.metrics}

    @cached_property
    def row_values(self) -> dict[str, FloatArray]:
        """Return the values of every row, be it an entry or a sum of several; worked out once."""
        return self.values(self.matrix)

    def entry_values(self) -> dict[str, FloatArray]:
        """Return every entry's own values; NaN where a metric has nothing to look at."""
        return {
            metric.info.id: np.where(self.present[:, place] > 0, self.row_values[metric.info.id], np.nan)
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


def present_values(values: Mapping[str, FloatArray], present: npt.NDArray[np.bool_]) -> dict[str, float | None]:
    """Return arrays of one value each as numbers, None for NaN and for metrics without statistics."""
    return {
        id_: float(value[0]) if there and not np.isnan(value[0]) else None
        for (id_, value), there in zip(values.items(), present, strict=True)
    }
