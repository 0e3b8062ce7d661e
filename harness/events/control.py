"""What a person may ask of a run under way: pause, continue, drain, stop, more or fewer calls at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from harness.core.run_state import RunState


class Control:
    """Carries wishes to a run from any thread; the run reads them between entries.

    The order of severity is running < paused < draining < stopped: a drain cannot be taken back.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._state = RunState.RUNNING
        self._most_concurrency: int | None = None
        self._changed: Callable[[], object] | None = None
        self.translating = False
        """True while the method has entries under way: what does not come to an end then is the method's."""
        self.near_end: Callable[[], None] = _nobody
        """Called for each entry that is begun once no more wait than may be under way at once: another run may get ready."""
        self.calls_over: Callable[[], None] = _nobody
        """Called once no call for an entry is under way any more, however that came."""
        self.catch_up: Callable[[float], object] = _nothing
        """Waits, no longer than that many seconds, until all that came back by now is stored."""

    @property
    def state(self) -> RunState:
        """Return the requested state: RUNNING, PAUSED, DRAINING or STOPPED."""
        return self._state

    @property
    def most_concurrency(self) -> int | None:
        """The ceiling of calls at once that a person chose, None where nobody chose one."""
        return self._most_concurrency

    def pause(self) -> None:
        """Start no further entries until ``go_on``."""
        self._move({RunState.RUNNING}, RunState.PAUSED)

    def go_on(self) -> None:
        """End a pause."""
        self._move({RunState.PAUSED}, RunState.RUNNING)

    def drain(self) -> None:
        """Finish and store what is under way, start nothing more."""
        self._move({RunState.RUNNING, RunState.PAUSED}, RunState.DRAINING)

    def stop(self) -> None:
        """Break off what is under way; what is stored stays."""
        self._move({RunState.RUNNING, RunState.PAUSED, RunState.DRAINING}, RunState.STOPPED)

    def limit(self, calls: int) -> None:
        """Limit how many calls may be under way at once, from 1 up."""
        with self._lock:
            self._most_concurrency = max(1, calls)
            self._tell()

    def listen(self, changed: Callable[[], object] | None) -> None:
        """Call ``changed`` from the asking thread whenever a wish changes; None ends it.

        Once this has returned, what listened before is not called any more.
        """
        with self._lock:
            self._changed = changed

    def _move(self, origins: set[RunState], target: RunState) -> None:
        with self._lock:
            if self._state in origins:
                self._state = target
                self._tell()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed()


def _nobody() -> None:
    """The notifier of nobody that every entry is begun."""


def _nothing(_seconds: float) -> None:
    """Wait for nothing: no run has begun to store."""
