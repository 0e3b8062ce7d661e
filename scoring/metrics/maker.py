"""What the files of metrics share: how a metric is made, when it has no value, and what a rate is made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from scoring.core.metric import FAILED, Compared, CorpusMetric, FloatArray, MatchRate, Metric, RateMetric, Statistics
from scoring.core.packs import describe
from scoring.core.setup import ScoringSetup, Translation

if TYPE_CHECKING:
    from scoring.words.source_words import Resources


# What a run has loads the languages, and whoever reads a score needs none of it.


class ResourceRate(RateMetric):
    """A rate that asks what its run has available: cards, dictionaries, the texts of the corpus."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @property
    def _setup(self) -> ScoringSetup:
        return self._resources.setup


@dataclass(frozen=True, slots=True)
class Maker:
    """How one metric is made, and when it is off; a metric's file lists its own in ``METRICS``, by id."""

    make: Callable[[Resources], Metric | CorpusMetric]
    why_off: Callable[[Resources], str | None] = lambda _: None
    """Return the reason why the metric can have no value with these resources, None where it can."""


# ---- Metrics of installed packs, whose code may fail at any entry ----
#
# An entry at which it fails has no value, and ``FAILED`` is stored for it, so that it can be
# counted later. The words of what was raised are dropped: they may quote a secret text.

_MOST = 2.0**53
"""Statistics beyond it are no counts, and their sums would lose digits."""
T = TypeVar("T")


def guarded(pack: str, maker: Maker) -> Maker:
    """Return a maker of outside code whose metric never raises, and is off where it cannot be made."""

    def why_off(resources: Resources) -> str | None:
        try:
            str(maker.make(resources).signature)
            return maker.why_off(resources)
        except Exception as error:  # noqa: BLE001  code from outside
            return f"the pack {pack} does not make it: {describe(error)}"

    return Maker(lambda resources: _guarded(maker.make(resources)), why_off)


def _guarded(metric: Metric | CorpusMetric) -> Metric | CorpusMetric:
    """Return a metric that never raises."""
    if isinstance(metric, CorpusMetric):
        outside = type("OutsideCorpusMetric", (_OutsideCorpus,), {"info": metric.info})
        return outside(metric)  # type: ignore[no-any-return]
    kinds = (OutsideMetric, MatchRate) if isinstance(metric, MatchRate) else (OutsideMetric,)
    fixed = {"info": metric.info, "width": metric.width, "reads_source": metric.reads_source}
    return type("GuardedMetric", kinds, fixed)(metric)  # type: ignore[no-any-return]


def _or(found: Callable[[], T], otherwise: T) -> T:
    """Return what outside code gives; something else where it fails."""
    try:
        return found()
    except Exception:  # noqa: BLE001  code from outside
        return otherwise


class OutsideMetric(Metric):
    """Asks a metric of outside code, and stands for it where it fails."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    @property
    def signature(self) -> str:
        return _or(lambda: str(self._metric.signature), "unknown")

    @property
    def why_missing(self) -> str:
        return _or(lambda: str(self._metric.why_missing), super().why_missing)

    def stats(self, translation: Translation) -> Statistics | None:
        failed: Statistics | None = FAILED
        return _or(lambda: self._checked(self._metric.stats(translation)), failed)

    def stats_many(self, translations: Sequence[Translation]) -> list[Statistics | None]:
        """Compute the statistics together, one by one where that fails: the others' are good."""
        none: list[Statistics | None] = []
        rows = _or(lambda: [*map(self._checked, self._metric.stats_many(translations))], none)
        return rows if len(rows) == len(translations) else [*map(self.stats, translations)]

    def values(self, totals: FloatArray) -> FloatArray:
        """Return the metric's own values; NaN where it gives none that could be shown."""
        nothing = np.full(len(totals), np.nan)
        values = _or(lambda: np.asarray(self._metric.values(totals), dtype=np.float64), nothing)
        fit = values.shape == nothing.shape
        return np.where(np.isfinite(values), values, np.nan) if fit else nothing

    def explain(self, translation: Translation) -> tuple[str, ...]:
        try:
            self._checked(self._metric.stats(translation))
            return tuple(map(str, self._metric.explain(translation)))
        except Exception as error:  # noqa: BLE001  code from outside
            kind = type(error).__name__
            return (f"The code of its pack fails at this entry ({kind}), so it has no value.",)

    def compared(self, translation: Translation) -> tuple[Compared, ...]:
        nothing: tuple[Compared, ...] = ()
        return _or(
            lambda: tuple(
                Compared(str(name), str(given), str(wanted), bool(running))
                for name, given, wanted, running in self._metric.compared(translation)
            ),
            nothing,
        )

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        nothing: dict[str, float | int | None] = {}
        fields = _or(lambda: dict(self._metric.further(total)), nothing)
        own = f"{self.info.id}_"
        return {
            name: value
            for name, value in fields.items()
            if str(name).startswith(own) and (value is None or isinstance(value, int | float))
        }

    def _checked(self, found: Statistics | None) -> Statistics | None:
        """Return statistics as numbers that can be kept; ValueError where they are none."""
        if found is None:
            return None
        numbers = tuple(map(float, found))
        if len(numbers) != self.width or not all(isfinite(number) and abs(number) <= _MOST for number in numbers):
            raise ValueError("no statistics")
        return numbers


class _OutsideCorpus(CorpusMetric):
    """Asks a metric of outside code for the value of a whole corpus."""

    def __init__(self, metric: CorpusMetric) -> None:
        self._metric = metric
        self._failed = ""

    @property
    def signature(self) -> str:
        return _or(lambda: str(self._metric.signature), "unknown")

    @property
    def why_missing(self) -> str:
        return self._failed or _or(lambda: str(self._metric.why_missing), FAILED_WHOLE)

    def corpus_value(self, translations: Sequence[Translation]) -> float | None:
        try:
            own_value = self._metric.corpus_value(translations)
            value = None if own_value is None else float(own_value)
        except Exception:  # noqa: BLE001  code from outside
            self._failed = FAILED_WHOLE
            return None
        return value if value is not None and isfinite(value) else None


FAILED_WHOLE = "the code of its pack fails"
"""Why a metric of a whole corpus has no value, where its code raised."""
