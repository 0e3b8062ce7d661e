"""What a run was told to do, kept with it so that ``rosetta resume`` needs nothing but its id."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from harness.methods.options import MethodOptions


class RunOptions(BaseModel):
    """How a run goes about its calls; nothing of it changes what the answers are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concurrency: Annotated[int, Field(ge=1, le=1024)] = 8
    """Most calls under way at once."""
    budget_usd: Annotated[float, Field(gt=0)] | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    """For one call, from its start to the end of the reply."""
    most_attempts: Annotated[int, Field(ge=1, le=100)] = 6
    use_cache: bool = True
    offline: bool = False


class Plan(BaseModel):
    """A run's method and options."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    options: MethodOptions
    run: RunOptions = RunOptions()
