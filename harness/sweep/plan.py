"""A sweep's plan: a TOML file that says over which corpus, with which settings, and for how much money.

Five axes are permuted (benchmark-specification §6.2); every combination of their values is a run, as many times as
there are replicates. A value is what the option of that name takes, or a table: a ``label`` and all options that
belong together, such as a model with its endpoint, or tools with the dictionary that they look into.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StrictInt, ValidationError

from corpora.files.json_types import Json, JsonObject
from corpora.files.toml_text import Place, line_of, parse_toml, wanted_words
from corpora.model.corpus import Selection
from corpora.model.entry import Segment
from corpora.samples import DEMO_PLAN, sample_path
from corpora.text.messages import near_names, one_of
from harness.api import CorpusRequest
from harness.core.failures import UsageError
from harness.core.storage import read_text, usage_errors
from harness.method.option_table import LIMITS, asks
from harness.method.options import MethodOptions, refuse_told_keys
from harness.setup.plan import RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.corpora.listing import names_stored

AXES: Final = ("model", "temperature", "prompt", "coaching", "tools")
"""In the order in which they are permuted: the last one changes fastest."""

MOST_BYTES = 2**20
MOST_LABEL = 80  # Characters of a label

_FIELDS: Final = {
    name: (model, name) for model in (RunOptions, ScoringOptions, MethodOptions) for name in model.model_fields
} | {name: (RunOptions, field) for name, field in LIMITS.items()}
_ELSEWHERE: Final = {
    "source_language": "it is the corpus's: say it under [reading]",
    "target_language": "it is the corpus's: say it under [reading]",
    "task": "it is the corpus's: say it under [reading]",
    "file_lines": "it is the corpus's",
    "replicate": "say `replicates` at the top",
    "budget": "the money is the sweep's: say `budget_usd` at the top",
    "budget_usd": "the money is the sweep's: say it at the top",
}
"""Options of a run that a plan says in another place → where."""

_PATHS: Final = frozenset(
    name
    for model in (MethodOptions, ScoringOptions)
    for name, field in model.model_fields.items()
    if Path in (field.annotation, *get_args(field.annotation))
)
_MAYBE_PATHS: Final = frozenset({"prompt", "embeddings", "scoring"})
"""Options that name something shipped, an endpoint, or a path."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AxisValue(_Part):
    """One value of an axis."""

    label: Annotated[str, Field(min_length=1, max_length=MOST_LABEL)]
    """What it is called in names of runs, in lists and under ``exclude``."""
    options: dict[str, JsonValue]
    """Options that it stands for; they go before those under ``fixed``."""


class ReadingTable(_Part):
    """What the corpus file does not say itself, as for ``rosetta run``."""

    references: tuple[str, ...] = ()
    form: str | None = None
    id: str | None = None
    source_language: str | None = None
    target_language: str | None = None
    source_column: str | None = None
    reference_column: str | None = None
    task: str | None = None


class SelectTable(_Part):
    """Which entries take part, as for ``rosetta run``; all where it is empty."""

    segment: tuple[Segment, ...] = ()
    difficulty: tuple[Annotated[StrictInt, Field(ge=1, le=5)], ...] = ()
    entries: tuple[StrictInt | str, ...] = ()
    limit: Annotated[StrictInt, Field(ge=1)] | None = None
    sample: Annotated[StrictInt, Field(ge=1)] | None = None
    seed: StrictInt = 0

    @property
    def selection(self) -> Selection:
        """The same as the door takes it."""
        return Selection(
            segments=self.segment,
            difficulties=self.difficulty,
            entry_ids=self.entries,
            limit=self.limit,
            sample=self.sample,
            seed=self.seed,
        )


def _axis(name: str) -> BeforeValidator:
    def choices(value: object) -> object:
        if not isinstance(value, list) or not value:
            raise ValueError("a list in square brackets is wanted, with one value or more")
        axis_values = [
            choice_value if isinstance(choice_value, AxisValue) else choice(name, choice_value)
            for choice_value in value
        ]
        for label, count in Counter(axis_value.label for axis_value in axis_values).items():
            if count > 1:
                raise ValueError(f"{label[:40]!r} stands here twice: leave one out, or label it")
        return tuple(axis_values)

    return BeforeValidator(choices)


AxisValues = tuple[AxisValue, ...]


class Axes(_Part):
    """The five axes; one that is not stated stays as it is under ``fixed``."""

    model: Annotated[AxisValues, _axis("model")] = ()
    temperature: Annotated[AxisValues, _axis("temperature")] = ()
    prompt: Annotated[AxisValues, _axis("prompt")] = ()
    coaching: Annotated[AxisValues, _axis("coaching")] = ()
    tools: Annotated[AxisValues, _axis("tools")] = ()

    @property
    def stated(self) -> dict[str, AxisValues]:
        """The axes that have values, in their order."""
        return {name: values for name in AXES if (values := getattr(self, name))}


class SweepPlan(_Part):
    """A plan as its file says it; paths are absolute once ``read_plan`` gave it."""

    version: Literal[1]
    name: Annotated[str, Field(pattern=r"^[^\s\x00-\x1f\x7f-\x9f/\\]{1,60}$")]
    """What the sweep is called; the file's name where it says none."""
    corpus: Annotated[str, Field(min_length=1)]
    """A file, or ``store:`` and the beginning of a hash; the name of a corpus where it is in a vault."""
    vault: bool = False
    """Whether it is in a vault, which ``--vault`` names: no plan says it."""
    reading: ReadingTable = ReadingTable()
    select: SelectTable = SelectTable()
    axes: Axes = Axes()
    replicates: Annotated[StrictInt, Field(ge=1, le=1000)] = 1
    """How often each combination is run; each time every call is asked again."""
    fixed: dict[str, JsonValue]
    """Options that all runs share, ``method`` among them, under the names of ``rosetta run``."""
    exclude: tuple[dict[str, JsonValue], ...] = ()
    """Axis → value or list of values; a combination that has all of a table is left out."""
    budget_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Most US dollars that all runs together spend."""
    workers: Annotated[StrictInt, Field(ge=1, le=64)] = 2
    """Processes that share the runs."""
    race: bool = False
    """Whether configurations that cannot be the best are stopped before they have all entries."""
    race_seed: Annotated[StrictInt, Field(ge=0)] | None = None
    """Seed by which a race shuffles the entries; never None in a race that was begun."""

    @property
    def stored(self) -> str:
        """The plan as JSON, from which ``SweepPlan.model_validate_json`` makes it again."""
        return self.model_dump_json(exclude_defaults=True)

    @property
    def corpus_request(self) -> CorpusRequest:
        """Return the request for the corpus."""
        return CorpusRequest(self.corpus, **dict(self.reading))


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan with the text it was read from, so that problems name its line."""

    plan: SweepPlan
    file: str
    text: str = ""  # Empty for a plan of the store

    def wrong(self, words: str, *place: int | str) -> UsageError:
        """Return an error about a field of the file; ``words`` say what is wrong and the fix."""
        return UsageError(f"{_where(self.file, self.text, place)}: {words}")


def refuse_repeats(given: Mapping[str, object]) -> None:
    """Raise UsageError for what does not go with repeats, or would make every repeat equal."""
    if given.get("vault"):
        raise UsageError("--vault does not go with --repeats: leave it out. `rosetta sweep` does more.")
    if not asks(str(given.get("method", ""))):
        raise UsageError(f"The method {given['method']} asks nobody: every repeat would be equal.")
    if any(str(pair).startswith("seed=") for pair in _listed(given.get("body"))):
        raise UsageError("With one seed every repeat would be equal: leave `--body seed=…` out.")


def plan_of_repeats(
    repeats: int, given: Mapping[str, object], told: Mapping[str, object], chosen: Selection
) -> PlanFile:
    """Return the plan that runs one set-up several times: the options ``given`` for a corpus, and those ``told`` of a run."""
    refuse_repeats(given)
    named = str(given["file"])
    files = [given["reference"], *_listed(given["other_reference"])]
    reading = {name: given.get("corpus_id" if name == "id" else name) for name in ReadingTable.model_fields}
    reading |= {"references": tuple(str(Path(str(file)).absolute()) for file in files if file)}
    fixed = {"method": given["method"], **told}
    budget = fixed.pop("budget", None)
    stated = {
        "version": 1,
        "name": f"repeats-{re.sub(r'[^A-Za-z0-9.-]+', '-', Path(named).stem)[:40]}-{repeats}",
        "corpus": named if names_stored(named) else str(Path(named).absolute()),
        "reading": {name: value for name, value in reading.items() if value},
        "select": {
            "segment": chosen.segments, "difficulty": chosen.difficulties, "entries": chosen.entry_ids,
            "limit": chosen.limit, "sample": chosen.sample, "seed": chosen.seed,
        },
        "replicates": repeats, "workers": 1, "budget_usd": budget,
        "fixed": {name: str(value.absolute()) if isinstance(value, Path) else value for name, value in fixed.items()},
    }  # fmt: skip
    with usage_errors("--repeats"):
        return PlanFile(SweepPlan.model_validate(stated), "--repeats")


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def plan_path(path: Path) -> Path:
    """Return the path of a plan; ``demo.toml`` is the bundled one where no file here has that name."""
    return sample_path(DEMO_PLAN) if str(path) == DEMO_PLAN and not path.exists() else path


def read_plan(path: Path, *, vault: bool = False) -> PlanFile:
    """Read a plan; UsageError names file, line, field and fix of what is wrong. ``vault``: its corpus is in one."""
    text, _ = read_text(path, "the plan of a sweep", MOST_BYTES)
    with usage_errors(str(path), text):
        stated = parse_toml(text)
    if "vault" in stated:
        raise UsageError(f"{_where(str(path), text, ('vault',))}: name the vault on the command line: --vault FOLDER.")
    stated |= {"name": stated.get("name", path.stem), "vault": vault}
    file = str(path)
    axes = stated.get("axes", {})
    for name in axes if isinstance(axes, dict) else ():
        if name not in AXES:
            near = near_names(name, AXES)
            guess = f"Did you mean {one_of(near)}?" if near else f"There are {', '.join(AXES)}."
            mend = "What all runs share stands under [fixed]."
            raise UsageError(f"{_where(file, text, ('axes', name))}: there is no such axis. {guess} {mend}")
    with usage_errors(str(path), text):
        plan = SweepPlan.model_validate(stated)
    _check_options(plan_file := PlanFile(plan, str(path), text))
    if vault and plan.race:
        raise plan_file.wrong("a race shows who is behind: leave it out over a vault.", "race")
    choices = plan.axes.stated.values()
    every = any(all("method" in choice.options for choice in values) for values in choices)
    if "method" not in plan.fixed and not every:
        raise plan_file.wrong('say `method`, such as method = "chat".', "fixed")
    return PlanFile(_absolute(plan, path.absolute().parent), plan_file.file, text)


def choice(axis: str, value: object) -> AxisValue:
    """Read one value of an axis; ValueError says what is wanted."""
    if isinstance(value, dict):
        if value.keys() == AxisValue.model_fields.keys():
            return AxisValue.model_validate(value)  # of a plan in the store
        label = value.get("label")
        if not isinstance(label, str) or not label.strip() or len(label) > MOST_LABEL:
            raise ValueError(f"a table needs a `label` of at most {MOST_LABEL} characters beside its options")
        return AxisValue(label=label, options={name: value[name] for name in value if name != "label"})
    return _PLAIN[axis](value)


def _text(axis: str) -> Callable[[object], AxisValue]:
    def read(value: object) -> AxisValue:
        if not isinstance(value, str) or not value.strip():
            raise ValueError("text in quotation marks is wanted, or a table with a `label`")
        return AxisValue(label=value[-MOST_LABEL:], options={axis: value})

    return read


def _temperature(value: object) -> AxisValue:
    if value == "none":
        return AxisValue(label="none", options={"temperature": "none"})
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError('a number is wanted, or "none" for the endpoint\'s own')
    return AxisValue(label=f"{value:g}", options={"temperature": value})


def _tools(value: object) -> AxisValue:
    if value is False or value == []:
        return AxisValue(label="no tools", options={})
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ValueError('a list of tools is wanted, such as ["lookup"], or a table with a `label`')
    return AxisValue(label="+".join(value)[:MOST_LABEL], options={"tools": list(value)})


_PLAIN: Final[dict[str, Callable[[object], AxisValue]]] = {
    "model": _text("model"),
    "temperature": _temperature,
    "prompt": _text("prompt"),
    "coaching": lambda value: (
        AxisValue(label="no coaching", options={}) if value is False else _text("coaching")(value)
    ),
    "tools": _tools,
}


def _check_options(found: PlanFile) -> None:
    """Raise UsageError for the first option that is unknown, misplaced, or has a wrong value."""
    for name, value in found.plan.fixed.items():
        if name in found.plan.axes.stated:
            raise found.wrong("it is an axis already: leave it out here.", "fixed", name)
        if words := _fault(name, value):
            raise found.wrong(words, "fixed", name)
    axes = found.plan.axes.stated
    for axis, choices in axes.items():
        for place, choice in enumerate(choices):
            for name, value in choice.options.items():
                if words := _fault(name, value):
                    problem = words if name == axis else f"in {choice.label!r}, {name}: {words}"
                    raise found.wrong(problem, "axes", axis, place)
    named = [*(choice.options for choices in axes.values() for choice in choices), found.plan.fixed]
    for options in named:
        try:
            refuse_told_keys(options)
        except UsageError as error:
            raise UsageError(f"{found.file}: {error}") from error


def _fault(name: str, value: Json) -> str:
    """Return what is wrong with an option; empty where nothing is."""
    if name == "method":
        return "" if isinstance(value, str) and value else "text in quotation marks is wanted."
    if name in _ELSEWHERE:
        return f"this is not said here; {_ELSEWHERE[name]}."
    if name not in _FIELDS:
        near = near_names(name, [*_FIELDS, "method"])
        guess = f"Did you mean {one_of(near)}?" if near else "`rosetta run -h` lists them."
        return f"there is no such option. {guess}"
    model, field = _FIELDS[name]
    languages = {"source_language": "en", "target_language": "eo"}
    needed = languages if model is MethodOptions else {}
    try:
        model.model_validate({**needed, field: as_told(name, value)})
    except ValidationError as error:
        problem = wanted_words(error.errors(include_url=False, include_input=False)[0])
        return f"{problem.removesuffix('.')}. Correct it."
    return ""


def as_told(name: str, value: Json) -> Json:
    """Return an option's value as the door takes it: TOML has no word for nothing."""
    if name == "temperature" and value == "none":
        return None
    if name == "metrics" and isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _absolute(plan: SweepPlan, folder: Path) -> SweepPlan:
    """Make every path of a plan independent of the folder in which the sweep continues; they count from the plan's."""
    axes = {
        axis: tuple(
            choice.model_copy(update={"options": _absolute_options(choice.options, folder)}) for choice in choices
        )
        for axis, choices in plan.axes.stated.items()
    }
    corpus = plan.corpus if plan.vault or names_stored(plan.corpus) else _path(plan.corpus, folder)
    references = tuple(_path(reference, folder) for reference in plan.reading.references)
    return plan.model_copy(
        update={
            "corpus": corpus,
            "reading": plan.reading.model_copy(update={"references": references}),
            "axes": plan.axes.model_copy(update=axes),
            "fixed": _absolute_options(plan.fixed, folder),
        }
    )


def _absolute_options(options: JsonObject, folder: Path) -> dict[str, Json]:
    return {name: _absolute_value(name, value, folder) for name, value in options.items()}


def _absolute_value(name: str, value: Json, folder: Path) -> Json:
    if not isinstance(value, str):
        return value
    if name in _PATHS:
        return _path(value, folder)
    if name == "method" and (file := value.rpartition(":")[0]).endswith(".py"):
        return f"{_path(file, folder)}:{value.rpartition(':')[2]}"
    if name in _MAYBE_PATHS and (folder / value).exists():
        return _path(value, folder)
    return value


def _path(value: str, folder: Path) -> str:
    return str(folder / Path(value).expanduser())


def _where(file: str, text: str, place: Place) -> str:
    line = line_of(text, place) if text else None
    field = ".".join(str(part) for part in place)
    return f"{file}: field {field!r}" if line is None else f"{file}: line {line}, field {field!r}"
