"""Floors: what outputs without any translation in them reach on the same corpus (DESIGN T2).

A composite means little before it is known what an empty output, the untouched source, one constant
sentence and the references in wrong places get from the same metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from corpora.entry import Entry
from corpora.text import comparison_form
from scoring.chrf import ChrfPlusPlus
from scoring.composite import composite, composite_metrics
from scoring.metric import Metric
from scoring.scorer import Scorer
from scoring.translation import Translation

_CANDIDATES = 8
_JUDGES = 60


@dataclass(frozen=True, slots=True)
class Floor:
    """What one kind of worthless output reaches."""

    composite: float | None
    chrf_plus_plus: float | None


Annotate = Callable[[Sequence[Translation]], Sequence[Translation]]
"""Fills in what annotators find."""


def floors(
    entries: Sequence[Entry],
    metrics: Sequence[Metric],
    *,
    annotate: Annotate = list,
    seed: int = 12345,
) -> dict[str, Floor]:
    """Score ``empty``, ``source``, ``constant`` and ``shuffled`` outputs with the metrics of the composite.

    They depend on the entries only, so runs on the same entries share them. ``shuffled`` is left out
    where there is nothing to change places with.
    """
    if not entries:
        return {}
    used = [metric for metric in metrics if metric.info.id in composite_metrics()]
    outputs = {
        "empty": [""] * len(entries),
        "source": [entry.source for entry in entries],
        "constant": [most_typical([entry.reference for entry in entries])] * len(entries),
    }
    if len(entries) > 1:
        outputs["shuffled"] = [
            entries[place].reference for place in derangement(len(entries), seed)
        ]
    return {
        kind: _floor(
            annotate([Translation(*pair) for pair in zip(entries, texts, strict=True)]), used
        )
        for kind, texts in outputs.items()
    }


def best_floor(found: dict[str, Floor]) -> float | None:
    """Give the highest composite among the floors; None where none has one."""
    values = [floor.composite for floor in found.values() if floor.composite is not None]
    return max(values, default=None)


def most_typical(references: Sequence[str]) -> str:
    """Choose the constant that an unfair method would choose: the reference most like the others.

    A reference that fits several entries is taken first; else candidates spread evenly over the lengths
    are judged by chrF++ against entries spread evenly over the corpus.
    """
    counts = Counter(comparison_form(text) for text in references)
    form, times = counts.most_common(1)[0]
    if times > max(1, len(references) // _CANDIDATES):
        return form
    candidates = _spread(sorted(counts), _CANDIDATES, key=len)
    judges = [Entry(id=0, source="-", reference=text) for text in _spread(list(counts), _JUDGES)]
    return max(candidates, key=lambda text: (_likeness(text, judges), text))


def derangement(length: int, seed: int) -> list[int]:
    """Give places such that none stays where it is, by shifting a seeded random order by one."""
    order = np.random.default_rng(seed).permutation(length)
    places = np.empty(length, dtype=np.int64)
    places[order] = np.roll(order, 1)
    return [int(place) for place in places]


def _floor(translations: Sequence[Translation], metrics: Sequence[Metric]) -> Floor:
    scorer = Scorer(metrics)
    values = scorer.table(scorer.statistics(translations)).corpus_values()
    return Floor(composite(values).value, values.get("chrf_plus_plus"))


def _likeness(text: str, judges: Sequence[Entry]) -> float:
    metric = ChrfPlusPlus()
    rows = metric.stats_many([Translation(entry, text) for entry in judges])
    return metric.value(np.array(rows, dtype=np.float64).sum(axis=0)) or 0.0


def _spread(texts: Sequence[str], most: int, key: object = None) -> list[str]:
    ordered = sorted(texts, key=key) if callable(key) else list(texts)
    step = max(1.0, len(ordered) / most)
    return [ordered[int(place * step)] for place in range(min(most, len(ordered)))]
