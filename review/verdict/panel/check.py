"""Whether a panel is sound: a verdict on one that contradicts itself would be a verdict on nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

from harness.core.failures import HarnessError
from review.rating import RANKS
from review.verdict.panel.panel import Panel


def check(panel: Panel) -> None:
    """Raise HarnessError, which names the part that is wrong, for a panel that cannot be judged."""
    for problem in _problems(panel):
        raise HarnessError(
            f"The ratings cannot be judged: {problem}. They do not fit this review's answer key; "
            "merge them again with the key that was made with the batch."
        )


def _problems(panel: Panel) -> Iterator[str]:
    items, controls = panel.strata.keys(), panel.controls.keys()
    yield from _unknown("ratings", panel.ratings.values(), items)
    yield from _unknown("items that could not be judged", panel.cannot_judge.values(), items)
    yield from _unknown("items of the common core", [panel.core], items)
    yield from _unknown("flags of harm", [panel.harm], items)
    yield from _unknown("ratings of controls", panel.control_ratings.values(), controls)
    for ranks in _all_ranks(panel):
        if not all(type(rank) is int and 0 <= rank < RANKS for rank in ranks):
            yield f"a rating is not one of 0 to {RANKS - 1}"
    for stratum in sorted(set(panel.strata.values())):
        weight = panel.weights.get(stratum, 0)
        if not (isfinite(weight) and 1e-6 <= weight <= 1):
            yield f"difficulty {stratum} has no weight between 0 and 1"
    if not all(isfinite(weight) and weight >= 0 for weight in panel.weights.values()):
        yield "a weight is no share"
    if panel.look < 1:
        yield "the first look at the numbers is number 1"


def _unknown(what: str, parts: Iterable[Iterable[str]], known: Iterable[str]) -> Iterator[str]:
    if any(not set(known).issuperset(part) for part in parts):
        yield f"{what} name items that this method does not have"


def _all_ranks(panel: Panel) -> Iterator[Iterable[int]]:
    by_item: tuple[Mapping[str, Mapping[str, int]], ...] = (
        panel.ratings,
        panel.control_ratings,
        panel.partner_ratings,
    )
    for ratings in by_item:
        yield from (mine.values() for mine in ratings.values())
    yield from panel.sequences.values()
