"""What may be claimed of a run by its card, which may come from elsewhere or from an earlier version.

A card claims no more than its own numbers do, and no more than it says itself; what is not of the expected
form counts as absent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corpora.text.comparison import comparison_form
from harness.card.reading import block, number
from scoring.card.caveats import LEAST_SHARE, MOST_IDENTICAL, Caveat, CaveatKind
from scoring.card.claim import (
    CLAIM_RULES,
    FLOORS_VERSION,
    HIGHEST_WITHOUT_REVIEW,
    Claim,
    ClaimReason,
    FloorScores,
    Limit,
    Score,
    attainable,
    decide,
)
from scoring.core.composite import Composite, Input, counting_gaps
from scoring.core.specification import Tier, quality_tier, specified, stated_weighing

if TYPE_CHECKING:
    from harness.card.model import RunCard

_MOST = 10**9
"""No run has as many entries."""


def claim_of(card: Mapping[str, Any]) -> Claim:
    """Return what a card may claim before a review.

    Decided from the numbers that it states; for a card of this version that is the record it was sealed
    with, and its own lower claim holds.
    """
    scores = block(card, "scores")
    made = decide(
        _mixed(card, scores),
        _lower(scores, "composite"),
        Score(number(scores.get("chrf_plus_plus")), _lower(scores, "chrf_plus_plus")),
        stated_floors(card),
        identical=scores.get("mostly_identical") is True,
        caveats=stated_caveats(scores.get("claim")),
    )
    made = replace(made, limits=(*made.limits, *_own_limits(card, scores, made)))
    return replace(made, claimable_tier=made.tier())


def of_earlier_version(card: Mapping[str, Any]) -> bool:
    """Return whether a card states floors that were worked out otherwise than now."""
    return bool(stated_floors(card)) and card.get("floors_version") != FLOORS_VERSION


def of_these_rules(scores: Mapping[str, Any]) -> bool:
    """Return whether a card's claim was decided by the rules of now, or it states no record of its claim."""
    return "claim" not in scores or block(scores, "claim").get("rules") == CLAIM_RULES


def without_rise(card: Mapping[str, Any]) -> float | None:
    """Return the composite in which inputs without a value count as nothing; None where it is the stated one.

    Only inputs of which worthless outputs have a value are counted (``scoring.core.composite.counting_gaps``).
    """
    mixed = _mixed(card, _object(card.get("scores")))
    even = counting_gaps(mixed, attainable(stated_floors(card)))
    return None if even == mixed.value else even


def stated_floors(card: Mapping[str, Any]) -> dict[str, FloorScores]:
    """Return the floors of a card by name."""
    listed = card.get("floors") or block(card, "scores").get("floors")
    if isinstance(listed, Mapping):
        listed = [{"name": name, **_object(floor)} for name, floor in listed.items()]
    floors = listed if isinstance(listed, list | tuple) else ()
    return {
        str(floor.get("name", "")): _floor(floor) for floor in floors if isinstance(floor, dict)
    }


def _floor(stated: Mapping[str, Any]) -> FloorScores:
    inputs = stated.get("inputs")
    return FloorScores(
        number(stated.get("composite")),
        number(stated.get("chrf_plus_plus")),
        tuple(map(str, inputs)) if isinstance(inputs, list | tuple) else (),
        _whole(stated.get("entries")),
        _whole(stated.get("searched")),
    )


def _own_limits(card: Mapping[str, Any], scores: Mapping[str, Any], made: Claim) -> Iterator[Limit]:
    """Yield what the card itself claims less than its numbers allow."""
    if scores.get("at_floor") is True and not made.at_floor and made.composite is not None:
        yield Limit(ClaimReason.COMPOSITE_FLOOR, Tier.BASELINE, clear=False)
    stated = card.get("claimable_tier")
    if isinstance(stated, str) and stated in set(Tier) and Tier(stated).rank < made.tier().rank:
        yield Limit(ClaimReason.STATED, Tier(stated))


def _mixed(card: Mapping[str, Any], scores: Mapping[str, Any]) -> Composite:
    weighing = stated_weighing(card.get("scoring")) or specified()
    stated = scores.get("composite_profile")
    profile = stated if isinstance(stated, str) and stated in weighing.profiles else "B"
    listed = scores.get("composite_inputs")
    inputs = tuple(_inputs(listed if isinstance(listed, list | tuple) else ()))
    covered = number(scores.get("composite_coverage"))
    coverage = 1.0 if covered is None else covered
    return Composite(number(scores.get("composite")), profile, "", inputs, {}, coverage, weighing)


def _inputs(listed: Iterable[object]) -> Iterator[Input]:
    for value in listed:
        part = _object(value)
        name = part.get("metric")
        numbers = [
            number(part.get(key)) for key in ("value", "normalised", "weight", "effective_weight")
        ]
        if isinstance(name, str) and None not in numbers:
            yield Input(name, *(number or 0.0 for number in numbers))


def stated_caveats(claim: object) -> tuple[Caveat, ...]:
    """Return the caveats of a card's record of its claim."""
    listed, caveats = _object(claim).get("caveats"), []
    for value in listed if isinstance(listed, list | tuple) else ():
        part = _object(value)
        share, kind = number(part.get("share")), part.get("kind")
        if (
            share is not None
            and 0 <= share <= 1
            and isinstance(kind, str)
            and kind in set(CaveatKind)
        ):
            entries, of = _whole(part.get("entries")) or 0, _whole(part.get("of")) or 0
            threshold = number(part.get("threshold")) or LEAST_SHARE
            caveats.append(Caveat(CaveatKind(kind), share, entries, of, threshold))
    return tuple(caveats)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _whole(value: object) -> int | None:
    finite = number(value)
    return (
        int(finite) if finite is not None and finite.is_integer() and 0 <= finite <= _MOST else None
    )


def _lower(scores: Mapping[str, Any], metric: str) -> float | None:
    return number(block(block(scores, "confidence_intervals"), metric).get("ci_lower"))


# What cards claimed that state no record of it


def earlier_claim(card: RunCard, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields by which cards before ``floors_version`` 2 claimed, by the rules of then.

    A run was at its floor where the composite's interval, computed again in ``scores``, did not clear the
    best composite among the card's floors, or where one text, written the same, made up more than half of
    the outputs.
    """
    shares = [
        _largest_share(texts)
        for texts in (
            [row.predicted or "" for row in card.results],
            [row.reference or "" for row in card.results],
        )
    ]
    identical = shares[0] > MOST_IDENTICAL and shares[0] > shares[1]
    known = [floor.composite for floor in card.floors if floor.composite is not None]
    lower = (scores["confidence_intervals"].get("composite") or {}).get("ci_lower")
    at_floor = lower is not None and (identical or (bool(known) and lower <= max(known)))
    tier = quality_tier(scores["composite"])
    if at_floor and tier is not Tier.UNSCORED:
        tier = Tier.BASELINE
    tier = min(tier, HIGHEST_WITHOUT_REVIEW, key=lambda claimed_tier: claimed_tier.rank)
    return {
        "at_floor": at_floor,
        "mostly_identical": identical,
        "claimable_tier": tier.value,
    }


def _largest_share(texts: Sequence[str]) -> float:
    counts = Counter(form for text in texts if (form := comparison_form(text)))
    total = sum(counts.values())
    return counts.most_common(1)[0][1] / total if total > 1 else 0.0
