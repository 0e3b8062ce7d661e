"""Computing run cards, and the hash over each: the same stored rows always give the same bytes."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from math import fsum
from typing import Any

from corpora.files.json_types import Json, JsonObject
from corpora.files.packed_list import PackedList
from harness.card.material import Material, fingerprint
from harness.card.model import (
    HASH_FIELD,
    Block,
    Budget,
    Cost,
    EntryResult,
    EntryUsage,
    Retries,
    RunCard,
    Speed,
    Tokens,
    Totals,
    card_hash,
)
from harness.card.reading import block
from harness.card.rows import RowMeasures, StoredRows, failed, measures_of, row_json
from harness.card.withholding import withheld_part, without_retried
from harness.core.failures import ErrorClass
from harness.method.method import Setup
from harness.store.runs import seal_run
from scoring.card.cost import EntryCost, Timing, cost, speed, tokens
from scoring.card.scorecard import scorecard
from scoring.core.setup import ScoringSetup
from scoring.statistics.intervals import SEED

VERIFICATION_TIER = "self-benchmarked"  # Who validated a run that its own maker made (§9.4)
_LATENCIES = ("avg_latency_seconds", "median_latency_seconds", "p95_latency_seconds")
SETUP_FIELDS = tuple(name for name in RunCard.model_fields if name in Setup.model_fields and name != "method")
"""Fields of the set-up that §3.2 wants at the top of the card."""


def store_card(connection: sqlite3.Connection, run: int, card: dict[str, Json]) -> None:
    """Write a card without its rows, and its columns (scoring-specification §9.1)."""
    head = {name: value for name, value in card.items() if name != "results"}
    seal_run(connection, run, json.dumps(head, ensure_ascii=False, allow_nan=False))


def assemble(
    material: Material, further: JsonObject | None = None, *, whole: bool = False, answered_only: bool = False
) -> RunCard:
    """Compute a card and its seal from what it is made of; ``further`` fields are sealed with it.

    Rows that are read from the store stay there: they are hashed one by one, and the card that is returned has none.
    ``whole``: with the numbers of single secret entries, as older versions sealed them. ``answered_only``: see
    ``measured``.
    """
    rows = material.rows
    measures = measured(material, answered_only=answered_only)
    scores = scored(material, measures)
    setup: JsonObject = material.setup.model_dump(mode="json")
    print_ = fingerprint(material.setup, material.dataset.sha256, material.harness_version)
    card: dict[str, Any] = {
        "run_id": material.run_id,
        "harness_version": material.harness_version,
        "timestamp": material.timestamp,
        **{name: setup[name] for name in SETUP_FIELDS},
        "fst_version": setup["fst_version"] or analyser_version(material.scoring),
        "model_id": material.model_id,
        "method": setup,
        "dataset": material.dataset.model_dump(mode="json", exclude_unset=True),
        "scoring": None if material.scoring is None else material.scoring.model_dump(mode="json"),
        "scores": scores,
        **measures.as_json(),
        "claimable_tier": scores["claimable_tier"],
        "verification_tier": VERIFICATION_TIER,
        "floors": listed_floors(scores),
        "floors_version": material.floors_version,
        "stretches": [stretch.model_dump(mode="json") for stretch in material.stretches],
        "results": rows.as_json() if isinstance(rows, StoredRows) else [row_json(row) for row in rows],
        "fingerprint": print_.model_dump(mode="json"),
        HASH_FIELD: "",
    }
    if not whole:
        card.update(withheld_part(scores, material.entries))
        if material.despite_network and "withheld" in card:
            card["withheld"] = {**block(card, "withheld"), "despite_network": material.despite_network}
    # as the specification has it
    ordered = {name: card[name] for name in RunCard.model_fields if name in card}
    if material.rescore_of is not None:
        ordered["rescore_of"] = material.rescore_of
    if material.stopped_early is not None:
        ordered["stopped_early"] = material.stopped_early
    if material.retry_of is not None:
        ordered["retry_of"] = material.retry_of
        if not whole and "withheld" in ordered:
            ordered["retry_of"] = without_retried(material.retry_of)
    sealed = {**ordered, **(further or {})}
    sealed[HASH_FIELD] = card_hash(sealed)
    return RunCard.model_validate({**sealed, "results": []} if isinstance(rows, StoredRows) else sealed)


class Measures(Block):
    """What of a card does not depend on the outputs' words."""

    elapsed_seconds: float | None
    cost: Cost
    speed: Speed
    tokens: Tokens
    totals: Totals
    budget: Budget
    retries: Retries

    def as_json(self) -> dict[str, Json]:
        """Return them as JSON values, without what was not given."""
        return self.model_dump(mode="json", exclude_unset=True)


def listed_floors(scores: JsonObject) -> list[JsonObject]:
    """Return the floors of computed scores as a card lists them."""
    floors = block(scores, "floors")
    return [{"name": name, **block(floors, name)} for name in floors]


def measured(material: Material, *, answered_only: bool = False) -> Measures:
    """Compute what does not depend on the outputs' words: cost, speed, tokens, totals, tries.

    ``answered_only``: speed counts no failed entries, as on earlier cards; the specification counts all (§7).
    """
    rows = measures_of(material.rows)
    seconds = [stretch.seconds for stretch in material.stretches]
    elapsed = fsum(seconds) if seconds else None
    spending = PackedList(
        EntryCost(
            row.cost_usd,
            len(entry.source),
            **{name: getattr(row.usage, name, None) for name in EntryUsage.model_fields},
        )
        for entry, row in zip(material.entries, rows, strict=True)
    )
    counted = asdict(tokens(spending))
    costs = asdict(cost(spending, counted["total_tokens"], made_elsewhere=material.setup.method == "replay"))
    if costs["reason"] is None:
        del costs["reason"]
    timings = PackedList(
        Timing(row.latency_seconds, cached=row.cached, batch_size=row.batch_size)
        for row in rows
        if not (answered_only and failed(row))
    )
    speeds = asdict(speed(timings, elapsed_seconds=elapsed, total_tokens=counted["total_tokens"]))
    amounts = [row.spent_usd for row in rows]
    known = [amount for amount in amounts if amount is not None]
    spent = fsum(known) if len(known) == len(amounts) else None
    totals = {name: counted[name] for name in EntryUsage.model_fields} | {
        name: costs[name] for name in ("total_cost_usd", "cost_per_entry_usd")
    }
    if (asked := material.scoring_cost) is not None:
        costs["scoring"] = asked
        totals["scoring_cost_usd"] = asked.total_cost_usd
        spent = None if spent is None else spent + asked.spent_usd
    return Measures(
        elapsed_seconds=elapsed,
        cost=Cost(**costs),
        speed=Speed(**speeds),
        tokens=Tokens(**counted),
        totals=Totals(**totals),
        budget=Budget(budget_usd=material.budget_usd, spent_usd=spent),
        retries=material.retries,
    )


def scored(material: Material, measures: Measures, *, seed: int = SEED) -> dict[str, Json]:
    """Compute the ``scores`` block, with the latencies that §3.6 wants inside it."""
    rows = measures_of(material.rows)
    comet = None if material.scoring is None else material.scoring.comet
    run_scores = scorecard(
        material.entries,
        material.statistics,
        [failed(row) for row in rows],
        material.scorer,
        material.outputs,
        cost_per_entry_usd=measures.cost.cost_per_entry_usd,
        corpus_values=material.corpus_values,
        comet_model="" if comet is None else comet.model,
        known_floors=material.floors,
        seed=seed,
    )
    latencies = measures.speed.model_dump(include=set(_LATENCIES))
    return run_scores.model_dump(mode="json") | {"errors_by_class": errors_by_class(rows)} | latencies


def errors_by_class(rows: Iterable[EntryResult | RowMeasures]) -> dict[str, int]:
    """Count the rows that failed, by class of failure; one that says none is of the method's own."""
    return dict(Counter(row.error_class or ErrorClass.METHOD.value for row in rows if failed(row)))


def analyser_version(scoring: ScoringSetup | None) -> str | None:
    """Name the analyser that the outputs were scored with (§3.2): its file, hash and engine; None without one."""
    facts = None if scoring is None else scoring.analyser
    if facts is None:
        return None
    return f"{facts.name} sha256:{facts.sha256} {facts.engine} {facts.engine_version}"
