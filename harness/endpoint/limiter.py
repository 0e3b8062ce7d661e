"""How many calls are under way at once: as many as the endpoint bears, no more than a person allows.

Slow start doubles the limit each round of answers; after the first 429 it grows by one a round and each
further 429 takes a fifth away. Only a 429 cuts, and only one that answers a call begun after the last
cut: the others complain about the limit that was cut already. Nothing but answers moves the limit, so
no clock can freeze it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

CUT = 0.8
"""What remains of the limit after a 429."""

USED = 0.8
"""Share of the limit that must be in use for an answer to tell that more would be borne."""


@dataclass(slots=True)
class Slot:
    """The right to have one call under way at a time."""

    era: int
    """Number of cuts before the slot's newest call began."""


class Limiter:
    """Gives slots in the order they were asked for. Belongs to one event loop."""

    def __init__(self, most: int, start: int | None = None) -> None:
        self._most = max(1, most)
        self._limit = float(min(self._most, max(1, start if start is not None else self._most)))
        self._slow_start = True
        self._era = 0
        self._in_use = 0
        self._queue: deque[asyncio.Future[Slot]] = deque()

    @property
    def limit(self) -> int:
        """Calls that may be under way at once now."""
        return min(self._most, int(self._limit))

    @property
    def most(self) -> int:
        """The ceiling."""
        return self._most

    @property
    def in_use(self) -> int:
        """Slots given out."""
        return self._in_use

    def set_most(self, most: int) -> None:
        """Move the ceiling; a higher one is reached at once, since a person asked for it."""
        raised = most > self._most
        self._most = max(1, most)
        if raised:
            self._limit = float(self._most)
        self._limit = min(self._limit, float(self._most))
        self._serve()

    async def acquire(self) -> Slot:
        """Wait for a slot."""
        future: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        self._queue.append(future)
        self._serve()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.release(future.result())
            raise

    def release(self, slot: Slot) -> None:  # noqa: ARG002  a slot must be held to be given back
        """Give a slot back."""
        self._in_use -= 1
        self._serve()

    def begins(self, slot: Slot) -> None:
        """Note that a call begins in this slot, perhaps not its first: a 429 to it is news again."""
        slot.era = self._era

    def succeeded(self) -> None:
        """Note a good answer: the limit grows, where it was used."""
        if self._in_use < USED * self.limit:
            return
        self._limit = min(
            self._limit + (1.0 if self._slow_start else 1.0 / self._limit), self._most
        )
        self._serve()

    def rate_limited(self, slot: Slot) -> None:
        """Note a 429 to a call that held this slot."""
        self._slow_start = False
        if slot.era == self._era:
            self._era += 1
            self._limit = max(1.0, self._limit * CUT)

    def _serve(self) -> None:
        while self._queue and self._in_use < self.limit:
            future = self._queue.popleft()
            if future.done():
                continue
            self._in_use += 1
            future.set_result(Slot(self._era))
