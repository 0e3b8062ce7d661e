"""What a sweep will take before it is begun: each of its runs, and all together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from harness import api
from harness.estimate.earlier import NOTHING, Range
from harness.estimate.estimate import RunEstimate
from harness.store.file.database import opened
from harness.sweep.expansion import SweepCell, scored_apart
from harness.sweep.plan import SweepPlan
from harness.sweep.stored import find_same


class CellEstimate(BaseModel):
    """What one run of a sweep will take."""

    model_config = ConfigDict(frozen=True)

    name: str
    in_store: bool
    """Whether the store has the run, so that it is not made again."""
    estimate: RunEstimate | None
    """None where it is not made again."""


class SweepEstimate(BaseModel):
    """What a sweep will take; a sum is None where one of its parts is unknown."""

    model_config = ConfigDict(frozen=True)

    runs: tuple[CellEstimate, ...]
    to_make: int
    """Runs that the store has not."""
    calls: Range
    tokens: Range | None
    cost_usd: Range | None
    """US dollars, judges included; None: a price is unknown."""
    seconds: Range | None
    budget_usd: float | None
    budget: str
    """What is to be said of the budget; empty where it holds all, or there is none."""
    scoring: str
    """What keeps the composites of its runs from comparing, with the fix; empty where nothing does."""


def estimate_sweep(store: Path, plan: SweepPlan, cells: tuple[SweepCell, ...]) -> SweepEstimate:
    """Estimate every run of a sweep that the store has not; nothing is sent or stored, and no key is asked for."""
    with opened(store) as connection:
        runs = tuple(_cell(connection, cell) for cell in cells)
    made = [run.estimate for run in runs if run.estimate is not None]
    cost = _sum(_cost(run_estimate) for run_estimate in made)
    return SweepEstimate(
        runs=runs,
        to_make=len(made),
        calls=sum((run_estimate.calls for run_estimate in made), NOTHING),
        tokens=_sum(_tokens(run_estimate) for run_estimate in made),
        cost_usd=cost,
        seconds=_sum(run_estimate.seconds for run_estimate in made),
        budget_usd=plan.budget_usd,
        budget=_budget(plan.budget_usd, cost),
        scoring=scored_apart(cells),
    )


def _cell(connection: sqlite3.Connection, cell: SweepCell) -> CellEstimate:
    if find_same(connection, cell) is not None:
        return CellEstimate(name=cell.name, in_store=True, estimate=None)
    run_estimate = replace(api.estimate_with(connection, cell.request), from_what=())
    return CellEstimate(name=cell.name, in_store=False, estimate=run_estimate)


def _cost(found: RunEstimate) -> Range | None:
    if found.judges is None or found.cost_usd is None:
        return found.cost_usd
    judges = found.judges.cost_usd
    return None if judges is None else found.cost_usd + judges


def _tokens(found: RunEstimate) -> Range | None:
    if found.prompt_tokens is None or found.completion_tokens is None:
        return None
    return found.prompt_tokens + found.completion_tokens


def _sum(parts: Iterator[Range | None]) -> Range | None:
    total = NOTHING
    for part in parts:
        if part is None:
            return None
        total = total + part
    return total


def _budget(budget: float | None, cost: Range | None) -> str:
    if budget is None or cost is None or cost.high <= budget:
        return ""
    sure = "will" if cost.low > budget else "may"
    return f"the budget of ${budget:g} {sure} be reached before all runs are made"
