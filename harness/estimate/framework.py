"""The cost framework of benchmark-specification §10: a run, a sweep, a language, a programme, from one editable file.

The shipped file has the document's numbers. What a row comes to is worked out of its factors; what a document
states of it is next to, and where the two differ that is said and nothing is mended.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from math import isclose, prod
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt

from corpora.files.toml_text import parse_toml
from harness.core.storage import read_text, usage_errors

MOST_BYTES = 2**20
MOST = 1e12
"""Largest number that a file may have; none of these costs is near it, and products stay finite."""


class CostRange(NamedTuple):
    """The lowest and the highest that an amount may be."""

    low: float
    high: float

    def times(self, other: CostRange) -> CostRange:
        """Return the range of the product; neither is below 0."""
        return CostRange(self.low * other.low, self.high * other.high)

    def by(self, count: int) -> CostRange:
        """Return the range times a factor."""
        return CostRange(count * self.low, count * self.high)

    def is_near(self, other: CostRange) -> bool:
        """Return whether both ends are the same but for what arithmetic rounds."""
        return all(isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for a, b in zip(self, other, strict=True))


def _range(value: object) -> CostRange:
    ends = value if isinstance(value, list | tuple) else (value, value)
    if len(ends) != 2 or not all(type(end) in {int, float} for end in ends):
        raise ValueError("a number is wanted, or two in square brackets, the lowest and the highest")
    low, high = map(float, ends)
    if not 0 <= low <= high <= MOST:
        raise ValueError(f"numbers of 0 to {MOST:g} are wanted, the lowest first")
    return CostRange(low, high)


Amount = Annotated[CostRange, BeforeValidator(_range)]
Count = Annotated[StrictInt, Field(ge=1, le=1_000_000_000)]
Words = Annotated[str, Field(max_length=200)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunRow(_Part):
    """What one run of a method costs (§10.1)."""

    method: Words
    model: Words = ""
    entries: Count
    calls_per_entry: Amount
    """Calls that an entry takes on average, from the fewest to the most."""
    usd_per_call: Amount
    stated_usd: Amount | None = None


class SweepRow(_Part):
    """What all combinations of a sweep cost (§10.2)."""

    name: Words
    models: Count = 1
    temperatures: Count = 1
    prompts: Count = 1
    coaching: Count = 1
    tools: Count = 1
    replicates: Count = 1
    usd_per_run: Amount
    """On average over its runs."""
    stated_usd: Amount | None = None

    @property
    def runs(self) -> int:
        """Return how many combinations there are."""
        return prod((self.models, self.temperatures, self.prompts, self.coaching, self.tools, self.replicates))


class ComponentRow(_Part):
    """A part of what establishing a language costs (§10.3)."""

    component: Words
    usd: Amount
    each_year: bool = False
    """True for what comes back every year; the total counts one year of it."""
    notes: Words = ""


class Establishment(_Part):
    """What a language costs until it is established (§10.3)."""

    rows: tuple[ComponentRow, ...] = ()
    stated_usd: Amount | None = None


class ScaleRow(_Part):
    """A year of a programme of several languages (§10.4)."""

    scale: Words
    established: Annotated[StrictInt, Field(ge=0, le=10_000)]
    """Languages that are established in this year."""
    maintained: Annotated[StrictInt, Field(ge=0, le=10_000)]
    stated_usd: Amount | None = None
    notes: Words = ""


class Program(_Part):
    """What programmes of several languages cost in a year (§10.4)."""

    maintenance_usd: Amount
    """Of one language in a year."""
    rows: tuple[ScaleRow, ...] = ()


class Framework(_Part):
    """A file of costs; any of its parts may be left out."""

    version: Literal[1]
    source: Words = ""
    """Whose numbers these are."""
    run: tuple[RunRow, ...] = ()
    sweep: tuple[SweepRow, ...] = ()
    establishment: Establishment = Establishment()
    program: Program | None = None


class Worked(BaseModel, frozen=True):
    """One line of the framework, worked out."""

    name: str
    factors: str
    """What it was worked out of, in words; empty for its own stated amount."""
    usd: CostRange
    stated_usd: CostRange | None
    """What a document says it comes to; null where none says so."""
    notes: str = ""

    @property
    def differs(self) -> bool:
        """Return whether the stated amount is another than what the numbers come to."""
        return self.stated_usd is not None and not self.usd.is_near(self.stated_usd)


class WorkedFramework(BaseModel, frozen=True):
    """What a file of costs comes to, in US dollars."""

    source: str
    runs: tuple[Worked, ...]
    sweeps: tuple[Worked, ...]
    establishment: tuple[Worked, ...]
    establishment_total: Worked | None
    """Null where the file has no rows of it."""
    programs: tuple[Worked, ...]

    @property
    def differing(self) -> tuple[Worked, ...]:
        """The lines whose stated amount is another than what their numbers come to."""
        total = () if self.establishment_total is None else (self.establishment_total,)
        every = (*self.runs, *self.sweeps, *self.establishment, *total, *self.programs)
        return tuple(row for row in every if row.differs)


def shipped_text() -> str:
    """Return the shipped file: the numbers of benchmark-specification §10."""
    return files("harness.estimate").joinpath("framework.toml").read_text("utf-8")


def read_framework(path: Path | None) -> Framework:
    """Read a file of costs, the shipped one where None is given; UsageError names file, line, field and fix."""
    if path is None:
        return Framework.model_validate(parse_toml(shipped_text()))
    text, _ = read_text(path, "a file of costs", MOST_BYTES)
    with usage_errors(str(path), text):
        return Framework.model_validate(parse_toml(text))


def work_out(framework: Framework) -> WorkedFramework:
    """Return what each line of a framework comes to."""
    rows = framework.establishment.rows
    total = added(row.usd for row in rows)
    return WorkedFramework(
        source=framework.source,
        runs=tuple(map(_run, framework.run)),
        sweeps=tuple(
            Worked(
                name=row.name,
                factors=f"{row.runs:,} runs × ${_plain(row.usd_per_run)}",
                usd=row.usd_per_run.by(row.runs),
                stated_usd=row.stated_usd,
            )
            for row in framework.sweep
        ),
        establishment=tuple(
            Worked(
                name=row.component,
                factors="each year; one is counted" if row.each_year else "",
                usd=row.usd,
                stated_usd=None,
                notes=row.notes,
            )
            for row in rows
        ),
        establishment_total=Worked(
            name="Total establishment",
            factors=f"the sum of {len(rows)} rows",
            usd=total,
            stated_usd=framework.establishment.stated_usd,
        )
        if rows
        else None,
        programs=_programs(framework.program, total),
    )


def added(amounts: Iterable[CostRange]) -> CostRange:
    """Return the sum of amounts: lowest with lowest, highest with highest."""
    lows, highs = zip(CostRange(0, 0), *amounts, strict=True)
    return CostRange(sum(lows), sum(highs))


def _run(row: RunRow) -> Worked:
    usd = row.calls_per_entry.by(row.entries).times(row.usd_per_call)
    calls = _plain(row.calls_per_entry)
    noun = "call" if calls == "1" else "calls"
    factors = f"{row.entries:,} entries × {calls} {noun} × ${_plain(row.usd_per_call)}"
    name = f"{row.method}, {row.model}" if row.model else row.method
    return Worked(name=name, factors=factors, usd=usd, stated_usd=row.stated_usd)


def _programs(program: Program | None, establishment: CostRange) -> tuple[Worked, ...]:
    if program is None:
        return ()
    return tuple(
        Worked(
            name=row.scale,
            factors=f"{row.established} × establishment + {row.maintained} × maintenance",
            usd=added((establishment.by(row.established), program.maintenance_usd.by(row.maintained))),
            stated_usd=row.stated_usd,
            notes=row.notes,
        )
        for row in program.rows
    )


def _plain(amount: CostRange) -> str:
    low, high = f"{amount.low:g}", f"{amount.high:g}"
    return low if low == high else f"{low}–{high}"
