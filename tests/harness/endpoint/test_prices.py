"""Prices are dated, exact, and never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.calls import Usage
from harness.core.failures import UsageError
from harness.endpoint.prices import Prices


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
