"""What a set of reviewers said of one method, in numbers of six places."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import sqrt

from review.verdict.gate.policy import Veto
from review.verdict.gate.verdict import Numbers, Rejections, StratumShare
from review.verdict.panel.agreement import alpha, pair_row, ratio, tallies
from review.verdict.panel.estimate import (
    Number,
    PanelEstimate,
    Spread,
    clopper_pearson,
    estimate,
    round6,
)
from review.verdict.panel.panel import Panel

_SPLIT = 2
"""Steps between two ratings of one item from which on it splits the panel; one of them accepts it then."""

_OF_SPREAD = ("lower", "upper", "item_error", "reviewer_error", "effective_items", "df", "t")


def panel_numbers(
    panel: Panel, reviewers: Collection[str], confidence: Decimal, veto: Veto
) -> Numbers:
    """Return every number of a verdict that comes from the ratings of these reviewers."""
    found = estimate(panel, reviewers)
    rows = tallies(panel, reviewers)
    return Numbers(
        reviewers={who: round6(share) for who, share in found.reviewers.items()} if found else {},
        items=len(rows),
        strata=_strata(panel, found),
        share=round6(found.share) if found else None,
        **_bounds(found.spread if found else None, confidence),
        rejections=_rejections(rows, veto),
        split=tuple(item for item, row in rows.items() if is_split(row)),
        alpha=_round6(alpha(list(rows.values()))),
        within_one=_round6(_within_one(rows)),
    )


def _bounds(spread: Spread | None, confidence: Decimal) -> dict[str, Decimal | None]:
    """Return the fields that need two reviewers, all None with fewer."""
    if spread is None:
        return dict.fromkeys(_OF_SPREAD)
    bounds = spread.bounds(float(confidence))
    values = (
        bounds.lower,
        bounds.upper,
        sqrt(spread.item_variance),
        sqrt(spread.reviewer_variance),
        bounds.effective_items,
        bounds.df,
        bounds.t,
    )
    return dict(zip(_OF_SPREAD, map(_round6, values), strict=True))


def _strata(panel: Panel, found: PanelEstimate | None) -> dict[int, StratumShare]:
    """Return every stratum that was asked; one without ratings has no share and no weight."""
    asked = list(panel.strata.values())
    rated = found.strata if found else {}
    weights = found.weights if found else {}
    return {
        stratum: StratumShare(
            items=rated[stratum][0] if stratum in rated else 0,
            asked=asked.count(stratum),
            weight=round6(weights.get(stratum, 0)),
            share=round6(rated[stratum][1]) if stratum in rated else None,
        )
        for stratum in sorted(set(asked))
    }


def _rejections(rows: Mapping[str, Collection[int]], veto: Veto) -> Rejections:
    """Count the items that several reviewers reject, among those that so many rated."""
    seen = [tuple(row) for row in rows.values() if sum(row) >= veto.reviewers]
    rejected = sum(row[0] >= veto.reviewers for row in seen)
    upper = clopper_pearson(rejected, len(seen), float(veto.confidence))[1]
    return Rejections(rejected, len(seen), round6(upper))


def is_split(row: Sequence[int]) -> bool:
    """Tell whether the ratings of one item, counted by rank, lie two steps apart or more."""
    ranks = [rank for rank, count in enumerate(row) if count]
    return bool(ranks) and ranks[-1] - ranks[0] >= _SPLIT


def _within_one(rows: Mapping[str, Collection[int]]) -> Number | None:
    pairs = [pair_row(tuple(row), 1) for row in rows.values()]
    return ratio([sum(column) for column in zip(*pairs, strict=True)] or [Fraction(0)] * 2)


def _round6(value: Number | None) -> Decimal | None:
    return None if value is None else round6(value)
