"""The contents of a review: entries drawn for speakers, the items made of them, and who gets which in what order.

Entries are stratified by difficulty, drawn with a seed, the same for all runs. A common core goes to everybody,
further entries are spread evenly, and each person has an order of their own, drawn with a seed, with room between
what is alike.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from corpora.model.entry import Entry, EntryId
from harness.card.comparability import card_id
from harness.core.failures import UsageError
from review.files.manifests import BatchItem
from review.verdict.gate.key import ControlKind, KeyItem


def stratum(entry: Entry) -> int:
    """Return an entry's difficulty, 0 where the corpus does not say."""
    return entry.difficulty or 0


def drawing(seed: int, purpose: str) -> Random:
    """Return the source of chance for one purpose, so that a draw more for one moves no other."""
    return Random(f"{seed} {purpose}")  # noqa: S311  repeatable on purpose


def allocate(sizes: Mapping[int, int], wanted: int, least: int) -> dict[int, int]:
    """Return how many entries of each stratum to draw: ``least`` each, the rest by share of the corpus.

    No stratum gives more than it has. Where not even the least of all fits, it is separated evenly. The rest
    goes by largest remainder; of equal ones the lower stratum is first.
    """
    wanted = min(wanted, sum(sizes.values()))
    # 20 of strata of 50, 30 and 4 entries, 5 at least: first 5, 5 and 4. The other 6 go to those that
    # have more, by size: 3.75 and 2.25, so 4 and 2 by largest remainder. Together 9, 7 and 4.
    floors = {name: min(least, size) for name, size in sizes.items()}
    if sum(floors.values()) >= wanted:
        even = dict.fromkeys(sorted(floors), 0)
        while sum(even.values()) < wanted:
            open_ = (stratum for stratum in even if even[stratum] < floors[stratum])
            even[min(open_, key=even.__getitem__)] += 1
        return even
    given = dict(floors)
    while (rest := wanted - sum(given.values())) > 0:
        room = {name: sizes[name] - given[name] for name in sizes if sizes[name] > given[name]}
        for name, more in _largest_remainder(sizes, room, rest).items():
            given[name] += more
    return given


def _largest_remainder(sizes: Mapping[int, int], room: Mapping[int, int], rest: int) -> dict[int, int]:
    """Divide ``rest`` by the sizes of the strata that have room, none beyond its room; give at least one."""
    total = sum(sizes[name] for name in room)
    exact = {name: rest * sizes[name] / total for name in sorted(room)}
    given = {name: min(int(share), room[name]) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (int(exact[name]) - exact[name], name))
    for name in by_remainder:
        if sum(given.values()) < rest and given[name] < room[name]:
            given[name] += 1
    return given


def draw(entries: Sequence[Entry], wanted: int, least: int, seed: int) -> list[Entry]:
    """Draw entries for a review, in the corpus' order; all where there are no more than are wanted."""
    if len(entries) <= wanted:
        return list(entries)
    counts = allocate(Counter(map(stratum, entries)), wanted, least)
    chance = drawing(seed, "entries")
    chosen: set[EntryId] = set()
    for name in sorted(counts):
        of_stratum = [entry.id for entry in entries if stratum(entry) == name]
        chosen.update(chance.sample(of_stratum, counts[name]))
    return [entry for entry in entries if entry.id in chosen]


def draw_core(entries: Sequence[Entry], wanted: int, least: int, seed: int) -> list[Entry]:
    """Draw those of the entries that everybody is asked, stratified like the entries themselves."""
    if not 1 <= wanted <= len(entries):
        raise UsageError(f"--core {wanted}: between 1 and {len(entries)} entries can be common.")
    return draw(entries, wanted, least, seed)


# Items between which the same translation comes twice, so that it is not simply remembered
REPEAT_APART = 30

SOURCE_APART = 10  # Items between which the same original comes with different translations


def order(
    items: Sequence[str], originals: Mapping[str, EntryId], repeats: Mapping[str, str], chance: Random
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
        # Insert an item at a random one of the places that are best for it.
        alike = [
            (place, REPEAT_APART if frozenset((item, other)) in pairs else SOURCE_APART)
            for place, other in enumerate(placed)
            if originals[other] == originals[item]
        ]
        # How much a slot falls short of the wanted distances, as the worst share of one; 0 where of none
        lacks = [
            max((1 - min(1.0, (slot - p if slot > p else p - slot + 1) / apart) for p, apart in alike), default=0.0)
            for slot in range(len(placed) + 1)
        ]
        best = min(lacks)
        placed.insert(chance.choice([slot for slot, lack in enumerate(lacks) if lack == best]), item)
    return tuple(placed)


def spread(extra: Sequence[EntryId], reviewers: Sequence[str], each: int, chance: Random) -> dict[str, list[EntryId]]:
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
    share = len(extra) if per_person is None else per_person
    if extra and share * len(reviewers) < len(extra):
        raise UsageError(
            f"{len(extra)} entries beyond the core are to be spread over {len(reviewers)} reviewers with "
            f"{share} each: some would be asked of nobody. Raise --items-per-person, or lower --items."
        )
    shares = spread(list(extra), reviewers, share, drawing(seed, "shares"))
    return {
        reviewer: order(
            [*for_all, *(item for entry in shares[reviewer] for item in extra[entry])],
            originals,
            repeats,
            drawing(seed, f"order {place}"),
        )
        for place, reviewer in enumerate(reviewers)
    }


@dataclass(frozen=True, slots=True)
class Item:
    """One item; the first half travels, the second never does."""

    shown: BatchItem
    truth: KeyItem

    @property
    def id(self) -> str:
        return self.shown.id


def new_item(
    entry: Entry,
    candidate: str,
    *,
    run_id: str | None = None,
    control: ControlKind | None = None,
    partner: str | None = None,
    made_by: str | None = None,
) -> Item:
    """Make an item; its id is random and not drawn from the seed, so that nothing can be read from it."""
    shown = BatchItem(id=secrets.token_hex(8), source=entry.source, candidate=candidate)
    truth = KeyItem(
        run_id=run_id,
        entry=card_id(entry.id),
        stratum=stratum(entry),
        control=control,
        partner=partner,
        made_by=made_by,
    )
    return Item(shown, truth)
