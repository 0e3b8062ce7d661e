"""A metric is a pair: translation → statistics, summed statistics → value (DESIGN §4).

Because statistics add up, the running corpus score is exact after every entry, a breakdown is another
sum, and a bootstrap draw is a weighted sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from scoring.core.translation import Translation

Statistics = tuple[float, ...]
"""The additive numbers that one metric takes from one translation."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What is fixed about a metric: its row in the inventory (scoring-specification §2)."""

    id: str
    title: str
    low: float
    high: float
    """Range of the value; ``inf`` where it has no upper end."""
    better: str
    """``higher``, ``lower``, or ``neither`` (length ratio: 1 is ideal)."""
    source: str
    """Section of the seed, or paper, that defines it."""


class Metric(ABC):
    """One metric. Stateless between calls, so that any process gets the same integers."""

    info: ClassVar[MetricInfo]
    width: ClassVar[int]
    """How many numbers ``stats`` gives."""
    reads_source: ClassVar[bool] = False
    """True where the value says how the output fits its source: an entry without a source has none."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything that the value depends on, in sacreBLEU's ``key:value|…`` form."""

    @property
    def why_missing(self) -> str:
        """Say to people why the metric has no value, where it has none (DESIGN M1)."""
        return "no entry has anything for it to look at"

    @abstractmethod
    def stats(self, translation: Translation) -> Statistics | None:
        """Take the additive statistics of one translation; None where the metric has nothing to look at."""

    def stats_many(self, translations: Sequence[Translation]) -> list[Statistics | None]:
        """Take the statistics of several translations; faster metrics do them together."""
        return [self.stats(translation) for translation in translations]

    @abstractmethod
    def values(self, totals: FloatArray) -> FloatArray:
        """Turn sums of statistics of shape (n, width) into n values; NaN where there is none."""

    def explain(self, translation: Translation) -> tuple[str, ...]:  # noqa: ARG002
        """Say in plain words what this translation's value comes from; empty where the value says it all.

        The words may quote the output, which is hostile until shown through the one display function.
        """
        return ()

    def further(self, total: FloatArray) -> dict[str, float | int | None]:  # noqa: ARG002
        """Return further fields of the card that a sum of statistics tells, by name."""
        return {}

    def value(self, total: Sequence[float] | FloatArray) -> float | None:
        """Turn one sum of statistics into the value, or None where there is none."""
        value = float(self.values(np.asarray(total, dtype=np.float64).reshape(1, self.width))[0])
        return None if np.isnan(value) else value


class CorpusMetric(ABC):
    """A metric over a whole corpus whose parts do not add up, so that it has no interval."""

    info: ClassVar[MetricInfo]

    @property
    @abstractmethod
    def signature(self) -> str:
        """See ``Metric.signature``."""

    @property
    @abstractmethod
    def why_missing(self) -> str:
        """Say to people why there is no value, where there is none (DESIGN M1)."""

    @abstractmethod
    def corpus_value(self, translations: Sequence[Translation]) -> float | None:
        """Return the value over all translations of a run; None where there is nothing to look at."""


def oriented(values: FloatArray, better: str) -> FloatArray:
    """Turn values so that more is better; a ratio whose ideal is 1 becomes its distance from it."""
    match better:
        case "lower":
            return -values
        case "neither":
            return -np.abs(values - 1.0)
        case _:
            return values
