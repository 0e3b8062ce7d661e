"""A run's calls on a worker of a Dask cluster, from here: what goes there, and what is done with what comes back.

What a worker sends is read as data, an entry that it was not given or that it sends twice is refused, and the run ends
there. Whether an output or a reply is what the endpoint said, nobody here can tell. Where Dask begins the work again
because the worker is gone, nothing is heard of the second: the run is gone on with from what the store has.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Client, Future, KilledWorker, Queue

from corpora.model.entry import only_open
from harness.core.failures import HarnessError, RunState
from harness.core.version import VERSION
from harness.endpoint.endpoints import is_loopback
from harness.method.options import MethodOptions
from harness.run.recorder import RemoteWork
from harness.sweep.cluster.messages import (
    CoordinatorAnswer,
    CoordinatorMessage,
    JobSpec,
    MessageError,
    SentEntry,
    SentFile,
    SentReply,
    StartWork,
    WorkerBegin,
    WorkerQuestion,
    WorkerReport,
    unpacked,
)
from harness.sweep.cluster.remote import LEASH_SECONDS, carry
from harness.sweep.cluster.scheduler import connected, require_terms_of

LOOK_SECONDS = 0.2  # How often it is looked whether a wish came, or a worker is gone
WORD_SECONDS = 2.0  # How often a worker hears from here at least

SILENT_SECONDS = 1.5 * LEASH_SECONDS
"""A worker from which nothing came for so long is given up: it has stopped on its own by then."""

STOP_SECONDS = 10.0  # How long is waited for a worker to break off
SECURE_SECONDS = 60.0  # How long the store may take to write down what is committed

FAREWELLS = 2
"""Words of farewell: one for anyone who has the work now, and one that may go to a worker that died while it waited."""

MOST_FILE_BYTES = 128 * 2**20  # Of all files that a method is told


class _WorkerGone(Exception):  # noqa: N818  an event
    """Anyone who was at the run is not there any more."""


class _SchedulerGone(Exception):  # noqa: N818  an event
    """The scheduler is not reached any more."""


@contextmanager
def _reaching() -> Iterator[None]:
    """Raise _SchedulerGone for whatever Dask raises of a connection, but TimeoutError: nothing came yet."""
    try:
        yield
    except TimeoutError:
        raise
    except Exception as error:
        raise _SchedulerGone(type(error).__name__) from error


@dataclass(frozen=True, slots=True)
class Cluster:
    """A scheduler whose workers were examined (``harness.sweep.cluster.scheduler``)."""

    address: str

    def carrier(self) -> ClusterCalls:
        return ClusterCalls(connected(self.address), self.address)


class ClusterCalls:
    """Has the calls of runs made by the workers of a cluster, one run after the other."""

    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self._address = address
        self.lost = False
        self.gone = False

    def carry(self, work: RemoteWork) -> str | None:
        self.lost = False
        options, shared_budget = work.plan.options, work.shared_budget
        parcel = JobSpec(
            run_id=work.run_id,
            method=work.plan.method,
            options=options,
            run=work.plan.run,
            files=_files(options),
            begun_with=work.calls.limiter.limit,
            spent=work.calls.spending.spent,
            held=None if shared_budget is None else shared_budget.held,
            earlier=work.calls.earlier,
            transmission=work.calls.clearance.sending.transmission,
            endpoints=work.calls.clearance.sending.endpoints,
        )
        try:
            return _Errand(self._client, work, parcel).carry()
        except _WorkerGone:
            self.lost = True
            return None
        except HarnessError as error:
            return str(error)
        except _SchedulerGone as error:
            self.gone = True
            return (
                f"The scheduler at {self._address} is not reached any more ({error}). What came back is stored. Look at "
                "it, and continue with `rosetta sweep resume --scheduler`."
            )

    def close(self) -> None:
        with suppress(Exception):  # whatever Dask raises of a connection that is gone anyway
            self._client.close(timeout=LOOK_SECONDS)


def _files(options: MethodOptions) -> tuple[SentFile, ...]:
    """Read the files that a method names; HarnessError where one cannot be read, or they are too large.

    A folder, such as that of a model, is not sent: it has to be at the same place there.
    """
    paths = {name: value for name, value in options if isinstance(value, Path)}
    file_options = {name: path for name, path in paths.items() if not path.is_dir()}
    if options.prompt is not None and Path(options.prompt).is_file():
        file_options["prompt"] = Path(options.prompt)
    try:
        whole = sum(path.stat().st_size for path in file_options.values())
        if whole > MOST_FILE_BYTES:
            raise HarnessError(
                f"The files of the method have {whole / 2**20:.0f} MiB, and {MOST_FILE_BYTES / 2**20:.0f} MiB at most "
                "are sent to a worker. Run it without --scheduler."
            )
        return tuple(
            SentFile(option=name, name=path.name, data=path.read_bytes()) for name, path in file_options.items()
        )
    except OSError as error:
        raise HarnessError(f"{error.filename} cannot be read: {error.strerror}.") from error


class _Errand:
    """One stretch of a run on one worker."""

    def __init__(self, client: Client, work: RemoteWork, parcel: JobSpec) -> None:
        self._client = client
        self._work = work
        self._parcel = parcel
        self._before = work.calls.spending.spent
        self._left: set[int] = set()
        """Places of the entries that the worker was given and of which nothing came back yet."""
        self._attempt = ""
        self._last = time.monotonic()
        """When something came last."""
        self._spoke = 0.0
        self._stopped_at = 0.0
        """Since when it is to break off; 0 where it is not."""
        self._heard = 0
        self._limited = 0
        self._answers: list[CoordinatorAnswer] = []
        self._go: StartWork | None = None
        self._state = RunState.RUNNING

    def carry(self) -> str | None:
        """Send the work away and follow it to its end; returns why it stopped on its own, None where it did not."""
        name = f"rosetta-{uuid.uuid4().hex}"
        arguments = (VERSION, self._parcel.packed(), f"{name}-up", f"{name}-down")
        with _reaching():
            up, down = (Queue(queue_name, client=self._client) for queue_name in arguments[2:])
            future = self._client.submit(carry, *arguments, key=name, pure=False, retries=0)
        try:
            return self._follow(future, up, down)
        finally:
            # Send away anyone who has the work now, and let go of all; the scheduler may be gone.
            with suppress(Exception):
                future.cancel(force=True)
                for _ in range(FAREWELLS):
                    down.put(CoordinatorMessage(heard=self._heard, state=RunState.STOPPED).packed())
                up.close()
                down.close()

    def _follow(self, future: Future[None], up: Queue, down: Queue) -> str | None:
        while True:
            status = future.status  # before the look: what came to its end has said so by then
            report = _next(up)
            if report is not None:
                self._hear(report)
            elif (words := self._over(future, status)) is not None:
                return words or None
            late = time.monotonic() - self._spoke > WORD_SECONDS
            if self._attempt and (report is not None or late or self._wish() is not self._state):
                word = self._word().packed()
                with _reaching():
                    down.put(word)
                self._spoke = time.monotonic()
            if report is not None and report.end is not None:
                self._work.calls.spending.reached |= report.end.budget_reached
                return report.end.reason

    def _over(self, future: Future[None], status: str | None) -> str | None:
        """Return whether nothing more can come: words, empty ones where nothing is wrong; raises where a worker is gone."""
        wish, silent = self._work.control.state, time.monotonic() - self._last
        if not self._attempt and wish in {RunState.DRAINING, RunState.STOPPED}:
            return ""
        if status == "error":
            if isinstance(error := future.exception(), KilledWorker):
                raise _WorkerGone
            words = " ".join(str(error).split())[:300]
            one_line = f"{type(error).__name__}: {words}"
            return f"A worker could not begin: {one_line}"
        if status != "pending" or (self._attempt and silent > SILENT_SECONDS):
            raise _WorkerGone
        if wish is RunState.STOPPED:
            self._stopped_at = self._stopped_at or time.monotonic()
            if time.monotonic() - self._stopped_at > STOP_SECONDS:
                raise _WorkerGone
        return None

    def _hear(self, report: WorkerReport) -> None:
        """Process what came: rows and replies to the recorder, and after them the questions."""
        if not self._attempt:
            self._attempt = report.attempt
            if report.end is None:  # else it could not even begin
                self._begin(report.begin)
        elif report.attempt != self._attempt:
            raise _WorkerGone
        self._last, self._heard = time.monotonic(), report.serial
        calls = self._work.calls
        calls.spending.spent = self._before + report.committed
        for reply in report.replies:
            calls.keep(reply.stored)
        self._take(report)
        calls.flight.in_flight.clear()
        calls.flight.in_flight.update(report.in_flight)
        calls.flight.rate_limited += max(0, report.rate_limited - self._limited)
        self._limited = report.rate_limited
        calls.limiter.follow(report.limit)
        if report.told_to_wait is not None and self._shared_endpoint:
            calls.limiter.tell_others(report.told_to_wait)
        self._answers += [self._answer(ask) for ask in report.asks]

    def _begin(self, begin: WorkerBegin | None) -> None:
        """Compare a worker with what it has to be, before it is given any text; raises HarnessError."""
        if begin is None:
            raise MessageError("A worker did not say who it is.")
        work = self._work
        entries = [work.entries[place] for place in work.waiting]
        require_terms_of(work.dataset, entries, work.plan, [begin.address])
        here, there = work.method.setup.model_dump(), begin.setup.model_dump()
        differing = [name for name in here if here[name] != there[name] and name != "fst_version"]
        if differing:
            raise HarnessError(
                f"At worker {begin.address} the method would be another: {', '.join(differing)} differ. Put the same "
                "files and packages there, or name the file in the plan so that it is sent."
            )
        self._left = {*work.waiting}
        self._go = StartWork(
            entries=tuple(SentEntry.of(*sent) for sent in zip(work.waiting, only_open(entries), strict=True)),
            known=tuple(work.known),
        )

    def _take(self, report: WorkerReport) -> None:
        """Pass rows to the recorder; MessageError for one that was not asked for, or came before."""
        now = time.time()
        for row in report.rows:
            if row.position not in self._left:
                words = "A worker sent an entry that it was not given, or sent one twice."
                raise MessageError(words)
            self._left.discard(row.position)
        self._work.recorder.take([row.result(self._work.entries[row.position], now) for row in report.rows])

    def _answer(self, asked: WorkerQuestion) -> CoordinatorAnswer:
        """Answer a worker: that what is committed is on the disk, more of the sweep's budget, or a stored reply."""
        work = self._work
        if asked.kind == "secure":
            if not work.recorder.catch_up(SECURE_SECONDS):
                raise HarnessError("The store did not take what was to be written. Look at the disk.")
        elif asked.kind == "take":  # the budget stays here
            shared_budget = work.shared_budget
            if shared_budget is None:
                raise MessageError("A worker asked for money of a run that shares none.")
            taken = shared_budget.take_now(asked.wanted, asked.spent)
            work.calls.spending.cap = shared_budget.held
            return CoordinatorAnswer(
                number=asked.number,
                taken=taken,
                held=shared_budget.held,
                budget=shared_budget.budget,
                others=shared_budget.others,
            )
        elif asked.key is not None and (stored := work.calls.find(asked.key)) is not None:
            return CoordinatorAnswer(number=asked.number, reply=SentReply.of(stored))
        return CoordinatorAnswer(number=asked.number)

    @property
    def _shared_endpoint(self) -> bool:
        """Return whether all workers ask the same endpoint: one on ``localhost`` is each worker's own."""
        endpoint = self._work.method.endpoint
        return endpoint is not None and not is_loopback(endpoint)

    def _wish(self) -> RunState:
        """Return what the worker is to do: a pause that others were asked for holds for it too."""
        wish, limiter = self._work.control.state, self._work.calls.limiter
        if wish is RunState.RUNNING and self._shared_endpoint and limiter.pause_seconds() > 0:
            return RunState.PAUSED
        return wish

    def _word(self) -> CoordinatorMessage:
        self._state, answers, self._answers = self._wish(), self._answers, []
        go, self._go = self._go, None
        return CoordinatorMessage(
            attempt=self._attempt,
            heard=self._heard,
            state=self._state,
            most=self._work.control.most_concurrency,
            go=go,
            answers=tuple(answers),
        )


def _next(up: Queue) -> WorkerReport | None:
    """Return the next report, None where none comes for a moment."""
    try:
        with _reaching():
            report: Any = up.get(timeout=LOOK_SECONDS)
    except TimeoutError:
        return None
    return unpacked(WorkerReport, report)
