"""Fields of a card as people read them; the card may come from elsewhere, so nothing about it is sure.

What is not of the expected form counts as absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rosetta_tui import figures

if TYPE_CHECKING:
    from scoring.tiers import Tier


def number(value: object) -> float | None:
    """Give a field that is a number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def block(card: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Give a field that is an object, an empty one where it is none."""
    found = card.get(name)
    return found if isinstance(found, Mapping) else {}


def blocks(card: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Give the objects of a field that is a list."""
    found = card.get(name)
    yield from (
        b for b in (found if isinstance(found, list | tuple) else ()) if isinstance(b, Mapping)
    )


def interval(scores: Mapping[str, Any], metric: str) -> tuple[float, float] | None:
    """Give both ends of a metric's 95 % interval, None where one is missing."""
    ends = block(block(scores, "confidence_intervals"), metric)
    low, high = number(ends.get("ci_lower")), number(ends.get("ci_upper"))
    return None if low is None or high is None else (low, high)


def with_interval(scores: Mapping[str, Any], metric: str) -> str:
    """Give a score with its interval where it has one, such as ``62.1 (15.6–89.8)``."""
    from rosetta_tui.metric_words import value

    score, ends = number(scores.get(metric)), interval(scores, metric)
    shown = value(metric, score)
    if score is None or ends is None:
        return shown
    return f"{shown} ({value(metric, ends[0])}–{value(metric, ends[1])})"


def references_accepted(card: Mapping[str, Any]) -> float | None:
    """Give the share of the references' own words that the run's analyser accepts, 0–1.

    Reads the ``scoring`` block of a card, or of the opening of a run that has none yet.
    """
    facts = block(block(card, "scoring"), "analyser")
    words, accepted = number(facts.get("reference_words")), number(facts.get("reference_accepted"))
    return None if not words or accepted is None else accepted / words


def rescore_of(card: Mapping[str, Any]) -> str:
    """Give the id of the run whose outputs were scored again; empty where they are the run's own."""
    found = block(card, "rescore_of").get("run_id")
    return found if isinstance(found, str) else ""


def claimable(card: Mapping[str, Any]) -> Tier:
    """Give the tier that may be claimed: a card from elsewhere claims no more than its numbers do (T1)."""
    from scoring.tiers import Tier, claimable_tier, quality_tier

    scores = block(card, "scores")
    mixed, at_floor = number(scores.get("composite")), scores.get("at_floor") is True
    capped = claimable_tier(quality_tier(mixed), review_passed=False, at_floor=at_floor)
    stated = card.get("claimable_tier")
    if stated not in set(Tier):
        return capped
    return min(capped, Tier(stated), key=lambda tier: tier.rank)


def tier_words(card: Mapping[str, Any]) -> str:
    """Say what may be said of a run, such as ``functional (automatic 0.58; review pending)``."""
    from scoring.tiers import tier_in_words

    scores = block(card, "scores")
    mixed = number(scores.get("composite"))
    at_floor = scores.get("at_floor") is True
    return tier_in_words(mixed, claimable(card), review_passed=False, at_floor=at_floor)


def cost(card: Mapping[str, Any] | None) -> str:
    """Give what a run cost; a run without a card has no total yet."""
    if card is None:
        return figures.NONE
    return figures.money(number(block(card, "cost").get("total_cost_usd")))
