"""Tokens, money and speed, with sums worked out by hand."""

from __future__ import annotations

from math import inf, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.card.cost import EntryCost, Timing, cost, cost_adjusted, speed, tokens

EXAMPLE = [
    EntryCost(cost_usd=0.5, source_characters=40, prompt_tokens=100, completion_tokens=20,
              reasoning_tokens=15, cached_tokens=60),
    EntryCost(cost_usd=0.25, source_characters=10, prompt_tokens=70, completion_tokens=10),
]  # fmt: skip


def test_token_block() -> None:
    block = tokens(EXAMPLE)
    assert (block.prompt_tokens, block.completion_tokens, block.total_tokens) == (170, 30, 200)
    assert (block.reasoning_tokens, block.cached_tokens) == (15, 60)
    assert (block.tokens_per_entry, block.uncounted_entries) == (100.0, 0)


def test_cost_block() -> None:
    block = cost(EXAMPLE)
    assert (block.total_cost_usd, block.cost_per_entry_usd) == (0.75, 0.375)
    assert block.cost_per_1k_tokens == pytest.approx(3.75)
    assert block.cost_per_source_char == pytest.approx(0.015)


def test_the_specifications_own_example_per_1k_tokens() -> None:
    row = EntryCost(1.7114, 1, prompt_tokens=13985, completion_tokens=187822)
    assert cost([row]).cost_per_1k_tokens == pytest.approx(0.00848, abs=5e-6)


def test_one_unknown_price_makes_the_total_unknown_and_keeps_the_known_part() -> None:
    block = cost([*EXAMPLE, EntryCost(cost_usd=None, source_characters=5)])
    assert block.total_cost_usd is None
    assert block.cost_per_entry_usd is None
    assert block.cost_per_1k_tokens is None
    assert (block.known_cost_usd, block.unpriced_entries) == (0.75, 1)


def test_uncounted_tokens_are_not_zero() -> None:
    block = tokens([*EXAMPLE, EntryCost(0.0, 5, prompt_tokens=None, completion_tokens=None)])
    assert (block.total_tokens, block.tokens_per_entry) == (None, None)
    assert (block.known_total_tokens, block.uncounted_entries) == (200, 1)


def test_a_local_model_is_known_to_be_free() -> None:
    block = cost([EntryCost(0.0, 0, 0, 0)])
    assert block.total_cost_usd == 0.0
    assert block.cost_per_1k_tokens is None
    assert block.cost_per_source_char is None


def test_no_entries() -> None:
    assert cost([]).cost_per_entry_usd is None
    assert tokens([]).tokens_per_entry is None


@pytest.mark.parametrize(("composite", "per_entry"), [(0.8, 0.0), (0.8, None), (None, 0.01)])
def test_cost_adjusted_is_null_where_it_means_nothing(
    composite: float | None, per_entry: float | None
) -> None:
    assert cost_adjusted(composite, per_entry) is None


def test_cost_adjusted_formula() -> None:
    assert cost_adjusted(0.8, 0.007) == pytest.approx(0.8 / 3)
    assert cost_adjusted(0.5, 0.027603) == pytest.approx(0.5 / log2(28.603))


@given(st.floats(0, 1), st.floats(5e-324, 1e6))
def test_cost_adjusted_never_raises(composite: float, per_entry: float) -> None:
    value = cost_adjusted(composite, per_entry)
    assert value is None or 0 <= value < inf


def test_percentiles_are_interpolated() -> None:
    timings = [Timing(float(second)) for second in (1, 2, 3, 4)]
    block = speed(timings, elapsed_seconds=8.0, total_tokens=400)
    assert (block.avg_latency_seconds, block.median_latency_seconds) == (2.5, 2.5)
    assert block.p95_latency_seconds == pytest.approx(3.85)
    assert (block.tokens_per_second, block.entries_per_minute) == (50.0, 30.0)


def test_cached_and_unmeasured_entries_stay_out_of_the_latency() -> None:
    timings = [Timing(1.0), Timing(0.0001, cached=True), Timing(None), Timing(3.0)]
    block = speed(timings, elapsed_seconds=4.0, total_tokens=None)
    assert (block.avg_latency_seconds, block.latency_entries, block.cached_entries) == (2.0, 2, 1)
    assert block.tokens_per_second is None
    assert block.entries_per_minute == 60.0


def test_batch_calls_say_so() -> None:
    assert (
        speed([Timing(5.0, batch_size=25)], elapsed_seconds=5, total_tokens=0).latency_of
        == "batch call"
    )
    assert speed([Timing(5.0)], elapsed_seconds=5, total_tokens=0).latency_of == "entry"


def test_nothing_measured() -> None:
    block = speed([Timing(0.1, cached=True)], elapsed_seconds=None, total_tokens=10)
    assert block.median_latency_seconds is None
    assert block.entries_per_minute is None
