"""Two runs held against each other: by which metrics they compare, the tests, and what a repetition shows.

One run of a comparison, and what is known of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpora.files.json_types import JsonObject
from harness.card.comparability import ScoredTerms, terms_remedy
from harness.compare.rows import ComparedRow, OrderedRun
from harness.method.method import Setup
from harness.setup.scoring_tools import changes
from harness.store.attachments import Attached
from scoring.core.inventory import composite_metrics, direction, in_order, known_row, profile_for, short_title
from scoring.core.metric import FloatArray, Table
from scoring.core.scorer import NOT_WANTED
from scoring.core.setup import weighing_words
from scoring.statistics.intervals import Interval
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
