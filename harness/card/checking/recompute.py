"""Computing a card's numbers again from what the card itself carries."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from corpora.checks.envelope import names_secret
from corpora.files.json_types import Json, JsonObject
from corpora.files.packed_list import in_blocks, packed
from corpora.model.entry import Entry
from corpora.text.comparison import is_blank
from harness.card.assembling import Measures, errors_by_class, measured, scored
from harness.card.checking.verdict import differences, floors_are_stated, impossible
from harness.card.foreign_cards import is_ours
from harness.card.material import EQUIVALENT, EXACT, MISS, NO_OUTPUT, Material
from harness.card.model import EntryResult, EntryUsage, Retries, RunCard, Speed
from harness.card.reproduction import stated_scores
from harness.card.rows import BLOCK, StoredRows, all_accepted, failed, measures_of, row_entry, stated_statistics
from harness.consent.checks import found, of_card
from harness.core.canonical import StreamedArray
from harness.core.failures import UsageError
from harness.core.version import VERSION
from harness.method.method import Setup
from harness.setup.scoring_tools import EARLIER, stated_setup
from harness.store.attachments import Recount
from harness.store.corpora.entries import shown_entries, whole_corpus
from harness.store.withdrawn import now_standing
from scoring.card.claim import FloorScores
from scoring.core.inventory import short_title
from scoring.core.metric import EntryStatistics
from scoring.core.scorer import EntryValues, RunningTotals, Scorer
from scoring.core.setup import Translation
from scoring.core.specification import COMPOSITE
from scoring.metrics.inventory import make_scorer, surface_setup
from scoring.statistics.intervals import SEED
from scoring.words.source_words import Resources


def card_material(card: RunCard, held: StoredRows | None = None) -> Material:
    """Split a card into what it was made of; the statistics are computed from its texts again.

    Rows whose texts are withheld count as empty, so only what ``measured`` gives holds for them. What
    the card states must be possible (``stated.impossible``). ``held`` are its rows, where it has none.
    """
    rows = card.results if held is None else held
    entries = packed(map(row_entry, rows))
    outputs = rows.outputs if isinstance(rows, StoredRows) else packed(row.predicted or "" for row in rows)
    scorer = card_scorer(card, rows)
    statistics = _statistics(scorer, entries, outputs, rows)
    attempts = [row.attempts for row in measures_of(rows)]
    floors: dict[str, FloorScores] | None = {}  # of translations alone; None: to be computed
    if scorer.mixes:
        floors = card_floors(card) if floors_are_stated(card, scorer) else None
    return Material(
        run_id=card.run_id,
        harness_version=card.harness_version,
        timestamp=card.timestamp,
        setup=card_setup(card),
        dataset=card.dataset,
        model_id=card.model_id,
        stretches=tuple(card.stretches),
        budget_usd=None if card.budget is None else card.budget.budget_usd,
        retries=Retries(
            attempts=sum(attempts),
            retried_entries=sum(number > 1 for number in attempts),
            rate_limited=0 if card.retries is None else card.retries.rate_limited,
            waited_seconds=0.0 if card.retries is None else card.retries.waited_seconds,
        ),
        entries=entries,
        outputs=outputs,
        rows=rows,
        scoring=stated_setup(card.scoring),
        scorer=scorer,
        # what a file states may be too large to be packed as our own is
        statistics=scorer.held(statistics) if type(rows) is StoredRows else packed(statistics),
        floors=floors,
        floors_version=card.floors_version or EARLIER,
        scoring_cost=card.cost.scoring,
        corpus_values={
            metric.info.id: float(value) if isinstance(value, int | float) else None
            for metric in scorer.corpus_metrics
            for value in [getattr(card.scores, metric.info.id, None)]
        },
    )


def card_scorer(card: RunCard, rows: Sequence[EntryResult] | StoredRows) -> Scorer:
    """Make the scorer that the card's numbers were made with; without a word about it, that of texts alone.

    A metric of whose statistics all rows of another version's card state another number than it takes here
    counts as foreign.
    """
    target = card.dataset.target_language or "und"
    setup = stated_setup(card.scoring) or surface_setup("und", target, packed(map(row_entry, rows)))
    resources = Resources(setup)
    scorer = make_scorer(resources)
    if card.harness_version == VERSION:
        return scorer
    widths: dict[str, set[int]] = {}
    for stated in stated_statistics(rows):
        for id_, taken in stated.items():
            if taken is not None:
                widths.setdefault(id_, set()).add(len(taken))
    alike = {id_: next(iter(width)) for id_, width in widths.items() if len(width) == 1}
    columns = [(id_, alike.get(id_, width)) for id_, width in scorer.packed]
    return scorer if columns == list(scorer.packed) else make_scorer(resources, columns)


def card_floors(card: RunCard) -> dict[str, FloorScores]:
    """Return the floors that the card states, by name."""
    return {
        floor.name: FloorScores(
            floor.composite, floor.chrf_plus_plus, tuple(floor.inputs), floor.entries, floor.searched
        )
        for floor in card.floors
    }


def _statistics(
    scorer: Scorer, entries: Sequence[Entry], outputs: Iterable[str], rows: Sequence[EntryResult] | StoredRows
) -> Iterator[EntryStatistics]:
    """Compute the statistics of the surface metrics again; what needs more than the texts, each row states."""
    ids, of_texts = (*scorer.ids, *scorer.foreign), scorer.of_texts()
    texts = map(Translation, entries, outputs)
    stated = iter(stated_statistics(rows))
    while together := list(islice(texts, BLOCK)):
        for again, numbers in zip(of_texts.statistics(together), islice(stated, BLOCK), strict=True):
            known = {id_: tuple(taken) for id_ in ids if (taken := numbers.get(id_)) is not None}
            yield {**dict.fromkeys(scorer.ids), **known, **again}


def card_setup(card: RunCard) -> Setup:
    """Return the set-up of a card without what this version does not know."""
    stated = card.method.model_dump()
    return Setup.model_validate({name: stated[name] for name in Setup.model_fields})


def measures_again(card: RunCard, material: Material, measures: Measures) -> dict[str, Json]:
    """Return cost, speed, tokens, totals and tries as JSON; what a card cannot tell is left out."""
    cost = {"reason"}  # words, which another version may put otherwise
    if any(entry.withheld for entry in material.entries):
        cost.add("cost_per_source_char")
    left_out: dict[str, set[str] | bool] = {"cost": cost}
    if not card.stretches:  # another program's card: only its sum is known
        left_out |= {"elapsed_seconds": True, "speed": {"elapsed_seconds", "tokens_per_second", "entries_per_minute"}}
    return measures.model_dump(mode="json", exclude_unset=True, exclude=left_out)


def measured_again(speed: Speed, material: Material) -> tuple[Measures, bool]:
    """Compute what ``measured`` does by the rules of the time of a card with this speed.

    Gives also whether it counts no failed entries, as that of earlier cards does.
    """
    stated = speed.model_dump(exclude_unset=True)

    def differs(measures: Measures) -> bool:
        return any(differences(stated, measures.speed.model_dump(exclude_unset=True), rounded=True))

    again = measured(material)
    if differs(again) and not differs(earlier := measured(material, answered_only=True)):
        return earlier, True
    return again, False


def withheld(rows: Iterable[EntryResult]) -> int:
    """Count the rows that carry no texts."""
    return sum(row.withheld for row in rows)


def rows_again(material: Material) -> Iterator[dict[str, Json]]:
    """Compute the numbers of every row from its texts; of a withheld one, whether it may be withheld."""
    blocks = map(material.scorer.entries_values, in_blocks(material.statistics, BLOCK))
    values = chain.from_iterable(blocks)
    for entry, row, value in zip(material.entries, material.rows, values, strict=True):
        yield {
            "withheld": entry.secret,
            **({} if row.statistics is None else {"fst_accepted": all_accepted(row.statistics)}),
            **({} if row.withheld else row_numbers(value, material.scorer, row.values or {})),
            **_verdicts_again(row, value, material.scorer),
        }


def _verdicts_again(row: EntryResult, value: EntryValues, scorer: Scorer) -> dict[str, str | None]:
    """Return the verdicts that a row states as far as its statistics and texts tell them; the language's rules are not here."""
    verdicts: dict[str, str | None] = {}
    known = value.verdicts.get("semantic_score")
    if row.semantic_verdict is not None and known is not None:
        verdicts["semantic_verdict"] = known
    if (stated := row.lint_verdict) is not None:
        if is_blank(row.predicted or ""):
            stated = NO_OUTPUT
        elif scorer.columns.right not in scorer.foreign:
            exact = scorer.columns.kept(value.values)[1]
            stated = EXACT if exact else stated if stated in {EQUIVALENT, MISS} else MISS
        verdicts["lint_verdict"] = stated
    return verdicts


def row_numbers(value: EntryValues, scorer: Scorer, stated: Collection[str] = ()) -> dict[str, Json]:
    """Return the numbers of a row that follow from its texts, as far as its metrics are known here.

    Of another task than translation what the task shows, and the further metrics that the row states.
    """
    columns = scorer.columns
    kept = columns.kept(value.values, value.composite)
    if scorer.mixes:
        return {"exact_match": kept[1], "entry_chrf": kept[0], "composite": kept[2]}
    if columns.ids and set(columns.ids) <= set(scorer.ids):
        further = {id_: number for id_, number in value.values.items() if id_ in stated}
        return {"exact_match": kept[1], "values": columns.told(kept) | further}
    return {}


def scores_again(card: RunCard, material: Material, measures: Measures) -> dict[str, Json]:
    """Compute the ``scores`` block with the seed that the card records."""
    seeds = [
        seed
        for interval in card.scores.confidence_intervals.values()
        if isinstance(seed := (interval.model_extra or {}).get("seed"), int)
    ]
    return scored(material, measures, seed=abs(seeds[0]) if seeds else SEED)


def counts_again(rows: StoredRows) -> dict[str, Json]:
    """Count what the rows show without their texts."""
    exact = sum(row.exact_match for row in rows)
    errors = sum(map(failed, rows.measures))
    total = len(rows)
    return {
        "total": total,
        "evaluated": total - errors,
        "errors": errors,
        "errors_by_class": errors_by_class(rows.measures),
        "exact_matches": exact,
        "exact_match_rate": exact / total if total else None,
    }


_FROM_ROWS = {
    "cost_usd": ("total_cost_usd", "cost_per_entry_usd", "cost_per_1k_tokens", "cost_per_source_char"),
    "usage": (*EntryUsage.model_fields, "total_tokens", "tokens_per_entry", "tokens_per_second", "cost_per_1k_tokens"),
    "latency_seconds": ("avg_latency_seconds", "median_latency_seconds", "p95_latency_seconds"),
}
"""Field of a row → the numbers that cannot be computed again where no row has it."""


def resting_on_rows(raw: JsonObject, expected: JsonObject) -> dict[str, Json]:
    """Omit the numbers that rest on fields which no row of the card has."""
    rows = raw.get("results")
    listed = rows if isinstance(rows, list | StreamedArray) else ()
    absent = {
        number
        for name, numbers in _FROM_ROWS.items()
        if not any(isinstance(row, Mapping) and name in row for row in listed)
        for number in numbers
    }
    return {name: without(value, absent) if isinstance(value, Mapping) else value for name, value in expected.items()}


def without(value: JsonObject, names: Iterable[str]) -> dict[str, Json]:
    """Omit members of an object."""
    gone = set(names)
    return {name: inner for name, inner in value.items() if name not in gone}


# ---- Scoring a card from elsewhere again: what its outputs give here, before its numbers count
# as more than stated.
#
# Anybody can seal any numbers. From the outputs on the card every metric that needs no more than
# the texts is computed here; what an analyser or a model found is taken as the rows state it.
# Sources and references are held against the corpus file that the card names by its hash, where
# that is available: a card could bring references that are its outputs.


def recount(card: RunCard, corpus: Sequence[Entry] | None = None, material: Material | None = None) -> Recount | None:
    """Score the outputs of a card again; None where it carries none, as of secret entries.

    ``corpus``: the entries of the file that the card names by its hash; None: it is not here. ``material``: what
    ``card_material`` took of its texts, where that is available.
    """
    if not card.results or withheld(card.results):
        return None
    differences = (*_scores(card, material or card_material(card)), *(() if corpus is None else _texts(card, corpus)))
    return Recount(corpus is not None, differences)


def pinned_corpus(connection: sqlite3.Connection, sha256: str) -> Sequence[Entry] | None:
    """Return the entries of the whole corpus of the store that has this hash; None where there is none."""
    corpus = whole_corpus(connection, sha256)
    return None if corpus is None else shown_entries(connection, corpus).in_order


def _scores(card: RunCard, material: Material) -> Iterator[str]:
    """Yield each score that is not that of the card's outputs, beyond rounding."""
    totals = RunningTotals(material.scorer)
    totals.add(material.statistics)
    again: dict[str, float | None] = dict(totals.values())
    if material.scorer.mixes and not material.scorer.foreign:
        again[COMPOSITE] = totals.composite().value
    rounded = not is_ours(card.as_json())
    for metric, stated in stated_scores(card.as_json()).items():
        value = again.get(metric)
        if value is not None and next(differences(stated, value, rounded=rounded), None):
            yield f"{short_title(metric)} states {stated:.6g}, its outputs give {value:.6g}"


def _texts(card: RunCard, corpus: Sequence[Entry]) -> Iterator[str]:
    """Yield what of a card's rows is not as in its corpus."""
    by_id = {str(entry.id): entry for entry in corpus}
    rows = [(row, by_id.get(str(row.entry_id))) for row in card.results]
    if strange := sum(entry is None for _, entry in rows):
        yield f"{strange:,} of its entries are not in the corpus"
    known: Mapping[str, int] = {
        name: sum(entry is not None and getattr(row, name) != getattr(entry, name) for row, entry in rows)
        for name in ("source", "reference")
    }
    for name, count in known.items():
        if count:
            yield f"the {name} of {count:,} entries is not that of the corpus"
    other = sum(entry is not None and list(row.variants or ()) != list(entry.variants or ()) for row, entry in rows)
    if other:
        yield f"the variants of {other:,} entries are not those of the corpus"


# ---- What a card from elsewhere is refused for before anything of it is stored or scored ----

MOST_TEXT: Final = 2**20
"""Characters of one text on a card that is scored again: a megabyte takes a second and a tenth of a gigabyte of memory."""


def refuse_secrets(card: RunCard, name: str) -> None:
    """Raise UsageError where a card carries texts of a secret segment."""
    texts = sum(
        (row_entry(row).secret or names_secret(row.segment or ""))
        and any(text is not None for text in (row.source, row.reference, row.predicted))
        for row in card.results
    )
    if texts:
        raise UsageError(
            f"{name} carries the texts of {texts:,} entries of a secret segment (gold_standard or "
            "held_out). A card must not: ask its maker for one without them, and delete this file."
        )


def refuse_impossible(card: RunCard, name: str) -> None:
    """Raise UsageError for an entry that is there twice, a text without end, and a number that no run gives."""
    twice = [id_ for id_, count in Counter(row.entry_id for row in card.results).items() if count > 1]
    if twice:
        raise UsageError(f"{name} has entry {twice[0]!r} more than once, so it is no card of one run.")
    for row in card.results:
        texts = (row.source, row.reference, row.predicted, *(row.variants or ()))
        if (longest := max(len(text or "") for text in texts)) > MOST_TEXT:
            raise UsageError(
                f"{name}: a text of entry {row.entry_id!r} has {longest:,} characters; one on a card may have {MOST_TEXT:,}."
            )
    scorer = card_scorer(card, card.results)
    for first in impossible(card, scorer, card.results):
        raise UsageError(f"{name}: {first}. No run gives such a number: ask the card's maker for the right one.")


def refuse_withdrawn(raw: JsonObject, card: RunCard, name: str) -> None:
    """Raise UsageError where consent for what the card is made of was withdrawn."""
    ids = [row.entry_id for row in card.results] or None
    for check in found(of_card(raw, ids), now_standing()):
        if check.ok is False:
            raise UsageError(f"{name}: {check.words}. It is not imported. `rosetta community notices` has who said so.")
