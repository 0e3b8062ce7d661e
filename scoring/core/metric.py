"""A metric is a pair: translation → statistics, summed statistics → value (DESIGN §4).

Because statistics add up, the running corpus score is exact after every entry, a breakdown is another
sum, and a bootstrap draw is a weighted sum.

Its signature says everything that a value depends on, in sacreBLEU's ``key:value|…`` form. A rate is a count of
words, terms or entries over another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from scoring.core.setup import ScoringSetup
from scoring.core.specification import MetricInfo
from scoring.core.translation import Translation

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


def sacrebleu_signature(parts: str) -> str:
    """Sign a value that equals sacreBLEU's: its own signature, then normal form and engine."""
    return f"{parts}|version:{_sacrebleu_version()}|norm:NFC|engine:{ENGINE}"


def content_key(sha256: str | None) -> str:
    """Name a file in a signature by its content; ``none`` where there is no such file."""
    return (sha256 or "none")[:12]


def card_key(setup: ScoringSetup) -> str:
    """Name the target's language card in a signature."""
    return content_key(setup.language_card_sha256)


def analyser_key(setup: ScoringSetup) -> str:
    """Name the analyser in a signature; engines agree, so that none is named."""
    return content_key(None if setup.analyser is None else setup.analyser.sha256)


@cache
def _sacrebleu_version() -> str:
    return version("sacrebleu")


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
