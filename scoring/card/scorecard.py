"""The ``scores`` block of a run card (§9): every key is there, null comes with its reason."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from random import Random
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    field_serializer,
    field_validator,
    model_serializer,
)

from corpora.files.packed_list import BLOCK, ListPart
from corpora.model.entry import Entry
from corpora.text.messages import counted
from scoring.card.caveats import OutputTally
from scoring.card.claim import Claim, FloorScores, Score, decide_claim
from scoring.card.floors import FloorWork
from scoring.core.inventory import Composite, Input, cost_adjusted
from scoring.core.metric import FAILED, EntryStatistics, Table
from scoring.core.packs import RAISED
from scoring.core.scorer import Scorer
from scoring.core.specification import COMPOSITE, Tier, specification
from scoring.findings.finding import LEAST_SHARE, FindingCode, FindingCount, read_counts
from scoring.statistics.intervals import (
    FREE,
    SEED,
    Group,
    Interval,
    ValueSpread,
    bootstrap,
    breakdowns,
    spreads,
    wilson_intervals,
)

CHRF = "chrf_plus_plus"
"""The metric that prices findings."""


class ConfidenceInterval(BaseModel):
    """One interval as the card writes it (§8.1), with Wilson's next to it for rates of right and wrong."""

    model_config = ConfigDict(frozen=True)
    ci_lower: float
    ci_upper: float
    level: float
    draws: int
    seed: int | None
    method: str
    wilson_lower: float | None = None
    wilson_upper: float | None = None


class GroupScores(BaseModel):
    """The scores of one part of the corpus; metrics beyond these are next to them where they were computed."""

    model_config = ConfigDict(frozen=True, extra="allow")
    n: int
    exact_match_rate: float | None
    equivalent_match_rate: float | None
    chrf_plus_plus: float | None
    bleu: float | None
    ter: float | None
    composite: float | None
    confidence_intervals: dict[str, ConfidenceInterval]


_OF_A_PROFILE = {"composite_profile", "composite_profile_reason", "composite_missing"}


class RunScores(BaseModel):
    """All scores of a run at full precision; ``model_dump(mode="json")`` is the card's block."""

    model_config = ConfigDict(frozen=True, extra="allow")
    exact_match_rate: float | None
    exact_matches: int | None
    equivalent_match_rate: float | None
    equivalent_matches: int | None
    chrf_plus_plus: float | None
    bleu: float | None
    ter: float | None
    length_ratio: float | None
    fst_acceptance_rate: float | None
    fst_accepted: int | None
    """Words."""
    fst_accepted_entries: int | None
    """Entries of which every word is accepted."""
    morphological_accuracy: float | None
    orthographic_accuracy: float | None
    semantic_score: float | None
    comet_score: float | None
    comet_model: str
    """Empty where COMET was not computed."""
    code_switching_rate: float | None
    hallucination_rate: float | None
    terminology_adherence: float | None
    consistency_score: float | None
    compliance_index: float | None
    compliance_index_raw: float | None
    """Before the method's own repairs."""
    repair_effectiveness: float | None
    reasons: dict[str, str]
    """Why each metric that is null is null."""
    composite: float | None
    composite_profile: str
    """Empty, as are reason and ``composite_missing``, of tasks that have no composite; it is not written then."""
    composite_profile_reason: str
    composite_inputs: tuple[Input, ...]
    composite_missing: dict[str, str]
    composite_coverage: float
    quality_tier: Tier
    claimable_tier: Tier
    tier_in_words: str
    at_floor: bool
    mostly_identical: bool | None
    """None where the outputs were not available."""
    claim: Claim
    """What may be claimed and why no more; the fields above are taken from it."""
    floors: dict[str, FloorScores]
    cost_adjusted: float | None
    confidence_intervals: dict[str, ConfidenceInterval]
    by_difficulty: dict[str, GroupScores]
    by_provenance: dict[str, GroupScores]
    by_register: dict[str, GroupScores]
    by_segment: dict[str, GroupScores]
    by_context: dict[str, GroupScores]
    by_variety: dict[str, GroupScores] = {}
    by_orthography: dict[str, GroupScores] = {}
    """Both are written only where an entry has such a tag."""
    spread: dict[str, ValueSpread] = {}
    """How the entries' values of each metric of a pack lie; absent where none was computed."""
    findings: tuple[FindingCount, ...] | None = None
    """What can be named in the outputs without a model, the most frequent first; absent where they were not available."""
    signatures: dict[str, str]
    total: int
    evaluated: int
    """Entries with an output; the errors stay in every denominator all the same."""
    errors: int

    @field_serializer("claim")
    def _claim(self, claim: Claim) -> dict[str, Any]:
        return dict(claim.record())

    @field_validator("findings", mode="before")
    @classmethod
    def _read_findings(cls, stated: object) -> object:
        return None if stated is None else read_counts(stated)

    @field_serializer("findings")
    def _findings(self, findings: tuple[FindingCount, ...] | None) -> list[dict[str, Any]]:
        return [dict(finding.record()) for finding in findings or ()]

    @model_serializer(mode="wrap")
    def _without_empty(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit what earlier cards have not, where there is nothing in it, and words of no composite."""
        fields: dict[str, Any] = write(self)
        names = {"spread", *(f"by_{name}" for name in FREE)}
        names |= set() if self.composite_profile else _OF_A_PROFILE
        if self.findings is None:
            del fields["findings"]
        return {name: value for name, value in fields.items() if value or name not in names}


def scorecard(
    entries: Sequence[Entry],
    statistics: Sequence[EntryStatistics],
    errors: Sequence[bool],
    scorer: Scorer,
    outputs: Sequence[str] | None = None,
    *,
    corpus_values: Mapping[str, float | None] | None = None,
    comet_model: str = "",
    cost_per_entry_usd: float | None = None,
    known_floors: Mapping[str, FloorScores] | None = None,
    seed: int = SEED,
) -> RunScores:
    """Fold a run's entries into its scores; all sequences go by entry, in the same order.

    ``corpus_values`` are those of the scorer's corpus metrics. ``known_floors`` are those of another run
    on the same entries and metrics, to save computing them.
    ValueError where the sequences have different lengths.
    """
    _check_lengths(entries, statistics, errors, outputs)
    table = scorer.table(statistics)
    values = {**table.corpus_values(), **(corpus_values or {})}
    packed = [id_ for id_ in scorer.ids if "." in id_]
    counts = Counter(id_ for taken in statistics for id_ in packed if taken.get(id_) == FAILED) if packed else Counter()
    raised = {id_: counts[id_] for id_ in packed if counts[id_]}
    reasons = scorer.reasons(values) | {
        id_: f"the code of its pack failed at {counted(number, 'entry', 'entries')}, and no other has a value"
        for id_, number in raised.items()
        if values.get(id_) is None
    }
    mixed = scorer.composite(values)
    intervals = {
        id_: interval for id_, interval in bootstrap(table, seed=seed).items() if id_ != COMPOSITE or scorer.mixes
    }
    if not scorer.mixes:  # answers have no floors, and what holds of translations says nothing here
        known_floors, outputs = {}, None
    floor_values = dict(
        FloorWork(scorer.entries_alike(entries), scorer.metrics, seed=seed, weighing=scorer.weighing).finish()
        if known_floors is None
        else known_floors
    )
    tally = OutputTally(free_word_order=scorer.free_word_order)
    if outputs is not None:
        tally.add(entries, outputs, statistics)
    identical, caveats = tally.identical, tally.caveats()
    del tally
    claim = decide_claim(
        mixed,
        _lower(intervals, COMPOSITE),
        Score(values.get(CHRF), _lower(intervals, CHRF)),
        floor_values,
        identical=identical,
        caveats=caveats,
    )
    of_table: dict[str, Any] = {
        **_metric_fields(table, values, scorer.told_of),
        **{f"by_{part}": _groups(groups) for part, groups in breakdowns(entries, table, seed=seed).items()},
        "confidence_intervals": _written(intervals, wilson_intervals(table)),
        "spread": spreads(table.only(packed).entry_values()),
    }
    del table  # before the findings, which take as much memory
    return RunScores(
        **of_table,
        **{f"{id_}{RAISED}": number for id_, number in raised.items()},
        **_composite_fields(mixed if scorer.mixes else _NO_COMPOSITE),
        quality_tier=claim.quality_tier,
        claimable_tier=claim.claimable_tier,
        tier_in_words=claim.words(),
        at_floor=claim.at_floor,
        mostly_identical=None if outputs is None else identical,
        claim=claim,
        reasons=reasons,
        floors=floor_values,
        cost_adjusted=cost_adjusted(mixed.value, cost_per_entry_usd),
        findings=None if outputs is None else _findings(entries, outputs, statistics, scorer),
        signatures=scorer.signatures,
        comet_model=comet_model,
        total=len(entries),
        evaluated=len(entries) - sum(errors),
        errors=sum(errors),
    )


def _findings(
    entries: Sequence[Entry], outputs: Sequence[str], statistics: Sequence[EntryStatistics], scorer: Scorer
) -> tuple[FindingCount, ...]:
    """Return the findings without entries and examples, priced by the run's own chrF++ where it has it."""
    from scoring.findings.engine import find  # its patterns, which reading a card does without

    chrf = next((metric for metric in scorer.metrics if metric.info.id == CHRF), None)
    number = 1 if len(entries) <= EXAMINED_TOGETHER else -(-len(entries) // PART)
    # in random parts, since a corpus may have an order that repeats, of whole blocks: each is unpacked once
    blocks = [range(len(entries))[at : at + BLOCK] for at in range(0, len(entries), BLOCK)]
    if number > 1:
        Random(0).shuffle(blocks)  # noqa: S311  chance, no secret
    parts: dict[FindingCode, list[FindingCount]] = {}
    for first in range(number):
        places = sorted(blocks[first::number], key=attrgetter("start"))
        parts_of = partial(ListPart, places=array("l", chain.from_iterable(places)))
        texts = (entries, outputs) if number == 1 else (parts_of(entries), parts_of(outputs))
        taken = statistics if number == 1 else parts_of(statistics)
        known = None if chrf is None else scorer.table(taken).columns(CHRF)
        for finding in find(*texts, chrf, known, read=scorer.alike):
            parts.setdefault(finding.code, []).append(finding.counts())
    counts = (findings[0] if number == 1 else _joined(findings, len(entries)) for findings in parts.values())
    return tuple(sorted(counts, key=lambda finding: -finding.count))


EXAMINED_TOGETHER, PART = 100_000, 20_000
"""Outputs in which findings are searched together; of more it is in random parts, and a cost is the mean of theirs."""


def _joined(parts: Sequence[FindingCount], entries: int) -> FindingCount:
    """Return the findings of one kind in the parts of a run as one."""
    count = sum(part.count for part in parts)
    priced = [part.of * part.cost for part in parts if part.cost is not None]
    cost = sum(priced) / entries if priced and count >= LEAST_SHARE * entries else None
    return FindingCount(code=parts[0].code, count=count, of=entries, cost=cost)


def _lower(intervals: Mapping[str, Interval], metric: str) -> float | None:
    return intervals[metric].lower if metric in intervals else None


def _check_lengths(
    entries: Sequence[Entry],
    statistics: Sequence[EntryStatistics],
    errors: Sequence[bool],
    outputs: Sequence[str] | None,
) -> None:
    lengths = {"statistics": len(statistics), "errors": len(errors)}
    if outputs is not None:
        lengths["outputs"] = len(outputs)
    wrong = [f"{len_} {name}" for name, len_ in lengths.items() if len_ != len(entries)]
    if wrong:
        raise ValueError(f"there are {len(entries)} entries but {', '.join(wrong)}")


def _metric_fields(table: Table, values: Mapping[str, float | None], told_of: Sequence[str]) -> dict[str, float | None]:
    ids = (*specification().metrics, *told_of, *values)
    fields: dict[str, float | None] = {id_: values.get(id_) for id_ in ids}
    for id_ in ("exact_match_rate", "equivalent_match_rate"):
        there = values.get(id_) is not None
        matches = int(table.sums(id_)[0]) if there else None
        fields[id_.replace("match_rate", "matches")] = matches
    # what else the statistics of a metric tell; None where it was not computed
    fields |= dict.fromkeys(("fst_accepted", "fst_accepted_entries", "compliance_index_raw"))
    for metric in table.metrics:
        fields |= metric.further(table.sums(metric.info.id))
    return fields


_NO_COMPOSITE = Composite(None, "", "", (), {}, 0.0)


def _composite_fields(mixed: Composite) -> dict[str, float | str | tuple[Input, ...] | Mapping[str, str] | None]:
    return {
        "composite": mixed.value,
        "composite_profile": mixed.profile,
        "composite_profile_reason": mixed.profile_reason,
        "composite_inputs": mixed.inputs,
        "composite_missing": mixed.missing,
        "composite_coverage": mixed.coverage,
    }


_NO_VALUES: dict[str, float | None] = {
    id_: None for id_ in GroupScores.model_fields if id_ not in {"n", "confidence_intervals"}
}


def _groups(groups: Mapping[str, Group]) -> dict[str, GroupScores]:
    return {
        tag: GroupScores(n=part.n, confidence_intervals=_written(part.intervals, {}), **_NO_VALUES | part.values)
        for tag, part in groups.items()
    }


def _written(intervals: Mapping[str, Interval], closed: Mapping[str, Interval]) -> dict[str, ConfidenceInterval]:
    return {
        id_: ConfidenceInterval(
            ci_lower=interval.lower,
            ci_upper=interval.upper,
            level=interval.level,
            draws=interval.draws,
            seed=interval.seed,
            method=interval.method,
            wilson_lower=closed[id_].lower if id_ in closed else None,
            wilson_upper=closed[id_].upper if id_ in closed else None,
        )
        for id_, interval in intervals.items()
    }
