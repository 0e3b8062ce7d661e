"""The run loop: entries to the method, results to the recorder, requests obeyed between them.

It stops where everything fails the same way, so that a run does not continue for nothing.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from random import SystemRandom
from typing import Any, Protocol

from corpora.files.packed_list import in_blocks
from corpora.model.entry import Entry
from corpora.text.comparison import is_blank
from harness.box.engine import BoxFailure, WhoseFault
from harness.core.failures import CallError, ErrorClass, HarnessError, RunState
from harness.endpoint.limiter import Slot
from harness.method.method import (
    NO_SOURCE,
    Attempt,
    Boxed,
    Method,
    Output,
    Recorded,
    Result,
    failed,
    raised,
    shares,
    sound,
    wordless,
)
from harness.method.option_table import METHODS
from harness.run.call_runner import CallRunner, RunCalls
from harness.run.events import Control

_CHANGING = re.compile(r"\S*\d\S*")
"""Request numbers, times and amounts, which differ between messages that say the same."""

SAME_FAILURES = 10  # Entries in a row that may fail the same way before the run stops

HOPELESS_FAILURES = 3
"""The same for failures that no later entry can escape: a wrong key, no permission, no such model."""


BEHIND_SECONDS = 0.02  # Time from one look at a recorder that is behind to the next

NOT_FOUND = "HTTP 404"  # How the message of a model or an address that is not there begins

_OF_ONE_ENTRY = frozenset({ErrorClass.MISSING, ErrorClass.NUMBERING, ErrorClass.EMPTY, ErrorClass.NO_SOURCE})
"""Failures that say nothing about the next entry."""


class RepeatedFailures:
    """Counts entries that failed the same way since the last one that did not."""

    def __init__(self) -> None:
        self._failure: tuple[ErrorClass, str] | None = None
        self._count = 0

    def note(self, error_class: ErrorClass | None, message: str | None) -> str | None:
        """Record one entry's outcome; return the reason to stop, if there is one."""
        if error_class in _OF_ONE_ENTRY:
            return None
        if error_class is None:
            self._failure, self._count = None, 0
            return None
        failure = (error_class, _CHANGING.sub("#", message or ""))
        self._count = self._count + 1 if failure == self._failure else 1
        self._failure = failure
        hopeless = error_class in {ErrorClass.AUTH, ErrorClass.OFFLINE} or (
            error_class is ErrorClass.REQUEST and (message or "").startswith(NOT_FOUND)
        )
        if self._count < (HOPELESS_FAILURES if hopeless else SAME_FAILURES):
            return None
        return f"{self._count} entries in a row failed the same way ({error_class}): {message}"


class Dispatcher:
    """Gives pieces of work to slots, as many at once as the limiter lets, and obeys wishes between them.

    Belongs to one event loop, used once.
    """

    def __init__(
        self,
        work: Callable[[Sequence[int], Slot], Coroutine[Any, Any, None]],
        places: Sequence[int],
        shared: RunCalls,
        control: Control,
        *,
        size: int = 1,
        alone: Sequence[int] = (),
    ) -> None:
        """``places`` go in batches of a ``size``, then those that go ``alone``."""
        self._work = work
        self._batches = chain(in_blocks(places, size), in_blocks(alone, 1))
        self._left = -(-len(places) // size) + len(alone)
        """Batches that were not begun yet."""
        self._most = max(1, min(size, len(places)))
        self._shared = shared
        self._control = control
        self._tasks: set[asyncio.Task[None]] = set()
        self._going = asyncio.Event()
        self._dispatcher: asyncio.Task[None] | None = None
        self._fault: BaseException | None = None
        """What broke within the engine while a piece of work was under way."""

    async def run(self) -> None:
        """Continue until every piece of work is done, or until the run is to stop."""
        loop = asyncio.get_running_loop()
        self._control.listen(partial(loop.call_soon_threadsafe, self._heed))
        self._dispatcher = asyncio.create_task(self._dispatch())
        self._heed()
        try:
            with suppress(asyncio.CancelledError):
                await self._dispatcher
            while self._tasks:
                await asyncio.wait(self._tasks)
        except BaseException:
            self._control.stop()  # what is under way must not end as if its method had failed
            raise
        finally:
            self._control.listen(None)
        if self._fault is not None:
            raise self._fault

    def end(self) -> None:
        """Start nothing more; what is under way is finished."""
        if self._dispatcher is not None:
            self._dispatcher.cancel()

    def _heed(self) -> None:
        """Follow what a person, or the run itself, wishes now."""
        if self._control.most_concurrency is not None:
            self._shared.limiter.set_most(self._control.most_concurrency)
        state = self._control.state
        if state is RunState.PAUSED:
            self._going.clear()
        else:
            self._going.set()
        if state in {RunState.DRAINING, RunState.STOPPED}:
            self.end()
        if state is RunState.STOPPED:
            for task in self._tasks:
                task.cancel()

    async def _dispatch(self) -> None:
        while self._left:
            await self._going.wait()
            await self._room()
            slot = await self._shared.limiter.acquire()
            if not self._going.is_set():  # paused while it waited for the slot
                self._shared.limiter.release(slot)
                continue
            task = asyncio.create_task(self._work(next(self._batches), slot))
            self._left -= 1
            self._tasks.add(task)
            task.add_done_callback(self._over)
            if self._left <= self._shared.limiter.most:
                self._control.near_end()

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = self._fault or fault
            self._control.stop()

    async def _room(self) -> None:
        """Wait while more calls wait for their next try than may be under way at once.

        Otherwise one exhausted quota would meet every entry of the run, and all would come back
        together to meet it again.
        """
        while len(self._shared.flight.pending) > self._shared.limiter.most * self._most:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)


class ResultTaker(Protocol):
    """Takes what is finished: a recorder, or anyone who sends it to one."""

    def take(self, results: Sequence[Result]) -> None:
        """Accept finished entries."""
        ...

    @property
    def behind(self) -> bool:
        """Return whether so much is waiting that no further entry should be finished now."""
        ...


class RunLoop:
    """Brings every waiting entry through the method. Belongs to one event loop, used once."""

    def __init__(
        self,
        entries: Mapping[int, Entry],
        waiting: Sequence[int],
        method: Method,
        shared: RunCalls,
        recorder: ResultTaker,
        control: Control,
    ) -> None:
        self._entries = entries
        self._method = method
        self._shared = shared
        self._recorder = recorder
        self._control = control
        self._made_elsewhere = method.setup.outputs_sha256 is not None
        """Its outputs are there whatever the corpus lacks; without a source another method has nothing to ask."""
        self._streak = RepeatedFailures()
        asked, alone = self._in_turn(waiting)
        size = method.setup.batch_size
        self._dispatcher = Dispatcher(self._run_batch, asked, shared, control, size=size, alone=alone)
        self.reason: str | None = None
        """Why the run stopped on its own, None where it did not."""

    async def run(self) -> None:
        """Continue until every entry is through, or until the run is to stop."""
        await self._dispatcher.run()

    def _halt(self, reason: str) -> None:
        """Stop by ourselves: what is under way is finished and stored."""
        self.reason = self.reason or reason
        self._control.drain()

    async def _run_batch(self, batch: Sequence[int], slot: Slot) -> None:
        entries = [self._entries[place] for place in batch]
        calls = CallRunner(self._shared, batch, slot)
        in_flight = self._shared.flight.in_flight
        in_flight.update(batch)
        try:
            while self._recorder.behind:  # a method that asks nobody is faster than what scores
                await asyncio.sleep(BEHIND_SECONDS)
            started = time.perf_counter()
            outputs = await self._checked_outputs(entries, calls)
            seconds = time.perf_counter() - started
            results = _results(self._method, batch, entries, outputs, calls, seconds)
            # entries of one call that failed alike count as one failure
            for failure in dict.fromkeys((result.error_class, result.error) for result in results):
                if reason := self._streak.note(*failure):
                    self._halt(reason)
            self._recorder.take(results)
        except HarnessError as end:  # budget reached, or wrong usage that only a call could show
            self._halt(str(end))
        finally:
            calls.give_slot_back()
            in_flight.difference_update(batch)

    async def _checked_outputs(self, entries: Sequence[Entry], calls: CallRunner) -> Sequence[Output]:
        """Return the entries' outputs; raises only what ends the run, and only where a call or the box said so.

        Nothing else that a method raises can: not its own UsageError, whose words may quote the entry.
        """
        outputs = await self._ask_method(entries, calls)
        if calls.end is not None:
            raise calls.end
        foreign = self._method.setup.method_sha256 is not None
        secret = self._shared.clearance.secret
        return [
            wordless(output) if place in secret and (foreign or output.error_class is ErrorClass.METHOD) else output
            for place, output in zip(calls.positions, outputs, strict=True)
        ]

    async def _ask_method(self, entries: Sequence[Entry], calls: CallRunner) -> Sequence[Output]:
        if not self._made_elsewhere and any(is_blank(entry.source) for entry in entries):
            return [NO_SOURCE] * len(entries)
        questions = [entry.question() for entry in entries]
        try:
            outputs = sound(await self._method.translate(questions, calls), len(entries))
            return [self._stripped(entry, output) for entry, output in zip(questions, outputs, strict=True)]
        except CallError as failure:
            return [failed(failure)] * len(entries)
        except BoxFailure as failure:
            if type(failure) is BoxFailure and failure.fault is WhoseFault.CUSTODIAN:
                raise  # its words are ours; no method was judged
            return [raised(failure)] * len(entries)
        except asyncio.CancelledError as error:
            if self._control.state is RunState.STOPPED:
                raise
            # nobody stopped the run: the method cancelled itself, which is one entry that failed
            return [raised(error)] * len(entries)
        except BaseException as error:  # noqa: BLE001  a plug-in may raise anything
            return [raised(error)] * len(entries)

    def _stripped(self, question: Entry, output: Output) -> Output:
        """Return an output without what the set-up takes off; the answer as it came is kept as the first one."""
        steps = self._method.setup.options.get("strip", ())
        if not steps or output.text is None:
            return output
        from scoring.findings.content import stripped  # its patterns, which most runs do without

        text = stripped(question.source, output.text, steps)
        if text == output.text:
            return output
        notes = (*output.notes, f"stripped: {', '.join(steps)}")
        return replace(output, text=text, raw=output.raw or output.text, notes=notes)

    def _in_turn(self, waiting: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """Return the places to ask about, and those without a source, which go alone, and last."""
        blank: set[int] = set()
        if not self._made_elsewhere:
            blank = {place for place, entry in self._entries.items() if is_blank(entry.source)}
        asked = [place for place in waiting if place not in blank] if blank else waiting
        if isinstance(self._method, Boxed):  # the order of a corpus would tell which entry is which
            asked = SystemRandom().sample(asked, len(asked))
        return asked, [place for place in waiting if place in blank]


def _results(
    method: Method,
    batch: Sequence[int],
    entries: Sequence[Entry],
    outputs: Sequence[Output],
    calls: CallRunner,
    seconds: float,
) -> list[Result]:
    """Assemble outputs and what they took, each entry with its share."""
    called = bool(calls.attempts)
    cost = calls.cost_usd if called else _uncalled_cost(method)
    share = len(batch) if called else 1
    results = []
    usages = shares(calls.usage, len(batch))
    for position, entry, output, usage in zip(batch, entries, outputs, usages, strict=True):
        measured = output.recorded or Recorded(calls.latency_seconds if called else seconds, usage, cost)
        results.append(
            Result(
                position,
                entry.id,
                output.text,
                error_class=output.error_class,
                error=output.error,
                latency_seconds=measured.latency_seconds,
                cached=called and not calls.asked and bool(calls.reused),
                batch_size=len(batch),
                usage=measured.usage,
                cost_usd=None if measured.cost_usd is None else measured.cost_usd / share,
                spent_usd=calls.spent_usd / len(batch),
                finished_at=time.time(),
                raw=output.raw,
                trace=(*calls.attempts, *(Attempt(note=note) for note in output.notes)),
            )
        )
    return results


def _uncalled_cost(method: Method) -> float | None:
    """Return the cost of an entry for which nothing was called: free, unless we cannot know.

    Code of others may call what it likes, but for that in a box; data of others, in a method of ours, calls nothing.
    """
    made_elsewhere = method.setup.outputs_sha256 is not None
    ours = method.setup.method in METHODS or isinstance(method, Boxed)
    plugged_in = method.setup.method_sha256 is not None and not ours
    return None if made_elsewhere or plugged_in else 0.0
