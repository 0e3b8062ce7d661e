"""What the file of a metric tells of it besides its class: how it is made, and when it has no value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scoring.core.metric import CorpusMetric, Metric

if TYPE_CHECKING:
    from scoring.words.resources import Resources


@dataclass(frozen=True, slots=True)
class Maker:
    """How one metric is made, and when it is off; a metric's file lists its own in ``METRICS``, by id."""

    make: Callable[[Resources], Metric | CorpusMetric]
    why_off: Callable[[Resources], str | None] = lambda _: None
    """Return the reason why the metric can have no value with these resources, None where it can."""
