"""The budget is hard: whatever happens to the calls, the sum never passes the cap."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.calls import Price, Reply, Request, Usage
from harness.core.failures import UsageError
from harness.endpoint.budget import BudgetReached, Ledger, most_cost
from tests.harness.virtual_time import in_virtual_time

ROUNDING = 1e-12
"""Sums of binary fractions may differ by this share of the cap."""


@dataclass(frozen=True)
class Bill:
    """One call as the simulation has it."""

    reserved: float
    share: float
    """Part of the reservation that the endpoint charges."""
    seconds: float
    ends: str


BILLS = st.lists(
    st.builds(
        Bill,
        st.floats(0, 0.5, allow_subnormal=False),
        st.floats(0, 1, allow_subnormal=False),
        st.sampled_from([0.0, 0.1, 1.0, 5.0]),
        st.sampled_from(["good", "failed", "unknown", "cancelled"]),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(BILLS, st.floats(0.01, 3), st.floats(0, 1), st.integers(1, 12))
@in_virtual_time
async def test_the_cap_holds_and_nobody_waits_for_ever(
    bills: list[Bill], cap: float, before: float, at_once: int
) -> None:
    ledger = Ledger(cap, spent=before * cap)
    slots = asyncio.Semaphore(at_once)
    charged = [before * cap]

    async def call(bill: Bill) -> None:
        async with slots:
            await ledger.reserve(bill.reserved)
            cost = bill.reserved
            try:
                assert ledger.spent + ledger.reserved <= cap * (1 + ROUNDING)
                await asyncio.sleep(bill.seconds)
                if bill.ends == "cancelled":
                    raise asyncio.CancelledError
                cost *= {"good": bill.share, "failed": 0.0, "unknown": 1.0}[bill.ends]
            finally:
                charged.append(cost)
                ledger.settle(bill.reserved, cost)

    ends = await asyncio.gather(*map(call, bills), return_exceptions=True)
    assert sum(charged) <= cap * (1 + ROUNDING)
    assert ledger.spent == pytest.approx(sum(charged))
    assert ledger.reserved == 0
    refused = sum(isinstance(end, BudgetReached) for end in ends)
    assert len(charged) - 1 + refused == len(bills)


@in_virtual_time
async def test_calls_go_one_at_a_time_until_one_was_billed() -> None:
    ledger, under_way, seen = Ledger(100.0), 0, list[int]()

    async def call(number: int) -> None:
        nonlocal under_way
        reserved = await ledger.reserve(1.0)
        under_way += 1
        seen.append(under_way)
        await asyncio.sleep(1)
        under_way -= 1
        ledger.settle(reserved, 0.0, billed=number >= 3)

    await asyncio.gather(*map(call, range(8)))
    assert seen == [1, 1, 1, 1, 1, 2, 3, 4]


@in_virtual_time
async def test_what_is_set_aside_follows_the_dearest_bill() -> None:
    ledger = Ledger(100.0)
    found = [await ledger.reserve(1.0)]
    for cost, listed in ((0.2, 0.1), (0.3, 0.1), (0.1, 0.1), (0.0, 0.0)):
        ledger.settle(found[-1], cost, listed=listed)
        found.append(await ledger.reserve(1.0))
    assert found == pytest.approx([1.0, 2.0, 3.0, 3.0, 3.0])


@pytest.mark.parametrize(("share", "alone"), [(1.0, False), (1.2, True), (1.9, True)])
@in_virtual_time
async def test_a_call_dearer_than_its_reservation_makes_the_others_go_alone(
    share: float, alone: bool
) -> None:
    ledger = Ledger(100.0)
    ledger.settle(await ledger.reserve(1.0), share)
    await ledger.reserve(0.5)
    second = asyncio.create_task(ledger.reserve(0.5))
    await asyncio.sleep(1)
    waits = not second.done()
    ledger.settle(0.5, 0.5)
    await second
    assert waits is alone


@in_virtual_time
async def test_a_waiting_reservation_is_served_when_money_comes_back() -> None:
    ledger, order = Ledger(1.0), list[str]()
    ledger.settle(await ledger.reserve(0.0), 0.0)

    async def call(name: str, amount: float, cost: float, seconds: float) -> None:
        await ledger.reserve(amount)
        order.append(name)
        await asyncio.sleep(seconds)
        ledger.settle(amount, cost)

    await asyncio.gather(
        call("first", 0.9, 0.1, 1), call("second", 0.8, 0.7, 1), call("third", 0.2, 0.2, 1)
    )
    assert order == ["first", "second", "third"]


@in_virtual_time
async def test_it_is_reached_when_nothing_under_way_can_give_money_back() -> None:
    ledger = Ledger(1.0, spent=0.5)
    with pytest.raises(BudgetReached) as end:
        await ledger.reserve(0.6, 2048)
    assert str(end.value) == (
        "The next call could cost up to $0.6 (2,048 output tokens at most), more than the $0.5 left of "
        "the budget of $1: raise it, or allow fewer output tokens in a new run."
    )
    await ledger.reserve(0.5)
    waiting = asyncio.create_task(ledger.reserve(0.1))
    await asyncio.sleep(1)
    assert not waiting.done()
    ledger.settle(0.5, 0.5)
    with pytest.raises(BudgetReached):
        await waiting


@in_virtual_time
async def test_a_cancelled_wait_takes_nothing() -> None:
    ledger = Ledger(1.0)
    await ledger.reserve(1.0)
    waiting = asyncio.create_task(ledger.reserve(0.5))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    ledger.settle(1.0, 0.0)
    await asyncio.wait_for(ledger.reserve(1.0), 1)
    assert (ledger.spent, ledger.reserved) == (0.0, 1.0)


@in_virtual_time
async def test_without_a_cap_nothing_is_refused_but_everything_is_counted() -> None:
    ledger = Ledger(None)
    for _ in range(1000):
        await ledger.reserve(0.0)
        ledger.settle(0.0, 1.5)
    assert ledger.spent == 1500


def request(price: Price | None, text: str = "", most: int | None = 100, **more: Any) -> Request:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return Request(
        "p", "http://localhost/v1", body, lambda _: Reply(""), price=price,
        most_completion_tokens=most, **more,
    )  # fmt: skip


RATES = st.floats(0, 200, allow_subnormal=False)
PRICES = st.builds(Price, RATES, RATES, st.none() | RATES, RATES)


@given(PRICES, st.text(), st.integers(0, 500), st.data())
def test_the_most_that_a_call_can_cost_bounds_every_usage(
    price: Price, text: str, most: int, data: st.DataObject
) -> None:
    """No tokenizer makes more tokens than there are bytes."""
    asked = request(price, text, most, characters=len(text))
    prompt = data.draw(st.integers(0, len(text.encode("utf-8", "surrogatepass"))))
    cached = data.draw(st.integers(0, prompt))
    usage = Usage(prompt, data.draw(st.integers(0, most)), 0, cached)
    assert price.cost(usage, len(text)) <= most_cost(asked) * (1 + ROUNDING)


@pytest.mark.parametrize("text", ["a" * 5000, "ᓀ" * 5000, "\U0001f9ed" * 5000, "\n" * 5000, ""])
def test_even_a_token_for_each_byte_is_reserved_for(text: str) -> None:
    asked = request(Price(10.0, 30.0), text, 200)
    every_byte = Usage(len(text.encode()), 200)
    assert Price(10.0, 30.0).cost(every_byte) <= most_cost(asked)
    assert most_cost(asked) <= Price(10.0, 30.0).cost(Usage(2 * len(text.encode()) + 200, 200))


def test_an_unknown_price_and_an_unbounded_output_are_refused_in_words() -> None:
    with pytest.raises(UsageError, match=r"price of this model is unknown.*prices\.toml"):
        most_cost(request(None))
    with pytest.raises(UsageError, match=r"--max-tokens"):
        most_cost(request(Price(1.0, 1.0), most=None))
    assert most_cost(request(Price(), most=None)) == 0
    by_character = request(Price(per_million_characters=20), most=None, characters=1_000_000)
    assert most_cost(by_character) == 20


class _GivingBack:
    """A shared budget that takes back what is not spent, and has nothing more to give."""

    held, budget, others = 1.0, 1.0, 0.0

    async def take(self, _: float, spent: float | None) -> bool:
        self.held = self.held if spent is None else spent
        await asyncio.sleep(1)
        return False


@in_virtual_time
async def test_what_a_run_gives_back_to_others_pays_for_no_call_of_its_own() -> None:
    ledger = Ledger(None, 0.0, _GivingBack())
    great = asyncio.create_task(ledger.reserve(2.0))
    await asyncio.sleep(0.5)
    small = asyncio.create_task(ledger.reserve(0.5))
    await asyncio.sleep(0.1)
    assert not small.done()
    ends = await asyncio.gather(great, small, return_exceptions=True)
    assert [type(end) for end in ends] == [BudgetReached, BudgetReached]
    assert "the budget of the sweep" in str(ends[0])
