"""The options of a run, stored with it so that ``rosetta resume`` needs nothing but its id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from corpora.files.json_types import Json, JsonObject
from harness.method.options import MethodOptions
from harness.setup.scoring_options import STORED, ScoringOptions
from harness.store.runs import Run
from harness.store.sqlite.trouble import unpacks


class RunOptions(BaseModel):
    """How a run goes about its calls; nothing of it changes what the answers are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concurrency: Annotated[int, Field(ge=1, le=1024)] = 8
    """Most calls under way at once."""
    budget_usd: Annotated[float, Field(gt=0)] | None = None
    workers: Annotated[int, Field(ge=1, le=64)] | None = None
    """Processes that score, this one among them; None: as many as pay."""
    timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    """For one call, from its start to the end of the reply."""
    most_attempts: Annotated[int, Field(ge=1, le=100)] = 6
    use_cache: bool = True
    offline: bool = False
    trust_local_server: bool = False
    """A person answered for it that the server on this machine does not forward secret texts."""
    may_send: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Why a person says that open texts may be sent to the endpoints of the run, where no term settles it."""
    keep_failed: bool = False
    """Whether the run is sealed although entries failed because there is no connection, which count as 0 then."""
    against: str | None = None
    """Id of an earlier run with which this one is compared during the run."""
    stop_when: Literal["worse", "decided"] | None = None
    """When the difference to that run lets this one stop before its last entry."""


OF_A_RETRY: Final = {"keep_failed": False, "stop_when": None}
"""Fields of RunOptions that a run does not take from the one whose failed entries it asks for again."""


class ToldOptions(BaseModel):
    """The paths among a run's options, read from a run of any version: what is not known here is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    outputs: Path | None = None
    endpoint: str | None = None
    coaching: Path | None = None
    prices: Path | None = None
    method_name: str | None = None


class Plan(BaseModel):
    """A run's method and options, and what it is scored with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    options: MethodOptions
    run: RunOptions = RunOptions()
    scoring: ScoringOptions = ScoringOptions()
    corpus_files: tuple[Path, ...] = ()
    """Where the corpus was read from, absolute; two for the parallel form, none where it is not known."""


@unpacks
def plan_of(run: Run) -> Plan:
    """Return the options of a stored run; StoredValueError where they are damaged."""
    return Plan.model_validate(run.plan, context=STORED)


@unpacks
def run_options_of(run: Run) -> RunOptions:
    """Return the call options of a stored run; an imported one has none."""
    return RunOptions.model_validate(run.plan.get("run", {}))


@unpacks
def told_of(run: Run) -> ToldOptions:
    """Return the paths among the options of a stored run; an imported one has none."""
    return ToldOptions.model_validate(run.plan.get("options", {}))


@unpacks
def corpus_folder_of(run: Run) -> Path | None:
    """Return the folder that a stored run's corpus was read from; None where it never was a file."""
    files = TypeAdapter(tuple[Path, ...]).validate_python(run.plan.get("corpus_files", ()))
    return files[0].parent if files else None


@unpacks
def scoring_of(run: Run) -> ScoringOptions:
    """Return the scoring options of a stored run; an imported one has none."""
    return ScoringOptions.model_validate(run.plan.get("scoring", {}), context=STORED)


def was_scored_here(run: Run) -> bool:
    """Return whether a stored run was scored by the program, and not imported with its numbers."""
    return "scoring" in run.plan


def scored_with(run: Run, options: ScoringOptions) -> JsonObject:
    """Return the plan of a stored run as it is kept, with other options of scoring."""
    return {**run.plan, "scoring": options.model_dump(mode="json")}


PlanChanges: TypeAlias = "Mapping[str, Json | Path]"
"""Fields of a run's plan that are to be other than before, by name."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """How a run continues: what a person changes, carried out once no other process can be at the run, and how far."""

    options: PlanChanges = field(default_factory=dict)
    """Fields of RunOptions."""
    retry_failed: bool = False
    """Forget the rows of failed entries, so that they are asked for again."""
    only: tuple[int, ...] | None = None
    """Places in the corpus of the entries that are asked for now, in this order; None: all that are left."""

    def answered(self, *, again: bool) -> Resumption:
        """Return it with a person's answer whether entries that failed for lack of a connection are asked for again."""
        return replace(self, options={**self.options, "keep_failed": not again}, retry_failed=again)


AS_BEFORE = Resumption()  # Nothing is changed
