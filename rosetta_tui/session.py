"""Runs as the app is handed them: one that this process has under way, or one that is only watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from harness.control import Control
    from harness.events import Event
    from harness.listening import EventSource


class Session(NamedTuple):
    """A run's events, and the means to steer it."""

    source: EventSource
    control: Control


class Followed(Protocol):
    """The events of a run of another process, with a hold on the store that must be let go."""

    def drain(self) -> list[Event]:
        """Give what is new, oldest first."""
        ...

    def close(self) -> None:
        """Let the store go."""
        ...


class Ahead:
    """A source whose first look was taken already, in a thread, because it may be a long one."""

    def __init__(self, first: Sequence[Event], rest: Followed | None = None) -> None:
        self._first = list(first)
        self._rest = rest

    def drain(self) -> list[Event]:
        """Give what was seen ahead, then what is new."""
        events, self._first = self._first, []
        return events if events or self._rest is None else self._rest.drain()

    def close(self) -> None:
        """Let go of what is followed."""
        if self._rest is not None:
            self._rest.close()
