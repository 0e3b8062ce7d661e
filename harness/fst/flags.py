"""Flag diacritics: conditions on a path through an analyser that no letter shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FLAG = re.compile(r"@([PNRDCU])\.([^.@]+)(?:\.([^@]+))?@")

Values = tuple[int, ...]
"""The value of each feature on a path: 0 none, n the n-th value, −n anything but the n-th."""

Flag = tuple[str, int, int]
"""Operator, number of the feature, number of the value; value 0 where the flag names none."""


class Flags:
    """The flag diacritics of one alphabet, and what each does to the values of a path."""

    def __init__(self, symbols: Sequence[str]) -> None:
        features: dict[str, int] = {}
        values: dict[str, int] = {}
        self.by_symbol: dict[int, Flag] = {}
        """Symbol number → its flag."""
        for number, symbol in enumerate(symbols):
            if found := _FLAG.fullmatch(symbol):
                operator, feature, value = found.groups()
                self.by_symbol[number] = (
                    operator,
                    features.setdefault(feature, len(features)),
                    values.setdefault(value, len(values) + 1) if value else 0,
                )
        self.start: Values = (0,) * len(features)
        """No feature has a value where a word begins."""

    def after(self, values: Values, flag: Flag) -> Values | None:
        """Return the values after a flag, None where the path ends at it."""
        operator, feature, value = flag
        held = values[feature]
        if operator in _CONDITIONS:
            return values if _CONDITIONS[operator](held, value) else None
        if operator == "U" and held not in {0, value} and not (held < 0 and held != -value):
            return None
        put = {"P": value, "U": value, "N": -value, "C": 0}[operator]
        if put == held:
            return values
        return (*values[:feature], put, *values[feature + 1 :])


_CONDITIONS = {
    "R": lambda held, value: held == value if value else held != 0,
    "D": lambda held, value: held != value if value else held == 0,
}
"""Require and disallow, with a value or with any."""
