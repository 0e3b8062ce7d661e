"""Every method of a sweep against the best of its baselines, all tests corrected together (benchmark-specification §6.3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from harness.card.rows import load_head
from harness.compare.against_best import MethodAgainstBest, RepeatedRuns, SharedRuns
from harness.core.failures import RunState, UsageError
from harness.release.budget import History, NotReleased
from harness.release.ledger import LedgerChange, ReleaseLedger, told_so_far
from harness.release.ledger_records import ReleasedCard, ReleasedSweep, ScoresTold
from harness.release.releasing import draft_scores, require_room, signed_file, submitter_name
from harness.store.runs import Run, find_by_id, find_run
from harness.store.sqlite.database import home
from harness.store.sweeps import StoredSweep, configuration_name, read_cells
from harness.sweep.record import SweepRecord
from harness.sweep.state import SweepSetup, setups_of
from scoring.core.inventory import direction
from scoring.core.metric import FloatArray
from scoring.core.specification import stated_columns
from scoring.statistics.intervals import DRAWS, LEVEL, SEED
from scoring.statistics.significance import COMPOSITE, holm

# ---- Main effects of a sweep: what each value of an axis adds over the first one, whatever the
# other axes are.
#
# Two set-ups form a pair where they differ in one axis alone. The effect of a value is the mean
# difference over its pairs. All set-ups see the same resamples of the entries, so the interval of
# the mean takes their common entries into account.


class AxisEffect(BaseModel):
    """What one value of an axis adds to the metric, on its own scale."""

    model_config = ConfigDict(frozen=True)

    axis: str
    value: str
    """Label of the value."""
    reference: str
    """Label of the value that it is compared with: the first of the axis."""
    pairs: int
    """Pairs of set-ups that differ in this axis alone."""
    difference: float
    lower: float
    upper: float
    """95 % interval, over resamples of the entries."""


def axis_effects(shared: SharedRuns, setups: Sequence[SweepSetup], metric: str) -> tuple[AxisEffect, ...]:
    """Return the effects of all axes with two values or more, in the order of the plan.

    A set-up that does not compare with the first one takes no part. UsageError where entries are secret.
    """
    places, points, drawn = shared.drawn([setup.run_ids for setup in setups])
    sign = -1.0 if direction(metric) == "lower" else 1.0
    kept = [setups[place] for place in places]
    return tuple(_effects(kept, sign * points, sign * drawn))


def _effects(setups: Sequence[SweepSetup], points: FloatArray, drawn: FloatArray) -> Iterator[AxisEffect]:
    for axis in dict.fromkeys(name for setup in setups for name in setup.labels):
        # Group set-ups that are alike but for the axis: of each group, label → place.
        groups: dict[tuple[tuple[str, str], ...], dict[str, int]] = {}
        for place, setup in enumerate(setups):
            if axis in setup.labels:
                rest = tuple((name, label) for name, label in setup.labels.items() if name != axis)
                groups.setdefault(rest, {})[setup.labels[axis]] = place
        rests = list(groups.values())
        values = list(dict.fromkeys(setup.labels[axis] for setup in setups if axis in setup.labels))
        for value in values[1:]:
            pairs = [(rest[values[0]], rest[value]) for rest in rests if {values[0], value} <= rest.keys()]
            if pairs:
                first, second = np.array(pairs).T
                draws = (drawn[second] - drawn[first]).mean(axis=0)
                tail = 100 * (1 - LEVEL) / 2
                lower, upper = np.nanpercentile(draws, [tail, 100 - tail])
                difference = float((points[second] - points[first]).mean())
                yield AxisEffect(
                    axis=axis, value=value, reference=values[0], pairs=len(pairs),
                    difference=difference, lower=float(lower), upper=float(upper),
                )  # fmt: skip


ALPHA = 0.05  # The level that p after Holm is held against


_MEND = (
    "`--metric chrf` compares by chrF++. Where coaching brings terms that other runs are not scored with, `terms` "
    "under [fixed] in the plan has all runs scored alike."
)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class ComparedSetup(_Record):
    """A set-up whose complete repetitions were taken together; variances are of one value, on the metric's own scale."""

    name: str
    runs: tuple[str, ...]
    """Ids."""
    value: float
    """Of all their outputs together."""
    between_entries: float | None = None
    between_repetitions: float | None = None
    remainder: float | None = None
    """Chance of one repetition on one entry; all three None of a single run, and where ``unparted`` says why."""
    unparted: str = ""


class MethodVerdict(_Record):
    """What came of one method."""

    method: ComparedSetup
    entries: int
    """Those that it and all its baselines have."""
    best: str
    """Name of the baseline that came out best on these entries."""
    nearest: str
    """Name of the baseline over which its lead is least sure."""
    difference: float
    """Its value minus that of ``best``."""
    lower: float
    upper: float
    """95 % interval of its value minus that of the truly best baseline."""
    p_picked: float
    """Against ``best`` alone, as if it had been named before."""
    p_maximum: float
    """Against the best of all baselines."""
    p_holm: float
    """``p_maximum``, corrected for the number of methods."""
    beats: bool
    """Whether it is better than every baseline, after the correction too."""


class SweepComparison(_Record):
    """All methods of a sweep against its baselines."""

    id: str
    name: str
    metric: str
    """Empty of a sweep over a vault."""
    methods: tuple[MethodVerdict, ...]
    """In the order of the plan."""
    baselines: tuple[ComparedSetup, ...]
    left_out: dict[str, str]
    """Name of a set-up, or id of a run → why it is not among them."""
    effects: tuple[AxisEffect, ...] = ()
    """What each value of an axis adds; empty where no two set-ups differ in one axis alone."""
    unanswered: str = ""
    """Why no method was compared with baselines; empty where some were."""
    answers: tuple[ReleasedCard, ...] = ()
    """Of a sweep over a vault: what was released of it; nothing else is worked out then."""


def compare_sweep(
    connection: sqlite3.Connection, found: SweepRecord, metric: str = COMPOSITE, *, draws: int = DRAWS, seed: int = SEED
) -> SweepComparison:
    """Compare each method of a sweep with the best of its baselines, complete runs only.

    Without a method or a baseline, the effects of the axes are all that is returned. UsageError where there are
    none either, nothing compares, or entries are secret. Of a sweep over a vault what was released is all that is returned.
    """
    if found.inside:
        answers = tuple(act.card for act in _answers(told_so_far(home()), found.id))
        none = "" if answers else "Nothing was released of this sweep yet."
        return SweepComparison(id=found.id, name=found.name, metric="", methods=(), baselines=(), left_out={}, unanswered=none, answers=answers)  # fmt: skip
    setups = setups_of(found)
    done = [setup for setup in setups if setup.complete]
    baselines = [setup for setup in done if setup.is_baseline]
    methods = [setup for setup in done if not setup.is_baseline]
    left_out = {s.name: "none of its runs is complete" for s in setups if not s.complete}
    results: dict[str, MethodAgainstBest] = {}
    shared = SharedRuns(connection, metric, draws=draws, seed=seed)
    effects: tuple[AxisEffect, ...] = ()
    with suppress(UsageError):  # no two set-ups compare: the comparison says why
        effects = axis_effects(shared, done, metric)
    if unanswered := _one_sided(methods, baselines):
        if not effects:
            raise UsageError(unanswered)
        methods = []
    for method in methods:
        try:
            others = [baseline.run_ids for baseline in baselines]
            result = shared.against_best(method.run_ids, others, trials=10 * draws)
        except UsageError as error:
            left_out[method.name] = str(error)
            continue
        if result.inside:
            raise UsageError(
                "These runs have secret entries: how they differ is counted and released. `rosetta vault compare` does it."
            )
        left_out |= result.refused
        results[method.name] = result
    if methods and not results:
        reasons = dict.fromkeys(left_out.values())
        raise UsageError("\n".join(["No method of this sweep compares.", *reasons, _MEND]))
    names = {run_id: setup.name for setup in done for run_id in setup.run_ids}
    corrected = holm([result.found.p_maximum for result in results.values()])
    known = {b.runs[0].run_id: b for result in results.values() for b in result.baselines}
    return SweepComparison(
        id=found.id,
        name=found.name,
        metric=metric,
        methods=tuple(_verdict(result, names, p) for result, p in zip(results.values(), corrected, strict=True)),
        baselines=tuple(_told(repeated_runs, names) for repeated_runs in known.values()),
        left_out=left_out,
        effects=effects,
        unanswered=unanswered,
    )


def _one_sided(methods: Sequence[SweepSetup], baselines: Sequence[SweepSetup]) -> str:
    """Return why methods and baselines cannot be compared; empty where there are both."""
    if not baselines:
        return (
            "No baseline of this sweep is complete: a model as it comes (without coaching and tools), a copy of the "
            "source or a constant. Let the plan have one."
        )
    if not methods:
        return (
            "Every complete set-up of this sweep is a baseline, so no method can be compared with them. "
            "`rosetta compare` compares two to six runs with each other."
        )
    return ""


def _told(runs: RepeatedRuns, names: dict[str, str]) -> ComparedSetup:
    parts = ("between_entries", "between_repetitions", "remainder")
    return ComparedSetup(
        name=names[runs.runs[0].run_id],
        runs=tuple(run.run_id for run in runs.runs),
        value=runs.value,
        **{part: getattr(runs.repeated, part, None) for part in parts},
        unparted=runs.unparted,
    )


def _verdict(result: MethodAgainstBest, names: dict[str, str], p: float) -> MethodVerdict:
    tested = result.found
    shown = ("difference", "lower", "upper", "p_picked", "p_maximum")
    return MethodVerdict(
        method=_told(result.method, names),
        entries=result.entries,
        best=names[result.best.runs[0].run_id],
        nearest=names[result.nearest.runs[0].run_id],
        **{name: getattr(tested, name) for name in shown},
        p_holm=p,
        beats=tested.beats and p < ALPHA,
    )


# ---- What leaves of a sweep over a vault: one answer of the budget, whose rules are those of any other ----


def release_sweep(
    connection: sqlite3.Connection, sweep: StoredSweep, submitter: str, ledger: ReleaseLedger, open_texts: Callable[[], object] | None = None
) -> bytes:  # fmt: skip
    """Return the one answer of a sweep over secret entries: the released card of one run. ``open_texts`` as in ``release_run``.

    A set-up is named only where it is clearly better than each of the others, and than the best told before: then its
    first run is released. Else that of the set-up that the plan names first, which nobody chose by the scores. So 20 set-ups tell
    no more than log2(21) bits next to one card, and those that differ by chance nothing.
    """
    name, cells = submitter_name(submitter), [(cell, find_by_id(connection, cell.run_id)) for cell in read_cells(connection, sweep.number)]  # fmt: skip
    setups: dict[str, list[Run]] = {}
    for cell, run in cells:
        if run is None or run.state is not RunState.COMPLETE:
            raise NotReleased(f"Not every run of sweep {sweep.name!r} is complete: a sweep is released as a whole. `rosetta sweep resume {sweep.id}` continues it.")  # fmt: skip
        setups.setdefault(configuration_name(cell.named.name, cell.named.replicate), []).append(run)
    labels, first = [*setups], next(iter(setups.values()))[0]

    def check(change: LedgerChange) -> None:
        require_room(connection, first, name, change)

    def answered(change: LedgerChange, place: int, verdict: Literal["best", "cannot be told apart"]) -> ScoresTold:
        card = ReleasedSweep(id=sweep.key, setups=len(setups), setup=labels[place], verdict=verdict)
        return change.history.answer(draft_scores(connection, setups[labels[place]][0], name, change, card), change.now)

    def made(change: LedgerChange) -> ScoresTold:
        place = _best_setup(connection, [[run.run_id for run in runs] for runs in setups.values()])
        if place is not None and (act := answered(change, place, "best")).new:
            return act
        return answered(change, 0, "cannot be told apart")

    return signed_file(ledger, lambda past: _answers(past, sweep.key, name), made, open_texts, check)


def _answers(past: History, id_: str, submitter: str | None = None) -> list[ScoresTold]:
    """Return what was released of a sweep, by the beginning of its id: to one submitter, or to all."""
    acts = past.told(ScoresTold, submitter)
    return [act for act in acts if act.card.sweep is not None and act.card.sweep.id.startswith(id_)]


def _best_setup(connection: sqlite3.Connection, setups: Sequence[Sequence[str]]) -> int | None:
    """Return the place of the set-up, each as the ids of its repetitions, that is better than each of the others; None where none is.

    It is the one that came out best, held against all others by the larger p of each pair's two tests, and corrected for the
    number of set-ups that could have come out best (Holm: 20 set-ups ask for p < 0.0025). A shuffle of two that differ on
    six entries gives p ≥ 2 / 2⁶ = 0.031, and two set-ups ask for p < 0.025: so nothing is said about fewer than seven.
    """
    headline = stated_columns(load_head(connection, find_run(connection, setups[0][0]).id).scoring).headline
    shared, sign = SharedRuns(connection, headline), 1 if direction(headline) == "higher" else -1
    against = shared.against_best(setups[0], setups[1:])
    values = [against.method.value, *(others.value for others in against.baselines)]
    if len(values) < len(setups):  # some do not compare
        return None
    if place := max(range(len(values)), key=lambda at: sign * values[at]):
        against = shared.against_best(setups[place], [*setups[:place], *setups[place + 1 :]])
    return place if against.found.beats and against.found.p_maximum * len(setups) < ALPHA else None
