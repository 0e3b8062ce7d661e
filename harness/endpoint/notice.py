"""What processes tell each other of an endpoint's 429s: one file, whose time of change is when its pause ends.

The file is made with the first 429, and looking for one that is not there is all that it costs until then. It holds
nothing, so that nobody can find it half written. Where two processes write at once, either time may stand: the call
that the other got comes back on its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from harness.core.written_files import PRIVATE, private_folder

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
