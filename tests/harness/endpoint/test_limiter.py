"""The limiter against simulated endpoints, in virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.endpoint.limiter import CUT, Limiter, Slot
from tests.harness.virtual_time import in_virtual_time


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


async def call(
    limiter: Limiter, endpoint: Endpoint, slot: Slot | None = None, back_off: float = 1.0
) -> None:
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
async def test_a_hidden_limit_of_forty_is_used_well_and_learnt_with_few_refusals() -> None:
    limiter, endpoint = Limiter(1024, start=4), Endpoint(hidden=40)
    await calls(limiter, endpoint, 4000)
    seconds = asyncio.get_running_loop().time()
    assert endpoint.served == 4000
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
async def test_a_burst_of_refusals_cuts_once_and_the_next_era_cuts_again() -> None:
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


@in_virtual_time
async def test_after_the_first_refusal_growth_is_one_a_round() -> None:
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


@in_virtual_time
async def test_an_unused_limit_does_not_grow() -> None:
    limiter = Limiter(1000, start=10)
    slot = await limiter.acquire()
    limiter.begins(slot)
    for _ in range(500):
        limiter.succeeded(slot)
    assert limiter.limit == 10
    limiter.release(slot)


@in_virtual_time
async def test_slots_are_given_in_the_order_of_asking() -> None:
    limiter, order = Limiter(2), list[int]()

    async def one(number: int) -> None:
        slot = await limiter.acquire()
        order.append(number)
        await asyncio.sleep(1)
        limiter.release(slot)

    await asyncio.gather(*(one(number) for number in range(20)))
    assert order == list(range(20))


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


@in_virtual_time
async def test_the_ceiling_can_be_moved_both_ways_while_calls_wait() -> None:
    limiter, held = Limiter(2), list[Slot]()

    async def take() -> None:
        held.append(await limiter.acquire())

    tasks = [asyncio.create_task(take()) for _ in range(10)]
    await asyncio.sleep(0)
    assert len(held) == 2
    limiter.set_most(6)
    await asyncio.sleep(0)
    assert len(held) == 6
    limiter.set_most(1)
    assert limiter.limit == 1
    for _ in range(5):
        limiter.release(held.pop())
        await asyncio.sleep(0)
        assert len(held) == limiter.in_use
    assert limiter.in_use == 1
    limiter.set_most(0)
    assert limiter.most == 1
    limiter.set_most(50)
    await asyncio.gather(*tasks)
    assert limiter.in_use == len(held) == 5


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


@settings(max_examples=300, deadline=None)
@given(STEPS, st.integers(1, 12), st.integers(1, 4))
@in_virtual_time
async def test_no_interleaving_freezes_it_or_gives_too_many(
    steps: list[tuple[str, int]], most: int, start: int
) -> None:
    crowd = Crowd(Limiter(most, start))
    for kind, number in steps:
        await crowd.step(kind, number)
    await crowd.finish()
    assert crowd.limiter.in_use == len(crowd.held) == 0
