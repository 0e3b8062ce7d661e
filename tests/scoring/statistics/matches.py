"""Matches of two systems."""

from __future__ import annotations

from scoring.core.scorer import Scorer
from scoring.core.table import Table
from scoring.metrics.match import ExactMatch
from tests.scoring.samples import translations


def matches(first: list[int], second: list[int]) -> tuple[Table, Table]:
    """Two runs that are right (1) or wrong (0) on each entry."""
    scorer = Scorer([ExactMatch()])
    texts = [["right" if is_ else "wrong" for is_ in run] for run in (first, second)]
    made = [translations(run, ["right"] * len(run)) for run in texts]
    one, other = (scorer.table(scorer.statistics(run)) for run in made)
    return one, other
