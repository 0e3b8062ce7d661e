"""The run's one writer: scores what is finished, stores it in one durable transaction, then tells.

It takes whatever has gathered while the last transaction was on its way to the disk, so the groups are
as large as the traffic makes them and an entry is never shown before it is safe.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Protocol

from corpora.model.corpus import Dataset
from corpora.model.entry import AnyEntry, Entry
from corpora.text.comparison import is_blank
from harness.core.failures import ErrorClass, RunState
from harness.method.method import Method, Result
from harness.run.call_runner import RunCalls
from harness.run.events import Control, EntryScored, Event
from harness.run.progress import ProgressBoard
from harness.run.scoring import RunScorer
from harness.setup.plan import Plan
from harness.store.live_runs import RunSegment, touch_stretch
from harness.store.replies import StoredReply, add_replies
from harness.store.results import add_results
from harness.store.runs import set_live
from harness.store.sqlite.trouble import transaction
from harness.store.sweeps import SharedBudget
from scoring.core.setup import Translation

GATHER_SECONDS = 0.03  # Least time from one transaction to the next while entries stream in
MOST_WAITING = 1000  # Results and replies that may wait before calls wait for them
TELL_SECONDS = 0.1  # Time from one Progress event to the next

HEARTBEAT_SECONDS = 1.0
"""Time from one heartbeat in the store to the next, by which a second terminal follows."""

_Item = Result | StoredReply | Future[None]
"""A future is to be done once all before it, and the money committed by now, is on the disk."""


class Recorder(threading.Thread):
    """Writes one run. The connection belongs to this thread from ``start`` to ``finish``."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        run: int,
        run_id: str,
        segment: RunSegment,
        entries: Mapping[int, Entry],
        scoring: RunScorer,
        board: ProgressBoard,
        listener: Callable[[Event], None] | None,
        tried: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__(name="recorder", daemon=True)
        self._connection = connection
        self._run = run
        self._run_id = run_id
        self._segment = segment
        self._entries = entries
        self._scoring = scoring
        self._board = board
        self._listener = listener
        self._tried = tried or {}
        """How often entries were tried in runs that this one goes back to, by place."""
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._told = 0.0
        self._beat = 0.0
        self.failure: Exception | None = None
        """What kept the recorder from writing, None while all is well."""
        self.failed: Callable[[], None] = lambda: None
        """Called from this thread when it cannot continue."""

    def take(self, results: Sequence[Result]) -> None:
        """Queue finished entries; may be called from any thread."""
        for result in results:
            self._queue.put(result)

    @property
    def behind(self) -> bool:
        """Return whether so much waits to be scored and written that it should not become more."""
        return self._queue.qsize() > MOST_WAITING

    def keep(self, reply: StoredReply) -> None:
        """Queue a reply to be stored; may be called from any thread."""
        self._queue.put(reply)

    async def secure(self) -> None:
        """Wait until the money committed by now is on the disk; cancelled where the recorder broke."""
        written: Future[None] = Future()
        self._queue.put(written)
        await asyncio.wrap_future(written)

    def catch_up(self, seconds: float) -> bool:
        """Wait until all that was submitted by now is on the disk, and tell whether it is; from any thread.

        Gives up after ``seconds``, and where the recorder broke.
        """
        written: Future[None] = Future()
        self._queue.put(written)
        until = time.monotonic() + seconds
        while not written.done() and self.is_alive() and time.monotonic() < until:
            with suppress(TimeoutError):
                written.result(TELL_SECONDS)
        return written.done()

    def finish(self) -> None:
        """Write what is left and end; raises what kept the recorder from writing."""
        self._queue.put(None)
        self.join()
        if self.failure is not None:
            raise self.failure

    def run(self) -> None:
        """Write until told to end."""
        try:
            while self._round():
                pass
        except Exception as error:  # noqa: BLE001  handed to the run, which tells the user
            self.failure = error
            self.failed()

    def _round(self) -> bool:
        items, more = self._gather()
        began = time.perf_counter()
        results = self._write(items)
        now = time.perf_counter()
        if self._listener is not None:
            last = not more
            for result in results:
                self._listener(EntryScored(self._run_id, replace(result, trace=())))
            if now - self._told >= TELL_SECONDS or last:
                self._told = now
                self._listener(self._board.progress())
        if more and items:
            self._scoring.pause(began + GATHER_SECONDS)
        return more

    def _gather(self) -> tuple[list[_Item], bool]:
        """Return what is waiting, and whether more may come."""
        items: list[_Item] = []
        try:
            item = self._queue.get(timeout=TELL_SECONDS)
            while item is not None:
                items.append(item)
                item = self._queue.get_nowait()
        except queue.Empty:
            return items, True
        return items, False

    def _write(self, items: Sequence[_Item]) -> list[Result]:
        replies = [item for item in items if isinstance(item, StoredReply)]
        results = self._score([item for item in items if isinstance(item, Result)])
        now = time.perf_counter()
        heartbeat = now - self._beat >= HEARTBEAT_SECONDS
        if not (items or heartbeat):
            return []
        with transaction(self._connection):
            add_replies(self._connection, replies)
            add_results(self._connection, self._run, results)
            touch_stretch(self._connection, self._segment, self._board.committed_usd)
            if heartbeat:
                self._beat = now
                set_live(self._connection, self._run, self._board.state, self._board.heartbeat())
        # whoever waits for a reply to be safe hears of it only now that it is on the disk
        for item in items:
            if isinstance(item, Future) and item.set_running_or_notify_cancel():
                item.set_result(None)
        return results

    def _score(self, results: Sequence[Result]) -> list[Result]:
        if not results:
            return []
        translations = [
            Translation(self._entries[result.position], result.output or "", raw=result.raw) for result in results
        ]
        rows, statistics = self._scoring.score(results, translations)
        scored = []
        for result, (numbers, kept) in zip(results, rows, strict=True):
            entry = self._entries[result.position]
            if (
                result.error_class is ErrorClass.EMPTY and entry.task.empty_reference and is_blank(entry.reference)
            ):  # silence is the answer where the reference is empty too
                result = replace(result, output="", error_class=None, error=None)  # noqa: PLW2901
            tries = sum(attempt.note is None for attempt in result.trace)
            scored.append(
                result.with_kept(
                    kept,
                    statistics=numbers,
                    latency_seconds=None if result.cached else result.latency_seconds,
                    attempts=self._tried.get(result.position, 0) + max(1, tries),
                )
            )
        self._board.add(scored, statistics)
        return scored


def teller_before_seal(
    connection: sqlite3.Connection, run: int, board: ProgressBoard, show: Callable[[], None]
) -> Callable[[str], None]:
    """Return a listener for what is done before the seal; it shows that the run's process is alive.

    A second terminal hears of each new thing at once, for nothing may be told for long after it, and of how
    far it is (``asking comet: 3 of 90``) with the next heartbeat.
    """
    beat = float("-inf")

    def tell(words: str) -> None:
        nonlocal beat
        now = time.perf_counter()
        other = words.partition(":")[0] != (board.doing or "").partition(":")[0]
        board.doing = words
        if other or now - beat >= HEARTBEAT_SECONDS:
            beat = now
            set_live(connection, run, RunState.RUNNING, board.heartbeat())
        show()

    return tell


# ---- Having a run's calls made elsewhere: what goes there, and what is done here with what comes
# back.
#
# Anyone who carries them, the run stays one of this store: its rows are scored and written by its
# recorder here, its money is counted in its spending here, and its seal is made here.

MADE_HERE: Final = frozenset({"copy-source", "constant", "glossary", "replay", "human"})
"""Methods that ask nobody and take so little that they are never carried."""


@dataclass(frozen=True, slots=True)
class RemoteWork:
    """A stretch of a run whose calls are made elsewhere."""

    run_id: str
    dataset: Dataset
    plan: Plan
    method: Method
    """Made here, to know what it has to be there."""
    entries: Mapping[int, AnyEntry]
    waiting: Sequence[int]
    """Places of the entries to be translated, in order."""
    calls: RunCalls
    """Limits, money, and where replies are kept and found."""
    known: Collection[bytes]
    """Keys of the replies that can be found."""
    shared_budget: SharedBudget | None
    """Where ``calls.spending`` takes money from; None where the run shares none."""
    recorder: Recorder
    control: Control


class RemoteCalls(Protocol):
    """Makes the calls of runs elsewhere, one run after the other."""

    lost: bool
    """Whether the last stretch ended because anyone who was at it is gone, so that another may continue at once."""
    gone: bool
    """Whether no further run can be carried."""

    def carry(self, work: RemoteWork) -> str | None:
        """Process the pending entries. Return the stop reason, or None. Blocks."""
        ...
