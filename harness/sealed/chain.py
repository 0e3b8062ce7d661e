"""Hash chains: whether the events of a device are all there, each fitting the one before it.

Logs of one writer are files of signed lines; those of many devices are sets of events. Each line or event names the one before it by its hash, so a chain runs from place 0 to its end; what is missing in between
was cut out or damaged, and two events at one place come from a device whose files were copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal, Protocol, TypeVar

from harness.core.canonical import canonical_bytes
from harness.sealed.archive import SignedRecord, read_record
from harness.sealed.strict_records import Count, FileError, Hex64


class ChainedRecord(SignedRecord):
    """A line of a signed file in which each names the one before it."""

    seq: Count
    """Place in the file, from 0."""
    prev: Hex64 | Literal[""]
    """SHA-256 of the line before it; empty for the first."""


_Line = TypeVar("_Line", bound=ChainedRecord)


def chained_lines(
    contents: Iterable[bytes], form: type[_Line], name: str, wrong: Callable[[int, str], Exception], *, most: int
) -> Iterator[tuple[_Line, bytes]]:
    """Yield each line of such a file with its bytes, of ``most`` each: in its one canonical form, and behind the line that it names.

    Whose signatures count is for anyone who reads on. Raises what ``wrong`` makes of a place, from 0, and a reason.
    """
    prev = ""
    for place, content in enumerate(contents):
        try:
            line = read_record(content, form, name, most=most)
        except FileError:
            raise wrong(place, "it is not a line of this form") from None
        if canonical_bytes(line.model_dump(mode="json")) != content:
            raise wrong(place, "it is not written in the one canonical form, or was changed")
        if (line.seq, line.prev) != (place, prev):
            raise wrong(place, "a line before it is missing, or was changed")
        yield line, content
        prev = sha256(content).hexdigest()


class Link(Protocol):
    @property
    def device(self) -> str:
        """Whose chain it is in."""

    @property
    def seq(self) -> int:
        """Place in this chain, from 0."""

    @property
    def lamport(self) -> int:
        """Logical time: larger than that of every event that the device knew."""

    @property
    def prev(self) -> str:
        """Id of the event before it; of none for the first."""

    @property
    def id(self) -> str:
        """Hash of the event."""


@dataclass(frozen=True, slots=True)
class Chain:
    device: str
    events: int
    """Different events."""
    last: int
    """Largest place, from 0."""
    head: str
    """Id of the event at the largest place; the smallest id where there are two."""
    missing: int
    """Places before the last without an event."""
    broken: tuple[int, ...]
    """Places whose event names another one before it than the one that is there, or has no later time."""
    forked: tuple[int, ...]
    """Places with two events or more: this device was copied."""

    @property
    def whole(self) -> bool:
        """Return whether nothing is missing and every event fits the one before it; a copied device's may be."""
        return not (self.missing or self.broken)


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The chains of all devices, by device."""

    chains: tuple[Chain, ...]

    @property
    def whole(self) -> bool:
        return all(chain.whole for chain in self.chains)


def check_chain(events: Iterable[Link]) -> ChainReport:
    """Check the chain of every device; order and repetition of the events do not matter."""
    devices: dict[str, dict[int, dict[str, Link]]] = defaultdict(lambda: defaultdict(dict))
    for event in events:
        devices[event.device][event.seq][event.id] = event
    return ChainReport(tuple(_chain(device, devices[device]) for device in sorted(devices)))


def _chain(device: str, places: dict[int, dict[str, Link]]) -> Chain:
    last = max(places)
    return Chain(
        device=device,
        events=sum(len(here) for here in places.values()),
        last=last,
        head=min(places[last]),
        missing=last + 1 - len(places),
        broken=tuple(
            seq
            for seq in sorted(places)
            # The first, or one after a gap, has none before it; a gap is counted as missing.
            if (before := places.get(seq - 1)) is not None
            and not all(
                event.prev in before and before[event.prev].lamport < event.lamport for event in places[seq].values()
            )
        ),
        forked=tuple(seq for seq in sorted(places) if len(places[seq]) > 1),
    )


def tips_of(events: Iterable[Link]) -> list[str]:
    """Return the ids that no other event names as the one before it: they fix the whole set."""
    every = list(events)
    return sorted({event.id for event in every} - {event.prev for event in every})


def ancestors(events: Mapping[str, Link], tips: Iterable[str]) -> set[str]:
    """Return the ids of some events, by id, that some tips fix: these and all before them."""
    reached: set[str] = set()
    for tip in tips:
        place = tip
        while place in events and place not in reached:
            reached.add(place)
            place = events[place].prev
    return reached


# ---- Merkle trees in the form of RFC 6962 and RFC 9162: one hash over many leaves, and a short
# proof for each of them.
#
# A leaf is hashed behind a byte 0x00 and a node behind 0x01, so that no node can be shown as a
# leaf. A tree of n leaves is separated at the largest power of two below n. All hashes are
# SHA-256, 32 bytes.
#
# The root of the leaves a, b, c is N(N(a, b), c): neighbours are joined level by level, and c, which
# has none, goes up as it is. Whoever has b and the path [a, c] works the root out again, and so sees
# that b was among the leaves, without a or c themselves. A path doubles what it covers with each hash:
# of 1,000,000 leaves it has 20 hashes, 640 bytes.

EMPTY: Final = sha256().digest()
"""Root of a tree without leaves."""

_LEAF = b"\x00"
_NODE = b"\x01"


def leaf_hash(data: bytes) -> bytes:
    return sha256(_LEAF + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(_NODE + left + right).digest()


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes in their order (RFC 9162 §2.1.1)."""
    if not leaves:
        return EMPTY
    while len(leaves) > 1:
        leaves = _level_above(leaves)
    return leaves[0]


def inclusion_path(leaves: Sequence[bytes], place: int) -> list[bytes]:
    """Return the hashes, from the bottom up, by which one leaf leads to the root (RFC 9162 §2.1.3.1).

    ``place`` counts from 0. The path of the only leaf is empty.
    """
    path = []
    while len(leaves) > 1:
        beside = place ^ 1
        if beside < len(leaves):  # else the last one of an odd number goes up as it is
            path.append(leaves[beside])
        leaves, place = _level_above(leaves), place // 2
    return path


def root_by_path(leaf: bytes, place: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root to which a leaf hash and its path lead in a tree of ``size`` leaves (RFC 9162 §2.1.3.2).

    None where such a tree has no leaf at this place, or its paths there have another length.
    """
    if not 0 <= place < size:
        return None
    digest, last = leaf, size - 1
    # ``place`` and ``last``, the place of the last hash, are those of the level that is being joined. An odd place is
    # a right neighbour. So is an even one that is last: it came up alone, through as many levels as it halves evenly.
    # Of three leaves b (place 1) goes right of a, then left of c. c (place 2, last 2) skips the lowest level, and its
    # one hash N(a, b) stands left of it.
    for beside in path:
        if last == 0:
            return None
        if place % 2 or place == last:
            digest = node_hash(beside, digest)
            while place % 2 == 0 and place:
                place, last = place // 2, last // 2
        else:
            digest = node_hash(digest, beside)
        place, last = place // 2, last // 2
    return digest if last == 0 else None


def _level_above(hashes: Sequence[bytes]) -> list[bytes]:
    """Join neighbours; a last one without a neighbour goes up as it is, which parts the tree as the RFC does."""
    pairs = zip(hashes[::2], hashes[1::2], strict=False)
    return [node_hash(*pair) for pair in pairs] + list(hashes[len(hashes) & ~1 :])
