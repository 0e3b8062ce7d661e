"""What models and services charge: a dated table, and the user's own on top of it.

A model is found by its exact id only: a name that merely resembles another would get a wrong price
without a word, and an unknown price must stay visible as unknown (DESIGN M5).
"""

from __future__ import annotations

from datetime import date
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, ValidationError

from corpora.toml_text import parse_toml
from harness.calls import Price
from harness.failures import UsageError
from harness.problems import first_problem
from harness.user_file import read_text

LOCAL = Price(source="local endpoint: no charge per call")
"""The known price of an endpoint on this machine."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    provider: str
    model: str
    as_of: date
    input_per_million: NonNegativeFloat = 0.0
    output_per_million: NonNegativeFloat = 0.0
    cached_input_per_million: NonNegativeFloat | None = None
    per_million_characters: NonNegativeFloat = 0.0

    def price(self, source: str) -> Price:
        return Price(
            input_per_million=self.input_per_million,
            output_per_million=self.output_per_million,
            cached_input_per_million=self.cached_input_per_million,
            per_million_characters=self.per_million_characters,
            source=f"{source}, {self.as_of.isoformat()}",
        )


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: str
    """Where the prices were read."""
    price: list[_Row] = Field(default_factory=list)


class Prices:
    """The prices known to a run, by provider and exact model id."""

    def __init__(self, own: Path | None = None) -> None:
        """Read the shipped table and, over it, the user's own file; UsageError names what is wrong in it."""
        shipped = resources.files("harness").joinpath("prices.toml").read_text(encoding="utf-8")
        self._prices = _read(shipped, "prices.toml")
        if own is not None:
            self._prices |= _read(read_text(own, "the price file")[0], own.name)

    def price(self, provider: str, model: str) -> Price | None:
        """Give the price of a model or service, or None where it is unknown."""
        return self._prices.get((provider, model))

    def models(self, provider: str) -> list[str]:
        """List the models of a provider whose price is known, in the order of the table."""
        return [model for name, model in self._prices if name == provider]


def _read(text: str, name: str) -> dict[tuple[str, str], Price]:
    try:
        table = _Table.model_validate(parse_toml(text))
    except ValidationError as error:
        raise UsageError(f"{name}: {first_problem(error)}") from error
    except ValueError as error:
        raise UsageError(f"{name}: not valid TOML: {error}. Correct it.") from error
    prices: dict[tuple[str, str], Price] = {}
    for row in table.price:
        if (row.provider, row.model) in prices:
            raise UsageError(
                f"{name}: {row.provider} {row.model} has two prices. Keep the one that holds."
            )
        prices[row.provider, row.model] = row.price(f"{name} ({table.source})")
    return prices
