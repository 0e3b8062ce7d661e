"""Prices and usage blocks: dated, exact, never guessed, each token counted once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.calls import Usage
from harness.core.failures import UsageError
from harness.endpoint.prices import Prices
from harness.endpoint.usage import reported_cost, usage


def test_only_the_exact_model_has_a_price() -> None:
    prices = Prices()
    found = prices.price("openai", "gpt-4o-mini")
    assert found is not None
    assert found.cost(Usage(1_000_000, 1_000_000, 0, 0)) == pytest.approx(0.75)
    assert found.cost(Usage(1_000_000, 0, 0, 1_000_000)) == pytest.approx(0.075)
    assert "2025-08-01" in found.source
    for provider, model in (
        ("openai", "gpt-4o-mini-2024-07-18"),
        ("openai", "gpt-4"),
        ("openai", "GPT-4o-mini"),
        ("openrouter", "gpt-4o-mini"),
        ("openai", ""),
    ):
        assert prices.price(provider, model) is None


def test_services_are_priced_by_characters() -> None:
    found = Prices().price("deepl", "deepl", characters=True)
    assert found is not None
    assert found.cost(Usage(), 2_000_000) == pytest.approx(50)


ROW = '[[price]]\nprovider = "openai"\nmodel = "gpt-4o"\nas_of = 2026-01-31\n'
WHOLE = "input_per_million = 0\noutput_per_million = 0\n"


def test_a_price_in_the_other_unit_is_no_price(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(f'source = "x"\n{ROW}per_million_characters = 4\n', "utf-8")
    with pytest.raises(UsageError, match="Write input_per_million and output_per_million; 0 only"):
        Prices(own).price("openai", "gpt-4o")
    own.write_text(f'source = "x"\n{ROW}{WHOLE}', "utf-8")
    assert Prices(own).price("openai", "gpt-4o") is not None
    with pytest.raises(UsageError, match="Write per_million_characters"):
        Prices(own).price("openai", "gpt-4o", characters=True)


def test_every_shipped_price_is_whole() -> None:
    prices = Prices()
    for provider in ("openai", "anthropic", "gemini", "openrouter"):
        assert all(prices.price(provider, model) for model in prices.models(provider))


def test_the_user_s_own_table_goes_first(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(
        f'source = "invoice"\n{ROW}input_per_million = 1.0\noutput_per_million = 0\n', "utf-8"
    )
    prices = Prices(own)
    found = prices.price("openai", "gpt-4o")
    assert found is not None
    assert found.input_per_million == 1.0
    assert found.source == "mine.toml (invoice), 2026-01-31"
    assert prices.price("openai", "gpt-4o-mini") == Prices().price("openai", "gpt-4o-mini")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("source = ", "not valid TOML"),
        (ROW, "'source'"),
        (
            'source = "x"\n' + ROW + "input_per_million = -1",
            "line 6, field .price.0.input_per_million.: A number of at least 0 is wanted",
        ),
        ('source = "x"\n' + ROW + "input_per_million = inf", "input_per_million"),
        ('source = "x"\n' + ROW + "input_per_milion = 1", "'price.0.input_per_milion'.*not known"),
        (f'source = "x"\n{ROW}{WHOLE}{ROW}{WHOLE}', "two prices"),
        (
            'source = "x"\n' + ROW,
            "openai gpt-4o lacks a number. Write input_per_million and output_per",
        ),
        (
            'source = "x"\n' + ROW + "input_per_million = 1",
            "Write output_per_million; 0 only where",
        ),
        (
            'source = "x"\n' + ROW + "output_per_million = 1",
            "Write input_per_million; 0 only where",
        ),
        ('source = "x"\n' + ROW + "cached_input_per_million = 1", "lacks a number"),
        (
            'source = "x"\n' + ROW + "input_per_million = true\noutput_per_million = 1",
            "a number is wanted",
        ),
        ('source = "x"\n' + ROW + "per_million_characters = false", "a number is wanted"),
        ('source = "x"\n[[price]]\nprovider = "a"\nmodel = "b"', "as_of"),
    ],
)
def test_mistakes_in_a_table(tmp_path: Path, content: str, words: str) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=words):
        Prices(own)
    with pytest.raises(UsageError, match="cannot be read"):
        Prices(tmp_path / "nowhere.toml")


OPENAI = {
    "prompt_tokens": 2006,
    "completion_tokens": 300,
    "total_tokens": 2306,
    "prompt_tokens_details": {"cached_tokens": 1920},
    "completion_tokens_details": {"reasoning_tokens": 120, "accepted_prediction_tokens": 0},
}
OPENROUTER = {
    "prompt_tokens": 194,
    "completion_tokens": 2,
    "total_tokens": 196,
    "cost": 0.00014,
    "cost_details": {"upstream_inference_cost": None},
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
GEMINI_COMPATIBLE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 515}
GROK = {
    "prompt_tokens": 32,
    "completion_tokens": 9,
    "total_tokens": 135,
    "completion_tokens_details": {"reasoning_tokens": 94},
}
GEMINI_NATIVE = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 60,
    "toolUsePromptTokenCount": 7,
    "candidatesTokenCount": 20,
    "thoughtsTokenCount": 500,
    "totalTokenCount": 627,
}
ANTHROPIC = {
    "input_tokens": 50,
    "cache_read_input_tokens": 100_000,
    "cache_creation_input_tokens": 248,
    "output_tokens": 503,
}
RESPONSES = {
    "input_tokens": 328,
    "input_tokens_details": {"cached_tokens": 128},
    "output_tokens": 52,
    "output_tokens_details": {"reasoning_tokens": 32},
}
DEEPSEEK = {
    "prompt_tokens": 1000,
    "prompt_cache_hit_tokens": 640,
    "prompt_cache_miss_tokens": 360,
    "completion_tokens": 30,
    "total_tokens": 1030,
}
VLLM = {
    "prompt_tokens": 11,
    "completion_tokens": 4,
    "total_tokens": 15,
    "prompt_tokens_details": None,
    "completion_tokens_details": None,
}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"usage": OPENAI}, Usage(2006, 300, 120, 1920)),
        ({"usage": OPENROUTER}, Usage(194, 2, 0, 0)),
        ({"usage": GEMINI_COMPATIBLE}, Usage(10, 505, 500, 0)),
        ({"usage": GROK}, Usage(32, 103, 94, 0)),
        ({"usageMetadata": GEMINI_NATIVE}, Usage(107, 520, 500, 60)),
        ({"usage": ANTHROPIC}, Usage(100_298, 503, 0, 100_000)),
        ({"usage": RESPONSES}, Usage(328, 52, 32, 128)),
        ({"usage": DEEPSEEK}, Usage(1000, 30, 0, 640)),
        ({"usage": VLLM}, Usage(11, 4, 0, 0)),
        ({"prompt_eval_count": 26, "eval_count": 298, "done": True}, Usage(26, 298, 0, 0)),
        ({"eval_count": 298, "done": True}, Usage(0, 298, 0, 0)),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 3}}, Usage(9, 3, 0, 0)),
        ({"usage": None}, None),
        ({"usage": {}}, None),
        ({}, None),
        ([], None),
        ({"usage": {"prompt_tokens": -4, "completion_tokens": 3}}, None),
        ({"usage": {"prompt_tokens": True, "completion_tokens": 3}}, None),
    ],
)
def test_each_provider_s_shape(reply: Any, expected: Usage | None) -> None:
    assert usage(reply) == expected


def test_reported_cost() -> None:
    assert reported_cost({"usage": OPENROUTER}) == 0.00014
    own_key = OPENROUTER | {
        "is_byok": True,
        "cost": 0.001,
        "cost_details": {"upstream_inference_cost": 0.02},
    }
    assert reported_cost({"usage": own_key}) == pytest.approx(0.021)
    assert reported_cost({"usage": OPENAI}) is None
    for wrong in (-1, "0.1", float("nan"), float("inf"), True, None):
        assert reported_cost({"usage": {"cost": wrong}}) is None
    assert reported_cost({"usage": {"cost": 0}}) == 0


numbers = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just({})
)
names = st.sampled_from(
    sorted({*OPENAI, *GEMINI_NATIVE, *ANTHROPIC, *RESPONSES, *DEEPSEEK, "cost", "eval_count"})
)
details = st.dictionaries(st.sampled_from(["cached_tokens", "reasoning_tokens"]), numbers)
blocks = st.dictionaries(names, st.one_of(numbers, details))


@given(st.one_of(blocks, st.fixed_dictionaries({"usage": blocks})))
def test_whatever_is_reported_counts_are_sane(reply: dict[str, Any]) -> None:
    for shape in (reply, {"usageMetadata": reply}):
        found = usage(shape)
        if found is not None:
            assert 0 <= found.cached_tokens <= found.prompt_tokens
            assert 0 <= found.reasoning_tokens <= found.completion_tokens
        cost = reported_cost(shape)
        assert cost is None or cost >= 0
