"""Who gets what: a common core for everybody, further entries spread evenly, an order for each person.

In which order a person gets the items: drawn with a seed, with room between what is alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from corpora.model.entry import EntryId
from harness.core.failures import UsageError
from review.office.items.sampling import drawing

REPEAT_APART = 30
"""Items between which the same translation comes twice, so that it is not simply remembered."""

SOURCE_APART = 10
"""Items between which the same original comes with different translations."""


def order(
    items: Sequence[str],
    originals: Mapping[str, EntryId],
    repeats: Mapping[str, str],
    chance: Random,
) -> tuple[str, ...]:
    """Return a random order in which repeats and items of one original stand apart.

    ``originals`` is item → what it translates, ``repeats`` is repeat → the item that it repeats; which of
    these two comes first is left to chance, so that a place in the order tells nothing. Distances shrink only
    where the order is too short for them. Items are put in one by one, and an insertion never brings two
    others nearer to each other, so a distance once kept stays.
    """
    waiting = sorted(items)
    chance.shuffle(waiting)
    placed: list[str] = []
    seen: set[EntryId] = set()
    later: list[str] = []
    for item in waiting:
        if originals[item] in seen:
            later.append(item)
        else:
            seen.add(originals[item])
            placed.append(item)
    chance.shuffle(placed)  # those that came before their like came early
    pairs = {frozenset(pair) for pair in repeats.items()}
    for item in later:
        _insert(placed, item, originals, pairs, chance)
    return tuple(placed)


def _insert(
    placed: list[str],
    item: str,
    originals: Mapping[str, EntryId],
    pairs: set[frozenset[str]],
    chance: Random,
) -> None:
    """Put an item at a random one of the places that are best for it."""
    alike = [
        (place, REPEAT_APART if frozenset((item, other)) in pairs else SOURCE_APART)
        for place, other in enumerate(placed)
        if originals[other] == originals[item]
    ]
    lacks = [_lack(slot, alike) for slot in range(len(placed) + 1)]
    best = min(lacks)
    placed.insert(chance.choice([slot for slot, lack in enumerate(lacks) if lack == best]), item)


def _lack(slot: int, alike: Sequence[tuple[int, int]]) -> float:
    """Say how much a slot falls short of the wanted distances, as the worst share of one; 0 where of none."""
    shortfalls = (
        1 - min(1.0, (slot - place if slot > place else place - slot + 1) / apart)
        for place, apart in alike
    )
    return max(shortfalls, default=0.0)


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
