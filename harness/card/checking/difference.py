"""Where two JSON values differ, by JSON path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeGuard

TOLERANCE = 1e-9
"""Numbers this close (relative to the larger, absolute below 1) are the same: sums may be taken in
another order on another machine."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class CardDifference:
    """One value that is not what it should be."""

    path: str
    """Such as ``$.results[3].entry_chrf``."""
    expected: object
    """The value computed again, or words for what it must be."""
    found: object
    computed: bool = True
    """False where nothing could be computed, and the value is one that cannot be."""

    def __str__(self) -> str:
        how = "computed again it is" if self.computed else "it must be"
        return f"{self.path} is {_short(self.found)}, {how} {_short(self.expected)}"


def _short(value: object) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def differences(
    found: object, expected: object, path: str = "$", *, rounded: bool = False
) -> Iterator[CardDifference]:
    """Yield where ``found`` is not ``expected``, in the order of ``found``.

    Members that only one of the two has are passed over: a card may lack a field or have further ones.
    ``rounded`` takes a number as right when it is the expected one at its own number of decimals.
    """
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for name, value in found.items():
            if name in expected:
                yield from differences(
                    value, expected[name], member(path, str(name)), rounded=rounded
                )
    elif isinstance(found, list) and isinstance(expected, list):
        if len(found) != len(expected):
            yield CardDifference(f"{path}.length", len(expected), len(found))
        for place, (one, other) in enumerate(zip(found, expected, strict=False)):
            yield from differences(one, other, f"{path}[{place}]", rounded=rounded)
    elif not _same(found, expected, rounded=rounded):
        yield CardDifference(path, expected, found)


def member(path: str, name: str) -> str:
    """Return the path of an object's member."""
    return f"{path}.{name}" if _NAME.fullmatch(name) else f"{path}[{name!r}]"


def _same(found: object, expected: object, *, rounded: bool) -> bool:
    if _is_number(found) and _is_number(expected):
        one, other = float(found), float(expected)
        room = TOLERANCE * max(1.0, abs(one), abs(other))
        return abs(one - other) <= room + (_half_unit(found) if rounded else 0.0)
    return type(found) is type(expected) and found == expected


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _half_unit(value: object) -> float:
    """Return half a unit of the last decimal that a number was written with."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    return 0.5 * 10.0 ** min(int(exponent), 0)
