"""Why an entry, a call or a run failed.

HarnessError                  said to the user as it stands, exit code 1
├── UsageError                wrong usage or bad input, exit code 2
├── StoreError                the store cannot be used as asked
│   └── DataFolderError       the data folder cannot be used: another one is to be named; a UsageError, too
├── BudgetReached             the next call could pass the cap
├── AskingStopped             a person stopped a scoring while it asked an endpoint
├── KeyStoreError             the operating system's keyring cannot be used
└── CallError                 one call to an endpoint failed
    ├── RateLimited           429: wait, and let fewer calls be under way
    ├── Transient             connection, time-out, 5xx, truncated or malformed reply: try again
    │   └── NoServer          nothing listens on this machine, or no host has the name: the run stops
    └── Refused               4xx, content filter, offline, budget: trying again would not help
        └── NoCredit          the account at the provider is empty: the run stops
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.core.calls import Reply


class ErrorClass(StrEnum):
    """The kind of failure, recorded with each failed entry."""

    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    SERVER = "server"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    EMPTY = "empty"
    AUTH = "auth"
    REQUEST = "request"
    FILTERED = "filtered"
    OFFLINE = "offline"
    BUDGET = "budget"
    NUMBERING = "numbering"
    """A batch reply that skipped, doubled or invented the entry's number."""
    MISSING = "missing"
    """No output was supplied for the entry (replay, human)."""
    NO_SOURCE = "no_source"
    """The corpus has no source text for the entry, so that no method was asked."""
    METHOD = "method"
    """The method itself raised."""


class HarnessError(Exception):
    """Something that the user must know, in words that need no traceback."""


class UsageError(HarnessError):
    """Wrong usage or bad input; the message names what is wrong and the fix."""


class StoreError(HarnessError):
    """The store is damaged, busy, or written by a newer version."""


class DataFolderError(StoreError, UsageError):
    """The data folder is none, or this person may not write in it."""


class AskingStopped(HarnessError):  # noqa: N818  an end, not a fault
    """A person stopped a scoring while it asked an endpoint; what was answered is kept."""


class BudgetReached(HarnessError):  # noqa: N818  an end, not a fault
    """The next call could pass the cap, and nothing under way can give money back."""


class KeyStoreError(HarnessError):
    """The operating system's keyring is absent, locked, or refuses; an environment variable would do."""


class CallError(HarnessError):
    """One call to an endpoint failed."""

    def __init__(self, error_class: ErrorClass, message: str, status: int | None = None) -> None:
        self.error_class = ErrorClass(error_class)
        self.status = status
        self.bill: Reply | None = None
        """The usage and cost that the reply states, whatever its status; None if it states neither."""
        self.taken = False
        """Whether the endpoint had the request, so that it may have charged for it."""
        self.said = ""
        """The endpoint's own words, which end the message and may quote a text."""
        super().__init__(message)

    def __str__(self) -> str:
        return super().__str__() + self.said


class RateLimited(CallError):  # noqa: N818  named for what the server said
    """The endpoint asked for fewer calls."""

    def __init__(self, message: str, retry_after: float | None = None, status: int = 429) -> None:
        self.retry_after = retry_after
        """Seconds the endpoint asked to wait, None where it did not say."""
        super().__init__(ErrorClass.RATE_LIMIT, message, status)


class Transient(CallError):  # noqa: N818  an adjective reads better where it is raised
    """A failure that may pass: try again."""

    def __init__(
        self, error_class: ErrorClass, message: str, status: int | None = None, retry_after: float | None = None
    ) -> None:
        self.retry_after = retry_after
        super().__init__(error_class, message, status)


class NoServer(Transient):
    """Nothing listens at an address of this machine, or the host has no address; it is certain at once."""


class Refused(CallError):  # noqa: N818
    """A failure that trying again would not fix."""


class NoCredit(Refused):
    """The account at the provider is empty: no call is answered before more is paid in."""


# ---- Where a run stands, as the store keeps it and as events tell it ----


class RunState(StrEnum):
    """Where a run stands. Only a complete run has a sealed card."""

    RUNNING = "running"
    PAUSED = "paused"
    DRAINING = "draining"
    """No new entries are started; those under way are finished and stored."""
    STOPPED = "stopped"
    """Cut short with everything stored; ``rosetta resume`` continues."""
    COMPLETE = "complete"
