"""The limiter in virtual time, what processes tell each other of a 429, and waits before a retry."""

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.failures import ErrorClass, RateLimited, Refused, Transient
from harness.endpoint.limiter import CUT, LONGEST, Limiter, PauseNotice, RetryPolicy, Slot, retry_after
from tests.harness.virtual_time import in_virtual_time
from tests.review.thorough import examples


@dataclass
class Endpoint:
    """Answers after a while; refuses what is above its hidden limit, and sooner."""

    hidden: int
    seconds: float = 1.0
    under_way: int = 0
    served: int = 0
    refused: int = 0
    busy: float = 0.0
    """Seconds of work served, summed over calls."""

    async def ask(self) -> bool:
        if self.under_way >= self.hidden:
            self.refused += 1
            await asyncio.sleep(self.seconds / 20)
            return False
        self.under_way += 1
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.under_way -= 1
        self.served += 1
        self.busy += self.seconds
        return True


async def call(limiter: Limiter, endpoint: Endpoint, slot: Slot | None = None, back_off: float = 1.0) -> None:
    """Ask until it is answered, as a run does: the slot is given back while waiting."""
    while True:
        slot = slot or await limiter.acquire()
        limiter.begins(slot)
        try:
            assert limiter.in_use <= limiter.most
            if await endpoint.ask():
                limiter.succeeded(slot)
                return
            limiter.rate_limited(slot)
        finally:
            limiter.release(slot)
        slot = None
        await asyncio.sleep(back_off)


async def calls(limiter: Limiter, endpoint: Endpoint, number: int) -> None:
    """Make calls as a run does: one waits for a slot at a time, and gives it to a call."""
    async with asyncio.TaskGroup() as group:
        for _ in range(number):
            group.create_task(call(limiter, endpoint, await limiter.acquire()))


@in_virtual_time
async def test_hidden_limit_is_learnt_with_few_refusals() -> None:
    limiter, endpoint = Limiter(1024, start=4), Endpoint(hidden=40)
    await calls(limiter, endpoint, 2000)
    seconds = asyncio.get_running_loop().time()
    assert endpoint.served == 2000
    assert endpoint.busy / (seconds * endpoint.hidden) >= 0.85
    assert endpoint.refused <= 0.15 * endpoint.served


@in_virtual_time
async def test_slow_start_doubles_each_round_up_to_the_ceiling() -> None:
    """Also where answers come all at once, each but the first finding slots before it free."""
    limiter, endpoint = Limiter(64, start=4), Endpoint(hidden=10_000)
    run = asyncio.create_task(calls(limiter, endpoint, 600))
    limits = []
    for _ in range(8):
        await asyncio.sleep(0.5)
        limits.append(limiter.limit)
        await asyncio.sleep(0.5)
    await run
    assert limits == [4, 8, 16, 32, 64, 64, 64, 64]


@in_virtual_time
async def test_growth_is_one_a_round_and_slots_go_in_order() -> None:
    limiter = Limiter(1000, start=100)
    slots = [await limiter.acquire() for _ in range(100)]
    limiter.rate_limited(slots[0])
    for slot in slots:
        limiter.begins(slot)
    for slot in slots[:80]:
        limiter.succeeded(slot)
    assert limiter.limit == 80 or limiter.limit == 81
    for slot in slots[80:90]:
        limiter.succeeded(slot)
    assert limiter.limit == 81
    limiter = Limiter(1000, start=10)
    slot = await limiter.acquire()
    limiter.begins(slot)
    for _ in range(500):
        limiter.succeeded(slot)
    assert limiter.limit == 10
    limiter.release(slot)
    limiter, order = Limiter(2), list[int]()

    async def one(number: int) -> None:
        slot = await limiter.acquire()
        order.append(number)
        await asyncio.sleep(1)
        limiter.release(slot)

    await asyncio.gather(*(one(number) for number in range(20)))
    assert order == list(range(20))
    limiter = Limiter(100)
    slots = [await limiter.acquire() for _ in range(100)]
    for slot in slots:
        limiter.rate_limited(slot)
    assert limiter.limit == int(100 * CUT)
    for slot in slots:
        limiter.release(slot)
    later = await limiter.acquire()
    limiter.rate_limited(later)
    assert limiter.limit == int(100 * CUT * CUT)
    limiter.rate_limited(slots[0])
    assert limiter.limit == int(100 * CUT * CUT)


@pytest.mark.parametrize("granted", [True, False])
@in_virtual_time
async def test_a_cancelled_waiter_leaks_no_slot(granted: bool) -> None:
    """Also when the slot was given in the same turn of the loop in which the waiter was cancelled."""
    limiter = Limiter(1)
    slot = await limiter.acquire()
    waiter = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)
    if granted:
        limiter.release(slot)
        assert limiter.in_use == 1
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    if not granted:
        limiter.release(slot)
    assert limiter.in_use == 0
    await asyncio.wait_for(limiter.acquire(), 1)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, 0)),
        st.tuples(st.sampled_from(["good", "429", "fail", "cancel"]), st.integers(0, 50)),
        st.tuples(st.just("most"), st.integers(1, 12)),
    ),
    max_size=120,
)


class Crowd:
    """Callers that hold slots or wait for them, moved step by step."""

    def __init__(self, limiter: Limiter) -> None:
        self.limiter = limiter
        self.held: list[Slot] = []
        self.waiting: list[asyncio.Task[None]] = []

    async def take(self) -> None:
        slot = await self.limiter.acquire()
        self.limiter.begins(slot)
        self.held.append(slot)

    def end_call(self, kind: str, number: int) -> None:
        slot = self.held.pop(number % len(self.held))
        if kind == "good":
            self.limiter.succeeded(slot)
        if kind == "429":
            self.limiter.rate_limited(slot)
        self.limiter.release(slot)

    async def step(self, kind: str, number: int) -> None:
        before = self.limiter.in_use
        if kind == "ask":
            self.waiting.append(asyncio.create_task(self.take()))
        elif kind == "most":
            self.limiter.set_most(number)
        elif kind == "cancel" and self.waiting:
            self.waiting.pop(number % len(self.waiting)).cancel()
        elif kind in {"good", "429", "fail"} and self.held:
            self.end_call(kind, number)
        await asyncio.sleep(0)
        assert 1 <= self.limiter.limit <= self.limiter.most
        assert self.limiter.in_use == len(self.held)
        assert self.limiter.in_use <= max(self.limiter.limit, before)

    async def finish(self) -> None:
        """Every waiter must be served when the slots come back, or this waits for ever."""
        while self.held:
            self.limiter.release(self.held.pop())
            await asyncio.sleep(0)
        await asyncio.gather(*self.waiting, return_exceptions=True)


@examples(18, 300)
@given(STEPS, st.integers(1, 12), st.integers(1, 4))
@in_virtual_time
async def test_no_interleaving_freezes(steps: list[tuple[str, int]], most: int, start: int) -> None:
    crowd = Crowd(Limiter(most, start))
    for kind, number in steps:
        await crowd.step(kind, number)
    await crowd.finish()
    assert crowd.limiter.in_use == len(crowd.held) == 0


URL = "https://llm.example.org/v1"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def two(folder: Path) -> tuple[PauseNotice, PauseNotice, Clock]:
    clock = Clock()
    return PauseNotice(folder, URL, clock), PauseNotice(folder, URL, clock), clock


def test_pause_and_news_of_a_429_hold_for_the_others(tmp_path: Path) -> None:
    for name in ("long", "now", "late"):
        (tmp_path / name).mkdir()
    mine, theirs, clock = two(tmp_path / "long")
    mine.tell(5.0)
    theirs.tell(2.0)  # a shorter pause does not end a longer one
    assert (theirs.seconds(), mine.seconds()) == (pytest.approx(5.0), pytest.approx(5.0))
    assert PauseNotice(tmp_path / "long", "https://other.example.org/v1", clock).seconds() == 0.0
    clock.now += 4.0
    assert theirs.seconds() == pytest.approx(1.0)
    clock.now += 1.0
    assert (theirs.seconds(), mine.seconds()) == (0.0, 0.0)
    mine, theirs, _ = two(tmp_path / "now")
    mine.tell(None)
    assert (mine.news(), theirs.news(), theirs.news()) == (False, True, False)
    assert theirs.seconds() == 0.0, "the endpoint asked for no pause"
    mine, theirs, clock = two(tmp_path / "late")
    mine.tell(10 * LONGEST)
    assert theirs.seconds() == pytest.approx(LONGEST)
    (file,) = (tmp_path / "late").iterdir()
    os.utime(file, (clock.now + 2 * LONGEST, clock.now + 2 * LONGEST))
    assert theirs.seconds() == 0.0
    mine, theirs, _ = two(tmp_path / "locks")
    assert (mine.seconds(), theirs.news()) == (0.0, False)
    assert not (tmp_path / "locks").exists()
    (tmp_path / "file").write_text("", "utf-8")
    mine, theirs, _ = two(tmp_path / "file")
    mine.tell(5.0)
    assert (mine.seconds(), theirs.news()) == (0.0, False)


def test_a_limiter_cuts_its_pace_for_the_429_of_another(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        mine, theirs, clock = two(tmp_path)
        here, there = Limiter(10, notice=mine), Limiter(10, notice=theirs)
        slot, other = await here.acquire(), await there.acquire()
        here.begins(slot)
        here.rate_limited(slot)
        there.begins(other)
        clock.now += 1.0
        there.rate_limited(other)  # of a call that began after it heard of the cut: news again
        here.begins(slot)
        return here.limit, there.limit

    assert asyncio.run(scenario()) == (6, 6)


NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A date without a zone means GMT, wherever the program runs."""
    monkeypatch.setenv("TZ", "America/Edmonton")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@examples(15, 300)
@given(st.text())
def test_no_header_makes_it_raise_or_wait_for_ever(header: str) -> None:
    seconds = retry_after(header, lambda: NOW)
    assert seconds is None or 0 <= seconds < float("inf")


@examples(15, 300)
@given(st.integers(946_684_800, 4_102_444_800))
def test_every_http_date_is_read(seconds: int) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    header = format_datetime(moment, usegmt=True)
    assert retry_after(header, lambda: NOW) == max(0.0, moment.timestamp() - NOW)


def test_waits_double_tries_are_kept_and_hints_taken() -> None:
    policy = RetryPolicy(most_attempts=100)
    failure = Transient(ErrorClass.SERVER, "HTTP 500", 500)
    longest = [policy.seconds_before_retry(failure, attempt, lambda: 1.0) for attempt in range(1, 10)]
    shortest = [policy.seconds_before_retry(failure, attempt, lambda: 0.0) for attempt in range(1, 10)]
    assert longest == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert shortest == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert policy.seconds_before_retry(RateLimited("429"), 99, lambda: 1.0) == 60
    for most in (1, 2, 6):
        policy = RetryPolicy(most_attempts=most)
        for each in (RateLimited("429"), Transient(ErrorClass.TIMEOUT, "slow")):
            waits = [policy.seconds_before_retry(each, attempt, lambda: 0.5) for attempt in range(1, most + 3)]
            assert all(wait is not None for wait in waits[: most - 1])
            assert waits[most - 1 :] == [None, None, None]
    assert RetryPolicy().seconds_before_retry(Refused(ErrorClass.AUTH, "no", 401), 1, lambda: 0.5) is None
    policy = RetryPolicy(longest_hint=600)
    for hint in (0.0, 0.3, 599.0, 600.0):
        assert policy.seconds_before_retry(RateLimited("429", hint), 1, lambda: 0.0) == hint
        assert policy.seconds_before_retry(Transient(ErrorClass.SERVER, "", 503, hint), 1, lambda: 0.0) == hint
    assert policy.seconds_before_retry(RateLimited("429", 600.1), 1, lambda: 0.0) is None
    for header, seconds in [
        *[(none, None) for none in (None, "", "-3", "nan", "inf", "-inf", "1e400", "soon", "7 seconds")],
        *[("7", 7.0), (" 7 ", 7.0), ("0", 0.0), ("1.5", 1.5), ("٣", 3.0)],
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90.0), ("Sunday, 01-Mar-26 12:01:30 GMT", 90.0),
        ("Sun Mar  1 12:01:30 2026", 90.0), ("Sun, 01 Mar 2026 12:01:30 -0000", 90.0),
        ("Sun, 01 Mar 2026 13:01:30 +0100", 90.0), ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Sun, 99 Mar 2026 11:00:00 GMT", None), ("Sun, 01 Mar 999999999999 11:00:00 GMT", None),
        ("\x00", None),
    ]:  # fmt: skip
        assert retry_after(header, lambda: NOW) == seconds
