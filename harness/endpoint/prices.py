"""What models and services charge: a dated table, and the user's own on top of it.

A model is found by its exact id only: a name that merely resembles another would get a wrong price
without a word, and an unknown price must stay visible as unknown (DESIGN M5).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    ValidationError,
)

from corpora.files.toml_text import parse_toml
from harness.core.calls import Price
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from harness.core.user_file import read_text

LOCAL = Price(source="local endpoint: no charge per call")
"""The known price of an endpoint on this machine."""


def _no_boolean(value: Any) -> Any:
    """Refuse ``true``, which pydantic takes for 1."""
    if isinstance(value, bool):
        raise ValueError("a number is wanted, in US dollars per million")  # noqa: TRY004  for pydantic
    return value


_Rate = Annotated[NonNegativeFloat, BeforeValidator(_no_boolean)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    provider: str
    model: str
    as_of: date
    input_per_million: _Rate | None = None
    output_per_million: _Rate | None = None
    cached_input_per_million: _Rate | None = None
    per_million_characters: _Rate | None = None

    @property
    def by_tokens(self) -> bool:
        """True where it says what tokens cost."""
        return self.input_per_million is not None and self.output_per_million is not None

    @property
    def lacking(self) -> str:
        """Name the numbers it lacks; empty where it is whole: what is not said is never 0."""
        rates = (
            self.input_per_million,
            self.output_per_million,
            self.cached_input_per_million,
        )
        if all(rate is None for rate in rates):
            whole = self.per_million_characters is not None
            return "" if whole else f"{_TOKENS}, or per_million_characters"
        if self.by_tokens:
            return ""
        return "input_per_million" if self.input_per_million is None else "output_per_million"

    def price(self, source: str) -> Price:
        return Price(
            input_per_million=self.input_per_million or 0.0,
            output_per_million=self.output_per_million or 0.0,
            cached_input_per_million=self.cached_input_per_million,
            per_million_characters=self.per_million_characters or 0.0,
            source=f"{source}, {self.as_of.isoformat()}",
        )


_TOKENS = "input_per_million and output_per_million"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: str
    """Where the prices were read."""
    price: list[_Row] = Field(default_factory=list)


class Prices:
    """The prices known to a run, by provider and exact model id."""

    def __init__(self, own: Path | None = None) -> None:
        """Read the shipped table and, over it, the user's own file; UsageError names what is wrong in it."""
        shipped = (
            resources.files("harness.endpoint").joinpath("prices.toml").read_text(encoding="utf-8")
        )
        self._rows = _read(shipped, "prices.toml")
        if own is not None:
            self._rows = {**self._rows, **_read(read_text(own, "the price file")[0], own.name)}

    def price(self, provider: str, model: str, *, characters: bool = False) -> Price | None:
        """Return the price of a model, or of a service by ``characters``; None where it is unknown.

        Raises UsageError where the table says it in the other unit: what was not said is never 0.
        """
        if (price_row := self._rows.get((provider, model))) is None:
            return None
        name, source, row = price_row
        if (row.per_million_characters is None) if characters else not row.by_tokens:
            wanted = "per_million_characters" if characters else _TOKENS
            raise UsageError(
                f"{name}: the price of {provider} {model} is not in the unit that it charges by. "
                f"Write {wanted}; 0 only where it is free."
            )
        return row.price(f"{name} ({source})")

    def models(self, provider: str) -> list[str]:
        """List the models of a provider whose price is known, in the order of the table."""
        return [model for name, model in self._rows if name == provider]


@lru_cache(maxsize=4)
def _read(text: str, name: str) -> Mapping[tuple[str, str], tuple[str, str, _Row]]:
    """Read a table; every run of a sweep asks for the same."""
    try:
        table = _Table.model_validate(parse_toml(text))
    except ValidationError as error:
        raise UsageError(f"{name}: {first_problem(error, text)}") from error
    except ValueError as error:
        raise UsageError(f"{name}: not valid TOML: {error}. Correct it.") from error
    rows: dict[tuple[str, str], tuple[str, str, _Row]] = {}
    for row in table.price:
        if (row.provider, row.model) in rows:
            raise UsageError(
                f"{name}: {row.provider} {row.model} has two prices. Keep the one that holds."
            )
        if row.lacking:
            raise UsageError(
                f"{name}: the price of {row.provider} {row.model} lacks a number. "
                f"Write {row.lacking}; 0 only where it is free."
            )
        rows[row.provider, row.model] = name, table.source, row
    return rows
