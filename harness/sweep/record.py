"""What a sweep has come to: each of its cells with its run's state and scores, the whole with money and time,
and the entries that all its runs miss.

Read from the store alone, so that any process may look while others work.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from corpora.files.json_types import JsonObject
from corpora.model.entry import EntryId
from harness.card.reading import number
from harness.card.withholding import LEAST
from harness.core.failures import RunState
from harness.store.corpora.entries import open_entries
from harness.store.results import shared_outcomes
from harness.store.run_list import SweepRun, runs_of_sweep
from harness.store.runs import find_by_id, under_way
from harness.store.sqlite.database import store_path
from harness.store.sweeps import StoredCell, StoredSweep, at_work, committed_usd, read_cells
from scoring.core.specification import TRANSLATIONS, KeptColumns, Tier, specified, stated_columns

# ---- Entries that every run of a sweep misses, which show hard problems of the language (benchmark-specification §6.3).

LEAST_RUNS = 2  # Complete runs from which there is something that all of them miss
MOST_LISTED = 20  # Entries that are listed; the others are counted


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class MissedEntry(_Record):
    """An entry that all runs miss."""

    entry_id: EntryId
    difficulty: int | None
    source: str
    best_composite: float | None
    """Highest composite that an output of any run has there, 0–1; None where all failed, and of other tasks."""
    best_run: str
    """Id of the run that has it."""


class MissedTier(_Record):
    """The entries of one difficulty."""

    difficulty: int | None
    """Tier of the corpus, 1–5; None for entries without one."""
    missed: int
    entries: int


class MissedEntries(_Record):
    """What all complete runs of a sweep miss. Secret entries are counted in ``secret`` alone."""

    runs: int
    """Complete runs."""
    below: float | None
    """Composite under which an output is in the lowest tier; None for other tasks than translation."""
    entries: int
    """Open entries that all of them have."""
    missed: int
    by_difficulty: tuple[MissedTier, ...]
    listed: tuple[MissedEntry, ...]
    """The worst first, at most ``MOST_LISTED``."""
    secret: int | None
    """Secret entries that all runs miss; None where they are fewer than ``LEAST`` of those there are, which is not told."""


def missed_entries(connection: sqlite3.Connection, ids: Sequence[str]) -> MissedEntries | None:
    """Return what every one of these complete runs misses; None under two runs, or where answers are never right or wrong."""
    known = [run for run_id in ids if (run := find_by_id(connection, run_id)) is not None]
    runs = [run for run in known if run.corpus == known[0].corpus]
    kept = stated_columns(runs[0].opening.scoring) if runs else KeptColumns()
    if len(runs) < LEAST_RUNS or not (kept == TRANSLATIONS or kept.right):
        return None
    below = None
    if kept == TRANSLATIONS:  # the composite from which an output is above the lowest tier
        tiers = (kept.weighing or specified()).tiers
        below = min(least for least, name in tiers if name != Tier.BASELINE)
    outcomes = shared_outcomes(connection, [run.id for run in runs], below)
    open_ones = open_entries(connection, runs[0].corpus, outcomes)
    missed = [place for place, outcome in outcomes.items() if outcome.missing == len(runs)]
    ranked = sorted(set(missed) & open_ones.keys(), key=lambda place: (outcomes[place].best or 0.0, place))
    secret = len(missed) - len(ranked)
    total = Counter(entry.difficulty for entry in open_ones.values())
    gone = Counter(open_ones[place].difficulty for place in ranked)
    run_ids = {run.id: run.run_id for run in runs}
    return MissedEntries(
        runs=len(runs),
        below=below,
        entries=len(open_ones),
        missed=len(ranked),
        by_difficulty=tuple(
            MissedTier(difficulty=tier, missed=gone[tier], entries=total[tier])
            for tier in sorted(total, key=lambda tier: (tier is None, tier or 0))
        ),
        listed=tuple(
            MissedEntry(
                entry_id=open_ones[place].id,
                difficulty=open_ones[place].difficulty,
                source=open_ones[place].source,
                best_composite=None if below is None else outcomes[place].best,
                best_run=run_ids[outcomes[place].best_run],
            )
            for place in ranked[:MOST_LISTED]
        ),
        secret=None if secret < LEAST and len(outcomes) > len(open_ones) else secret,
    )


# ---- Each cell of a sweep with its run's state and scores, and the whole with money and time.

CellState = Literal["waiting", "running", "stopped", "raced-out", "complete"]
SweepState = Literal["running", "stopping", "stopped", "complete"]


class RacedOutRecord(_Record):
    """Why a run goes no further: on all entries of the race another configuration will be ahead of this one."""

    leader: str
    """The configuration that will be ahead, as its runs are named, without a replicate."""
    entries: int
    """How many entries both had when it was decided."""
    difference: float
    """Mean of the leader's composites minus its own on these entries."""
    lower: float
    upper: float
    """Interval of that difference on all entries of the race."""
    level: float
    """Of all pairs of the race together."""

    def words(self, total: int) -> str:
        """Return it in words; ``total``: entries of the race."""
        return (
            f"raced out after {self.entries} of {total} entries: {self.lower:.3f} to {self.upper:.3f} below "
            f"{self.leader}"
        )


class CellRecord(_Record):
    """One run of a sweep; numbers are None where there are none yet, and of a stopped run those so far."""

    place: int
    """From 0, in the order of the plan."""
    name: str
    labels: dict[str, str]
    """Axis → label, of the axes that mean something to its method."""
    replicate: int
    """From 0."""
    setup_hash: str
    run_id: str | None
    """None before the run has begun."""
    state: CellState
    reused: bool
    """Whether the store had the run already."""
    done: int
    total: int
    """Entries."""
    failed: int
    failures: dict[str, int]
    """Class of failure → entries."""
    composite: float | None = None
    composite_interval: tuple[float, float] | None = None
    composite_inputs: tuple[str, ...] = ()
    """Metrics that the composite weighs; cells whose inputs differ do not compare."""
    composite_coverage: float | None = None
    """Share of its weight that has a value; None before it is sealed."""
    chrf_plus_plus: float | None = None
    chrf_plus_plus_interval: tuple[float, float] | None = None
    headline: str = ""
    """Metric by which runs of another task than translation are ranked; empty of translations, and before the run has begun."""
    headline_value: float | None = None
    headline_interval: tuple[float, float] | None = None
    claimable_tier: str | None = None
    """What may be said of it; None before it is sealed."""
    method: str | None = None
    method_class: str | None = None
    """As its card states both; None before it is sealed."""
    cost_usd: float | None = None
    """What its answers cost; None: unknown, or not sealed yet."""
    cost_per_entry_usd: float | None = None
    avg_latency_seconds: float | None = None
    entries_per_minute: float | None = None
    trouble: str | None = None
    """Why it stopped on its own, or could not begin."""
    raced_out: RacedOutRecord | None = None
    """What decided in a race that it goes no further; stays where somebody finishes it by hand."""


class SweepSummary(_Record):
    """A sweep as a whole."""

    id: str
    name: str
    created: float
    """Unix time."""
    plan: str
    """Where the plan was read from."""
    state: SweepState
    cells_by_state: dict[CellState, int]
    entries_done: int
    entries_total: int
    """Without those that runs which were raced out are spared."""
    entries_spared: int
    """Entries that are not asked for because their runs were raced out."""
    race_seed: int | None
    """Seed by which the entries of a race are shuffled; None where the sweep is no race."""
    inside: bool
    """Whether it is over a vault: no score of its runs is here, what was released of them is in the ledger (``harness.release``)."""
    budget_usd: float | None
    committed_usd: float
    """What its runs paid or may have to pay; those that the store had before are not in it."""
    expected_usd: float | None
    """What the rest may cost by what the entries cost so far; None where nothing tells."""
    eta_seconds: float | None
    """Time left at the pace so far; None where nobody is at work, or nothing tells."""


class SweepRecord(SweepSummary):
    """A sweep and its cells."""

    axes: dict[str, tuple[str, ...]]
    """Axis → labels of its values, in order."""
    replicates: int
    cells: tuple[CellRecord, ...]
    missed: MissedEntries | None = None
    """What all its complete runs miss; None where nobody looked, or nothing tells."""

    @property
    def complete(self) -> list[str]:
        """Ids of its complete runs."""
        return [cell.run_id for cell in self.cells if cell.state == "complete" and cell.run_id]

    @property
    def summary(self) -> SweepSummary:
        """The same without its cells."""
        return SweepSummary(**{name: getattr(self, name) for name in SweepSummary.model_fields})


def sweep_record(connection: sqlite3.Connection, sweep: StoredSweep) -> SweepRecord:
    """Read what a sweep has come to."""
    plan = json.loads(sweep.plan)  # not as SweepPlan, which loads all that can be asked for
    runs = runs_of_sweep(connection, sweep.number, _OF_CARD | _OF_SCORING)
    ranked = _ranked(connection, sweep.number, _headline(runs.values()), runs)
    stored = read_cells(connection, sweep.number)
    working = at_work(store_path(connection), sweep)
    race = plan.get("race", False)
    inside = plan.get("vault", False)
    cells = tuple(
        _cell(at, runs.get(at.run_id), ranked.get(at.run_id, {}), race=race, working=working, inside=inside)
        for at in stored
    )
    spared = sum(cell.total - cell.done for cell in cells if cell.state == "raced-out")
    own = [cell for cell in cells if cell.run_id is not None and not cell.reused]
    committed = committed_usd(connection, sweep.number)
    done, total = sum(cell.done for cell in cells), sum(cell.total for cell in cells) - spared
    made = sum(cell.done for cell in own)
    states = [cell.state for cell in cells]
    eta = None
    if working and made and (at_once := min(states.count("running"), sweep.workers)):
        # the seconds that what is left takes at the pace of the runs so far, several at once
        numbers = [runs[cell.run_id].number for cell in own if cell.run_id is not None]
        took = connection.execute(
            "SELECT coalesce(sum(max(last - started, 0)), 0) FROM stretches"
            " WHERE run IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
        eta = float(took.fetchone()[0]) / made * (total - done) / at_once
    axes = plan.get("axes", {})
    return SweepRecord(
        id=sweep.id,
        name=sweep.name,
        created=sweep.created,
        plan=sweep.file,
        state=_state(sweep, working, states),
        cells_by_state={state: states.count(state) for state in get_args(CellState)},
        entries_done=done,
        entries_total=total,
        entries_spared=spared,
        race_seed=plan["race_seed"] if race else None,
        inside=inside,
        budget_usd=sweep.budget_usd,
        committed_usd=committed,
        expected_usd=committed / made * (total - done) if made else None,
        eta_seconds=eta,
        axes={axis: tuple(v["label"] for v in values) for axis, values in axes.items()},
        replicates=plan.get("replicates", 1),
        cells=cells,
    )


def with_missed(connection: sqlite3.Connection, found: SweepRecord) -> SweepRecord:
    """Return the record with what all its complete runs miss; of a sweep over a vault nothing before its end."""
    if found.inside and found.state != "complete":
        return found
    return found.model_copy(update={"missed": missed_entries(connection, found.complete)})


def _state(sweep: StoredSweep, working: bool, states: Sequence[CellState]) -> SweepState:
    if all(state in {"complete", "raced-out"} for state in states):
        return "complete"
    if not working:
        return "stopped"
    return "stopping" if sweep.stopping else "running"


def _cell(
    stored: StoredCell, run: SweepRun | None, ranked: JsonObject, *, race: bool, working: bool, inside: bool
) -> CellRecord:
    """Read a cell; ``working``: workers are at the sweep, and so come to each run that is not in trouble.

    In a race all runs are under way, though they wait for each other between blocks. ``inside``: no score is read, and no
    count of failures.
    """
    named = stored.named
    shared = {
        "place": stored.place,
        "name": named.name,
        "labels": dict(named.labels),
        "replicate": named.replicate,
        "setup_hash": named.setup_hash,
        "trouble": stored.trouble,
        "reused": stored.reused,
        "raced_out": stored.raced_out,
    }
    if run is None:
        return CellRecord(
            **shared,
            run_id=None,
            state="raced-out" if stored.raced_out else "waiting",
            done=0,
            total=named.entries,
            failed=0,
            failures={},
        )
    failures: dict[str, int] = {} if inside else dict(run.failures)
    shown: JsonObject = {}
    if inside:
        ranked = {}
    elif run.card is not None:
        shown = _of_card(run.card)
    else:
        so_far = {} if run.live is None else run.live.so_far
        shown = {name: so_far.get(name) for name in ("composite", "chrf_plus_plus")}
    state: CellState = "stopped"
    if run.state is RunState.COMPLETE:
        state = "complete"
    elif under_way(run):
        state = "running"
    elif stored.raced_out:
        state = "raced-out"
    elif working and not stored.trouble:
        state = "running" if race else "waiting"
    return CellRecord(
        **shared,
        run_id=run.run_id,
        state=state,
        done=run.done,
        total=run.total,
        failed=sum(failures.values()),
        failures=failures,
        **shown,
        **ranked,
    )


_OF_CARD = {
    "composite": "$.scores.composite",
    "composite_interval": "$.scores.confidence_intervals.composite",
    "composite_inputs": "$.scores.composite_inputs",
    "composite_coverage": "$.scores.composite_coverage",
    "chrf_plus_plus": "$.scores.chrf_plus_plus",
    "chrf_plus_plus_interval": "$.scores.confidence_intervals.chrf_plus_plus",
    "claimable_tier": "$.claimable_tier",
    "method": "$.method.method",
    "method_class": "$.method.method_class",
    "cost_usd": "$.cost.total_cost_usd",
    "cost_per_entry_usd": "$.cost.cost_per_entry_usd",
    "avg_latency_seconds": "$.speed.avg_latency_seconds",
    "entries_per_minute": "$.speed.entries_per_minute",
}
"""Field of a cell → where its run's card has it."""

_OF_SCORING = {"task": "$.scoring.task", "metrics": "$.scoring.metrics"}
"""The same of what tells by which metric runs are ranked."""


def _of_card(card: JsonObject) -> JsonObject:
    inputs = card["composite_inputs"]
    parts = inputs if isinstance(inputs, list) else []
    words = ("claimable_tier", "method", "method_class")
    intervals = ("composite_interval", "chrf_plus_plus_interval")
    return {
        **{name: number(card[name]) for name in _OF_CARD},
        **{name: card[name] for name in words},
        **{name: _interval(card[name]) for name in intervals},
        "composite_inputs": tuple(sorted(str(part.get("metric")) for part in parts if isinstance(part, Mapping))),
    }


def _headline(runs: Collection[SweepRun]) -> str:
    """Return by which metric the runs of a sweep are ranked, which all have the same task; empty of translations, and while nothing tells."""
    for run in runs:
        if run.card is not None:
            stated = {name: run.card[name] for name in _OF_SCORING if run.card[name] is not None}
            kept = stated_columns(stated)
            named = kept.headline if kept != TRANSLATIONS else ""
            return "" if '"' in named else named  # of a card from elsewhere: no path has it
    so_far = next((run.live.so_far for run in runs if run.live is not None and run.live.so_far), {})
    return "".join(so_far) if len(so_far) == 1 and TRANSLATIONS.headline not in so_far else ""


def _ranked(
    connection: sqlite3.Connection, sweep: int, headline: str, runs: Mapping[str, SweepRun]
) -> dict[str, JsonObject]:
    """Return by run what it reached in the metric that ranks it; empty of translations."""
    if not headline:
        return {}
    paths = {"value": f'$.scores."{headline}"', "interval": f'$.scores.confidence_intervals."{headline}"'}
    sealed = {id_: run.card or {} for id_, run in runs_of_sweep(connection, sweep, paths).items()}
    now = {id_: {} if run.live is None else run.live.so_far for id_, run in runs.items()}
    return {
        id_: {
            "headline": headline,
            "headline_value": number(sealed[id_].get("value", now[id_].get(headline))),
            "headline_interval": _interval(sealed[id_].get("interval")),
        }
        for id_ in runs.keys() & sealed.keys()
    }


def _interval(found: object) -> tuple[float, float] | None:
    if not isinstance(found, Mapping):
        return None
    low, high = number(found.get("ci_lower")), number(found.get("ci_upper"))
    return None if low is None or high is None else (low, high)
