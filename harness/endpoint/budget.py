"""A hard budget: money is reserved before each call, so that the sum can never pass the cap.

The reservation is the most that the call can cost: every byte of the prompt counted as a token and every
output token that was allowed. It is on the disk before the call goes out, so that a kill forgets none,
and is settled with the real cost afterwards, or kept whole where nobody knows whether the endpoint charged
(a time-out).

Runs that share a budget each hold a part of it, and take more from a ``CallBudget`` when theirs is used up
(``harness.store.sweeps``). All other rules are the same for both.

An endpoint may itself report a higher cost than its listed price makes. So calls go one at a time until the
first bill, and what is set aside for each later one is multiplied by the most that any bill was above the
list. From a call on that cost more than was set aside for it, calls go one at a time, and as much as the
dearest cost is set aside for each. An endpoint that always charges by its own price passes the cap by
no more than one call; one that raises it between two bills may pass it by the calls under way: nothing
tells beforehand.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import (  # fmt: skip
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
)

from corpora.files.toml_text import parse_toml
from corpora.text.messages import dollars
from harness.core.calls import Price, Request, Usage
from harness.core.failures import BudgetReached, UsageError
from harness.core.storage import read_text, usage_errors

ROUNDING = 1e-9
"""Share by which a cost may pass its reservation without being higher."""

TOKENS_AROUND = 64
"""Tokens that chat templates may add around the prompt, over all bytes of its JSON."""


def bounded(price: Price | None, most_completion_tokens: int | None) -> Price:
    """Return the price where it bounds what a call can cost; raises UsageError where a budget cannot be kept."""
    if price is None:
        raise UsageError(
            "The price of this model is unknown, so a budget cannot be kept. "
            "Add the model to your prices.toml, or set no budget."
        )
    if price.output_per_million and most_completion_tokens is None:
        raise UsageError("A budget needs an upper bound on the output. Set --max-tokens.")
    return price


def most_cost(request: Request) -> float:
    """Return the most that a call can cost in US dollars; raises UsageError where nothing bounds it."""
    price = bounded(request.price, request.most_completion_tokens)
    dearest_input = max(price.input_per_million, price.cached_input_per_million or 0.0)
    bound = Price(dearest_input, price.output_per_million, None, price.per_million_characters)
    prompt = len(json.dumps(request.body, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    usage = Usage(prompt + TOKENS_AROUND, request.most_completion_tokens or 0)
    return bound.cost(usage, request.characters)


def too_dear(amount: float, most_tokens: int | None, cap: float, spent: float = 0.0, above: float = 1.0) -> str:
    """Return why a call cannot go out under a budget, and what lets it.

    ``above`` is how many times its listed price the endpoint charges.
    """
    allowed = "" if most_tokens is None else f" ({most_tokens:,} output tokens at most)"
    fewer = "" if most_tokens is None else ", or allow fewer output tokens in a new run"
    times = f"{above:,.1f}".removesuffix(".0")
    billed = "" if above <= 1.0 else f" The endpoint bills {times} times its listed price."
    return f"The next call could cost up to {dollars(amount)}{allowed}, {_left(cap, spent)}: raise it{fewer}.{billed}"


def _left(cap: float, spent: float) -> str:
    left = f"{dollars(max(0.0, cap - spent))} left of the" if spent else "whole"
    return f"more than the {left} budget of {dollars(cap)}"


LOOK_SECONDS = 0.2
"""How often a run looks whether another gave back money of a budget that they share."""


class CallBudget(Protocol):
    """Where a run that shares a budget with others takes money from."""

    held: float
    """The most that the run may have spent, all its stretches together."""
    budget: float
    """The whole budget, as it was at the last look."""
    others: float
    """What the other runs hold of it, as it was then."""

    async def take(self, wanted: float, spent: float | None) -> bool | None:
        """Reserve ``wanted`` or more from now on; that is on the disk when this returns.

        ``spent``: what the run has spent where no call of it is under way, so that it gives all else back first;
        None where calls are. True where ``held`` grew, None where others may give some back, False where nobody can.
        """


class Spending:
    """What was spent and what is reserved. Belongs to one event loop at a time.

    ``cap`` in US dollars holds for the run alone; with a ``shared_budget`` what that holds takes its place.
    """

    def __init__(self, cap: float | None, spent: float = 0.0, shared_budget: CallBudget | None = None) -> None:
        self.own_cap = cap
        """The budget of the run alone, None where it has none."""
        self.cap = cap if shared_budget is None else shared_budget.held
        self._shared_budget = shared_budget
        self._asking = False
        self.secure: Callable[[], Awaitable[None]] | None = None
        """Waits until what is committed is on the disk; asked before each call where there is a cap."""
        self.spent = spent
        self.reached = False
        """Whether a call could not go out: the run continues under a higher cap only."""
        self._before = spent
        self.reserved = 0.0
        """Money set aside for calls under way."""
        self._dearest = 0.0
        """The highest cost that passed its reservation, 0 where none did."""
        self._billed = False
        """Whether any call has told what it cost."""
        self._above = 1.0
        """The most that a bill was, as a multiple of what its usage costs by the list; from 1 up."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._under_way = 0

    @property
    def committed(self) -> float:
        """Money that went since this was made, or may go for calls under way.

        Read from another thread it may count money twice for a moment, but never leaves it out.
        """
        return self.reserved + self.spent - self._before

    async def reserve(self, amount: float, most_tokens: int | None = None) -> float:
        """Set money aside for a call that may cost ``amount`` by the list; returns what was set aside.

        Waits where calls under way may give some back. ``most_tokens`` is what the call may write at most, for
        the words that tell why it cannot go out. Raises BudgetReached where it would pass the cap with
        nothing under way.
        """
        if self.cap is not None:
            await self._room(amount, most_tokens)
            amount *= self._above
        self._under_way += 1
        self.reserved += amount
        if self.cap is not None and amount and self.secure is not None:
            try:
                await self.secure()
            except BaseException:
                self.settle(amount, 0.0, billed=False)
                raise
        return amount

    async def _room(self, amount: float, most_tokens: int | None) -> None:
        while True:
            listed = amount * self._above
            cap = float("inf") if self.cap is None else self.cap
            fits = self.spent + self.reserved + max(listed, self._dearest) <= cap
            if fits:
                if not self._under_way or (self._billed and not self._dearest):
                    return
            elif not self._asking:
                alone = not self._under_way
                more = False if self._shared_budget is None else await self._more(listed, self._shared_budget)
                if more is not False:
                    continue
                if alone:
                    raise self._budget_error(listed, most_tokens)
                if not self._under_way:
                    continue
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn

    async def _more(self, amount: float, shared_budget: CallBudget) -> bool | None:
        """Request the money of a call that does not fit, one request at a time; see ``CallBudget.take``."""
        self._asking = True
        spent = None
        if not self._under_way:
            spent = self.cap = self.spent  # what is given back pays for no other call meanwhile
        granted: bool | None = True
        try:
            wanted = self.spent + self.reserved + max(amount, self._dearest)
            granted = await shared_budget.take(wanted, spent)
            self.cap = shared_budget.held
            if granted is None:
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._asking = False
            if granted or not self._under_way:  # else they are woken by what is under way
                self._wake()
        return granted

    def _wake(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)

    def _budget_error(self, amount: float, most_tokens: int | None) -> BudgetReached:
        """Return the words for a call that cannot go out; those of a shared budget where one was asked."""
        self.reached = True
        cap, spent, whose = self.cap or 0.0, self.spent, ""
        if self._shared_budget is not None:
            cap, spent = self._shared_budget.budget, self.spent + self._shared_budget.others
            whose = " It is the budget of the sweep, which all its runs share."
        if self._dearest > amount:
            return BudgetReached(
                f"The next call could cost {dollars(self._dearest)} as one before it did, which is more "
                f"than its price allows and {_left(cap, spent)}: raise it.{whose}"
            )
        return BudgetReached(too_dear(amount, most_tokens, cap, spent, self._above) + whose)

    def settle(self, amount: float, cost: float, *, billed: bool = True, listed: float | None = None) -> None:
        """Replace a reservation by what the call cost.

        ``billed`` is False where no reply told it, and ``listed`` is what its usage costs by the list, None
        where that is unknown.
        """
        self._billed = self._billed or billed
        if billed and listed and cost > listed * (1 + ROUNDING):
            self._above = max(self._above, cost / listed)
        self.spent += cost  # first: see ``committed``
        self._under_way -= 1
        self.reserved = self.reserved - amount if self._under_way else 0.0
        if cost > amount * (1 + ROUNDING):
            self._dearest = max(self._dearest, cost)
        self._wake()


# ---- What models and services charge: a dated table, and the user's own on top of it ----
#
# A model is found by its exact id only: a name that merely resembles another would get a wrong
# price without a word, and an unknown price must stay visible as unknown (DESIGN M5).

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
        rates = self.input_per_million, self.output_per_million, self.cached_input_per_million
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
        shipped = resources.files("harness.endpoint").joinpath("prices.toml")
        self._rows = _read(shipped.read_text(encoding="utf-8"), "prices.toml")
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
    with usage_errors(name, text):
        table = _Table.model_validate(parse_toml(text))
    rows: dict[tuple[str, str], tuple[str, str, _Row]] = {}
    for row in table.price:
        if (row.provider, row.model) in rows:
            raise UsageError(f"{name}: {row.provider} {row.model} has two prices. Keep the one that holds.")
        if row.lacking:
            raise UsageError(
                f"{name}: the price of {row.provider} {row.model} lacks a number. "
                f"Write {row.lacking}; 0 only where it is free."
            )
        rows[row.provider, row.model] = name, table.source, row
    return rows
