"""When a failed call is tried again, and how long it waits before.

An endpoint's own Retry-After is always honoured; without one the wait doubles from a second on, with
jitter, so that many entries do not come back at the same instant.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from harness.core.failures import CallError, RateLimited, Transient


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

    def wait(self, failure: CallError, attempt: int, draw: Callable[[], float]) -> float | None:
        """Return the seconds to wait after this failed try (1-based), None to give up.

        ``draw`` gives a uniform number in [0, 1).
        """
        if not isinstance(failure, RateLimited | Transient) or attempt >= self.most_attempts:
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
    except ValueError:
        return _seconds_until(text, now())
    return seconds if 0 <= seconds < float("inf") else None


def _seconds_until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)  # HTTP dates without a zone are in GMT
        return max(0.0, moment.timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
