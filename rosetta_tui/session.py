"""Runs as the app is handed them: one that this process has under way, or one that is only watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from harness.control import Control
    from harness.events import Event
    from harness.listening import EventSource


class Session(NamedTuple):
    """A run's events, and the means to steer it."""

    source: EventSource
    control: Control


class Ahead:
    """A source whose first look was taken already, in a thread, because it may be a long one."""

    def __init__(self, first: Sequence[Event], rest: EventSource | None = None) -> None:
        self._first = list(first)
        self._rest = rest

    def drain(self) -> list[Event]:
        """Give what was seen ahead, then what is new."""
        events, self._first = self._first, []
        return events if self._rest is None else events + self._rest.drain()
