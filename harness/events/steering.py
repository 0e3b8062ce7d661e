"""Steering a run from another process, by the store: a wish is written there, and the run's own process takes it
and writes next to it what came of it.

Wishes are imported the order in which they were written, each says what is to be and not what is to change, and
each is answered: of two people who steer one run, both see what holds then.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing, suppress
from enum import StrEnum
from pathlib import Path

from harness.core.failures import HarnessError, UsageError
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.store.file.database import open_store, opened
from harness.store.file.trouble import STORE_ERRORS
from harness.store.holding import (
    answer_of,
    answer_wish,
    forget_wishes,
    is_held,
    open_wishes,
    write_wish,
)
from harness.store.runs import Run, find_run, read_run, under_way
from scoring.core.messages import counted

LISTEN_SECONDS = 0.2
"""How often a run's process looks for wishes."""

ASK_SECONDS = 0.05
"""How often who asked looks for the answer."""

PATIENCE_SECONDS = 15.0
"""How long an answer is waited for; a process that lives answers at once, unless its machine is very busy."""

OVER = "Every entry is in: the run is being scored and sealed, and nothing is left to steer."

UNKNOWN = "The program that runs it does not know this wish. Nothing was changed."


class ControlRequest(StrEnum):
    """What may be asked of a run under way."""

    PAUSE = "pause"
    GO_ON = "go_on"
    DRAIN = "drain"
    STOP = "stop"
    LIMIT = "limit"
    """At most that many calls at once."""


def ask(path: Path, run_id: str, wish: ControlRequest, calls: int | None = None) -> str:
    """Request something of the process that runs a run; blocks until it has answered, and returns its words.

    Raises UsageError where no process is at the run, or none answers: nothing is changed then.
    """
    with opened(path) as connection:
        run = find_run(connection, run_id)
        _require_alive(path, run)
        number = write_wish(connection, run.id, wish, calls)
        until = time.monotonic() + PATIENCE_SECONDS
        try:
            while time.monotonic() < until:
                if answer := answer_of(connection, number):
                    return answer
                _require_alive(path, read_run(connection, run.id))
                time.sleep(ASK_SECONDS)
            raise UsageError(
                f"The process that runs {run.run_id[:8]} has not answered for {PATIENCE_SECONDS:g} s. "
                "Nothing was changed."
            )
        finally:
            forget_wishes(connection, run.id, number)


def _require_alive(path: Path, run: Run) -> None:
    """Raise UsageError where nobody is at a run."""
    name = run.run_id[:8]
    if run.state is RunState.COMPLETE:
        raise UsageError(f"Run {name} is complete; there is nothing to steer.")
    if run.state is RunState.STOPPED:
        raise UsageError(f"Run {name} has stopped; `{run.goes_on_with}` continues.")
    if not under_way(run) or not is_held(path, run.run_id):
        raise UsageError(
            f"The process that ran {name} is gone. What it stored is safe; `{run.goes_on_with}` continues."
        )


class ControlPoller(threading.Thread):
    """Takes wishes from the store and passes them on to a run's control, in the run's own process."""

    def __init__(self, path: Path, run: int, control: Control) -> None:
        super().__init__(name="ear", daemon=True)
        self._path = path
        self._run = run
        self._control = control
        self._end = threading.Event()
        self.entries_in = False
        """True once nothing is left that could be steered."""

    def run(self) -> None:
        """Listen until stopped; a store that fails is the run's own trouble, which reports it."""
        with suppress(HarnessError, *STORE_ERRORS), closing(open_store(self._path)) as connection:
            while not self._end.wait(LISTEN_SECONDS):
                with suppress(*STORE_ERRORS):
                    self._heed(connection)

    def close(self) -> None:
        """End listening."""
        self._end.set()
        self.join()

    def _heed(self, connection: sqlite3.Connection) -> None:
        for number, wish, calls in open_wishes(connection, self._run):
            if self.entries_in:
                words = OVER
            elif wish not in set(ControlRequest) or not isinstance(calls, int | None):
                words = UNKNOWN  # a program of another version wrote it, or somebody by hand
            else:
                words = done(self._control, ControlRequest(wish), calls)
            answer_wish(connection, number, words)


def done(control: Control, wish: ControlRequest, calls: int | None = None) -> str:
    """Carry out a request unless it is so already; return what holds then, in words."""
    before = control.state
    if wish is ControlRequest.LIMIT:
        control.limit(calls or 1)
        return f"At most {counted(control.most_concurrency or 1, 'call')} at once."
    if before in {RunState.DRAINING, RunState.STOPPED} and wish in {
        ControlRequest.PAUSE,
        ControlRequest.GO_ON,
    }:
        return "It is ending: a drain or a stop cannot be taken back. `rosetta resume` continues afterwards."
    {
        ControlRequest.PAUSE: control.pause,
        ControlRequest.GO_ON: control.go_on,
        ControlRequest.DRAIN: control.drain,
        ControlRequest.STOP: control.stop,
    }[wish]()
    return (_SO_ALREADY if control.state is before else _DONE)[wish]


_DONE = {
    ControlRequest.PAUSE: "Paused: what is under way is finished.",
    ControlRequest.GO_ON: "Going on.",
    ControlRequest.DRAIN: "Draining: what is under way is finished and stored, nothing more is started.",
    ControlRequest.STOP: "Stopped: what is done is stored, calls under way are broken off.",
}
_SO_ALREADY = {
    ControlRequest.PAUSE: "It was paused already.",
    ControlRequest.GO_ON: "It was going on already.",
    ControlRequest.DRAIN: "It was ending already.",
    ControlRequest.STOP: "It was stopped already.",
}
