"""The floors of a run: worked out while it waits for replies, and exact in the store before it is sealed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

from harness.core.failures import AskingStopped
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.progress import ProgressBoard
from harness.run.beginning import known_opening
from harness.setup.floors import floor_fields, floor_work, scores_of
from harness.setup.scoring_tools import ScoringTools
from harness.store.file.openings import set_opening
from harness.store.file.transaction import transaction
from harness.store.runs import Run, read_run

SHOWN_SECONDS = 0.5
"""Time from one look at the floors so far to the next."""

QUIET_STEPS = 64
"""Steps after which somebody who waits for the end is told how far the work is."""


class RunFloors:
    """Works out the floors of one run, in the thread that scores its outputs and then in that which ends it."""

    def __init__(
        self, connection: sqlite3.Connection, run: Run, tools: ScoringTools, board: ProgressBoard
    ) -> None:
        self._connection = connection
        self._run = run
        self._tools = tools
        self._board = board
        self._work = floor_work(tools)
        self._looked = 0.0
        self._known = self._find_known()

    def step(self) -> bool:
        """Work for some milliseconds and show the floors so far. Return whether more is left."""
        if self._known:
            return False
        more = self._work.step()
        now = time.monotonic()
        if not more or now - self._looked >= SHOWN_SECONDS:
            self._looked = now
            scores = self._work.scores()
            self._board.floors = scores if scores or not more else None
        return more

    def settle(self, control: Control, tell: Callable[[str], None]) -> None:
        """Finish and store the floors; AskingStopped where a person stops the run meanwhile.

        Another run on the same entries may have finished them first.
        """
        if not (self._known or self._work.complete or self._find_known()):
            self._finish(control, tell)
        self._board.floors_open = False
        fields = floor_fields(self._board.floors or {})
        with transaction(self._connection):
            opening = read_run(self._connection, self._run.id).opening
            set_opening(self._connection, self._run.id, opening.changed(**fields))

    def _find_known(self) -> bool:
        """Adopt the floors of another run on the same entries. Return whether there is one."""
        known = known_opening(self._connection, self._run.corpus, self._run.positions, self._tools)
        if known is None or known.floors is None:
            return False
        self._board.floors = scores_of(known.floors)
        return True

    def _finish(self, control: Control, tell: Callable[[str], None]) -> None:
        steps = 0
        while self.step():
            if control.state is RunState.STOPPED:
                raise AskingStopped
            steps += 1
            if steps % QUIET_STEPS == 0:
                tell(f"working out the floors: {self._work.done:,} of {self._work.total:,}")
