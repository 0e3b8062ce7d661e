"""Long lists that are held as compressed blocks, so that a corpus of a million entries fits into some hundred megabytes.

A list of up to ``PLAIN`` items is held as it is. What refuses to be written, as secret entries do, stays as it is too.
The bytes never leave the memory of this process.
"""

from __future__ import annotations

import zlib
from abc import abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, ItemsView, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import merge
from itertools import chain, islice
from operator import eq
from threading import Lock
from typing import Any, TypeVar, cast, overload

import msgpack

PLAIN = 2048
"""Items after which a list is packed."""
BLOCK = 32
"""Items of a block: one is read in some 0.1 ms where its block has to be unpacked."""
_KEPT = 64
"""Blocks of a list that are kept unpacked."""
T = TypeVar("T")
Changed = TypeVar("Changed")


def packed(items: Iterable[T]) -> Sequence[T]:
    """Return a list of items, packed where it is long."""
    rest = iter(items)
    first = tuple(islice(rest, PLAIN))
    return first if len(first) < PLAIN else PackedList(chain(first, rest))


class ReadList(Sequence[T]):
    """A list whose items are made when they are read; a slice is a plain list of them."""

    @abstractmethod
    def _item(self, place: int) -> T:
        """Return the item at a place from 0."""

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> list[T]: ...

    def __getitem__(self, place: int | slice) -> T | list[T]:
        places = range(len(self))[place]
        return self._item(places) if isinstance(places, int) else [*map(self._item, places)]


class PackedList(ReadList[T]):
    """A list to which items are added at its end. An item that is read may be a copy: changes to it are lost."""

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._blocks: list[bytes | list[T]] = []
        self._last: list[T] = []
        """The items after the blocks."""
        self._block = lru_cache(maxsize=_KEPT)(self._unpacked)
        rest = iter(items)
        while more := list(islice(rest, PLAIN)):
            self._last = more
            self._pack_last()

    def append(self, item: T) -> None:
        """Add an item at the end."""
        self._last.append(item)
        self._pack_last()

    def _pack_last(self) -> None:
        if len(self._last) >= PLAIN:
            self._blocks += [_pack(self._last[at : at + BLOCK]) for at in range(0, PLAIN, BLOCK)]
            self._last = []

    def drain(self) -> Iterator[T]:
        """Yield all items and free each block, so that a list made of them takes no more memory than this one did."""
        blocks, last = self._blocks, self._last
        self._blocks, self._last = [], []
        self._block.cache_clear()
        blocks.reverse()
        while blocks:
            yield from _unpack(blocks.pop())
        yield from last

    @property
    def unpacked(self) -> Iterator[T]:
        """The items that refuse to be packed, some others around them, and the last ones."""
        return chain(chain.from_iterable(block for block in self._blocks if isinstance(block, list)), self._last)

    def __len__(self) -> int:
        return len(self._blocks) * BLOCK + len(self._last)

    def _item(self, place: int) -> T:
        block, at = divmod(place, BLOCK)
        if block < len(self._blocks):
            return self._block(block)[at]
        return self._last[at + (block - len(self._blocks)) * BLOCK]

    def __iter__(self) -> Iterator[T]:
        return chain(chain.from_iterable(map(self._unpacked, range(len(self._blocks)))), self._last)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} items>"  # an item may be a text that no message quotes

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedList, (list(self),)

    def _unpacked(self, block: int) -> list[T]:
        return _unpack(self._blocks[block])


class ListPart(ReadList[T]):
    """The items of a list at some places; they are read from it each time."""

    def __init__(self, items: Sequence[T], places: Sequence[int]) -> None:
        self._items, self._places = items, places

    def __len__(self) -> int:
        return len(self._places)

    def _item(self, place: int) -> T:
        return self._items[self._places[place]]


def _pack(items: list[T]) -> bytes | list[T]:
    try:
        return zlib.compress(_bytes_of(items), 1)
    except (TypeError, ValueError, OverflowError):
        return items


def _unpack(packed: bytes | list[T]) -> list[T]:
    if isinstance(packed, list):
        return packed
    items: list[T] = _value_of(zlib.decompress(packed))
    return items


# MessagePack knows plain values. A tuple is written as its items, any other object as the class or function that makes
# it, what that is given, and its state, as ``copy`` does it. They are numbers in a list of this process: no bytes name one.

_TUPLE, _OBJECT, _MADE = 1, 2, 3
_MAKERS: list[Any] = []
_NUMBERS: dict[Any, int] = {}
_NUMBERING = Lock()


def _bytes_of(value: object) -> bytes:
    packed: bytes = msgpack.packb(value, default=_written, strict_types=True)
    return packed


def _written(item: Any) -> msgpack.ExtType:
    if type(item) is tuple:
        return msgpack.ExtType(_TUPLE, _bytes_of(list(item)))
    maker, given, *rest = item.__reduce_ex__(2)
    kind = _MADE
    if maker is _new:
        kind, (maker, *given) = _OBJECT, given
    if maker not in _NUMBERS:
        with _NUMBERING:
            if maker not in _NUMBERS:
                _MAKERS.append(maker)
                _NUMBERS[maker] = len(_MAKERS) - 1
    return msgpack.ExtType(kind, _bytes_of([_NUMBERS[maker], list(given), rest[0] if rest else None]))


_new = object().__reduce_ex__(2)[0]
"""What makes an object by its class."""


def _value_of(packed: bytes) -> Any:
    return msgpack.unpackb(packed, ext_hook=_made, strict_map_key=False)


def _made(kind: int, packed: bytes) -> Any:
    value = _value_of(packed)
    if kind == _TUPLE:
        return tuple(value)
    number, given, state = value
    maker = _MAKERS[number]
    item = maker.__new__(maker, *given) if kind == _OBJECT else maker(*given)
    if state is not None and hasattr(item, "__setstate__"):
        item.__setstate__(state)
    elif state is not None:
        for fields in state if isinstance(state, tuple) else (state,):
            for name, field in (fields or {}).items():
                object.__setattr__(item, name, field)
    return item


class PlaceMap(Mapping[int, T]):
    """Items by their places, which rise."""

    def __init__(self, places: Sequence[int], items: Sequence[T]) -> None:
        self.places, self.in_order = places, items

    @classmethod
    def of(cls, items: Sequence[T]) -> PlaceMap[T]:
        """Number items from 0."""
        return cls(range(len(items)), items)

    def __getitem__(self, place: int) -> T:
        at = bisect_left(self.places, place)
        if at == len(self.places) or self.places[at] != place:
            raise KeyError(place)
        return self.in_order[at]

    def __iter__(self) -> Iterator[int]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def items(self) -> ItemsView[int, T]:
        return _Items(self)

    def at(self, places: Sequence[int]) -> PlaceMap[T]:
        """Return the items at some places, which rise; all of them are the map itself."""
        if len(places) == len(self.places) and all(map(eq, places, self.places)):
            return self
        return PlaceMap(places, packed(map(self.__getitem__, places)))


class _Items(ItemsView[int, T]):
    """Reads both lists from their beginning."""

    _mapping: PlaceMap[T]

    def __iter__(self) -> Iterator[tuple[int, T]]:
        return zip(self._mapping.places, self._mapping.in_order, strict=True)


def changed(items: Iterable[T], change: Callable[[T], Changed], *, only_unpacked: bool = False) -> Sequence[Changed]:
    """Return a list with each item changed; a packed one of which ``change`` gives every item back is the list itself.

    ``only_unpacked``: nothing that can be packed is changed.
    """
    if isinstance(items, PackedList) and all(
        change(item) is item for item in (items.unpacked if only_unpacked else items)
    ):
        return cast("Sequence[Changed]", items)
    return packed(map(change, items))


def in_blocks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield a list in blocks."""
    return (items[start : start + size] for start in range(0, len(items), size))


class HashSet:
    """Things that came before, known by their 64-bit hashes of eight bytes each.

    Two of a million different things have the same hash once in 40 million times.
    """

    def __init__(self) -> None:
        self._ordered: list[array[int]] = []
        """Hashes in order, each list more than twice as long as the next."""
        self._recent: set[int] = set()
        """Those that are in none of them yet."""

    def __len__(self) -> int:
        return sum(map(len, self._ordered)) + len(self._recent)

    def add(self, thing: Hashable) -> bool:
        """Add a thing. Return whether it is new."""
        key = hash(thing)
        if key in self._recent:
            return False
        for keys in self._ordered:
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                return False
        self._recent.add(key)
        if len(self._recent) >= RECENT:
            last = array("q", sorted(self._recent))
            while self._ordered and len(self._ordered[-1]) <= 2 * len(last):
                last = array("q", merge(self._ordered.pop(), last))
            self._ordered.append(last)
            self._recent.clear()
        return True


RECENT = 10_000
"""Hashes from which on those of ``HashSet`` are put in order."""
