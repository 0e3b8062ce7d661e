"""Numbers arranged along a line, straight or by powers, with round numbers to read them by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers arranged over cells."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def of(cls, numbers: Sequence[float], *, logarithmic: bool = False) -> Axis:
        """Make an axis that has room for all numbers; of a logarithmic one 0 is the first cell, apart."""
        kept = [n for n in numbers if math.isfinite(n) and (n > 0 or not logarithmic)]
        low, high = (min(kept), max(kept)) if kept else (1.0, 2.0)
        if logarithmic:
            low = low / 2 if len(kept) < len(numbers) else low
            return cls(low, high if high > low else low * 10, logarithmic=True)
        room = (high - low) * 0.05 or max(abs(high) * 0.05, 0.05)
        return cls(0.0 if low >= 0 > low - room else low - room, high + room)

    def share(self, number: float) -> float:
        """Return where a number is, 0 for the low end to 1 for the high end."""
        if self.logarithmic:
            if number <= 0:
                return 0.0
            number, low, high = math.log(number), math.log(self.low), math.log(self.high)
        else:
            low, high = self.low, self.high
        return max(0.0, min(1.0, (number - low) / (high - low)))

    def place(self, number: float, cells: int) -> int:
        """Return the cell of a number, from 0."""
        return round(self.share(number) * (cells - 1))

    def ticks(self, most: int) -> list[float]:
        """Return round numbers within the axis, at most that many."""
        if self.logarithmic:
            return self._powers(most)
        step = 10 ** math.floor(math.log10((self.high - self.low) / max(1, most)))
        step = next(
            step * by for by in (1, 2, 5, 10) if (self.high - self.low) / (step * by) < most
        )
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(step * number, 12) for number in range(first, last + 1)]

    def _powers(self, most: int) -> list[float]:
        places: list[float] = []
        for factors in ((1, 2, 5), (1, 3), (1,)):
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            places = [by * 10.0**power for power in powers for by in factors]
            places = [number for number in places if self.low <= number <= self.high]
            if len(places) <= most:
                return places or [self.low, self.high]
        return places[:: -(-len(places) // most)]
