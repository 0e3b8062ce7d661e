"""Two runs compared: by which metrics, the tests, what a repetition shows, and a run under way against an earlier one."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

from corpora.files.json_types import JsonObject
from harness.card.comparability import ScoredTerms, terms_remedy
from harness.compare.rows import ComparedRow, OrderedRun, scorer_of
from harness.core.failures import HarnessError, RunState, UsageError
from harness.method.method import Result, Setup
from harness.setup.scoring_tools import changes
from harness.store.attachments import UNCHECKED, Attached, checked_here
from harness.store.corpora.entries import corpus_sha256, holds_secrets
from harness.store.results import sort_columns
from harness.store.runs import Run, find_run
from harness.store.sqlite.openings import EarlyStop
from scoring.core.inventory import composite_metrics, direction, in_order, known_row, profile_for, short_title
from scoring.core.metric import FloatArray, Table
from scoring.core.scorer import NOT_WANTED, Scorer
from scoring.core.setup import weighing_words
from scoring.statistics.intervals import LEVEL, Interval
from scoring.statistics.racing import ConfidenceSequence, span_of
from scoring.statistics.repetitions import Reproduction
from scoring.statistics.significance import COMPOSITE, Difference


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison; all numbers are over the entries that all runs have."""

    letter: str
    """A to F, in the order in which the runs were named."""
    run_id: str
    number: int
    """The store's own."""
    setup: Setup
    dataset_id: str
    language_pair: str
    created: float
    complete: bool
    under_way: bool
    """Whether a process is at work on it now."""
    imported: bool
    unverified: bool
    total: int
    """Entries that the run is of."""
    done: int
    """Entries that can be compared."""
    values: Mapping[str, float | None]
    """By metric id, and ``composite``."""
    intervals: Mapping[str, Interval]
    failed: int
    cached: int
    """Outputs from the cache: a repetition made of them repeats nothing."""
    cost_usd: float | None
    """What the outputs cost when they were made; None: unknown for one of them (M5)."""
    known_cost_usd: float
    """What is known of it: the least that it can be."""
    median_seconds: float | None
    """Middle latency of the entries that were not answered from the cache."""
    card: JsonObject | None = None
    """What its card says of its claim, over all its outputs; None before it has a card."""
    certificates: tuple[Attached, ...] = ()
    """What reviews said of it."""
    inside: bool = False
    """Whether secret entries are among those compared, so that no number leaves but as a released difference."""
    stated: bool = False
    """Whether its scores are only what its card from elsewhere states: nobody scored them again here with its corpus."""
    file: str = ""
    """Name of the file that the outputs were read from; empty where they were made in the run."""


@dataclass(frozen=True, slots=True)
class RunningDifference:
    """What is known of a difference while a run is still going on, right however often one looks."""

    mean: float  # Mean over the entries so far of `second - first`, of the entries' own values
    lower: float
    upper: float  # Ends of the confidence sequence for that mean
    entries: int
    level: float
    direction: str

    @property
    def better(self) -> str | None:
        """``first`` or ``second``, None while both are possible or no direction is better."""
        if self.direction == "neither" or self.lower <= 0 <= self.upper:
            return None
        return "second" if (self.lower > 0) == (self.direction == "higher") else "first"


@dataclass(frozen=True)
class Pair:
    """Two runs; every difference is ``second - first``."""

    first: ComparedRun
    second: ComparedRun
    by_metric: Mapping[str, Difference]
    """By metric id and ``composite``."""
    left_out: Mapping[str, str]
    """Metric → why these two do not compare by it."""
    used: frozenset[str] = frozenset()
    """Metrics by which they compare or of which their composite is made."""
    p_adjusted: Mapping[str, float] = field(default_factory=dict)
    """Metric → p of the approximate randomisation, by Holm over all pairs of the comparison."""
    pairs: int = 1
    """How many pairs the comparison has."""
    running: Mapping[str, RunningDifference] = field(default_factory=dict)
    """Metric → what may be said so far; empty where both runs are complete."""
    reproduction: Reproduction | None = None
    """The ±2 % verdict (§1.3); None where the second is no repetition of the first."""

    @property
    def under_way(self) -> bool:
        """True where one of the runs is not complete: then only ``running`` may be acted upon."""
        return not (self.first.complete and self.second.complete)

    def significant(self, metric: str) -> bool:
        """Return whether the runs differ by a metric, with all pairs counted (Holm)."""
        if self.under_way:
            running_difference = self.running.get(metric)
            return running_difference is not None and not running_difference.lower <= 0 <= running_difference.upper
        difference = self.by_metric.get(metric)
        if difference is None or not difference.significant:
            return False
        return self.p_adjusted.get(metric, 1.0) < difference.alpha

    def better(self, metric: str) -> ComparedRun | None:
        """Return the run that is better by a metric; None where that may be chance."""
        if not self.significant(metric):
            return None
        difference = self.running.get(metric) if self.under_way else self.by_metric[metric]
        side = None if difference is None else difference.better
        return {"first": self.first, "second": self.second, None: None}[side]


@dataclass(frozen=True)
class PairSide:
    """One run of a pair on the entries that all runs have."""

    rows: OrderedRun
    used: tuple[ComparedRow, ...]  # Those of its rows, in the order in which all runs have them
    table: Table
    values: Mapping[str, float]  # Values of the metrics that have one

    @property
    def name(self) -> str:
        """The run in words."""
        return f"run {self.rows.run.run_id[:8]}"

    @property
    def terms(self) -> ScoredTerms:
        """The terms with which it was scored."""
        return ScoredTerms(self.rows.run.run_id[:8], self.rows.setup.terms_sha256)

    def signature(self, id_: str) -> str:
        """Return all that the value of a metric depends on."""
        return self.rows.scorer.signatures[id_]

    @property
    def inputs(self) -> tuple[str, frozenset[str]]:
        """The composite's profile and the metrics that it weighs."""
        profile = profile_for(self.values)
        return profile, frozenset(self.table.weighing.profiles[profile].keys() & self.values.keys())


def shared_metrics(first: PairSide, second: PairSide, asked: frozenset[str] | None) -> tuple[list[str], dict[str, str]]:
    """Return by which of the requested metrics two runs compare, and why not by the others.

    None asks for all that either run has a value of, and of translations for ``composite``.
    """
    mixed = {COMPOSITE} if first.rows.scorer.mixes or second.rows.scorer.mixes else set()
    wanted = asked or first.values.keys() | second.values.keys() | mixed
    weighed = composite_metrics() if COMPOSITE in wanted else frozenset()
    reasons = {
        id_: why
        for id_ in in_order((wanted | weighed) - {COMPOSITE})
        if (why := _why_not(id_, first, second)) is not None
    }
    if COMPOSITE in wanted and (why := _why_no_composite(first, second, reasons)) is not None:
        reasons[COMPOSITE] = why
    shared = in_order(wanted - reasons.keys())
    return shared, {id_: why for id_, why in reasons.items() if id_ in wanted}


def _why_not(id_: str, first: PairSide, second: PairSide) -> str | None:
    """Return why two runs do not compare by a metric; None where they do."""
    if not known_row(id_).interval:
        return "it is of a whole corpus: it has no parts that could be compared"
    for side in (first, second):
        if id_ not in side.values:
            reasons = side.rows.scorer.reasons(dict(side.values))
            return f"{side.name} has no value: {reasons.get(id_, NOT_WANTED)}"
    one, other = first.signature(id_), second.signature(id_)
    if one == other:
        return None
    only_one, only_other = different_parts(one, other), different_parts(other, one)
    # Name the facts of the two cards' `scoring` blocks that differ.
    changed = changes(first.rows.setup, second.rows.setup)
    changed_names = [name for name in changed if name != "metrics"]
    facts = f" ({', '.join(changed_names)})" if changed_names else ""
    return f"scored otherwise{facts}: {only_one} in {first.name}, {only_other} in {second.name}"


def different_parts(signature: str, other: str) -> str:
    """Return the parts of a signature that another one does not have."""
    parts = [part for part in signature.split("|") if part not in other.split("|")]
    return "|".join(parts) or "nothing more"


def _why_no_composite(first: PairSide, second: PairSide, left_out: Mapping[str, str]) -> str | None:
    """Return why the composites do not compare: other inputs are other weights, so another number."""
    if first.table.weighing != second.table.weighing:
        by = (
            f"{pair_side.name} by {weighing_words(pair_side.rows.setup.calibration)}" for pair_side in (first, second)
        )
        return f"the composites are weighed otherwise ({', '.join(by)})"
    (profile, inputs), (other_profile, others) = first.inputs, second.inputs
    if not (inputs and others):
        return "there is no composite: none of its inputs has a value"
    if inputs != others or profile != other_profile:
        only = [*_only(inputs - others, first), *_only(others - inputs, second)]
        profiles = f"profile {profile} and {other_profile}" if profile != other_profile else ""
        parts = "; ".join(filter(None, [profiles, *only]))
        return f"the composites weigh other inputs ({parts}), so the weights differ{terms_remedy(first.terms, second.terms)}"
    otherwise = [id_ for id_ in first.table.weighing.profiles[profile] if id_ in inputs & left_out.keys()]
    if otherwise:
        return f"inputs of the composite were scored otherwise: {', '.join(map(short_title, otherwise))}"
    return None


def _only(ids: frozenset[str], side: PairSide) -> Iterator[str]:
    if ids:
        yield f"only {side.name} has {', '.join(sorted(map(short_title, ids), key=str.casefold))}"


def running_differences(
    values: Mapping[str, tuple[FloatArray, FloatArray]], metrics: Sequence[str], level: float
) -> dict[str, RunningDifference]:
    """Return for each metric with bounded entry values what may be said while a run is under way."""
    running_differences = {}
    for id_ in metrics:
        span = 1.0 if id_ == COMPOSITE else span_of(known_row(id_).info)
        if id_ not in values or span is None:
            continue
        sequence = ConfidenceSequence(span, level=level)
        sequence.add(values[id_][1] - values[id_][0])
        ends, mean = sequence.interval(), sequence.mean
        if ends is not None and mean is not None:
            running_differences[id_] = RunningDifference(mean, *ends, sequence.entries, level, direction(id_))
    return running_differences


def repeats(first: OrderedRun, second: OrderedRun) -> bool:
    """Return whether the second run is the same experiment once more, on its own outputs (§1.3).

    Outputs that a run took from a file are read again, not made again.
    """
    apart = first.sealed and second.sealed and first.made_in != second.made_in
    made_here = first.run.setup.outputs_sha256 is None
    return apart and made_here and _setup_hash(first) == _setup_hash(second)


def _setup_hash(side: OrderedRun) -> str:
    """Hash the set-up without the number of the repetition, which is all that repetitions differ in."""
    from harness.card.material import fingerprint  # loads all that makes cards

    setup = side.run.setup.model_copy(update={"replicate": 0})
    return fingerprint(setup, side.sha256, side.run.harness_version).setup_hash


# ---- A run under way against an earlier one. Entries come one by one, and somebody looks after each, so
# the difference of the entries that both runs have is held in a confidence sequence
# (``scoring.statistics.racing``), which errs no more often than 5 % over all looks together.

SHOWN_SECONDS = 1.0
"""Time between two intervals that are worked out, each some milliseconds; whether zero is left out is asked always."""


@dataclass(frozen=True, slots=True)
class LiveDifference:
    """What is known of a run under way against an earlier one."""

    run_id: str
    """Of the earlier run."""
    name: str
    """Its condition."""
    metric: str
    so_far: RunningDifference | None
    """``second`` is the run under way; None before both have an entry."""
    decided: int | None = None
    """Entries after which the interval first left zero out, None where it has not; later ones do not undo it."""
    better: bool | None = None
    """Whether the run under way was better then."""


def baseline_of(connection: sqlite3.Connection, name: str, sha256: str, scorer: Scorer, *, secret: bool = False) -> Run:
    """Return the complete run that a run under way is compared with; UsageError says why it does not compare.

    ``sha256``: of the run's corpus file; ``scorer``: its own; ``secret``: whether it has secret entries.
    """
    run = find_run(connection, name)
    why, metric = None, scorer.columns.headline
    own = scorer_of(connection, run) if run.state is RunState.COMPLETE else None
    if own is None:
        why = "it is not complete"
    elif secret or holds_secrets(connection, run):
        why = "entries are secret, and how runs differ on those is only released"
    elif run.imported and not checked_here(connection, run.id).get(run.id, UNCHECKED).counts:
        why = "its scores are only what its card states"
    elif (other := corpus_sha256(connection, run.corpus)) != sha256:
        why = f"its corpus is another: {run.dataset_id} (sha256 {other[:12]}), not sha256 {sha256[:12]}"
    elif metric not in own.signatures or metric not in scorer.signatures:
        why = f"not both runs have {short_title(metric) if metric else 'a metric'} for each entry"
    elif (theirs := own.signatures[metric]) != (mine := scorer.signatures[metric]):
        parts = f"{different_parts(theirs, mine)} there, {different_parts(mine, theirs)} here"
        why = f"{short_title(metric)} was scored otherwise ({parts})"
    elif span_of(known_row(metric).info) is None:
        why = f"{short_title(metric)} has no bounds, so nothing can be said before the end"
    if why is not None:
        raise UsageError(f"Run {run.run_id[:8]} cannot be the baseline of a run under way: {why}.")
    return run


def comparison_of(connection: sqlite3.Connection, run: Run, name: str | None, scorer: Scorer) -> LiveComparison | None:
    """Return the comparison of a stored run with the one that it names; None for none, or one that is gone."""
    if name is None:
        return None
    try:
        sha256, secret = corpus_sha256(connection, run.corpus), holds_secrets(connection, run)
        baseline = baseline_of(connection, name, sha256, scorer, secret=secret)
    except HarnessError:
        return None
    return LiveComparison.of(connection, run, baseline, scorer)


class LiveComparison:
    """Holds a run's entries, as they are scored, against the same entries of an earlier run."""

    def __init__(self, run_id: str, name: str, metric: str, values: Mapping[int, float | None]) -> None:
        """``values``: what the earlier run's entries have of the metric, by place in the corpus of the run under way."""
        self._run_id, self._name, self._metric, self._values = run_id, name, metric, values
        self._sequence = ConfidenceSequence(span_of(known_row(metric).info) or 1.0, level=LEVEL)
        self._decided: int | None = None
        self._better: bool | None = None
        self._shown: RunningDifference | None = None
        self._shown_at = 0.0

    @classmethod
    def of(cls, connection: sqlite3.Connection, run: Run, baseline: Run, scorer: Scorer) -> LiveComparison:
        """Read the entries of a ``baseline`` that a run has too: of the same id, with the same texts."""
        own = {row[1:]: row[0] for row in connection.execute(_ENTRIES, (run.corpus,))}
        query = _VALUES.format(headline=sort_columns(connection)["headline"])
        values = {own.get(row[1:]): row[0] for row in connection.execute(query, (baseline.id,))}
        known = {place: value for place, value in values.items() if place is not None}
        return cls(baseline.run_id, baseline.setup.condition, scorer.columns.headline, known)

    def add(self, results: Iterable[Result]) -> None:
        """Count in entries that were scored; those that the earlier run does not have are passed over."""
        self._sequence.add(self._differences(results))
        if self._decided is None and self._sequence.leaves_out_zero():
            self._decided = self._sequence.entries
            self._better = ((self._sequence.mean or 0.0) > 0) == (direction(self._metric) == "higher")

    def _differences(self, results: Iterable[Result]) -> Iterator[float]:
        for result in results:
            earlier = self._values.get(result.position)
            yield nan if earlier is None or result.headline is None else result.headline - earlier

    def so_far(self, *, exact: bool = False) -> LiveDifference:
        """Return what may be said now; unless ``exact``, of some moment of the last second."""
        entries, now = self._sequence.entries, time.monotonic()
        before = 0 if self._shown is None else self._shown.entries
        if entries != before and (exact or entries == self._decided or now - self._shown_at >= SHOWN_SECONDS):
            ends, mean = self._sequence.interval(), self._sequence.mean
            if ends is not None and mean is not None:
                self._shown_at = now
                self._shown = RunningDifference(mean, *ends, entries, LEVEL, direction(self._metric))
        return LiveDifference(self._run_id, self._name, self._metric, self._shown, self._decided, self._better)

    def stops(self, rule: str | None) -> bool:
        """Return whether a rule, ``worse`` or ``decided``, says that the run need not continue."""
        return self._decided is not None and (rule == "decided" or (rule == "worse" and self._better is False))


def stopped_words(early: EarlyStop) -> str:
    """Return why a run ended itself, for people."""
    digits = 1 if (span_of(known_row(early.metric).info) or 0) > 1 else 3
    mean, lower, upper = (f"{x:+.{digits}f}".replace("-", "−") for x in (early.difference, early.lower, early.upper))
    return (
        f"It stopped on purpose (--stop-when {early.rule}): {short_title(early.metric)} {mean} ({lower} to {upper}) against "
        f"run {early.against[:8]}, decided on {early.entries:,} entries."
    )


_ENTRIES = "SELECT position, entry_id, source, reference FROM entries WHERE corpus = ?"
_VALUES = """
    SELECT r.{headline}, e.entry_id, e.source, e.reference FROM results r JOIN runs u ON u.id = r.run
    JOIN entries e ON e.corpus = u.corpus AND e.position = r.position WHERE r.run = ?
"""


def candidates(connection: sqlite3.Connection, run: Run, scorer: Scorer, most: int) -> list[tuple[Run, float | None]]:
    """Return the complete runs that a run compares with, at most ``most``, the best by its headline first, with its value.

    Those that lack entries of the run, such as tries on its worst ones, come last.
    """
    metric = scorer.columns.headline
    sha256 = corpus_sha256(connection, run.corpus)
    rows = connection.execute(
        "SELECT u.run_id, json_extract(u.run_card, '$.scores.\"' || ? || '\"') FROM runs u JOIN corpora c ON c.id = u.corpus"
        " WHERE u.run_card IS NOT NULL AND u.put_away IS NULL AND c.sha256 = ? AND u.id <> ?",
        (metric, sha256, run.id),
    ).fetchall()
    sign = 1 if direction(metric) == "higher" else -1
    whole: list[tuple[Run, float | None]] = []
    partial: list[tuple[Run, float | None]] = []
    secret, places = holds_secrets(connection, run), frozenset(run.positions)
    for run_id, value in sorted(rows, key=lambda row: (row[1] is None, -sign * (row[1] or 0.0))):
        try:
            other = baseline_of(connection, run_id, sha256, scorer, secret=secret)
        except HarnessError:
            continue
        covers = run.positions == other.positions or places.issubset(other.positions)
        (whole if covers else partial).append((other, value))
        if len(whole) == most:
            break
    return [*whole, *partial][:most]
