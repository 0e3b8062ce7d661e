"""What the files of metrics share: how a metric is made, when it has no value, and what a rate is made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scoring.core.metric import CorpusMetric, Metric, RateMetric
from scoring.core.setup import ScoringSetup

# What a run has at hand loads the languages, and whoever reads a score needs none of it.
if TYPE_CHECKING:
    from scoring.words.resources import Resources


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
