"""Runs as the app is handed them: one that this process has under way, or one that is only watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from harness.store.file.database import opened

if TYPE_CHECKING:
    from harness.events.control import Control
    from harness.events.kinds import Event, EventSource


class WatchedRun(NamedTuple):
    """A run's events, and the means to steer it."""

    source: EventSource
    control: Control
    run_id: str = ""
    """Where it is known before the first event."""


class Followed(Protocol):
    """The events of a run of another process, with a hold on the store that must be let go."""

    def drain(self) -> list[Event]:
        """Return what is new, oldest first."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...


def look_ahead(
    path: Path, run_id: str, follow: Callable[[str], Followed], *, complete: bool
) -> PrefetchedSource:
    """Prefetch a run that is over, or that another process has under way; may take long."""
    if not complete:
        followed = follow(run_id)
        try:
            return PrefetchedSource(followed.drain(), followed)
        except BaseException:
            followed.close()
            raise
    from rosetta_tui.session.recorded import recorded

    with opened(path) as store:
        return PrefetchedSource(recorded(store, run_id))


class Watched(NamedTuple):
    """A run of another process, or one that is over, with its first look taken."""

    source: PrefetchedSource
    run_id: str


class PrefetchedSource:
    """A source whose first look was taken already, in a thread, because it may be a long one."""

    def __init__(self, first: Sequence[Event], rest: Followed | None = None) -> None:
        self._first = list(first)
        self._rest = rest

    def drain(self) -> list[Event]:
        """Return what was seen ahead, then what is new."""
        events, self._first = self._first, []
        return events if events or self._rest is None else self._rest.drain()

    def close(self) -> None:
        """Close what is followed."""
        if self._rest is not None:
            self._rest.close()
