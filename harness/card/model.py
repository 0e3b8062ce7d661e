"""The run card: one self-contained record of a run (benchmark-specification §3, scoring-specification §9).

Full precision is stored, rounding is for display (C5). Unknown keys are kept at every level, so that a
card from a newer or another program comes out as it went in.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from corpora.files.json_types import Json, JsonObject
from harness.core.canonical import canonical_sha256, sorted_key_sha256
from harness.core.failures import UsageError
from harness.method.method import Setup
from scoring.core.inventory import shipped_inventory


class Block(BaseModel):
    """A part of a card; keys that this version does not know stay in it."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, strict=True, allow_inf_nan=False)


class DatasetBlock(Block):
    """Which data was translated (§3.3)."""

    id: str
    version: str | None = None
    language_pair: str
    """Display label such as ``EN→CRK``."""
    sha256: str
    """Over the bytes of the corpus file; pins the result to one version of the data."""
    entry_count: int
    """Entries of this run; failed ones count."""
    corpus_entry_count: int | None = None
    """Entries of the whole corpus, None where it is not known."""
    source_language: str | None = None
    target_language: str | None = None
    """BCP 47 tags."""
    transmission: str | None = None
    """``local-only`` or ``open``: where the terms of the corpus let its texts go; absent without a term."""
    transmission_because: str | None = None
    """The term, and where it stands."""
    transmission_rule: str | None = None
    """Why the term leads there; absent where texts may be sent freely."""
    licence_class: str | None = None
    """One of ``corpora.model.vocabularies``, where the term is a licence that does not let them."""
    endpoints: list[str] | None = None
    """The only addresses to which the term lets texts be sent."""
    training: bool | None = None
    """Whether a model may learn from the texts; absent where nobody has said."""
    may_send: str | None = None
    """Why a person said that texts may be sent, where no term settled it."""
    variety: str | None = None
    orthography: str | None = None
    """What the corpus says of its whole; absent where it says nothing."""
    task: str | None = None
    """What was asked of the method; absent for translation."""


class MethodBlock(Setup):
    """All options of the method; what is missing from §3.2 stands here."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)


class IntervalBlock(Block):
    """A confidence interval (scoring-specification §8.1), with how it was made next to it."""

    ci_lower: float | None
    ci_upper: float | None


class SpreadBlock(Block):
    """Mean and sample standard deviation of the entries' own values of one metric."""

    mean: float
    std: float
    """0 for fewer than two values."""
    n: int
    """Entries that have a value."""


class FindingBlock(Block):
    """One kind of fault that can be named in outputs without a model; numbers only (scoring/findings)."""

    code: str
    count: int
    """Entries that have it."""
    of: int
    share: float
    """``count`` / ``of``, 0–1."""
    cost: float | None = None
    """Points of chrF++ that the run would gain without it; null where no rule undoes it, below 2 % of the entries,
    and of runs with secret entries."""


class Scores(Block):
    """Quality of the whole run (§3.4, scoring-specification §9); null has its reason in ``reasons``."""

    total: int
    """Entries of the run, failed ones included (M2)."""
    evaluated: int | None = None
    """Entries that have an output."""
    errors: int
    """Entries that failed."""
    errors_by_class: dict[str, int] | None = None
    """Class of failure → entries that failed so; null on cards that do not tell."""
    exact_matches: int | None = None
    exact_match_rate: float | None = None
    equivalent_matches: int | None = None
    equivalent_match_rate: float | None = None
    chrf_plus_plus: float | None = None
    """0–100."""
    bleu: float | None = None
    """0–100."""
    ter: float | None = None
    """0–∞, lower is better."""
    length_ratio: float | None = None
    fst_accepted: int | None = None
    fst_acceptance_rate: float | None = None
    morphological_accuracy: float | None = None
    orthographic_accuracy: float | None = None
    semantic_score: float | None = None
    comet_score: float | None = None
    comet_model: str | None = None
    code_switching_rate: float | None = None
    hallucination_rate: float | None = None
    terminology_adherence: float | None = None
    consistency_score: float | None = None
    composite: float | None = None
    """0–1."""
    quality_tier: str
    """The automatic label of scoring-specification §5.1."""
    cost_adjusted: float | None = None
    """Null where the cost is unknown or nothing (M6)."""
    confidence_intervals: dict[str, IntervalBlock] = {}
    by_difficulty: dict[str, Any] = {}
    by_provenance: dict[str, Any] = {}
    spread: dict[str, SpreadBlock] = {}
    """Metric id → how its entries lie, of metrics of packs; absent where there are none, and on earlier cards."""
    findings: list[FindingBlock] | None = None
    """What can be named in the outputs without a model; absent where they were not available, and on earlier cards."""
    reasons: dict[str, str] = {}
    """Metric id → why it has no value (M1)."""
    avg_latency_seconds: float | None = None
    median_latency_seconds: float | None = None
    p95_latency_seconds: float | None = None
    """The same values as in ``speed``, for readers of §3.6 (C1)."""


class EntryUsage(Block):
    """Tokens of one entry, each counted once (scoring-specification §6.1); null: not counted."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


class Tokens(EntryUsage):
    """Tokens of the run."""

    total_tokens: int | None = None
    tokens_per_entry: float | None = None


class AnnotatorCost(Block):
    """What one judge, or another endpoint that is asked about outputs, was asked and cost, in US dollars."""

    calls: int
    """Answered by the endpoint, not from the cache."""
    total_cost_usd: float | None
    """What the answers cost when they were made; null: unknown (M5)."""
    known_cost_usd: float
    """The part that is known: the total is at least this."""
    judged: int | None = None
    """Outputs that have a judgement; absent where outputs are not asked about one by one."""
    judge_failed: int | None = None
    """Outputs whose judgement failed: they have no score, which is not a score of 0."""


class ScoringCost(Block):
    """What endpoints charged for the scoring, in US dollars; no part of what the outputs cost."""

    calls: int
    total_cost_usd: float | None
    known_cost_usd: float
    spent_usd: float
    """What this run paid of it: answers from the cache were paid before."""
    by_annotator: dict[str, AnnotatorCost] = {}


class Cost(Block):
    """What the outputs cost when they were made, in US dollars (§6.2); null: unknown (M5)."""

    total_cost_usd: float | None = None
    cost_per_entry_usd: float | None = None
    cost_per_1k_tokens: float | None = None
    cost_per_source_char: float | None = None
    known_cost_usd: float | None = None
    """The part that is known: the total is at least this."""
    unpriced_entries: int | None = None
    """Entries whose cost is unknown."""
    reason: str | None = None
    """Why the total is unknown; cards from before this field do not say."""
    scoring: ScoringCost | None = None
    """Absent where the scoring asked no endpoint, and on cards of earlier versions."""


class Speed(Block):
    """How fast the run was (scoring-specification §7); answers from the cache are left out (M4)."""

    elapsed_seconds: float | None = None
    avg_latency_seconds: float | None = None
    median_latency_seconds: float | None = None
    p95_latency_seconds: float | None = None
    tokens_per_second: float | None = None
    entries_per_minute: float | None = None


class Totals(EntryUsage):
    """Tokens and cost once more, for readers of the other layout (§3.5, C1)."""

    total_cost_usd: float | None = None
    cost_per_entry_usd: float | None = None
    scoring_cost_usd: float | None = None
    """The same value as ``cost.scoring.total_cost_usd``; absent where the scoring asked no endpoint."""


class EntryResult(Block):
    """One translation (§3.7). Of secret entries there are rows on older cards only, with numbers."""

    entry_id: Annotated[StrictInt | StrictStr, Field(union_mode="left_to_right")]
    source: str | None = None
    reference: str | None = None
    variants: list[str] | None = None
    predicted: str | None = None
    """None where the entry failed, or where its texts are withheld."""
    withheld: bool = False
    """True for entries of a secret segment: no text of them is on the card."""
    exact_match: bool
    entry_chrf: float | None = None
    """Sentence chrF++, 0–100."""
    composite: float | None = None
    """The composite of this entry alone, 0–1."""
    values: dict[str, float | None] | None = None
    """Metric id → value of this entry alone, of every metric of the run; absent for translations, and on cards of
    earlier versions only what the task shows."""
    fst_accepted: bool | None = None
    """Whether the analyser accepts every word; null where there is no analyser."""
    fst_analysis: list[str] | None = None
    """Analyses of the output's words in their order, ``word+?`` for a rejected one; null without an analyser, on
    cards of earlier versions, and where the texts are withheld."""
    lint_verdict: str | None = None
    """EXACT, EQUIVALENT, MISS or NO_OUTPUT by the language's rules of variants; absent where it has none."""
    semantic_verdict: str | None = None
    """Verdict that the semantic score of this entry stands for (appendix B); absent where it stands for none."""
    segment: str | None = None
    difficulty: int | None = None
    provenance: str | None = None
    register_: str | None = Field(default=None, alias="register")
    context: str | None = None
    variety: str | None = None
    orthography: str | None = None
    """Both absent where the entry has none, and on cards of earlier versions."""
    latency_seconds: float | None = None
    usage: EntryUsage | None = None
    cost_usd: float | None = None
    spent_usd: float | None = None
    """What this run paid: 0 where the answer came from the cache."""
    cached: bool = False
    batch_size: int = 1
    attempts: int = 1
    error: str | None = None
    error_class: str | None = None
    statistics: dict[str, list[float] | None] | None = None
    """Metric id → what it took from this entry, for metrics that need more than the texts: from them every
    score of the card can be computed again. Absent where there are none."""


class Fingerprint(Block):
    """Identifies the experiment (§3.8); ``setup_hash`` is what runs are grouped by (C3)."""

    hash: str
    setup_hash: str = ""
    """Empty on cards of other programs that have none."""
    components: dict[str, Any]
    setup_components: dict[str, Any] = {}


class FloorBlock(Block):
    """What a worthless method reaches on the same entries (T2)."""

    name: str
    """``empty``, ``source``, ``constant``, ``shuffled``, ``words``, ``truncated``; others on other cards."""
    composite: float | None
    chrf_plus_plus: float | None = None
    inputs: list[str] = []
    """Metrics of its composite that have a value."""
    entries: int | None = None
    """Entries that it was scored on; null where nobody said."""
    searched: int | None = None
    """Of ``constant``: distinct references that it was chosen from by composite."""


class Budget(Block):
    """What the run was allowed to spend and what it spent, its scoring included, in US dollars."""

    budget_usd: float | None
    spent_usd: float | None
    """None where an entry's price is unknown."""


class Retries(Block):
    """How often entries were tried again."""

    attempts: int
    """Tries at all entries, the first ones included."""
    retried_entries: int
    """Entries that took more than one try."""
    rate_limited: int
    """Tries that the endpoint answered with 429."""
    waited_seconds: float
    """Sum of the waits before tries."""


class RunPeriod(Block):
    """A time in which the run was under way; a run that was resumed has several."""

    started: str
    """ISO 8601, UTC."""
    seconds: float


class Withheld(Block):
    """What a run with secret entries withholds about single ones: ``results`` is empty then."""

    entries: int
    """Entries of the run."""
    secret: int
    """Those of a secret segment, or kept here by the terms of the corpus."""
    least: int
    """Fewest secret entries of a part whose scores are told."""
    suppressed: dict[str, list[str]] = {}
    """Breakdown → parts that are left out of it."""
    segments: dict[str, int] = {}
    """Entries by segment."""
    ids_sha256: str = ""
    """SHA-256 over the sorted JSON of the entry ids, by which runs on the same entries are found."""
    despite_network: str = ""
    """Why a custodian opened a vault for the run on a computer with a way to other machines; absent where it had none."""


class RunCard(Block):
    """One run, sealed (§3.1–3.9)."""

    run_id: str
    """UUID v4."""
    harness_version: str
    timestamp: str
    """ISO 8601, UTC: the run's first start."""
    elapsed_seconds: float | None = None
    """Wall-clock seconds under way: the sum of ``stretches``."""
    model_slug: str
    model_id: str | None = None
    """The model that the endpoint says it used, None where it did not say."""
    condition: str
    temperature: float | None = None
    max_tokens: int | None = None
    system_prompt_sha256: str | None = None
    system_prompt_used: str | None = None
    coaching_data_sha256: str | None = None
    fst_version: str | None = None
    tools_enabled: list[str] = []
    batch_size: int = 1
    max_retries: int = 0
    method: MethodBlock
    dataset: DatasetBlock
    scoring: dict[str, Any] | None = None
    """What the scores depend on besides the texts (``scoring.core.setup.ScoringSetup``); null: only texts."""
    scores: Scores
    cost: Cost
    speed: Speed
    tokens: Tokens
    totals: Totals
    claimable_tier: str
    """What may be said in public: at most ``functional`` until people have reviewed (T1)."""
    verification_tier: str = "self-benchmarked"
    """Who validated the result (§9.4)."""
    floors: list[FloorBlock] = []
    floors_version: int | None = None
    """Which floors there are and how they were worked out: 2 the six of now, absent or 1 those of before."""
    budget: Budget | None = None
    retries: Retries | None = None
    """Both null on cards of programs that do not record them."""
    stretches: list[RunPeriod]
    results: list[EntryResult]
    withheld: Withheld | None = None
    """Absent where all entries are open, and on cards of older versions."""
    fingerprint: Fingerprint
    run_card_hash: str
    """SHA-256 over the canonical bytes of the card with this field set to "" (§3.9)."""

    def as_json(self) -> dict[str, Json]:
        """Return the card as JSON values: what was given stays, nothing is added."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


# ---- The seal of a run card: a hash over the card without it, in the byte form that its version
# used (DESIGN C2).

HASH_FIELD = "run_card_hash"
"""The field that holds the seal; it counts as the empty string while the seal is made (§3.9)."""


class SealForm(StrEnum):
    """Which byte form a card's seal was made over."""

    JCS = "jcs"
    """RFC 8785, UTF-8: what this program writes."""
    SORTED_KEYS = "sorted-keys"
    """Older cards: keys sorted by code point, ``", "`` and ``": "``, characters unescaped, UTF-8."""


def card_hash(card: Mapping[str, Any]) -> str:
    """Return the seal of a card, whose rows may be streamed: SHA-256 over its canonical bytes with ``run_card_hash`` set to ""."""
    return canonical_sha256({**card, HASH_FIELD: ""})


def seal_form(card: JsonObject) -> SealForm | None:
    """Return in which form a card's seal holds, None where it holds in neither."""
    stated = card.get(HASH_FIELD)
    unsealed = {**card, HASH_FIELD: ""}
    for form, digest_of in ((SealForm.JCS, canonical_sha256), (SealForm.SORTED_KEYS, sorted_key_sha256)):
        try:
            digest = digest_of(unsealed)
        except (UsageError, ValueError):
            continue  # the card cannot be written in this form, so it was not sealed in it
        if digest == stated:
            return form
    return None


# ---- The JSON Schema of the run card, made from the model and shipped next to it ----
#
# ``python -m harness.card.model > harness/card/run-card.schema.json`` writes it again after a
# change.


def card_schema() -> JsonObject:
    """Make the schema from the model; metrics that it does not name follow from the inventory."""
    schema = RunCard.model_json_schema(by_alias=True)
    scores = schema["$defs"]["Scores"]["properties"]
    for id_, row in shipped_inventory().items():
        kinds = [{"type": "number"}, {"type": "null"}]
        scores.setdefault(id_, {"anyOf": kinds, "default": None, "description": row.what, "title": row.info.title})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


if __name__ == "__main__":
    json.dump(card_schema(), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
