"""What a worker of a cluster does as long as home hears of it, and when it does not."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("distributed", reason="the extra [cluster] is not installed")

from corpora.model.entry import Entry
from harness.core.run_state import RunState
from harness.endpoint.budget import BudgetReached
from harness.method.method import Output, Prediction
from harness.method.options import MethodOptions
from harness.setup.plan import RunOptions
from harness.sweep.cluster import remote
from harness.sweep.cluster.messages import (
    HomeAnswer,
    HomeGo,
    HomeWord,
    Parcel,
    WorkerBegin,
    WorkerQuestion,
    WorkerReport,
    unpacked,
)
from harness.sweep.cluster.remote import LEAST_UNHEARD, RemoteDesk
from tests.harness.store.stored_rows import SETUP


class Way:
    """A queue as Dask has them: it raises TimeoutError where nothing comes."""

    def __init__(self) -> None:
        self._queue: queue.Queue[bytes] = queue.Queue()

    def put(self, data: bytes) -> None:
        self._queue.put(data)

    def get(self, timeout: float) -> bytes:
        try:
            return self._queue.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None


class Home:
    """The other end of a desk."""

    def __init__(self, held: float | None) -> None:
        self.up, self.down = Way(), Way()
        options = MethodOptions(source_language="en", target_language="eo")
        wanted = Parcel(
            run_id="r", method="chat", options=options, run=RunOptions(concurrency=2), files=(),
            begun_with=2, spent=0.0, held=held, earlier=False,
        )  # fmt: skip
        self.desk = RemoteDesk(self.up, self.down, wanted)
        self.moved = threading.Semaphore(0)
        self.desk.control.listen(self.moved.release)

    def report(self) -> WorkerReport:
        return unpacked(WorkerReport, self.up.get(600))

    def question(self) -> WorkerQuestion:
        while not (found := self.report()).asks:
            pass
        return found.asks[0]

    def say(self, heard: int = 0, **more: Any) -> None:
        self.down.put(HomeWord(heard=heard, **{"state": RunState.RUNNING, **more}).packed())


@contextmanager
def at_home(held: float | None = None) -> Iterator[Home]:
    home = Home(held)
    with home.desk:
        yield home
        home.say(state=RunState.STOPPED)


def row(place: int) -> Prediction:
    return Prediction(place, Entry(id=place, source="a", reference=""), Output("A"))


def test_nothing_more_is_begun_while_home_has_not_heard_of_several_rows() -> None:
    with at_home() as home:
        home.desk.take([row(place) for place in range(LEAST_UNHEARD - 1)])
        assert home.desk.control.state is RunState.RUNNING
        home.desk.take([row(LEAST_UNHEARD)])
        assert home.desk.control.state is RunState.PAUSED
        serial, rows = 0, 0
        while rows < LEAST_UNHEARD:
            report = home.report()
            serial, rows = report.serial, rows + len(report.rows)
        home.moved.acquire()
        home.say(heard=serial)
        home.moved.acquire()
        assert home.desk.control.state is RunState.RUNNING


def test_a_wish_from_home_is_followed() -> None:
    with at_home() as home:
        for state in (RunState.PAUSED, RunState.RUNNING, RunState.DRAINING):
            home.say(state=state)
            home.moved.acquire()
            assert home.desk.control.state is state


def test_what_is_meant_for_the_worker_before_is_left_unheard() -> None:
    """Home has held that one against the terms; this one it has not seen yet."""
    with at_home() as home, ThreadPoolExecutor() as pool:
        begun = pool.submit(home.desk.begin, WorkerBegin(address="tcp://a", setup=SETUP))
        home.say(attempt="another", go=HomeGo(entries=(), known=()))
        home.say(attempt=home.report().attempt, state=RunState.STOPPED)
        assert begun.result() is None


def test_a_worker_that_hears_nothing_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "LEASH_SECONDS", -1.0)
    with at_home() as home:
        home.moved.acquire()
        assert home.desk.control.state is RunState.STOPPED


def test_no_call_goes_out_before_its_money_is_safe_at_home() -> None:
    async def scenario(home: Home) -> float:
        call = asyncio.create_task(home.desk.ledger.reserve(0.25))
        asked = await asyncio.to_thread(home.question)
        assert (asked.kind, asked.wanted) == ("take", 0.25)
        home.say(told=(HomeAnswer(number=asked.number, taken=True, held=1.0, budget=5.0),))
        asked = await asyncio.to_thread(home.question)
        assert asked.kind == "secure"
        assert not call.done()
        home.say(told=(HomeAnswer(number=asked.number),))
        return await call

    with at_home(held=0.0) as home:
        assert (asyncio.run(scenario(home)), home.desk.ledger.committed) == (0.25, 0.25)


def test_a_budget_that_home_has_not_ends_the_run() -> None:
    async def scenario(home: Home) -> None:
        call = asyncio.create_task(home.desk.ledger.reserve(0.25))
        asked = await asyncio.to_thread(home.question)
        assert asked.spent == 0.0, "nothing is under way, so what is left goes back"
        home.say(told=(HomeAnswer(number=asked.number, taken=False, budget=1.0, others=0.9),))
        with pytest.raises(BudgetReached, match="budget of the sweep"):
            await call

    with at_home(held=0.0) as home:
        asyncio.run(scenario(home))
        assert home.desk.ledger.reached
