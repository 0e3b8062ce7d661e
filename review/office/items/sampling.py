"""Which entries are shown to speakers: stratified by difficulty, drawn with a seed, the same for all runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from corpora.model.entry import Entry, EntryId
from harness.core.failures import UsageError


def stratum(entry: Entry) -> int:
    """Return an entry's difficulty, 0 where the corpus does not say."""
    return entry.difficulty or 0


def drawing(seed: int, purpose: str) -> Random:
    """Return the source of chance for one purpose, so that a draw more for one moves no other."""
    return Random(f"{seed} {purpose}")  # noqa: S311  repeatable on purpose


def allocate(sizes: Mapping[int, int], wanted: int, least: int) -> dict[int, int]:
    """Say how many entries of each stratum to draw: ``least`` each, the rest by share of the corpus.

    No stratum gives more than it has. Where not even the least of all fits, it is parted evenly. The rest
    goes by largest remainder; of equal ones the lower stratum is first.
    """
    wanted = min(wanted, sum(sizes.values()))
    floors = {name: min(least, size) for name, size in sizes.items()}
    if sum(floors.values()) >= wanted:
        return _even(floors, wanted)
    given = dict(floors)
    while (rest := wanted - sum(given.values())) > 0:
        room = {name: sizes[name] - given[name] for name in sizes if sizes[name] > given[name]}
        for name, more in _largest_remainder(sizes, room, rest).items():
            given[name] += more
    return given


def _even(floors: Mapping[int, int], wanted: int) -> dict[int, int]:
    given = dict.fromkeys(sorted(floors), 0)
    while sum(given.values()) < wanted:
        name = min((each for each in given if given[each] < floors[each]), key=lambda x: given[x])
        given[name] += 1
    return given


def _largest_remainder(
    sizes: Mapping[int, int], room: Mapping[int, int], rest: int
) -> dict[int, int]:
    """Part ``rest`` by the sizes of the strata that have room, none beyond its room; gives at least one."""
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
