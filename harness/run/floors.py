"""The floors of a run: worked out while it waits for replies, and exact in the store before it is sealed.

Those of a large corpus take longer than all other scoring, so that a process of their own works them out meanwhile.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import IO

from harness.core.failures import AskingStopped, RunState
from harness.method.method import Result
from harness.run.beginning import begun_with, known_opening
from harness.run.events import Control
from harness.run.progress import ProgressBoard
from harness.setup.scoring_tools import ScoringTools, floor_fields, floor_work, scores_of
from harness.store.runs import Run, read_run
from harness.store.sqlite.database import open_store, store_path
from harness.store.sqlite.openings import set_opening
from harness.store.sqlite.trouble import transaction
from scoring.card.claim import FloorScores
from scoring.core.metric import EntryStatistics
from scoring.core.setup import Translation

LEAST_APART = 5_000
"""Entries from which a second process pays: at 8,000 the first has a quarter less to do, both together a fifth more."""
SHOWN_SECONDS = 0.5  # Time from one look at the floors so far to the next
NEWS_SECONDS = 0.01  # How long a step waits for news from the other process
QUIET_STEPS = 64  # Steps after which somebody who waits for the end is told how far the work is


class RunFloors:
    """Works out the floors of one run, in the thread that scores its outputs and then in that which ends it."""

    def __init__(self, connection: sqlite3.Connection, run: Run, tools: ScoringTools, board: ProgressBoard) -> None:
        self._connection = connection
        self._run = run
        self._tools = tools
        self._board = board
        self._work = floor_work(tools)
        self._looked = 0.0
        self._known = self._find_known()
        self._process = None if self._known else _process_for(connection, run, tools)
        self._lost = False
        """Whether the other process ended before its work did."""

    def step(self) -> bool:
        """Work for some milliseconds and show the floors so far. Return whether more is left."""
        if self._known:
            return False
        if self._process is not None:
            return self._take_news(self._process)
        more = self._work.step()
        now = time.monotonic()
        if not more or now - self._looked >= SHOWN_SECONDS:
            self._looked = now
            self._show(self._work.scores(), more=more)
        return more

    def take(self, results: Sequence[Result], scored: Iterable[tuple[Translation, EntryStatistics]]) -> None:
        """Adopt the statistics of outputs that are the untouched source."""
        if not self._known and self._process is None:
            self._work.take((bisect_left(self._run.positions, result.position) for result in results), scored)

    def settle(self, control: Control, tell: Callable[[str], None]) -> None:
        """Finish and store the floors; AskingStopped where a person stops the run meanwhile.

        Another run on the same entries may have finished them first.
        """
        if not (self._known or self._work.complete or self._find_known()):
            steps = 0
            while self.step():
                if control.state is RunState.STOPPED:
                    raise AskingStopped
                steps += 1
                if steps % QUIET_STEPS == 0:
                    tell(self._how_far())
        self._board.floors_open = False
        fields = floor_fields(self._board.floors or {})
        with transaction(self._connection):
            opening = read_run(self._connection, self._run.id).opening
            set_opening(self._connection, self._run.id, opening.changed(**fields))

    def close(self) -> None:
        """End the other process; what it found is stored or no longer wanted."""
        if self._process is not None:
            self._process.close()

    def _how_far(self) -> str:
        done = self._work.done if self._process is None else self._process.news.done
        here = " here, since the process for it ended" if self._lost else ""
        return f"working out the floors{here}: {done:,} of {self._work.total:,}"

    def _take_news(self, process: FloorProcess) -> bool:
        ended = process.wait(NEWS_SECONDS)
        news = process.news
        if news.complete or news.scores:
            self._show(news.scores, more=not news.complete)
        if news.complete:
            self._known = True
        elif ended:
            process.close()
            self._process, self._lost = None, True
        return not news.complete

    def _show(self, scores: dict[str, FloorScores], *, more: bool) -> None:
        self._board.floors = scores if scores or not more else None

    def _find_known(self) -> bool:
        """Adopt the floors of another run on the same entries. Return whether there is one."""
        known = known_opening(self._connection, self._run.corpus, self._run.positions, self._tools)
        if known is None or known.floors is None:
            return False
        self._board.floors = scores_of(known.floors)
        return True


# ---- The other process reads the run from the store, and writes one line of JSON now and then.

_CODE = "import sys; sys.path[:] = sys.argv[3:]; from harness.run.floors import work_alone; work_alone(*sys.argv[1:3])"


@dataclass(frozen=True, slots=True)
class FloorNews:
    """How far the other process is."""

    done: int
    scores: dict[str, FloorScores]
    complete: bool

    def line(self) -> bytes:
        """Write it as a line; the shortest form of a fraction is read as the same one."""
        rows = [(name, *astuple(floor)) for name, floor in self.scores.items()]
        return json.dumps([self.done, rows, self.complete]).encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> FloorNews:
        """Read a line."""
        done, rows, complete = json.loads(line)
        return cls(done, {name: FloorScores(a, b, tuple(c), d, e) for name, a, b, c, d, e in rows}, complete)


class FloorProcess:
    """A second process at the floors of a stored run."""

    def __init__(self, store: Path, run: int) -> None:
        """Start it; OSError where no process can be started."""
        command = [sys.executable, "-P", "-c", _CODE, str(store), str(run), *sys.path]
        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing)  # noqa: S603
        self.news = FloorNews(0, {}, complete=False)
        self._ended = Flag()
        if self._process.stdout is not None:
            Thread(target=self._read, args=(self._process.stdout,), name="floors", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait so long for its end at most. Return whether it has ended."""
        return self._ended.wait(seconds)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _read(self, lines: IO[bytes]) -> None:
        with lines, suppress(ValueError):
            for line in lines:
                self.news = FloorNews.of(line)
        self._ended.set()


def _process_for(connection: sqlite3.Connection, run: Run, tools: ScoringTools) -> FloorProcess | None:
    """Start a process where it pays: not for secret entries, nor in a sweep, whose processes keep all cores busy."""
    entries = tools.resources.entries
    alone = multiprocessing.parent_process() is not None or (os.cpu_count() or 1) < 2
    if len(entries) < LEAST_APART or alone or tools.slow or any(entry.secret for entry in entries):
        return None
    with suppress(OSError):
        return FloorProcess(store_path(connection), run.id)
    return None


def work_alone(store: str, run: str) -> None:
    """Work the floors of a run out and write how far they are; ends where nobody reads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    with closing(open_store(Path(store))) as connection:
        tools = begun_with(connection, read_run(connection, int(run)))
        work = floor_work(tools)
        last, more = time.monotonic(), True
        while more:
            more = work.step()
            now = time.monotonic()
            if not more or now - last >= SHOWN_SECONDS:
                last = now
                sys.stdout.buffer.write(FloorNews(work.done, work.scores(), complete=not more).line())
                sys.stdout.buffer.flush()
