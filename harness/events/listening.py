"""How events reach whoever listens: pushed by a run in this process, or read from the store."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from harness.events.kinds import Event


class EventSource(Protocol):
    """Gives the events since the last look; cheap enough to be asked 15 times a second."""

    def drain(self) -> list[Event]:
        """Return what is new, oldest first."""
        ...


class EventQueue:
    """Takes events from the run's threads and gives them to one listener on its own clock."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()

    def __call__(self, event: Event) -> None:
        """Take an event; may be called from any thread."""
        self._events.append(event)

    def drain(self) -> list[Event]:
        """Return what is new, oldest first."""
        events: list[Event] = []
        while self._events:
            events.append(self._events.popleft())
        return events
