"""How long a person really looked, and when a rest would do good; never shown to anybody.

Time comes from a monotonic clock, so a wrong or changed wall clock does not matter; a pause between two
signs of life counts for a minute at most, which also cuts the time in which the lid was closed.
"""

from __future__ import annotations

from collections.abc import Callable

IDLE_SECONDS = 60.0
"""The most that one pause without any key counts."""
GUARD_SECONDS = 0.25
"""Keys this soon after an item was painted were meant for the one before: nobody reads so fast."""
MOST_MS = 86_400_000
REST_ITEMS = 25
REST_SECONDS = 20 * 60.0

Clock = Callable[[], float]


class ActiveTime:
    """The time on the item that is shown; it starts when the item is painted."""

    def __init__(self, clock: Clock, guard: float) -> None:
        self._clock = clock
        self._guard = guard
        self._painted: float | None = None
        self._quiet = 0.0
        """Since when no key came too soon."""
        self._alive = 0.0
        self._seconds = 0.0

    def reset(self) -> None:
        """Wait for another item to be painted."""
        self._painted = None

    def painted(self) -> None:
        """Start; painting the same item again, as after a resize, changes nothing."""
        if self._painted is None:
            self._painted = self._quiet = self._alive = self._clock()
            self._seconds = 0.0

    def touched(self) -> None:
        """Count the time since the last sign of life."""
        now = self._clock()
        self._seconds += min(max(0.0, now - self._alive), IDLE_SECONDS)
        self._alive = now

    def takes_keys(self) -> bool:
        """Tell whether a key now can mean the item that is shown."""
        return self._painted is not None and self._clock() - self._quiet >= self._guard

    def too_soon(self) -> None:
        """Guard anew after a key that meant nothing: of many in a row none counts, on a slow computer too."""
        self._quiet = self._clock()

    def milliseconds(self) -> int:
        """Count up to now and give the active time; only meaningful while an item is painted."""
        self.touched()
        return min(round(self._seconds * 1000), MOST_MS)


class Rest:
    """Says when a pause would do good: after some items, or some active time."""

    def __init__(self) -> None:
        self._items = 0
        self._seconds = 0.0

    def judged(self, milliseconds: int) -> None:
        """Count one more item."""
        self._items += 1
        self._seconds += milliseconds / 1000

    def take_back(self) -> None:
        """Count one item less; its time was spent all the same."""
        self._items = max(0, self._items - 1)

    def due(self) -> bool:
        """Tell whether it is time, and if so begin to count anew."""
        if self._items < REST_ITEMS and self._seconds < REST_SECONDS:
            return False
        self._items, self._seconds = 0, 0.0
        return True
