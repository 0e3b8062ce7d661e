"""The budget is hard whatever happens to the calls; prices and usage are dated, exact and never guessed."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.calls import Price, Reply, Request, Usage
from harness.core.failures import BudgetReached, UsageError
from harness.endpoint.budget import Prices, Spending, most_cost
from harness.endpoint.reply import reported_cost, usage
from tests.harness.sealed.refusals import refuses
from tests.harness.virtual_time import in_virtual_time
from tests.review.thorough import examples

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


BILL = st.builds(
    Bill, st.floats(0, 0.5, allow_subnormal=False), st.floats(0, 1, allow_subnormal=False),
    st.sampled_from([0.0, 0.1, 1.0, 5.0]), st.sampled_from(["good", "failed", "unknown", "cancelled"]),
)  # fmt: skip
BILLS = st.lists(BILL, min_size=1, max_size=40)


@examples(24, 300)
@given(BILLS, st.floats(0.01, 3), st.floats(0, 1), st.integers(1, 12))
@in_virtual_time
async def test_cap_holds_anyhow(bills: list[Bill], cap: float, before: float, at_once: int) -> None:
    spending = Spending(cap, spent=before * cap)
    slots = asyncio.Semaphore(at_once)
    charged = [before * cap]

    async def call(bill: Bill) -> None:
        async with slots:
            await spending.reserve(bill.reserved)
            cost = bill.reserved
            try:
                assert spending.spent + spending.reserved <= cap * (1 + ROUNDING)
                await asyncio.sleep(bill.seconds)
                if bill.ends == "cancelled":
                    raise asyncio.CancelledError
                cost *= {"good": bill.share, "failed": 0.0, "unknown": 1.0}[bill.ends]
            finally:
                charged.append(cost)
                spending.settle(bill.reserved, cost)

    ends = await asyncio.gather(*map(call, bills), return_exceptions=True)
    assert sum(charged) <= cap * (1 + ROUNDING)
    assert (spending.spent, spending.reserved) == (pytest.approx(sum(charged)), 0)
    refused = sum(isinstance(end, BudgetReached) for end in ends)
    assert len(charged) - 1 + refused == len(bills)


@in_virtual_time
async def test_calls_go_alone_until_billed_and_reservations_follow() -> None:
    spending, under_way, seen = Spending(100.0), 0, list[int]()

    async def call(number: int) -> None:
        nonlocal under_way
        reserved = await spending.reserve(1.0)
        under_way += 1
        seen.append(under_way)
        await asyncio.sleep(1)
        under_way -= 1
        spending.settle(reserved, 0.0, billed=number >= 3)

    await asyncio.gather(*map(call, range(8)))
    assert seen == [1, 1, 1, 1, 1, 2, 3, 4]
    spending = Spending(100.0)
    found = [await spending.reserve(1.0)]
    for cost, listed in ((0.2, 0.1), (0.3, 0.1), (0.1, 0.1), (0.0, 0.0)):
        spending.settle(found[-1], cost, listed=listed)
        found.append(await spending.reserve(1.0))
    assert found == pytest.approx([1.0, 2.0, 3.0, 3.0, 3.0])
    spending, order = Spending(1.0), list[str]()
    spending.settle(await spending.reserve(0.0), 0.0)

    async def pay(name: str, amount: float, cost: float, seconds: float) -> None:
        await spending.reserve(amount)
        order.append(name)
        await asyncio.sleep(seconds)
        spending.settle(amount, cost)

    calls = (("first", 0.9, 0.1), ("second", 0.8, 0.7), ("third", 0.2, 0.2))
    await asyncio.gather(*(pay(*each, 1) for each in calls))
    assert order == ["first", "second", "third"]


@pytest.mark.parametrize(("share", "alone"), [(1.0, False), (1.2, True), (1.9, True)])
@in_virtual_time
async def test_dearer_call_makes_the_others_go_alone(share: float, alone: bool) -> None:
    spending = Spending(100.0)
    spending.settle(await spending.reserve(1.0), share)
    await spending.reserve(0.5)
    second = asyncio.create_task(spending.reserve(0.5))
    await asyncio.sleep(1)
    waits = not second.done()
    spending.settle(0.5, 0.5)
    await second
    assert waits is alone


@in_virtual_time
async def test_it_is_reached_when_nothing_under_way_can_give_money_back() -> None:
    spending = Spending(1.0, spent=0.5)
    with pytest.raises(BudgetReached) as end:
        await spending.reserve(0.6, 2048)
    words = "up to $0.6000 (2,048 output tokens at most), more than the $0.5000 left of the budget of $1.00"
    assert words in str(end.value)
    await spending.reserve(0.5)
    waiting = asyncio.create_task(spending.reserve(0.1))
    await asyncio.sleep(1)
    assert not waiting.done()
    spending.settle(0.5, 0.5)
    with pytest.raises(BudgetReached):
        await waiting
    spending = Spending(1.0)
    await spending.reserve(1.0)
    waiting = asyncio.create_task(spending.reserve(0.5))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    spending.settle(1.0, 0.0)
    await asyncio.wait_for(spending.reserve(1.0), 1)
    assert (spending.spent, spending.reserved) == (0.0, 1.0)
    spending = Spending(None)
    for _ in range(1000):
        await spending.reserve(0.0)
        spending.settle(0.0, 1.5)
    assert spending.spent == 1500


def request(price: Price | None, text: str = "", most: int | None = 100, **more: Any) -> Request:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return Request(
        "p", "http://localhost/v1", body, lambda _: Reply(""), price=price,
        most_completion_tokens=most, **more,
    )  # fmt: skip


RATES = st.floats(0, 200, allow_subnormal=False)
PRICES = st.builds(Price, RATES, RATES, st.none() | RATES, RATES)


@examples(24, 300)
@given(PRICES, st.text(), st.integers(0, 500), st.data())
def test_most_cost_bounds_any_usage(price: Price, text: str, most: int, data: st.DataObject) -> None:
    """No tokenizer makes more tokens than there are bytes."""
    asked = request(price, text, most, characters=len(text))
    prompt = data.draw(st.integers(0, len(text.encode("utf-8", "surrogatepass"))))
    cached = data.draw(st.integers(0, prompt))
    usage = Usage(prompt, data.draw(st.integers(0, most)), 0, cached)
    assert price.cost(usage, len(text)) <= most_cost(asked) * (1 + ROUNDING)


def test_every_byte_is_reserved_for_and_unknown_prices_refused() -> None:
    for text in ("a" * 5000, "ᓀ" * 5000, "\U0001f9ed" * 5000, "\n" * 5000, ""):
        asked, price = request(Price(10.0, 30.0), text, 200), Price(10.0, 30.0)
        size = len(text.encode())
        assert price.cost(Usage(size, 200)) <= most_cost(asked)
        assert most_cost(asked) <= price.cost(Usage(2 * size + 200, 200))
    refuses(UsageError, r"price of this model is unknown.*prices\.toml", most_cost, request(None))
    refuses(UsageError, r"--max-tokens", most_cost, request(Price(1.0, 1.0), most=None))
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
    spending = Spending(None, 0.0, _GivingBack())
    great = asyncio.create_task(spending.reserve(2.0))
    await asyncio.sleep(0.5)
    small = asyncio.create_task(spending.reserve(0.5))
    await asyncio.sleep(0.1)
    assert not small.done()
    ends = await asyncio.gather(great, small, return_exceptions=True)
    assert [type(end) for end in ends] == [BudgetReached, BudgetReached]
    assert "the budget of the sweep" in str(ends[0])


ROW = '[[price]]\nprovider = "openai"\nmodel = "gpt-4o"\nas_of = 2026-01-31\n'
X = f'source = "x"\n{ROW}'
WHOLE = "input_per_million = 0\noutput_per_million = 0\n"


def test_own_table_goes_first_and_its_mistakes_are_named(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(f'source = "x"\n{ROW}per_million_characters = 4\n', "utf-8")
    with pytest.raises(UsageError, match="Write input_per_million and output_per_million; 0 only"):
        Prices(own).price("openai", "gpt-4o")
    own.write_text(f'source = "x"\n{ROW}{WHOLE}', "utf-8")
    assert Prices(own).price("openai", "gpt-4o") is not None
    with pytest.raises(UsageError, match="Write per_million_characters"):
        Prices(own).price("openai", "gpt-4o", characters=True)
    own.write_text(f'source = "invoice"\n{ROW}{WHOLE.replace("0", "1", 1)}', "utf-8")
    prices = Prices(own)
    found = prices.price("openai", "gpt-4o")
    assert (found.input_per_million, found.source) == (1.0, "mine.toml (invoice), 2026-01-31")
    assert prices.price("openai", "gpt-4o-mini") == Prices().price("openai", "gpt-4o-mini")
    for content, words in [
        ("source = ", "not valid TOML"),
        (ROW, "'source'"),
        (f"{X}input_per_million = -1", "line 6, field .price.0.input_per_million.: A number of at"),
        (f"{X}input_per_million = inf", "input_per_million"),
        (f"{X}input_per_milion = 1", "'price.0.input_per_milion'.*not known"),
        (f"{X}{WHOLE}{ROW}{WHOLE}", "two prices"),
        (X, "openai gpt-4o lacks a number. Write input_per_million and output_per"),
        (f"{X}input_per_million = 1", "Write output_per_million; 0 only where"),
        (f"{X}output_per_million = 1", "Write input_per_million; 0 only where"),
        (f"{X}cached_input_per_million = 1", "lacks a number"),
        (f"{X}input_per_million = true\noutput_per_million = 1", "a number is wanted"),
        (f"{X}per_million_characters = false", "a number is wanted"),
        ('source = "x"\n[[price]]\nprovider = "a"\nmodel = "b"', "as_of"),
    ]:
        own.write_text(content, "utf-8")
        refuses(UsageError, words, Prices, own)
    refuses(UsageError, "cannot be read", Prices, tmp_path / "nowhere.toml")
    prices = Prices()
    found = prices.price("openai", "gpt-4o-mini")
    assert found.cost(Usage(1_000_000, 1_000_000, 0, 0)) == pytest.approx(0.75)
    assert found.cost(Usage(1_000_000, 0, 0, 1_000_000)) == pytest.approx(0.075)
    assert "2025-08-01" in found.source
    for model in ("gpt-4o-mini-2024-07-18", "gpt-4", "GPT-4o-mini", ""):
        assert prices.price("openai", model) is None
    assert prices.price("openrouter", "gpt-4o-mini") is None
    found = prices.price("deepl", "deepl", characters=True)
    assert found.cost(Usage(), 2_000_000) == pytest.approx(50)
    for provider in ("openai", "anthropic", "gemini", "openrouter"):
        assert all(prices.price(provider, model) for model in prices.models(provider))


def chat(prompt: int, completion: int, total: int, /, **more: Any) -> dict[str, Any]:
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}
    details = {name: more.pop(name) for name in ("prompt", "completion") if name in more}
    return {**tokens, **{f"{name}_tokens_details": each for name, each in details.items()}, **more}


OPENAI = chat(
    2006, 300, 2306, prompt={"cached_tokens": 1920},
    completion={"reasoning_tokens": 120, "accepted_prediction_tokens": 0},
)  # fmt: skip
OPENROUTER = chat(
    194, 2, 196, cost=0.00014, cost_details={"upstream_inference_cost": None},
    prompt={"cached_tokens": 0}, completion={"reasoning_tokens": 0},
)  # fmt: skip
GEMINI_COMPATIBLE = chat(10, 5, 515)
GROK = chat(32, 9, 135, completion={"reasoning_tokens": 94})
GEMINI_NATIVE = {
    "promptTokenCount": 100, "cachedContentTokenCount": 60, "toolUsePromptTokenCount": 7,
    "candidatesTokenCount": 20, "thoughtsTokenCount": 500, "totalTokenCount": 627,
}  # fmt: skip
ANTHROPIC = {
    "input_tokens": 50, "cache_read_input_tokens": 100_000,
    "cache_creation_input_tokens": 248, "output_tokens": 503,
}  # fmt: skip
RESPONSES = {
    "input_tokens": 328, "input_tokens_details": {"cached_tokens": 128},
    "output_tokens": 52, "output_tokens_details": {"reasoning_tokens": 32},
}  # fmt: skip
DEEPSEEK = chat(1000, 30, 1030, prompt_cache_hit_tokens=640, prompt_cache_miss_tokens=360)
VLLM = chat(11, 4, 15, prompt=None, completion=None)


def test_usage_and_cost_in_each_provider_s_shape() -> None:
    reply: Any
    for reply, expected in [
        ({"usage": OPENAI}, Usage(2006, 300, 120, 1920)),
        ({"usage": OPENROUTER}, Usage(194, 2, 0, 0)),
        ({"usage": GEMINI_COMPATIBLE}, Usage(10, 505, 500, 0)),
        ({"usage": GROK}, Usage(32, 103, 94, 0)),
        ({"usageMetadata": GEMINI_NATIVE}, Usage(107, 520, 500, 60)),
        ({"usage": ANTHROPIC}, Usage(100_298, 503, 0, 100_000)),
        ({"usage": RESPONSES}, Usage(328, 52, 32, 128)),
        ({"usage": DEEPSEEK}, Usage(1000, 30, 0, 640)), ({"usage": VLLM}, Usage(11, 4, 0, 0)),
        ({"prompt_eval_count": 26, "eval_count": 298, "done": True}, Usage(26, 298, 0, 0)),
        ({"eval_count": 298, "done": True}, Usage(0, 298, 0, 0)),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 3}}, Usage(9, 3, 0, 0)),
        ({"usage": None}, None), ({"usage": {}}, None), ({}, None), ([], None),
        ({"usage": {"prompt_tokens": -4, "completion_tokens": 3}}, None),
        ({"usage": {"prompt_tokens": True, "completion_tokens": 3}}, None),
    ]:  # fmt: skip
        assert usage(reply) == expected
    assert reported_cost({"usage": OPENROUTER}) == 0.00014
    upstream = {"upstream_inference_cost": 0.02}
    own_key = OPENROUTER | {"is_byok": True, "cost": 0.001, "cost_details": upstream}
    assert reported_cost({"usage": own_key}) == pytest.approx(0.021)
    assert reported_cost({"usage": OPENAI}) is None
    for wrong in (-1, "0.1", float("nan"), float("inf"), True, None):
        assert reported_cost({"usage": {"cost": wrong}}) is None
    assert reported_cost({"usage": {"cost": 0}}) == 0


PLAIN = st.none() | st.booleans() | st.integers() | st.floats()
numbers: st.SearchStrategy[Any] = PLAIN | st.text(max_size=3) | st.just({})
NAMES = {*OPENAI, *GEMINI_NATIVE, *ANTHROPIC, *RESPONSES, *DEEPSEEK, "cost", "eval_count"}
names = st.sampled_from(sorted(NAMES))
details = st.dictionaries(st.sampled_from(["cached_tokens", "reasoning_tokens"]), numbers)
blocks = st.dictionaries(names, st.one_of(numbers, details))


@examples(24, 500)
@given(st.one_of(blocks, st.fixed_dictionaries({"usage": blocks})))
def test_whatever_is_reported_counts_are_sane(reply: dict[str, Any]) -> None:
    for shape in (reply, {"usageMetadata": reply}):
        found = usage(shape)
        if found is not None:
            assert 0 <= found.cached_tokens <= found.prompt_tokens
            assert 0 <= found.reasoning_tokens <= found.completion_tokens
        cost = reported_cost(shape)
        assert cost is None or cost >= 0
