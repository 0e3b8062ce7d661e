"""How many calls are under way at once, and when a failed one is tried again.

As many calls as the endpoint bears, no more than a person allows. Slow start doubles the limit each round of
answers; after the first 429 it grows by one a round and each further 429 takes a fifth away. Only a 429 cuts,
and only one that answers a call begun after the last cut: the others complain about the limit that was cut
already. Nothing but answers moves the limit, so no clock can freeze it.

Processes that ask the same endpoint at once tell each other of its 429s: each cuts its
own limit then, and begins no call before the end of the pause that one of them was asked for.

Before another try an endpoint's own Retry-After is always honoured; without one the wait doubles from a second
on, with jitter, so that many entries do not come back at the same instant.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from pathlib import Path

from harness.core.failures import CallError, ErrorClass, RateLimited, Transient
from harness.core.storage import PRIVATE, private_folder

# ---- What processes tell each other of an endpoint's 429s: one file, whose time of change is
# when its pause ends.
#
# The file is made with the first 429, and looking for one that is not there is all that it costs
# until then. It holds nothing, so that nobody can find it half written. Where two processes write
# at once, either time may stand: the call that the other got comes back on its own.

LONGEST = 600.0
"""Seconds of the longest pause that is told; a time of change farther ahead is none of ours (a clock was set back)."""


class PauseNotice:
    """What one process tells others of an endpoint, and hears of them."""

    def __init__(self, folder: Path, endpoint: str, clock: Callable[[], float] = time.time) -> None:
        name = blake2b(endpoint.encode(), digest_size=16).hexdigest()
        self._path = folder / f"endpoint-{name}.pause"
        self._clock = clock
        self._known = self._read()

    def tell(self, seconds: float | None) -> None:
        """Notify the others of a 429, and for how long the endpoint asked for no calls; None: it did not say.

        What cannot be written is not told: each process still obeys what it is answered itself.
        """
        until = self._clock() + min(seconds or 0.0, LONGEST)
        with suppress(OSError):
            private_folder(self._path.parent)
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT, PRIVATE))
            until = max(until, self._end())
            os.utime(self._path, (until, until))
        self._known = self._read()

    def news(self) -> bool:
        """Return whether another process was answered with a 429 since the last look."""
        now = self._read()
        new, self._known = now not in (0, self._known), now
        return new

    def seconds(self) -> float:
        """Return for how many seconds from now no call may begin; 0 where one may."""
        return max(0.0, self._end() - self._clock())

    def _end(self) -> float:
        """Return the Unix time at which the pause ends; 0 where there is none."""
        end = self._read() / 1e9
        return 0.0 if end > self._clock() + LONGEST else end

    def _read(self) -> int:
        try:
            return self._path.stat().st_mtime_ns
        except OSError:
            return 0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after how long a call is tried again."""

    most_attempts: int = 6
    """Tries at one call, the first included."""
    first_wait: float = 1.0
    """Seconds before the second try where the endpoint does not say."""
    longest_wait: float = 60.0
    """Ceiling of the waits that we choose."""
    longest_hint: float = 600.0
    """A Retry-After beyond this is not waited for: the call fails and says so."""
    most_malformed: int | None = None
    """Tries at a call whose replies are not of the expected shape; None: as many as at any other."""

    def seconds_before_retry(self, failure: CallError, attempt: int, draw: Callable[[], float]) -> float | None:
        """Return the seconds to wait after this failed try (1-based), None to give up.

        ``draw`` gives a uniform number in [0, 1).
        """
        if not isinstance(failure, RateLimited | Transient) or attempt >= self.most_attempts:
            return None
        most_malformed = self.most_malformed or self.most_attempts
        if failure.error_class is ErrorClass.MALFORMED and attempt >= most_malformed:
            return None
        if failure.retry_after is not None:
            return None if failure.retry_after > self.longest_hint else failure.retry_after
        ours: float = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1))
        return ours * (0.5 + 0.5 * draw())


def retry_after(value: str | None, now: Callable[[], float] = time.time) -> float | None:
    """Read a Retry-After header: seconds, or an HTTP date; None where it is absent or unreadable."""
    if value is None:
        return None
    text = value.strip()
    try:
        seconds = float(text)
        return seconds if 0 <= seconds < float("inf") else None
    except ValueError:
        pass  # a date
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)  # HTTP dates without a zone are in GMT
        return max(0.0, moment.timestamp() - now())
    except (ValueError, TypeError, OverflowError):
        return None


CUT = 0.8
"""What remains of the limit after a 429."""

USED = 0.8
"""Share of the limit that must be in use when a call begins for its answer to tell that more would be borne."""


@dataclass(slots=True)
class Slot:
    """The right to have one call under way at a time."""

    era: int
    """Number of cuts before the slot's newest call began."""
    tries_limit: bool = False
    """Whether the limit was in use when that call began, so that a good answer tells that more would be borne."""


LOOK_SECONDS = 1.0
"""How often it is looked whether a pause continues."""


class Limiter:
    """Gives slots in the order they were asked for. Belongs to one event loop.

    ``notice`` is where other processes report the endpoint's 429s; None where there are none.
    """

    def __init__(self, most: int, start: int | None = None, notice: PauseNotice | None = None) -> None:
        self._notice = notice
        self.most = max(1, most)
        """The ceiling."""
        self._limit = float(min(self.most, max(1, start if start is not None else self.most)))
        self._slow_start = True
        self._era = 0
        self.in_use = 0
        """Slots given out."""
        self._queue: deque[asyncio.Future[Slot]] = deque()

    @property
    def limit(self) -> int:
        """Calls that may be under way at once now."""
        return min(self.most, int(self._limit))

    def set_most(self, most: int) -> None:
        """Move the ceiling; a higher one is reached at once, since a person asked for it."""
        raised = most > self.most
        self.most = max(1, most)
        if raised:
            self._limit = float(self.most)
        self._limit = min(self._limit, float(self.most))
        self._serve()

    def follow(self, limit: int) -> None:
        """Adopt how many calls may be under way from the process that makes them elsewhere."""
        self._limit = float(max(1, min(limit, self.most)))

    async def acquire(self) -> Slot:
        """Wait for a slot, and for the end of a pause that an endpoint asked one of several processes for."""
        while True:
            slot = await self._next()
            if (seconds := self.pause_seconds()) <= 0:
                return slot
            self.release(slot)
            await asyncio.sleep(min(seconds, LOOK_SECONDS))

    def pause_seconds(self) -> float:
        """Return for how many seconds from now no process may begin a call; 0 where each may, or is alone."""
        return 0.0 if self._notice is None else self._notice.seconds()

    async def _next(self) -> Slot:
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
        self.in_use -= 1
        self._serve()

    def begins(self, slot: Slot) -> None:
        """Record that a call begins in this slot, perhaps not its first: a 429 to it is news again."""
        if self._notice is not None and self._notice.news():
            self._cut()
        slot.era = self._era
        slot.tries_limit = self.in_use >= USED * self.limit

    def succeeded(self, slot: Slot) -> None:
        """Record a good answer to the call in this slot: the limit grows, where it was used.

        What was in use when the call began counts: of answers that come all at once, each but the first would find
        the slots of those before it free.
        """
        if not slot.tries_limit:
            return
        growth = 1.0 if self._slow_start else 1.0 / self._limit
        self._limit = min(self._limit + growth, self.most)
        self._serve()

    def rate_limited(self, slot: Slot, retry_after: float | None = None) -> None:
        """Record a 429 to a call that held this slot; ``retry_after``: the seconds that the endpoint asked to wait."""
        self.tell_others(retry_after)
        if slot.era == self._era:
            self._cut()

    def tell_others(self, retry_after: float | None) -> None:
        """Notify other processes of a 429, also of one that a process elsewhere got."""
        if self._notice is not None:
            self._notice.tell(retry_after)

    def _cut(self) -> None:
        self._slow_start = False
        self._era += 1
        self._limit = max(1.0, self._limit * CUT)

    def _serve(self) -> None:
        while self._queue and self.in_use < self.limit:
            future = self._queue.popleft()
            if future.done():
                continue
            self.in_use += 1
            future.set_result(Slot(self._era))
