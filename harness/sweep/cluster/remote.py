"""The part of a run that a Dask worker does: it makes the method, brings the entries through, and sends all home.

It has no store and no keyring: keys are in its own environment, rows and replies go home as soon as they are there,
and no call is made whose money is not on the disk at home. It pauses while home has not heard of a few rows, so that
little is lost with it, and stops where nothing is heard from home any more.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from distributed import Queue, get_client, get_worker

from corpora.model.entry import Entry
from corpora.model.vocabularies import Sending
from harness.core.failures import HarnessError, RunState, UsageError
from harness.core.version import VERSION
from harness.endpoint.budget import Spending
from harness.endpoint.client import EndpointClient
from harness.endpoint.endpoints import Endpoint, checked_key
from harness.endpoint.limiter import Limiter, RetryPolicy, Slot
from harness.method.method import Method, Result
from harness.method.option_table import METHODS
from harness.method.options import MethodOptions
from harness.privacy import cleared_at_home
from harness.run.call_runner import RunCalls
from harness.run.events import Control, InFlight
from harness.run.loop import RunLoop
from harness.shipped_methods.registry import build
from harness.store.replies import StoredReply
from harness.sweep.cluster.messages import (
    CoordinatorAnswer,
    CoordinatorMessage,
    JobSpec,
    SentReply,
    SentRow,
    StartWork,
    WorkerBegin,
    WorkerEnd,
    WorkerQuestion,
    WorkerReport,
    unpacked,
)

HEARTBEAT_SECONDS = 2.0  # How often home hears from a worker that has nothing to tell

LEASH_SECONDS = 20.0
"""How long a worker continues without a word from home; home gives it up some time later."""

LEAST_UNHEARD = 8
"""Rows of which home may not have heard yet, before no further entry is begun; more where many calls are under way."""


def greet() -> bytes:
    """Return the version of this program on a worker."""
    return VERSION.encode()


def carry(version: str, parcel: bytes, up: str, down: str) -> None:
    """Run the work of a parcel on a worker; reports go into the queue ``up``, words come out of ``down``."""
    if version != VERSION:
        raise UsageError(f"This worker has Rosetta {VERSION}, and the sweep {version}.")
    wanted = unpacked(JobSpec, parcel)
    here, client = get_worker(), get_client()
    reports, words = Queue(up, client=client), Queue(down, client=client)
    try:
        with (
            tempfile.TemporaryDirectory(dir=here.local_directory) as folder,
            WorkerSession(reports, words, wanted) as desk,
        ):
            _work(wanted, Path(folder), here.address, desk)
    finally:
        reports.close()
        words.close()


def _work(wanted: JobSpec, folder: Path, address: str, desk: WorkerSession) -> None:
    try:
        # Write the files that came along into a folder, and return the options that name them
        # there.
        places: dict[str, Path | str] = {}
        for file in wanted.files:
            path = folder / file.option / file.name
            path.parent.mkdir()
            path.write_bytes(file.data)
            places[file.option] = str(path) if file.option == "prompt" else path
        options = wanted.options.model_copy(update=places)
        method = _built(wanted, options)
        go = desk.begin(WorkerBegin(address=address, setup=method.setup))
        if go is not None:
            reason = asyncio.run(_translate(wanted, method, options.task, go, desk))
            desk.end(WorkerEnd(reason=reason, budget_reached=desk.spending.reached))
    except HarnessError as error:
        desk.end(WorkerEnd(reason=f"At worker {address}: {error}"))
    except Exception as error:  # noqa: BLE001  whatever breaks there is told at home, without words that may quote a text
        desk.end(WorkerEnd(reason=f"The worker {address} broke off: {type(error).__name__}."))


def _built(wanted: JobSpec, options: MethodOptions) -> Method:
    """Make the method; UsageError where this computer has not what it takes."""
    try:
        return build(wanted.method, options, (), environment_key)
    except UsageError as error:
        if wanted.method in METHODS and options.model_folder is None:
            raise
        raise UsageError(
            f"{error} A plug-in and the folder of a model are not sent: put them at the same path on each worker, or "
            "run it without --scheduler."
        ) from error


def environment_key(endpoint: Endpoint) -> str | None:
    """Find an endpoint's key in the environment of this worker, its only place; UsageError where one is needed."""
    if secret_key := os.environ.get(endpoint.environment, "").strip():
        return checked_key(secret_key)
    if endpoint.needs_key:
        raise UsageError(
            f"{endpoint.name} needs a key. Keys are not sent to workers: put it into the variable "
            f"{endpoint.environment} of the worker's own environment."
        )
    return None


async def _translate(wanted: JobSpec, method: Method, task: str, go: StartWork, desk: WorkerSession) -> str | None:
    """Process the entries. Return the stop reason, or None."""
    entries: dict[int, Entry] = {entry.position: entry.entry(task) for entry in go.entries}
    clearance = cleared_at_home(Sending(wanted.transmission, wanted.endpoints))
    client = EndpointClient(clearance, timeout_seconds=wanted.run.timeout_seconds)
    shared = RunCalls(
        method=method.setup.method,
        client=client,
        clearance=clearance,
        limiter=desk.limiter,
        spending=desk.spending,
        policy=RetryPolicy(most_attempts=wanted.run.most_attempts),
        flight=desk.flight,
        find=desk.find,
        keep=desk.keep,
        reuse=wanted.run.use_cache,
        earlier=desk.earlier,
    )
    loop = RunLoop(entries, [*entries], method, shared, desk, desk.control)
    try:
        await loop.run()
    finally:
        await client.close()
    return loop.reason


class WorkerSession:
    """What a run has at a worker instead of its store: it sends home, and hears from there.

    Used by the thread of the run; its own two threads carry reports and words.
    """

    def __init__(self, up: MessageQueue, down: MessageQueue, wanted: JobSpec) -> None:
        self._up = up
        self._down = down
        self._attempt = uuid.uuid4().hex
        self._window = max(LEAST_UNHEARD, 2 * wanted.run.concurrency)
        self.earlier = wanted.earlier
        self.control = Control()
        self.flight = InFlight()
        self.limiter = RemoteLimiter(self, wanted)
        shared_budget = None if wanted.held is None else RemoteBudget(self, wanted.held)
        self.spending = Spending(wanted.run.budget_usd, wanted.spent, shared_budget)
        self.spending.secure = None if self.spending.cap is None else self._secure
        self._changed = threading.Condition()
        self._rows: list[SentRow] = []
        self._replies: list[SentReply] = []
        self._asks: list[WorkerQuestion] = []
        self._begin: WorkerBegin | None = None
        self._end: WorkerEnd | None = None
        self._over = False
        self._serial = 0
        self._told_to_wait: float | None = None
        self._unheard: dict[int, int] = {}
        """Serial of a report → its rows, until home has heard of it."""
        self._waiting: dict[int, Future[CoordinatorAnswer]] = {}
        self._asked = 0
        self._going: Future[StartWork | None] = Future()
        self._known: frozenset[bytes] = frozenset()
        self._state = RunState.RUNNING
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for name, work in (("reports", self._report), ("words", self._listen))
        ]

    def __enter__(self) -> WorkerSession:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def begin(self, begin: WorkerBegin) -> StartWork | None:
        """Report who is here, and wait for the entries; None if home wants nothing."""
        with self._changed:
            self._begin = begin
            self._changed.notify_all()
        go = self._going.result()
        self._known = frozenset(() if go is None else go.known)
        return go

    def end(self, end: WorkerEnd) -> None:
        """Report that nothing comes any more."""
        with self._changed:
            self._end = end
            self._changed.notify_all()

    def take(self, results: Sequence[Result]) -> None:
        """Send finished entries home."""
        with self._changed:
            self._rows += [SentRow.of(result) for result in results]
            self._changed.notify_all()
        self._steer()

    @property
    def behind(self) -> bool:
        """Return False: what waits here is sent as fast as it comes."""
        return False

    def keep(self, reply: StoredReply) -> None:
        """Send a reply home."""
        with self._changed:
            self._replies.append(SentReply.of(reply))
            self._changed.notify_all()

    def wait_asked(self, seconds: float) -> None:
        """Report that the endpoint asked for no calls for so long."""
        with self._changed:
            self._told_to_wait = max(seconds, self._told_to_wait or 0.0)
            self._changed.notify_all()

    def find(self, key: bytes) -> StoredReply | None:
        """Request an earlier reply from home, where it has one; blocks."""
        if key not in self._known:
            return None
        coordinator_answer = self.ask(kind="find", key=key).result()
        return None if coordinator_answer.reply is None else coordinator_answer.reply.stored

    async def _secure(self) -> None:
        await asyncio.wrap_future(self.ask(kind="secure"))

    def ask(self, **asked: object) -> Future[CoordinatorAnswer]:
        """Request something from home; see ``WorkerQuestion``. Cancelled where home is gone."""
        answer: Future[CoordinatorAnswer] = Future()
        with self._changed:
            self._asked += 1
            self._waiting[self._asked] = answer
            self._asks.append(WorkerQuestion.model_validate({"number": self._asked, **asked}))
            if self._over:
                answer.cancel()
            self._changed.notify_all()
        return answer

    def _steer(self) -> None:
        """Follow what home wishes, and wait for it where it has not heard of many rows."""
        full = len(self._rows) + sum(self._unheard.values()) >= self._window
        if self._state is RunState.STOPPED:
            self.control.stop()
        elif self._state is RunState.DRAINING:
            self.control.drain()
        elif self._state is RunState.PAUSED or full:
            self.control.pause()
        else:
            self.control.go_on()

    def _report(self) -> None:
        """Send reports until the end; where that is not possible, stop."""
        try:
            while not self._over or self._news():
                with self._changed:
                    if not self._news():
                        self._changed.wait(HEARTBEAT_SECONDS)
                    report = self._next()
                self._up.put(report.packed())
        except Exception:  # noqa: BLE001  whatever it is, home cannot be told any more
            self._lose()

    def _news(self) -> bool:
        waiting = (self._begin, self._end, self._rows, self._replies, self._asks, self._told_to_wait)
        return any(waiting)

    def _next(self) -> WorkerReport:
        self._serial += 1
        report = WorkerReport(
            attempt=self._attempt,
            serial=self._serial,
            begin=self._begin,
            rows=tuple(self._rows),
            replies=tuple(self._replies),
            committed=self.spending.committed,
            in_flight=self.flight.under_way(),
            rate_limited=self.flight.rate_limited,
            retries=self.flight.retries,
            limit=self.limiter.limit,
            told_to_wait=self._told_to_wait,
            asks=tuple(self._asks),
            end=self._end,
        )
        self._unheard[self._serial] = len(report.rows)
        self._begin = self._end = self._told_to_wait = None
        self._rows, self._replies, self._asks = [], [], []
        return report

    def _listen(self) -> None:
        """Receive words until the end; where none comes for long, or none can, stop."""
        last = time.monotonic()
        try:
            while not self._over and time.monotonic() - last <= LEASH_SECONDS:
                with suppress(TimeoutError):
                    self._hear(unpacked(CoordinatorMessage, self._down.get(timeout=1.0)))
                    last = time.monotonic()
        except Exception:  # noqa: BLE001, S110  whatever it is, home cannot be heard any more
            pass
        finally:
            self._lose()

    def _hear(self, word: CoordinatorMessage) -> None:
        if word.attempt not in {None, self._attempt}:
            return  # for the worker before, whom home has looked at
        with self._changed:
            for serial in [serial for serial in self._unheard if serial <= word.heard]:
                del self._unheard[serial]
            self._state = word.state
        if word.most is not None:
            self.control.limit(word.most)
        for coordinator_answer in word.answers:
            if (answer := self._waiting.pop(coordinator_answer.number, None)) is not None:
                with suppress(InvalidStateError):  # who asked was stopped meanwhile
                    answer.set_result(coordinator_answer)
        if word.go is not None and not self._going.done():
            self._going.set_result(word.go)
        if word.state is RunState.STOPPED and not self._going.done():
            self._going.set_result(None)
        self._steer()

    def _lose(self) -> None:
        """Stop the run: nothing that it makes would reach home, or it is over."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        self.control.stop()
        if not self._going.done():
            self._going.set_result(None)
        for answer in [*self._waiting.values()]:
            answer.cancel()


class RemoteLimiter(Limiter):
    """Tells home of a pause that the endpoint asked for, so that others obey it too."""

    def __init__(self, desk: WorkerSession, wanted: JobSpec) -> None:
        super().__init__(wanted.run.concurrency, start=wanted.begun_with)
        self._desk = desk

    def rate_limited(self, slot: Slot, retry_after: float | None = None) -> None:
        """Record a 429; see ``Limiter``."""
        super().rate_limited(slot, retry_after)
        if retry_after is not None:
            self._desk.wait_asked(retry_after)


class MessageQueue(Protocol):
    """Carries messages one way; ``distributed.Queue`` is one."""

    def put(self, value: Any) -> Any:
        """Add a message."""

    def get(self, timeout: float) -> Any:
        """Return the next; TimeoutError where none comes for that many seconds."""


class RemoteBudget:
    """Takes money of a sweep's budget, which stays at home; see ``harness.endpoint.budget.CallBudget``."""

    def __init__(self, desk: WorkerSession, held: float) -> None:
        self.held = held
        self.budget = 0.0
        self.others = 0.0
        self._desk = desk

    async def take(self, wanted: float, spent: float | None) -> bool | None:
        """Request more from home; see ``CallBudget``."""
        coordinator_answer = await asyncio.wrap_future(self._desk.ask(kind="take", wanted=wanted, spent=spent))
        self.held, self.budget, self.others = (
            coordinator_answer.held,
            coordinator_answer.budget,
            coordinator_answer.others,
        )
        return coordinator_answer.taken
