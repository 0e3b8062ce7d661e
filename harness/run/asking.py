"""Asking endpoints about the outputs of a run: judges and embeddings, whose calls cost what a method's cost.

They are carried as a method's are: from the cache where they may, within the run's budget, as many at once as the
endpoint bears, again where they failed. Each answer is stored as it comes, so that a run that is stopped, or reaches
its budget, asks only for the rest when it continues. It is done when all outputs are in, so that no method waits for
a judge.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from corpora.model.entry import Entry, EntryId
from corpora.model.terms import Clearance
from harness.annotators.annotator import AskingAnnotator
from harness.core.calls import Reply, Request
from harness.core.failures import AskingStopped, CallError, HarnessError, RunState
from harness.endpoint.budget import Spending
from harness.endpoint.client import EndpointClient
from harness.endpoint.limiter import Limiter, RetryPolicy, Slot
from harness.run.call_runner import CallRunner, RunCalls
from harness.run.events import Control, InFlight
from harness.run.loop import Dispatcher, RepeatedFailures
from harness.run.recorder import GATHER_SECONDS
from harness.setup.plan import RunOptions
from harness.setup.scoring_tools import ScoringTools
from harness.store.annotations import AnnotationRow, answered, note_asked, read_annotations
from harness.store.replies import StoredReply, add_replies, find_reply, known_keys
from harness.store.runs import Run
from harness.store.sqlite.database import open_store, store_path
from harness.store.sqlite.trouble import transaction
from scoring.core.setup import Translation

TELL_SECONDS = 0.25  # Least time from one word on how far it is to the next

MOST_MALFORMED = 2
"""Tries at a call whose replies are not of the expected shape: no server becomes another by waiting."""

STOPPED = "The scoring was stopped while it asked an endpoint; what was answered is kept."

Keep = Callable[[sqlite3.Connection, Sequence[StoredReply], Sequence[AnnotationRow], float], None]
"""Stores replies, rows, and the money committed so far; called within a transaction, in its own thread."""


@dataclass(slots=True)
class Asking:
    """Carries the calls of a run's annotators; see ``Ask``. Blocks while they are under way."""

    options: RunOptions
    spending: Spending
    clearance: Clearance
    """Of the texts that are asked about."""
    control: Control = field(default_factory=Control)
    tell: Callable[[str], None] = lambda _: None
    store: Path | None = None
    """Where answers are looked up and kept; None: nowhere."""
    keep: Keep = lambda *_: None
    places: Mapping[EntryId, int] = field(default_factory=dict)
    """Place of each entry in its corpus."""
    known: Callable[[AskingAnnotator], Mapping[int, AnnotationRow]] = lambda _: {}
    """Returns, by place, what need not be asked again."""
    rows: list[AnnotationRow] = field(default_factory=list)
    """What was asked and found, in the order in which it came."""
    reused: list[AnnotationRow] = field(default_factory=list)
    """What was known and not asked again."""
    hear: Callable[[AnnotationRow], None] = lambda _: None
    """Hears each answer as it comes."""
    answers: dict[str, dict[int, Any]] = field(default_factory=dict)
    """Annotation of each output that has its answer, by annotator and place."""
    limiter: Limiter = field(init=False)
    flight: InFlight = field(default_factory=InFlight)
    policy: RetryPolicy = field(init=False)

    def __post_init__(self) -> None:
        """Start with as many calls at once as a run begins with."""
        most = self.options.concurrency
        self.limiter = Limiter(most, start=max(4, most // 4))
        self.policy = RetryPolicy(most_attempts=self.options.most_attempts, most_malformed=MOST_MALFORMED)

    def __call__(self, annotator: AskingAnnotator, translations: Sequence[Translation]) -> list[Any]:
        """Return the annotation of each translation, None where there is nothing to say.

        Raises BudgetReached, AskingStopped where a person stopped it, and HarnessError where the endpoint cannot
        be asked at all.
        """
        # Run to the end; in its own thread where this one has an event loop already, as in a
        # notebook.
        work = self._asked(annotator, translations)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(asyncio.run, work).result()

    def take(self, row: AnnotationRow, shelf: _Shelf) -> None:
        """Add what was asked and found now, and store it."""
        self.rows.append(row)
        self.hear(row)
        shelf.put(row)

    @property
    def all_rows(self) -> list[AnnotationRow]:
        """Return what outputs were annotated with: reused and paid for before, or asked for now."""
        return [*(replace(row, spent_usd=0.0, calls=0) for row in self.reused), *self.rows]

    async def _asked(self, annotator: AskingAnnotator, translations: Sequence[Translation]) -> list[Any]:
        asked = {self.places.get(translation.entry.id, -1): translation.entry for translation in translations}
        if not self.clearance.covers(asked):
            raise HarnessError(
                "Secret entries were not cleared for this, so nothing of them is sent, nor to another machine."
            )
        client = EndpointClient(self.clearance, timeout_seconds=self.options.timeout_seconds)
        shelf = _Shelf(self.store, self.keep, self.spending, use_cache=self.options.use_cache)
        shared = RunCalls(
            method=annotator.id,
            client=client,
            clearance=self.clearance,
            limiter=self.limiter,
            spending=self.spending,
            policy=self.policy,
            flight=self.flight,
            find=shelf.find,
            keep=shelf.put,
            reuse=self.options.use_cache,
        )
        self.spending.secure = None if self.spending.cap is None else shelf.secure
        try:
            if annotator.apart:
                return await _Apart(self, annotator, translations, shared, shelf).found()
            return await _Together(self, annotator, shared, shelf).found(translations)
        finally:
            await client.close()
            await shelf.close()


def asking_again(
    connection: sqlite3.Connection,
    run: Run,
    tools: ScoringTools,
    entries: Mapping[int, Entry],
    tell: Callable[[str], None],
    options: RunOptions,
    clearance: Clearance,
) -> Asking:
    """Return what carries the calls about a stored run's outputs; replies are kept beside that run."""
    if options.budget_usd is not None:
        tools.check_budget()

    def keep(
        writer: sqlite3.Connection, replies: Sequence[StoredReply], _rows: Sequence[AnnotationRow], _committed: float
    ) -> None:
        add_replies(writer, replies)
        note_asked(writer, run.id, [reply.key for reply in replies])

    def known(annotator: AskingAnnotator) -> dict[int, AnnotationRow]:
        if not options.use_cache:
            return {}
        rows = read_annotations(connection, run.id, annotator=annotator.id, maker=annotator.maker)
        return {row.position: row for row in rows if row.position is not None and answered(row)}

    return Asking(
        options,
        Spending(options.budget_usd),
        clearance,
        tell=tell,
        store=store_path(connection),
        keep=keep,
        places={entry.id: place for place, entry in entries.items()} if tools.slow else {},
        known=known,
    )


class _Apart:
    """Asks about each translation alone, and stores what comes with its entry."""

    def __init__(
        self,
        asking: Asking,
        annotator: AskingAnnotator,
        translations: Sequence[Translation],
        shared: RunCalls,
        shelf: _Shelf,
    ) -> None:
        self._asking = asking
        self._annotator = annotator
        self._translations = translations
        self._shared = shared
        self._shelf = shelf
        self._streak = RepeatedFailures()
        self._found: dict[int, Any] = {}
        """Annotation by place in ``translations``."""
        self._end: HarnessError | None = None
        """Why no further translation is asked about."""
        self._told = 0.0
        if annotator.id not in asking.answers:
            known = asking.known(annotator)
            asking.reused.extend(known.values())
            asking.answers[annotator.id] = {place: row.value for place, row in known.items()}
        self._answers = asking.answers[annotator.id]
        for index, translation in enumerate(translations):
            place = asking.places.get(translation.entry.id)
            if place in self._answers:
                self._found[index] = self._answers[place]
        waiting = [index for index in range(len(translations)) if index not in self._found]
        self._dispatcher = Dispatcher(self._ask, waiting, shared, asking.control)

    async def found(self) -> list[Any]:
        """Return the answers for every translation."""
        await self._dispatcher.run()
        if self._end is not None:
            raise self._end
        if len(self._found) < len(self._translations):
            raise AskingStopped(STOPPED)
        return [self._found[index] for index in range(len(self._translations))]

    async def _ask(self, batch: Sequence[int], slot: Slot) -> None:
        [index] = batch
        translation = self._translations[index]
        place = self._asking.places.get(translation.entry.id)
        places = () if place is None else (place,)
        calls = CallRunner(self._shared, places, slot)
        in_flight = self._shared.flight.in_flight
        in_flight.update(places)
        try:
            value, failure = None, None
            try:
                [value] = await self._annotator.ask([translation], calls)
            except CallError as error:
                if calls.end is not None:
                    raise calls.end from None
                failure = error
            self._take(index, place, calls, value, failure)
        except HarnessError as end:  # budget reached, or wrong usage that only a call could show
            self._stop(end)
        finally:
            calls.give_slot_back()
            in_flight.difference_update(places)

    def _take(self, index: int, place: int | None, calls: CallRunner, value: Any, failure: CallError | None) -> None:
        if calls.attempts and place is not None:
            self._asking.take(_row(place, self._annotator, calls, value), self._shelf)
        kind = None if failure is None else failure.error_class
        if kind is not None:
            value = {"score": None, "reason": f"the call failed ({kind})"}
        if reason := self._streak.note(kind, f"{self._annotator.id} got no answer"):
            self._stop(HarnessError(f"{reason}."))
        self._found[index] = value
        if place is not None:
            self._answers[place] = value
        now = time.monotonic()
        if now - self._told >= TELL_SECONDS or len(self._found) == len(self._translations):
            self._told = now
            done, total = len(self._found), len(self._translations)
            self._asking.tell(f"asking {self._annotator.id}: {done:,} of {total:,}")

    def _stop(self, end: HarnessError) -> None:
        self._end = self._end or end
        self._dispatcher.end()


class _Together:
    """Lets an annotator make calls about several translations, and obeys wishes between them; see ``Calls``."""

    def __init__(self, asking: Asking, annotator: AskingAnnotator, shared: RunCalls, shelf: _Shelf) -> None:
        self._control = asking.control
        self._asking = asking
        self._annotator = annotator
        self._shared = shared
        self._shelf = shelf
        self._going = asyncio.Event()
        self._work: asyncio.Task[list[Any]] | None = None

    async def found(self, translations: Sequence[Translation]) -> list[Any]:
        """Return what the annotator finds."""
        loop = asyncio.get_running_loop()
        self._work = asyncio.create_task(self._annotator.ask(translations, self))
        self._control.listen(partial(loop.call_soon_threadsafe, self._heed))
        self._heed()
        try:
            return await self._work
        except asyncio.CancelledError:
            if self._control.state is RunState.STOPPED:
                raise AskingStopped(STOPPED) from None
            raise
        finally:
            self._control.listen(None)

    async def send(self, request: Request) -> Reply:
        """Send a request; see ``Calls``."""
        await self._going.wait()
        if self._control.state in {RunState.DRAINING, RunState.STOPPED}:
            raise AskingStopped(STOPPED)
        slot = await self._shared.limiter.acquire()
        calls = CallRunner(self._shared, (), slot)
        try:
            return await calls.send(request)
        finally:
            calls.give_slot_back()
            self._asking.take(_row(None, self._annotator, calls, None), self._shelf)

    def _heed(self) -> None:
        if self._control.most_concurrency is not None:
            self._shared.limiter.set_most(self._control.most_concurrency)
        if self._control.state is RunState.PAUSED:
            self._going.clear()
        else:
            self._going.set()
        if self._control.state is RunState.STOPPED and self._work is not None:
            self._work.cancel()


def _row(place: int | None, annotator: AskingAnnotator, calls: CallRunner, value: Any) -> AnnotationRow:
    return AnnotationRow(
        place,
        annotator.id,
        annotator.maker,
        value,
        calls.asked,
        calls.cost_usd,
        calls.spent_usd,
        tuple(calls.attempts) if place is not None else (),
    )


class _Shelf:
    """Stores what comes in groups, each in one durable transaction, while further calls are under way."""

    def __init__(self, path: Path | None, keep: Keep, spending: Spending, *, use_cache: bool) -> None:
        self._keep = keep
        self._spending = spending
        self._writer = None if path is None else open_store(path)
        self._reader = None if path is None else open_store(path)
        self._known = known_keys(self._reader) if self._reader is not None and use_cache else set()
        self._items: list[StoredReply | AnnotationRow] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._writing: asyncio.Task[None] | None = None
        self._failure: Exception | None = None

    def find(self, key: bytes) -> StoredReply | None:
        """Find a reply; most misses are answered from memory."""
        if self._reader is None or key not in self._known:
            return None
        return find_reply(self._reader, key)

    def put(self, item: StoredReply | AnnotationRow) -> None:
        """Queue what is to be stored; raises what prevented the last group from reaching the disk."""
        if self._failure is not None:
            raise self._failure
        self._items.append(item)
        self._begin()

    async def secure(self) -> None:
        """Wait until the money committed by now is on the disk."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(written)
        self._begin()
        await written

    async def close(self) -> None:
        """Store what is left, with the money that went in the end."""
        try:
            if self._failure is None:
                await self.secure()
        finally:
            for connection in (self._writer, self._reader):
                if connection is not None:
                    connection.close()

    def _begin(self) -> None:
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._items or self._waiting:
            if not self._waiting:
                await asyncio.sleep(GATHER_SECONDS)  # so that groups are large where nobody waits
            items, self._items = self._items, []
            waiting, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._store, items, self._spending.committed)
            except Exception as error:  # noqa: BLE001  handed to whoever waits, or stores next
                self._failure = error
            for future in waiting:
                if future.done():
                    continue
                if self._failure is None:
                    future.set_result(None)
                else:
                    future.set_exception(self._failure)

    def _store(self, items: Sequence[StoredReply | AnnotationRow], committed: float) -> None:
        if self._writer is None:
            return
        replies = [item for item in items if isinstance(item, StoredReply)]
        rows = [item for item in items if isinstance(item, AnnotationRow)]
        with transaction(self._writer):
            self._keep(self._writer, replies, rows, committed)
        self._known.update(reply.key for reply in replies)
