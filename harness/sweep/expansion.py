"""From a plan to its runs: every combination of the axes that is not excluded, as many times as there are replicates.

The order is that of the plan and never changes, so that any worker on any computer sees the same list.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import product
from math import prod
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from corpora.files.decode import open_regular
from corpora.files.json_types import Json, JsonObject
from corpora.model.corpus import Corpus
from corpora.text.messages import dollars
from harness import api
from harness.api import RunRequest
from harness.card.material import fingerprint
from harness.core.canonical import canonical_sha256
from harness.core.failures import RunState, UsageError
from harness.core.version import VERSION
from harness.endpoint.endpoints import KeySource, find_key, no_key
from harness.estimate.earlier import NOTHING, Range
from harness.estimate.estimate import RunEstimate
from harness.inputs.dictionary import read_coaching
from harness.method.method import Method, Setup
from harness.method.option_table import METHODS, asks
from harness.method.options import MethodOptions
from harness.run.beginning import check_budget
from harness.run.vault_opening import run_terms
from harness.setup.plan import RunOptions, scoring_of
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import stated_setup
from harness.shipped_methods.registry import build
from harness.store.runs import Run, read_run
from harness.store.sqlite.database import opened
from harness.store.sweeps import BETWEEN
from harness.store.withdrawn import withdrawn_runs
from harness.sweep.plan import AXES, AxisValue, PlanFile, SweepPlan, as_told, choice
from harness.vault.request import VaultRequest, VaultWork
from harness.vault.vault_records import RunTerms, SetupTerms

MOST_RUNS = 10_000
MOST_COMBINATIONS = 1_000_000  # Looked at, excluded ones counted

_OF_ANY_RUN = frozenset({"condition", "prices", *RunOptions.model_fields, *ScoringOptions.model_fields})


@dataclass(frozen=True, slots=True)
class SweepCell:
    """One run of a sweep, as the plan asks for it."""

    place: int
    """From 0, in the order of the plan."""
    name: str
    """Labels of the axes that have several values, and the replicate: no two cells share it."""
    labels: Mapping[str, str]
    """Axis → label, of all axes that the plan states."""
    replicate: int
    request: RunRequest = field(repr=False)
    setup: Setup = field(repr=False)
    setup_hash: str
    """Of the run, ``Setup.replicate`` among what it covers."""
    key: str
    """SHA-256 over all that decides whether a run of the store is this one: set-up, entries and scoring."""
    files: Mapping[str, str] = field(repr=False)
    """Path → SHA-256 of the files that it is scored with, as they were when the plan was read."""

    def require_unchanged(self, method: Method) -> None:
        """Raise UsageError where a file of its scoring, or of the method as it is made now, has changed since."""
        now = scoring_files(self.request.plan.scoring)
        changed = [path for path, before in self.files.items() if now[path] != before]
        if not changed and method.setup == self.setup:
            return
        what = changed[0] if changed else "A file of its method (prompt, coaching, a dictionary)"
        raise UsageError(
            f"{what} is no longer what it was when the sweep was begun, so that this run would not compare with the "
            "others. Restore the file; `rosetta sweep resume` tries again."
        )


_SCORING_FILES = ("language_card", "analyser", "terms", "gloss_dictionary")


def scoring_files(scoring: ScoringOptions) -> dict[str, str]:
    """Return path → SHA-256 of the files that runs are scored with, as they are now; "" where one cannot be read."""
    named = (getattr(scoring, name) for name in _SCORING_FILES)
    hashes: dict[str, str] = {}
    for path in filter(None, named):
        hashes[str(path)] = ""
        with suppress(OSError), open_regular(path) as file:
            hashes[str(path)] = sha256(file.read()).hexdigest()
    return hashes


def scored_apart(cells: Sequence[SweepCell]) -> str:
    """Return that some runs are compared with terms and others not, with the fix; empty where all are scored alike."""
    sweep_cells = {_terms(cell): cell for cell in cells}
    if len(sweep_cells) < 2:
        return ""
    terms = next(path for path in sweep_cells if path is not None)
    return (
        "runs with coaching are scored with its terms too, so that their composites weigh other metrics than those of "
        f'the others and do not compare. Say terms = "{terms}" under [fixed], and all are scored alike.'
    )


def _terms(cell: SweepCell) -> Path | None:
    """Return the file of the terms that the outputs of a run are held against; None where it has none."""
    plan = cell.request.plan
    if plan.scoring.terms is not None or "terminology_adherence" not in plan.scoring.wanted:
        return plan.scoring.terms
    coaching = plan.options.coaching
    return None if coaching is None or not len(read_coaching(coaching).dictionary) else coaching


def run_key(setup_hash: str, positions: Sequence[int], scoring: JsonObject) -> str:
    """Return what two runs share that need not both be made; the set-up covers corpus and replicate."""
    return canonical_sha256({"setup_hash": setup_hash, "positions": list(positions), "scoring": dict(scoring)})


def open_plan_corpus(found: PlanFile, vault: VaultRequest | None = None) -> Corpus:
    """Read the corpus of a plan, out of ``vault`` where it is in one: the keepers allow exactly this plan.

    Raises CorpusError and UsageError, the latter also where the plan is another one by the time that the texts are open.
    """
    if found.plan.vault is not (vault is not None):
        mend = "over a vault: name it with --vault FOLDER, and say what for with --purpose WORDS" if vault is None else "not over a vault: leave --vault and --purpose out"  # fmt: skip
        raise UsageError(f"Sweep {found.plan.name!r} is {mend}.")
    if vault is None:
        return api.open_corpus(found.plan.corpus_request)
    terms = sweep_terms(found)
    asked = replace(found.plan.corpus_request, vault=replace(vault, segments=found.plan.select.segment), terms=terms)
    corpus = api.open_corpus(asked)
    if vault.work == VaultWork.SWEEP and sweep_terms(found) != terms:
        raise UsageError("A file that the plan names changed while the keepers were asked. Restore it: nothing is run.")
    return corpus


MOST_SETUPS: Final = 20
"""Of a sweep over a vault: each is one more look at the same texts, and all submitters together get as many answers."""


def sweep_terms(found: PlanFile) -> RunTerms:
    """Return what a grant for a sweep names: every set-up with the hash of its options and files, how often, for how much.

    No text is opened for it. UsageError where the plan has fewer than two set-ups or more than ``MOST_SETUPS``.
    """
    setups = [
        SetupTerms(name=_cell_name(found, cell)[:80], options=run_terms(cell.method, cell.options, api.scoring_of(cell.options), found.plan.select.selection).options)
        for cell in _asked(found)
        if cell.replicate == 0
    ]  # fmt: skip
    if not 2 <= len(setups) <= MOST_SETUPS:
        many = f"a sweep over a vault has 2 to {MOST_SETUPS} set-ups, and this plan has {len(setups):,}: each is one more look at the same texts."
        raise found.wrong(f"{many} Compare over open entries first, and ask for the best few.", "axes")
    known: dict[str, str] = {}
    for setup in setups:
        if (same := known.setdefault(setup.options, setup.name)) != setup.name:
            raise found.wrong(_same(same, setup.name), "axes")
    more = {"replicates": found.plan.replicates, "budget_usd": found.plan.budget_usd}
    options = canonical_sha256([setup.model_dump() for setup in setups])
    return RunTerms(method=VaultWork.SWEEP, options=options, scorer=VERSION, setups=tuple(setups), **more)


def expand(found: PlanFile, corpus: Corpus) -> tuple[SweepCell, ...]:
    """Return the runs of a plan; nothing is sent or stored and no key is asked for.

    UsageError names file, field and fix: no runs left, too many, two that are the same, options that do not
    fit together, secret entries, a budget where a price is unknown. CorpusError where no entry is left.
    """
    cells: list[SweepCell] = []
    seen: dict[str, str] = {}
    for cell_request in _asked(found):
        place = len(cells)
        number = [f"#{cell_request.replicate + 1}"] if found.plan.replicates > 1 and asks(cell_request.method) else []
        name = BETWEEN.join([_cell_name(found, cell_request), *number])
        options = {**cell_request.options, "replicate": cell_request.replicate}
        try:
            asked = api.ask(corpus, cell_request.method, options, found.plan.select.selection)
            _refuse_secret(corpus, asked)
            made = build(cell_request.method, asked.plan.options, corpus.entries, no_key)
        except UsageError as error:
            raise UsageError(f"{found.file}: run {name!r}: {error}") from error
        try:
            # Refused where the sweep has a budget and nothing bounds what a call of this run may cost
            if found.plan.budget_usd is not None:
                run = asked.plan.run.model_copy(update={"budget_usd": found.plan.budget_usd})
                check_budget(made, asked.plan.model_copy(update={"run": run}))
        except UsageError as error:
            raise found.wrong(f"run {name!r}: {error}", "budget_usd") from error
        setup_hash = fingerprint(made.setup, corpus.sha256, VERSION).setup_hash or ""
        key = run_key(setup_hash, asked.positions, asked.plan.scoring.model_dump(mode="json"))
        cell = SweepCell(
            place, name, cell_request.labels, cell_request.replicate, asked, made.setup, setup_hash, key,
            scoring_files(asked.plan.scoring),
        )  # fmt: skip
        if (same := seen.setdefault(cell.key, cell.name)) != cell.name:
            raise found.wrong(_same(same, cell.name), "axes")
        cells.append(cell)
    return tuple(cells)


def _same(one: str, other: str) -> str:
    return f"the runs {one!r} and {other!r} are the same: leave one out under exclude."


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a plan asks of one run, before it is checked."""

    method: str
    options: JsonObject
    labels: Mapping[str, str]  # Of the axes that mean something to its method
    replicate: int


def _asked(found: PlanFile) -> list[_Asked]:
    """Return the settings of each run, in order.

    An axis that means nothing to a method, such as the temperature to a copy of the source, does not multiply its
    runs; a method that asks nobody gives the same again, so it is not repeated.
    """
    mentioned = {
        axis: dict.fromkeys(name for choice in choices for name in choice.options)
        for axis, choices in found.plan.axes.stated.items()
    }
    asked: dict[tuple[object, ...], _Asked] = {}
    for combination in _combinations(found):
        method, labels, options = _settled(found.plan, combination, mentioned)
        for replicate in range(found.plan.replicates if asks(method) else 1):
            key = (method, *sorted(labels.items()), replicate)
            asked.setdefault(key, _Asked(method, options, labels, replicate))
    if len(asked) > MOST_RUNS:
        raise found.wrong(_too_many(len(asked)), "axes")
    used = {name for cell in asked.values() for name in cell.options} | {"method"}
    if stray := next((name for name in found.plan.fixed if name not in used), None):
        raise found.wrong("no run takes this option: leave it out.", "fixed", stray)
    return list(asked.values())


def _settled(
    plan: SweepPlan, combination: Combination, mentioned: Mapping[str, Mapping[str, None]]
) -> tuple[str, Mapping[str, str], JsonObject]:
    """Return method, labels and options of a combination; the first axis that names a method decides.

    ``mentioned``: axis → names of all options that its values set.
    """
    tables = [*(value.options for value in combination.values()), plan.fixed]
    method = str(next(table["method"] for table in tables if "method" in table))
    labels, options = {}, _of(method, plan.fixed)
    for axis, axis_value in combination.items():
        if axis_value.options.get("method") == method or _of(method, mentioned[axis]):
            labels[axis] = axis_value.label
            options |= _of(method, axis_value.options)
    return method, labels, options


def _of(method: str, options: JsonObject) -> dict[str, Json]:
    """Return those of some options that mean something to a method, or to any run; a plug-in may take all."""
    needs, takes = METHODS.get(method, (MethodOptions.model_fields, ()))
    others = MethodOptions.model_fields.keys() - {*needs, *takes} - _OF_ANY_RUN
    left = {name: value for name, value in options.items() if name not in others}
    return {name: as_told(name, value) for name, value in left.items() if name != "method"}


def check_methods(cells: Sequence[SweepCell], find_key: KeySource = find_key) -> None:
    """Raise UsageError for the first run whose method cannot be asked: no key, or nobody said that it may be sent."""
    for cell in cells:
        try:
            cell.request.clear(find_key)
        except UsageError as error:
            raise UsageError(f"Run {cell.name!r}: {error}") from error


Combination = Mapping[str, AxisValue]


def _combinations(found: PlanFile) -> Iterator[Combination]:
    axes = found.plan.axes.stated
    rules: list[Mapping[str, frozenset[str]]] = []  # excluded values as labels, by axis
    for number, rule in enumerate(found.plan.exclude):
        if not rule:
            raise found.wrong("name an axis and a value of it.", "exclude", number)
        rules.append({axis: _excluded_labels(found, number, axis, axes) for axis in rule})
    whole = prod(map(len, axes.values()))
    if whole > MOST_COMBINATIONS:
        raise found.wrong(_too_many(whole * found.plan.replicates), "axes")
    every = (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))

    left = [
        one
        for one in every
        if not any(all(one[axis].label in labels for axis, labels in rule.items()) for rule in rules)
    ]
    if not left:
        raise found.wrong("no run is left: every combination is excluded.", "exclude", 0)
    yield from left


def _too_many(runs: int) -> str:
    return f"{runs:,} runs are more than {MOST_RUNS:,}: remove values, or exclude some."


def _excluded_labels(
    found: PlanFile, number: int, axis: str, axes: Mapping[str, Sequence[AxisValue]]
) -> frozenset[str]:
    place = ("exclude", number, axis)
    if axis not in axes:
        there = ", ".join(axes) or "none"
        what = "this axis has no values" if axis in AXES else "there is no such axis"
        raise found.wrong(f"{what}. The plan has: {there}.", *place)
    value = found.plan.exclude[number][axis]
    known = {axis_value.label for axis_value in axes[axis]}
    listed = isinstance(value, list) and (axis != "tools" or not all(isinstance(item, str) for item in value))
    several = value if listed and isinstance(value, list) else [value]
    labels = frozenset(_label(axis, item, known) for item in several)
    if stray := sorted(labels - known):
        raise found.wrong(f"{stray[0][:40]!r} is no value of this axis. It has: {', '.join(sorted(known))}.", *place)
    return labels


def _label(axis: str, value: object, known: set[str]) -> str:
    if isinstance(value, str) and value in known:
        return value
    try:
        return choice(axis, value).label
    except ValueError:
        return str(value)


def _cell_name(found: PlanFile, asked_cell: _Asked) -> str:
    """Return what the repetitions of a cell share of their names: the labels of the axes that have several values."""
    several = {axis for axis, choices in found.plan.axes.stated.items() if len(choices) > 1}
    labels = [label for axis, label in asked_cell.labels.items() if axis in several]
    return BETWEEN.join(labels or [asked_cell.method])


def _refuse_secret(corpus: Corpus, asked: RunRequest) -> None:
    """Raise UsageError where an entry is secret that is in no vault: nobody allows the looks at it, and no log counts them."""
    if corpus.vault is None and any(entry.secret or entry.not_stored for entry in asked.entries):
        words = "a sweep takes secret entries out of a vault only, where keepers allow it once: put the corpus into one (rosetta vault add)"
        raise UsageError(f'{words}, and name it with --vault FOLDER. Or choose open entries, such as segment = ["development"] under [select].')  # fmt: skip


# ---- What the store has of a sweep before it is begun: a complete run that need not be made
# again.


def find_same(connection: sqlite3.Connection, cell: SweepCell) -> Run | None:
    """Return a complete run of the store that is what a cell asks for, the newest; None where there is none."""
    rows = connection.execute(
        "SELECT id FROM runs WHERE setup_hash = ? AND state = ? AND imported IS NULL"
        " AND put_away IS NULL ORDER BY created DESC, id DESC",
        (cell.setup_hash, RunState.COMPLETE),
    ).fetchall()
    for (number,) in rows:
        run = read_run(connection, number)
        same = run.positions == cell.request.positions and _scored_alike(run, cell)
        if same and run.id not in withdrawn_runs(connection, run.id):
            return run
    return None


def _scored_alike(run: Run, cell: SweepCell) -> bool:
    """Return whether a run was scored as a cell asks; files are the same where their bytes are, whatever their paths."""
    before = scoring_of(run).model_dump(mode="json")
    asked = cell.request.plan.scoring.model_dump(mode="json")
    setup = stated_setup(run.opening.scoring)
    stated = (
        {}
        if setup is None
        else {
            "terms": setup.terms_sha256,
            "gloss_dictionary": setup.gloss_dictionary_sha256,
            "language_card": setup.language_card_sha256,
            "analyser": None if setup.analyser is None else setup.analyser.sha256,
        }
    )
    for name, digest in stated.items():
        if digest and before[name] is not None and asked[name] is not None:
            before[name], asked[name] = digest, cell.files[str(Path(asked[name]))]
    return before == asked


# ---- What a sweep will take before it is begun: each of its runs, and all together ----


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
        missing = {cell.name for cell in cells if find_same(connection, cell) is None}
        runs = tuple(
            CellEstimate(
                name=cell.name,
                in_store=cell.name not in missing,
                estimate=replace(api.estimate_with(connection, cell.request), from_what=())
                if cell.name in missing
                else None,
            )
            for cell in cells
        )
    made = [run.estimate for run in runs if run.estimate is not None]
    judged = [part.judges.cost_usd for part in made if part.judges is not None]
    cost, budget = _sum([*(part.cost_usd for part in made), *judged]), ""
    if plan.budget_usd is not None and cost is not None and cost.high > plan.budget_usd:
        sure = "will" if cost.low > plan.budget_usd else "may"
        budget = f"the budget of {dollars(plan.budget_usd)} {sure} be reached before all runs are made"
    return SweepEstimate(
        runs=runs,
        to_make=len(made),
        calls=sum((part.calls for part in made), NOTHING),
        tokens=_sum(count for part in made for count in (part.prompt_tokens, part.completion_tokens)),
        cost_usd=cost,
        seconds=_sum(part.seconds for part in made),
        budget_usd=plan.budget_usd,
        budget=budget,
        scoring=scored_apart(cells),
    )


def _sum(parts: Iterable[Range | None]) -> Range | None:
    ranges = list(parts)
    known = [part for part in ranges if part is not None]
    return sum(known, NOTHING) if len(known) == len(ranges) else None
