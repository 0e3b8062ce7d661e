"""What a card is made of, read from the store: the card follows from it and from nothing else.

A run that goes back to another asked only for its failed entries again. Entries that are tried until they
succeed flatter a score: the card says which they are, and each row how often its entry was tried in all.

Besides numbers, the rows of a card say of each output its analyses and its lint verdict.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import fsum

from corpora.files.json_types import Json, JsonObject
from corpora.files.packed_list import PackedList, packed
from corpora.model.entry import AnyEntry, Entry, open_entry, reveal_here
from corpora.model.task import TRANSLATION
from corpora.model.vocabularies import Transmission
from corpora.text.comparison import is_blank
from harness.annotators.fst import FstAnnotator
from harness.card.comparability import card_id
from harness.card.model import AnnotatorCost, DatasetBlock, EntryResult, Fingerprint, Retries, RunPeriod, ScoringCost
from harness.card.rows import HeldRows, StoredRows
from harness.core.canonical import canonical_sha256
from harness.core.failures import HarnessError
from harness.method.method import Result, Setup
from harness.setup.plan import run_options_of
from harness.setup.scoring_tools import ScoringTools, floor_scores, floors_version, stated_setup, stored_scorer
from harness.store.annotations import AnnotationRow, answered, read_annotations
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.mixed_setups import parts_of, tried_before
from harness.store.replies import named_models
from harness.store.results import (
    RowWords,
    places_in_order,
    read_all_attempts,
    read_tries,
)
from harness.store.runs import Run, read_run
from scoring.card.claim import FLOORS_VERSION, FloorScores
from scoring.core.metric import EntryStatistics
from scoring.core.scorer import PackedStatistics, Scorer
from scoring.core.setup import FstAnnotation, ScoringSetup, Translation
from scoring.statistics.intervals import FREE

# ---- Which experiment a run was: two runs with the same fingerprint had the same set-up (§3.8,
# C3).

_NO_COMPONENTS = frozenset({"method_name", "system_prompt_used", "fst_version"})
"""Fields of the set-up that make no other experiment: a name, and what follows from others. A new field makes one."""


def fingerprint(setup: Setup, dataset_sha256: str, harness_version: str) -> Fingerprint:
    """Return both identifiers of an experiment.

    ``hash`` covers exactly the six components of §3.8. ``setup_hash`` covers those and everything
    else that the method was given, so that two different plug-ins never share it; runs are grouped
    and de-duplicated by it. Raises UsageError where an option cannot be written as canonical JSON.
    """
    components = {
        "dataset_sha256": dataset_sha256,
        "model_slug": setup.model_slug,
        "condition": setup.condition,
        "system_prompt_sha256": setup.system_prompt_sha256,
        "temperature": setup.temperature,
        "harness_version": harness_version,
    }
    stated = setup.model_dump(mode="json")
    setup_components = components | {name: value for name, value in stated.items() if name not in _NO_COMPONENTS}
    setup_components["tools_enabled"] = sorted(setup.tools_enabled)
    return fingerprint_of(components, setup_components)


def fingerprint_of(components: JsonObject, setup_components: JsonObject) -> Fingerprint:
    """Hash the components of a fingerprint, each set as one canonical JSON object."""
    return Fingerprint(
        hash=canonical_sha256(components),
        setup_hash=canonical_sha256(setup_components),
        components=dict(components),
        setup_components=dict(setup_components),
    )


EXACT, EQUIVALENT, MISS, NO_OUTPUT = "EXACT", "EQUIVALENT", "MISS", "NO_OUTPUT"


def row_words(tools: ScoringTools, entries: Mapping[int, AnyEntry], results: Iterable[Result]) -> dict[int, RowWords]:
    """Return the words of the rows by place in the corpus; secret entries have none.

    Empty where there is neither an analyser nor a language with rules of variants, which are of translations.
    """
    annotators = [annotator for annotator in tools.annotators if isinstance(annotator, FstAnnotator)]
    rules = tools.setup.variant_rules and tools.setup.task == TRANSLATION
    if not annotators and not rules:
        return {}
    open_ones = [(result, entry) for result in results if (entry := open_entry(entries[result.position]))]
    texts = [Translation(entry, result.output or "") for result, entry in open_ones]
    annotations: Sequence[object] = [None] * len(texts)
    if annotators:
        annotations = annotators[0].annotate(texts)
    return {
        result.position: RowWords(_analyses(annotation), verdict(result) if rules else None)
        for (result, _), annotation in zip(open_ones, annotations, strict=True)
    }


def _analyses(annotation: object) -> tuple[str, ...] | None:
    """Return the analyses of an output's words, ``word+?`` for a rejected one."""
    if not isinstance(annotation, FstAnnotation):
        return None
    analyses: list[str] = []
    for word in annotation.output:
        accepted = word.analyses or (word.word,)
        analyses += [f"{word.word}+?"] if word.accepted is None else accepted
    return tuple(analyses)


def verdict(result: Result) -> str:
    """Return the lint verdict on an output by the rules of variants (scoring-specification, appendix B)."""
    if is_blank(result.output or ""):
        return NO_OUTPUT
    if result.exact:
        return EXACT
    return EQUIVALENT if result.third else MISS


def retry_block(run: Run, entries: Mapping[int, AnyEntry], dataset_sha256: str) -> dict[str, Json] | None:
    """Return ``retry_of`` of a run's card; None for its own run."""
    stored = run.opening.retry_of
    if stored is None:
        return None
    again = sorted(tried_before(run))
    parts = parts_of(run)
    later = sum(len(part.positions) for part in parts)
    counts = [len(run.positions) - later, *(len(part.positions) for part in parts[1:])]
    return {
        "run_id": stored.run_id,
        "run_card_hash": stored.run_card_hash,
        "kept": len(run.positions) - len(again),
        "retried": len(again),
        "retried_entries": [card_id(entries[place].id) for place in again],
        "parts": [
            {
                "entries": count,
                "setup_hash": fingerprint(part.setup, dataset_sha256, run.harness_version).setup_hash,
                "setup": part.setup.model_dump(mode="json"),
            }
            for part, count in zip(parts, counts, strict=True)
        ],
    }


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that a card is computed from."""

    run_id: str
    harness_version: str
    timestamp: str
    """ISO 8601, UTC."""
    setup: Setup
    dataset: DatasetBlock
    model_id: str | None
    stretches: tuple[RunPeriod, ...]
    budget_usd: float | None
    retries: Retries
    entries: Sequence[Entry]
    """With their texts, secret ones too: only numbers about those reach the card."""
    outputs: Sequence[str]
    """Empty where the entry failed."""
    rows: Sequence[EntryResult] | StoredRows
    scoring: ScoringSetup | None
    """None: only the texts are known."""
    scorer: Scorer
    statistics: Sequence[EntryStatistics]
    """One for each row, as ``entries`` and ``outputs`` are."""
    floors: Mapping[str, FloorScores] | None = None
    """Those worked out when the run began; None: to be computed."""
    floors_version: int = FLOORS_VERSION
    """Of the floors; ``scoring.card.claim.FLOORS_VERSION`` for those of this version."""
    corpus_values: Mapping[str, float | None] = field(default_factory=dict)
    """Values of the metrics that only a whole corpus has."""
    rescore_of: JsonObject | None = None
    """Id and hash of the run whose outputs were scored again; None for its own run."""
    scoring_cost: ScoringCost | None = None
    """What endpoints charged for the scoring; None where none was asked."""
    retry_of: JsonObject | None = None
    """The run whose failed entries were asked for again, and which those are; None for its own run."""
    despite_network: str = ""
    """As in the run's opening."""
    stopped_early: JsonObject | None = None
    """The rule by which the run once ended itself, after which it was continued; None where none did."""


def held(material: Material) -> Material:
    """Return the material with its rows as a list, so that the card that is made of it has them."""
    return replace(material, rows=list(material.rows))


def in_memory(material: Material) -> Material:
    """Return the material with its rows in memory, where the store will not have them any more."""
    if not isinstance(stored := material.rows, StoredRows):
        return material
    statistics = PackedStatistics(material.scorer, PackedList(stored.packed_statistics.packed))
    return replace(
        material, rows=HeldRows(packed(stored.as_json())), outputs=packed(material.outputs), statistics=statistics
    )


def stored_material(connection: sqlite3.Connection, number: int, known: Sequence[AnyEntry] = ()) -> Material:
    """Read what the card of a run is made of; raises HarnessError while entries are missing. ``known`` as in ``read_entries``."""
    run = read_run(connection, number)
    stored = places_in_order(connection, number)
    missing = len(run.positions) - len(stored)
    if missing:
        raise HarnessError(
            f"The run is not complete: {missing:,} of {len(run.positions):,} entries are missing. "
            f"`{run.goes_on_with}` continues with it."
        )
    entries = read_entries(connection, run.corpus, run.positions, known=known)
    covered = reveal_here(entries.at(stored).in_order)
    dataset = _dataset(connection, run)
    scorer = stored_scorer(run, dataset.target_language or "und", covered)
    rate_limited, waited = 0, 0.0
    replies = []
    for attempt in read_all_attempts(connection, number):
        rate_limited += attempt.status == 429
        waited += attempt.waited_seconds
        if attempt.reply_key is not None:
            replies.append(attempt.reply_key)
    tries = [attempts for _, attempts, _ in read_tries(connection, number)]
    origin = run.opening.rescore_of
    rows = StoredRows(connection, run, scorer)
    stretches = connection.execute(
        "SELECT started, max(started, last) FROM stretches WHERE run = ? ORDER BY id", (number,)
    )
    return Material(
        run_id=run.run_id,
        harness_version=run.harness_version,
        timestamp=iso_time(run.created),
        setup=run.setup,
        dataset=dataset,
        model_id=_model_id(connection, replies, all_of_them=len(parts_of(run)) > 1),
        stretches=tuple(RunPeriod(started=iso_time(a), seconds=b - a) for a, b in stretches),
        budget_usd=run_options_of(run).budget_usd,
        retries=Retries(
            attempts=sum(tries),
            retried_entries=sum(number > 1 for number in tries),
            rate_limited=rate_limited,
            waited_seconds=waited,
        ),
        entries=covered,
        outputs=rows.outputs,
        rows=rows,
        scoring=stated_setup(run.opening.scoring),
        scorer=scorer,
        statistics=rows.packed_statistics,
        floors=floor_scores(run.opening),
        floors_version=floors_version(run.opening),
        corpus_values=run.opening.corpus_values,
        rescore_of=None if origin is None else origin.as_json(),
        scoring_cost=scoring_cost(read_annotations(connection, number)),
        retry_of=retry_block(run, entries, dataset.sha256),
        despite_network=run.opening.despite_network,
        stopped_early=None if (early := run.opening.stopped_early) is None else early.as_json(),
    )


def scoring_cost(rows: Iterable[AnnotationRow]) -> ScoringCost | None:
    """Add up what endpoints were asked about outputs; None where none was."""
    by_annotator: dict[str, list[AnnotationRow]] = {}
    for row in rows:
        by_annotator.setdefault(row.annotator, []).append(row)
    if not by_annotator:
        return None
    every = [row for rows in by_annotator.values() for row in rows]
    costs = {}
    for id_, asked in sorted(by_annotator.items()):
        costs[id_] = _added_up(asked)
        if outputs := [row for row in asked if row.position is not None]:
            judged = sum(map(answered, outputs))
            costs[id_] = costs[id_].model_copy(update={"judged": judged, "judge_failed": len(outputs) - judged})
    spent = fsum(row.spent_usd for row in every)
    return ScoringCost(**dict(_added_up(every).model_dump(exclude_unset=True)), spent_usd=spent, by_annotator=costs)


def _added_up(rows: Sequence[AnnotationRow]) -> AnnotatorCost:
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    total = fsum(known)
    return AnnotatorCost(
        calls=sum(row.calls for row in rows),
        total_cost_usd=total if len(known) == len(rows) else None,
        known_cost_usd=total,
    )


def iso_time(seconds: float) -> str:
    """Write Unix time as ISO 8601 in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


_OF_ENVELOPE = ("id", "version", "language_pair", "source_language", "target_language")


def _dataset(connection: sqlite3.Connection, run: Run) -> DatasetBlock:
    envelope = read_dataset(connection, run.corpus)
    sha256, partial, entries = connection.execute(
        "SELECT sha256, partial, (SELECT count(*) FROM entries WHERE corpus = c.id) FROM corpora c WHERE id = ?",
        (run.corpus,),
    ).fetchone()
    # the task where it is not translation, and what a corpus says of its whole
    whole: dict[str, Json] = {} if envelope.task == TRANSLATION else {"task": envelope.task}
    whole |= {name: getattr(envelope, name) for name in FREE}
    # what the terms led to, the term itself, its rule, and what a person answered for; nothing without any
    terms, may_send = envelope.terms, run_options_of(run).may_send
    whole |= {"may_send": may_send, "training": terms.training}
    if terms.because:
        whole |= {"transmission": terms.transmission.value, "transmission_because": terms.because}
    if terms.transmission is not Transmission.OPEN and (terms.because or may_send):
        whole |= {"transmission_rule": terms.rule, "licence_class": terms.licence_class or None}
    if terms.endpoints:
        whole["endpoints"] = list(terms.endpoints)
    return DatasetBlock(
        **{name: getattr(envelope, name) for name in _OF_ENVELOPE},
        sha256=sha256,
        entry_count=len(run.positions),
        corpus_entry_count=None if partial else entries,
    ).model_copy(update={name: value for name, value in whole.items() if value is not None})


def _model_id(connection: sqlite3.Connection, keys: Sequence[bytes], *, all_of_them: bool) -> str | None:
    """Return the model that the endpoint named most often; of a run in parts every one that was named."""
    named = named_models(connection, keys)
    ranked = sorted(named, key=lambda model: (-named[model], model))
    return " + ".join(ranked if all_of_them else ranked[:1]) or None
