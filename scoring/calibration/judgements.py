"""Rated outputs as arrays: what people said of each, and what each metric said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scoring.core.metric import FloatArray, oriented

IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Judgements:
    """One row per rated output; an item is an entry of a corpus, of which several systems have outputs."""

    items: tuple[str, ...]
    """Item of each row. Resampling draws items, because outputs of one item are not independent."""
    systems: tuple[str, ...]
    """Run of each row."""
    people: FloatArray
    """Mean rating, from 0 for the worst step of the scale to 1 for the best."""
    acceptable: FloatArray
    """Share of the raters who called the output acceptable or better, 0–1."""
    composite: FloatArray
    """The row's composite, NaN where it has none."""
    metrics: Mapping[str, FloatArray]
    """Values by metric id on the metric's own scale, NaN where an output has none."""
    better: Mapping[str, str]
    """Metric id → ``higher``, ``lower`` or ``neither`` (``MetricInfo.better``)."""
    length: FloatArray
    """Characters of each output."""

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def item_index(self) -> IndexArray:
        """Number of each row's item, counted in the order of first appearance."""
        return _numbered(self.items)

    @cached_property
    def system_index(self) -> IndexArray:
        """Number of each row's system, counted in the order of first appearance."""
        return _numbered(self.systems)

    @property
    def item_count(self) -> int:
        """How many different items were rated."""
        return len(set(self.items))

    @cached_property
    def system_names(self) -> tuple[str, ...]:
        """The systems in the order of first appearance."""
        return tuple(dict.fromkeys(self.systems))

    def oriented(self, metric: str) -> FloatArray:
        """Return a metric's values so that more is better, which every agreement with people supposes."""
        return oriented(self.metrics[metric], self.better[metric])


def _numbered(names: tuple[str, ...]) -> IndexArray:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)
