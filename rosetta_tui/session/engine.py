"""A run under way in its own thread, for anyone who shows it."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.failures import HarnessError
from harness.run.events import Control, Event, EventQueue, Failed, Finished
from harness.run.running import execute_run
from harness.store.results import stored_positions
from harness.store.runs import leave_run, read_run
from harness.store.sqlite.database import open_store

if TYPE_CHECKING:
    from harness.api import Ready

PATIENCE_SECONDS = 5.0  # how long a stopping run may take before the process ends without it
WRITING_SECONDS = 30.0  # the same for what it stores, and for a seal that is under way
_CUT_OFF = "stopped: the run did not come to its end in time, so the program ended without it."
INTERRUPTED = 130  # exit code of a run that a person ended early


class Engine:
    """Runs one run; ``events`` and ``control`` are all that a screen needs of it."""

    def __init__(self, ready: Ready, at_end: Callable[[Finished | None], object] | None = None) -> None:
        """``at_end`` is called in the run's thread once it is over, with None where the run failed; its own failure is reported as one."""
        self.run_id = ready.run_id  # known before it begins, so that it can be named and retried
        self.events = EventQueue()
        self.control = Control()
        self._ready, self._at_end = ready, at_end
        self._finished: Finished | None = None
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._go, name="run", daemon=True)

    def start(self) -> None:
        """Start; what is loaded by now stays, so the collector need not walk it during the run."""
        gc.freeze()
        self._thread.start()

    @property
    def alive(self) -> bool:
        """True while the run is under way."""
        return self._thread.is_alive()

    def wait(self, seconds: float) -> bool:
        """Wait for the end at most so long; True where it came."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> Finished:
        """Wait for the end and give it; raises what made the run fail."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        assert self._finished is not None  # noqa: S101  one of the two is set when the thread ends
        return self._finished

    def stop(self) -> None:
        """Break the run off; wait for its end, and end the process where it does not come."""
        self.control.stop()
        if not self.wait(PATIENCE_SECONDS):
            self.end_without()

    def stop_from_aside(self) -> None:
        """Stop without waiting."""
        self.control.stop()
        threading.Thread(target=self.stop, name="end", daemon=True).start()

    def end_without(self) -> None:
        """End the process with exit code 130 although a method does not come back; what came back is stored first."""
        self.control.catch_up(WRITING_SECONDS)
        if not self.control.translating and self.wait(WRITING_SECONDS):
            return
        if self.alive:
            try:
                # Mark the run as one that stopped; return what is stored, and how it continues.
                with closing(open_store(self._ready.path)) as connection:
                    leave_run(connection, self._ready.number)
                    run = read_run(connection, self._ready.number)
                    done = len(stored_positions(connection, self._ready.number))
                words = f"{_CUT_OFF} {done} of {len(run.positions)} entries are stored. `rosetta resume {run.run_id[:8]}` continues."
            except Exception:  # noqa: BLE001  the process ends whatever the store says
                words = f"{_CUT_OFF} `rosetta resume` continues."
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.write(words + "\n")
                sys.stderr.flush()
            os._exit(INTERRUPTED)

    def _hear(self, event: Event) -> None:
        """Pass an event on; the failure of a run that could not even be read gets its name."""
        if isinstance(event, Failed) and not event.run_id:
            event = replace(event, run_id=self.run_id)
        self.events(event)

    def _go(self) -> None:
        ready = self._ready
        try:
            self._finished = execute_run(
                ready.path, ready.number, ready.cleared, self._hear, self.control, ready.resumption, ready.tools
            )
        except Exception as error:  # noqa: BLE001  passed to the waiting caller
            self._failure = error
        if self._at_end is None:
            return
        try:  # what belongs to the end of the run, however it ended
            self._at_end(self._finished)
        except HarnessError as error:
            self._failure = error
            self._hear(Failed(self.run_id, str(error)))
