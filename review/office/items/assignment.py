"""Who gets what: a common core for everybody, further entries spread evenly, an order for each person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from corpora.model.entry import EntryId
from harness.core.failures import UsageError
from review.office.items.orders import order
from review.office.items.sampling import drawing


def spread(
    extra: Sequence[EntryId], reviewers: Sequence[str], each: int, chance: Random
) -> dict[str, list[EntryId]]:
    """Return every reviewer ``each`` of the further entries, so that all are asked about equally often.

    How often two entries are asked differs by one at most.
    """
    deck = list(extra)
    chance.shuffle(deck)
    given: dict[str, list[EntryId]] = {}
    start = 0
    for reviewer in reviewers:
        given[reviewer] = [deck[(start + step) % len(deck)] for step in range(min(each, len(deck)))]
        start += each
    return given


def orders(
    originals: Mapping[str, EntryId],
    repeats: Mapping[str, str],
    for_all: Sequence[str],
    extra: Mapping[EntryId, Sequence[str]],
    reviewers: Sequence[str],
    per_person: int | None,
    seed: int,
) -> dict[str, tuple[str, ...]]:
    """Return each reviewer an order of the items that are asked of all and of this person's share.

    ``extra`` is entry → its items beyond the core; ``per_person`` is how many of those entries each gets,
    None: all. Reviewers' orders are drawn apart. UsageError where some entry would reach nobody.
    """
    each = len(extra) if per_person is None else per_person
    if extra and each * len(reviewers) < len(extra):
        raise UsageError(
            f"{len(extra)} entries beyond the core are to be spread over {len(reviewers)} reviewers with "
            f"{each} each: some would be asked of nobody. Raise --items-per-person, or lower --items."
        )
    shares = spread(list(extra), reviewers, each, drawing(seed, "shares"))
    return {
        reviewer: order(
            [*for_all, *(item for entry in shares[reviewer] for item in extra[entry])],
            originals,
            repeats,
            drawing(seed, f"order {place}"),
        )
        for place, reviewer in enumerate(reviewers)
    }
