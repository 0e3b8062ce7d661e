"""Which entries of its corpus a run is on, in order: numbers in few bytes."""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Sequence

from corpora.files.stored_value import StoredValueError
from harness.store.file.trouble import inflated

_BYTES = 4


def pack_positions(positions: Sequence[int]) -> bytes:
    """Pack 0-based places: zlib of little-endian uint32."""
    return zlib.compress(_little(array("I", positions)).tobytes())


def unpack_positions(packed: bytes) -> tuple[int, ...]:
    """Read the places back; StoredValueError where they are none."""
    positions = array("I")
    positions.frombytes(little_endian_positions(packed))
    return tuple(_little(positions))


def little_endian_positions(packed: bytes) -> bytes:
    """Return the places as they are packed: little-endian uint32, one after the other."""
    places = inflated(packed)
    if len(places) % _BYTES:
        raise StoredValueError
    return places


def count_positions(packed: bytes) -> int:
    """Tell how many there are."""
    return len(little_endian_positions(packed)) // _BYTES


def _little(positions: array[int]) -> array[int]:
    if sys.byteorder == "big":
        positions.byteswap()
    return positions
