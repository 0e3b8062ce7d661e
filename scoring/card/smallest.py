"""The smallest difference that a hidden set can tell, from the references and the scorer's own paired bootstrap.

Two imagined systems each keep half of the words of every reference, drawn by chance and for itself. Both are equally
good, so by how much their chrF++ differ over resamples of the entries is what chance makes of two systems whose errors
are unrelated (``scoring.statistics.clusters`` says which difference is found beside that). Systems whose errors fall on
the same entries differ less by chance, so less can be told between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from corpora.model.entry import Entry, Segment
from corpora.model.task import TRANSLATION
from scoring.card.floors import SEED, joined
from scoring.core.metric import Table
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.metrics.inventory import surface_metrics
from scoring.statistics import clusters
from scoring.statistics.significance import resamples

CHRF: Final = "chrf_plus_plus"
KEPT: Final = 0.5
"""Share of the words that an imagined system has right."""
FEWEST: Final = 10
"""Entries below which nothing is said: chance among so few is not what a resample shows."""


def smallest_difference(entries: Sequence[Entry]) -> float | None:
    """Return the difference in points of chrF++ that these entries can show; None for fewer than ``FEWEST`` or another task."""
    if len(entries) < FEWEST or entries[0].of_task != TRANSLATION:
        return None
    random = np.random.default_rng(SEED)
    scorer = Scorer([metric for metric in surface_metrics() if metric.info.id == CHRF])
    first, second = (_half_right(entries, scorer, random) for _ in range(2))
    drawn = [table.values(table.matrix)[CHRF] for table in resamples((first, second), 1000, SEED)]
    return clusters.smallest_difference(np.stack(drawn))


def by_segment(entries: Sequence[Entry]) -> Mapping[Segment, tuple[int, float]]:
    """Return for each secret segment how many entries it has and which difference they show; segments of few entries are left out."""
    shown = {}
    for segment in Segment:
        chosen = [entry for entry in entries if entry.segment is segment]
        if segment.secret and (least := smallest_difference(chosen)) is not None:
            shown[segment] = (len(chosen), least)
    return shown


def _half_right(entries: Sequence[Entry], scorer: Scorer, random: np.random.Generator) -> Table:
    outputs = []
    for entry in entries:
        words = entry.reference.split()
        parts = words if len(words) > 1 else list(entry.reference)
        kept = [part for part in parts if random.random() < KEPT]
        outputs.append(joined(kept) if len(words) > 1 else "".join(kept))
    given = [Translation(entry, text) for entry, text in zip(entries, outputs, strict=True)]
    return scorer.table(scorer.statistics(given))
