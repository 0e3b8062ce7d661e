"""One row of ``results[]`` (§3.7): made from what is stored, and read back to be scored again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeVar

from pydantic import ValidationError

from corpora.files.json_types import Json, JsonObject
from corpora.files.packed_list import PackedList, ReadList, in_blocks, packed
from corpora.model.entry import AnyEntry, Entry, Segment, open_entry
from corpora.model.vocabularies import SEGMENT_NAMES
from harness.card.comparability import card_id
from harness.card.foreign_cards import adopt
from harness.card.model import HASH_FIELD, EntryResult, EntryUsage, RunCard, card_hash
from harness.card.reading import block, card_head, parse_object
from harness.core.calls import TOKENS, StatedUsage, token_counts
from harness.core.canonical import StreamedArray
from harness.core.failures import ErrorClass, StoreError, UsageError
from harness.method.method import Result
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.results import RowWords, places_in_order, read_results, read_row_words, read_statistics
from harness.store.runs import Run, read_imported, read_run
from scoring.core.metric import EntryStatistics, StatisticsError
from scoring.core.scorer import EntryValues, PackedStatistics, Scorer, verdict_field
from scoring.core.specification import COMPOSITE, KeptColumns
from scoring.statistics.intervals import FREE

ALL_ACCEPTED = 2
"""Place among the statistics of FST acceptance where an entry says that all of its words are accepted."""

WITHHELD_ERROR = "The words of this failure are withheld: the entry belongs to a secret segment."
NO_WORDS = RowWords(None, None)
T = TypeVar("T")
_MEASURED = ("latency_seconds", "cost_usd", "spent_usd", "cached", "batch_size", "attempts")


def entry_scores(result: Result, scorer: Scorer) -> dict[str, float | str | None]:
    """Return an entry's own value of every metric by metric id, each on its metric's scale, its composite (0–1), and
    the verdicts that values stand for.

    Where its statistics cannot be read, the values that the store keeps beside them.
    """
    try:
        scores = scorer.entry_values(scorer.unpack(result.statistics))
    except StatisticsError:
        values = {"exact_match_rate": float(result.exact), "chrf_plus_plus": result.headline}
        return {**values, "composite": result.second}
    verdicts = {verdict_field(id_): verdict for id_, verdict in scores.verdicts.items()}
    return {**scores.values, "composite": scores.composite, **verdicts}


def entry_row(
    entry: AnyEntry,
    result: Result,
    taken: EntryStatistics,
    scorer: Scorer,
    scores: EntryValues,
    words: RowWords = NO_WORDS,
) -> EntryResult:
    """Write an entry's outcome as a row; of a secret entry only its numbers (DESIGN, S and C)."""
    shown = open_entry(entry)
    row_words = NO_WORDS if shown is None else words
    statistics = _beyond_texts(taken, scorer) or None
    return EntryResult(
        entry_id=card_id(entry.id),
        source=None if shown is None else shown.source,
        reference=None if shown is None else shown.reference,
        variants=None if shown is None else list(shown.variants),
        predicted=None if shown is None else result.output,
        withheld=shown is None,
        exact_match=result.exact,
        entry_chrf=result.headline if scorer.mixes else None,
        composite=result.second if scorer.mixes else None,
        values=None if scorer.mixes else scorer.columns.told(result.kept) | scores.values,
        fst_accepted=all_accepted(statistics),
        fst_analysis=None if row_words.analyses is None else list(row_words.analyses),
        lint_verdict=row_words.lint,
        semantic_verdict=None if shown is None else scores.verdicts.get("semantic_score"),
        segment=entry.segment,
        difficulty=entry.difficulty,
        provenance=_tag(entry, "provenance"),
        register_=_tag(entry, "register_"),
        context=_tag(entry, "context"),
        variety=_tag(entry, "variety"),
        orthography=_tag(entry, "orthography"),
        usage=_entry_usage(result),
        **{name: getattr(result, name) for name in _MEASURED},
        error=WITHHELD_ERROR if shown is None and result.error is not None else result.error,
        error_class=result.error_class,
        statistics=statistics,
    )


def _beyond_texts(taken: EntryStatistics, scorer: Scorer) -> dict[str, list[float] | None]:
    """Return the statistics that cannot be taken from the texts of the row again."""
    return {
        id_: None if numbers is None else list(numbers)
        for id_, numbers in taken.items()
        if id_ not in scorer.from_texts
    }


def _tag(entry: AnyEntry, field: str) -> str | None:
    tag = entry.open_tag(field)
    return None if tag is None else str(tag)


def entry_rows(
    entries: Mapping[int, AnyEntry],
    results: Sequence[Result],
    statistics: Sequence[EntryStatistics],
    scorer: Scorer,
    words: Mapping[int, RowWords],
) -> list[EntryResult]:
    """Write the rows of some results with their statistics; ``entries`` and ``words`` are by place."""
    rows = []
    values = scorer.entries_values(statistics)
    for result, taken, scores in zip(results, statistics, values, strict=True):
        entry, own = entries[result.position], words.get(result.position, NO_WORDS)
        rows.append(entry_row(entry, result, taken, scorer, scores, own))
    return rows


@dataclass(frozen=True, slots=True)
class RowMeasures:
    """What a row says of its entry besides texts and scores, as ``EntryResult`` names it."""

    latency_seconds: float | None
    cost_usd: float | None
    spent_usd: float | None
    cached: bool
    batch_size: int
    attempts: int
    usage: EntryUsage | None
    error: str | None
    error_class: str | None


BLOCK = 1000
"""Rows that are made together."""


class StoredRows:
    """The rows of a run of this store, made from the store block by block each time they are read: they are never held as a whole."""

    def __init__(
        self, connection: sqlite3.Connection, run: Run, scorer: Scorer, absent: Mapping[str, None] | None = None
    ) -> None:
        """Prepare to read; ``absent`` are fields that no row has."""
        self._connection, self._run, self._scorer, self._absent = connection, run, scorer, absent
        self._positions = places_in_order(connection, run.id)
        self._dataset = read_dataset(connection, run.corpus)

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[EntryResult]:
        for places in self._blocks():
            results = list(read_results(self._connection, self._run.id, places))
            entries = read_entries(self._connection, self._run.corpus, places, self._dataset)
            statistics = [self._scorer.unpack(result.statistics) for result in results]
            words = read_row_words(self._connection, self._run.id, places)
            rows = entry_rows(entries, results, statistics, self._scorer, words)
            yield from rows if self._absent is None else (row.model_copy(update=self._absent) for row in rows)

    @property
    def outputs(self) -> Sequence[str]:
        """The output of each row, empty where it failed."""
        connection, run = self._connection, self._run.id
        return StoredColumn(
            self._positions, lambda places: [row.output or "" for row in read_results(connection, run, places)]
        )

    @property
    def packed_statistics(self) -> PackedStatistics:
        """The statistics of each row."""
        connection, run = self._connection, self._run.id
        rows = StoredColumn(
            self._positions, lambda places: [packed for _, packed in read_statistics(connection, run, places)]
        )
        return PackedStatistics(self._scorer, rows)

    @cached_property
    def measures(self) -> Sequence[RowMeasures]:
        """The numbers and failures of the rows, without texts and scores."""
        return PackedList(
            RowMeasures(
                **{name: getattr(result, name) for name in _MEASURED},
                usage=_entry_usage(result),
                error=result.error,
                error_class=result.error_class,
            )
            for places in self._blocks()
            for result in read_results(self._connection, self._run.id, places)
        )

    def statistics(self) -> Iterator[dict[str, list[float] | None]]:
        """Yield what each row states of ``EntryResult.statistics``."""
        return (_beyond_texts(taken, self._scorer) for taken in self.packed_statistics)

    @property
    def withheld(self) -> int:
        """How many rows carry no texts; such a card is verified by what ``assemble`` gives of the run."""
        return 0

    def as_json(self) -> StreamedArray:
        """Return the rows as a JSON array whose items are made when they are read."""
        return StreamedArray(lambda: map(row_json, self), len(self))

    def _blocks(self) -> Iterator[Sequence[int]]:
        return in_blocks(self._positions, BLOCK)


class HeldRows(StoredRows):
    """The rows of a card in memory as their JSON: those of its file, or of a run that the store has no more."""

    def __init__(self, rows: Sequence[JsonObject] | StreamedArray) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[EntryResult]:
        return map(EntryResult.model_validate, self._rows)

    @property
    def outputs(self) -> Sequence[str]:
        return packed(row.predicted or "" for row in self)

    @cached_property
    def measures(self) -> Sequence[RowMeasures]:
        names = [field.name for field in fields(RowMeasures)]
        return PackedList(RowMeasures(**{name: getattr(row, name) for name in names}) for row in self)

    @cached_property
    def withheld(self) -> int:
        return sum(row.withheld for row in self)

    def as_json(self) -> StreamedArray:
        return StreamedArray(lambda: self._rows, len(self))

    def statistics(self) -> Iterator[dict[str, list[float] | None]]:
        return (row.statistics or {} for row in self)


class StoredColumn(ReadList[T]):
    """Values of the rows of a run, read from the store block by block; the block of the last one asked for is kept."""

    def __init__(self, positions: Sequence[int], read: Callable[[Sequence[int]], list[T]]) -> None:
        """``read`` the rows of some of the ``positions``."""
        self._positions, self._read = positions, read
        self._kept = lru_cache(maxsize=1)(self._block)

    def __len__(self) -> int:
        return len(self._positions)

    def _item(self, place: int) -> T:
        block, at = divmod(place, BLOCK)
        return self._kept(block)[at]

    def __iter__(self) -> Iterator[T]:
        blocks = range(-(-len(self) // BLOCK))
        return chain.from_iterable(map(self._block, blocks))

    def _block(self, block: int) -> list[T]:
        return self._read(self._positions[block * BLOCK : (block + 1) * BLOCK])


def stated_statistics(rows: Sequence[EntryResult] | StoredRows) -> Iterable[Mapping[str, list[float] | None]]:
    """Return what each row states of ``EntryResult.statistics``."""
    return rows.statistics() if isinstance(rows, StoredRows) else (row.statistics or {} for row in rows)


def measures_of(rows: Sequence[EntryResult] | StoredRows) -> Sequence[EntryResult | RowMeasures]:
    """Return what rows say besides texts and scores; of stored ones no more is held."""
    return rows.measures if isinstance(rows, StoredRows) else rows


def _entry_usage(result: Result) -> EntryUsage | None:
    if result.usage is None:
        return None
    return EntryUsage(**dict(zip(TOKENS, token_counts(result.usage), strict=True)))


def row_json(row: EntryResult) -> dict[str, Json]:
    """Return a row as JSON values; without what it has not."""
    fields = row.model_dump(mode="json", by_alias=True)
    for name in ("statistics", "lint_verdict", "semantic_verdict", "values", *FREE):
        if getattr(row, name) is None:
            del fields[name]
    return fields


def all_accepted(statistics: Mapping[str, list[float] | None] | None) -> bool | None:
    """Read from the statistics of FST acceptance whether every word was accepted."""
    taken = (statistics or {}).get("fst_acceptance_rate")
    return None if taken is None or len(taken) <= ALL_ACCEPTED else bool(taken[ALL_ACCEPTED])


def row_entry(row: EntryResult) -> Entry:
    """Return the entry of a row; a withheld one has empty texts."""
    segment = None
    with suppress(ValueError):
        segment = SEGMENT_NAMES.get(row.segment or "") or Segment(row.segment or "")
    fields: dict[str, Json] = {
        "id": row.entry_id,
        "source": row.source or "",
        "reference": row.reference or "",
        "variants": tuple(row.variants or ()),
        "segment": segment,
        "difficulty": row.difficulty if row.difficulty in range(1, 6) else None,
        "provenance": row.provenance,
        "register": row.register_,
        "context": row.context,
        "variety": row.variety,
        "orthography": row.orthography,
    }
    if row.withheld:
        fields["withheld"] = True
    return Entry.model_validate({name: value for name, value in fields.items() if value is not None})


def row_result(row: EntryResult, position: int, statistics: bytes, finished_at: float, columns: KeptColumns) -> Result:
    """Return the outcome of a row, with statistics that were computed from its texts."""
    kind = ErrorClass.METHOD if failed(row) else None  # as what a later version adds counts
    if row.error_class in set(ErrorClass):
        kind = ErrorClass(row.error_class)
    usage = None if row.usage is None else StatedUsage(*token_counts(row.usage))
    values = {**(row.values or {}), "chrf_plus_plus": row.entry_chrf, COMPOSITE: row.composite}
    return Result(
        position=position,
        entry_id=row.entry_id,
        output=row.predicted,
        statistics=statistics,
        headline=values.get(columns.headline),
        exact=row.exact_match,
        second=values.get(columns.second),
        third=values.get(columns.third),
        error_class=kind,
        error=row.error,
        usage=usage,
        **{name: getattr(row, name) for name in _MEASURED},
        finished_at=finished_at,
    )


def failed(row: EntryResult | RowMeasures) -> bool:
    """Return whether the entry failed."""
    return row.error_class is not None or bool(row.error)


# ---- Reading a sealed card back from the store ----


def load_card(connection: sqlite3.Connection, number: int) -> RunCard:
    """Assemble a sealed card again from its head and the entry rows.

    Raises HarnessError where the run is not sealed yet, StoreError where head and rows no longer
    match the seal.
    """
    raw = read_raw(connection, number)
    run = read_run(connection, number)
    if run.imported:
        return adopt(raw, run.run_id)
    return _sealed(raw, raw, run)


def load_head(connection: sqlite3.Connection, number: int) -> RunCard:
    """Return a sealed card without its rows, which are read only to see that they match its seal. Raises as ``load_card``."""
    run = read_run(connection, number)
    if run.imported:
        return load_card(connection, number)
    raw = streamed_card(connection, run)
    return _sealed(raw, {**raw, "results": []}, run)


def _sealed(raw: Mapping[str, Any], shown: JsonObject, run: Run) -> RunCard:
    """Return what is shown of a card whose seal matches; StoreError where it does not."""
    try:
        if raw.get(HASH_FIELD) == card_hash(raw):
            return RunCard.model_validate(shown)
    except (UsageError, ValidationError) as error:  # UsageError: it holds what no sealed card can hold
        raise _broken(run.run_id) from error
    raise _broken(run.run_id)


def read_raw(connection: sqlite3.Connection, number: int) -> dict[str, Json]:
    """Return a card's JSON as it is stored, its seal not examined; raises HarnessError where there is none."""
    return raw_card(connection, read_run(connection, number))


def raw_card(connection: sqlite3.Connection, run: Run) -> dict[str, Json]:
    """Return the JSON of a run's card as ``read_raw`` does, also where the run was deleted and not yet erased."""
    card = kept_card(connection, run)
    return {**card, "results": [*card["results"]]} if isinstance(card.get("results"), StreamedArray) else card


def kept_card(connection: sqlite3.Connection, run: Run) -> dict[str, Any]:
    """Return a card's JSON as ``raw_card`` does; the rows of a run that was made here are read from the store each time."""
    imported = read_imported(connection, run.id)
    return streamed_card(connection, run) if imported is None else parse_object(imported, run.run_id)


def streamed_card(connection: sqlite3.Connection, run: Run) -> dict[str, Any]:
    """Return the JSON of the card of a run that was made here, whose rows are read from the store each time."""
    head = card_head(connection, run)
    return {**head, "results": [] if "withheld" in head else rows_of(connection, run, head).as_json()}


def stored_rows(connection: sqlite3.Connection, number: int) -> list[dict[str, Json]]:
    """Return the rows of a run as a card has them, also where its card leaves them out for its secret entries."""
    run = read_run(connection, number)
    return [*rows_of(connection, run, card_head(connection, run)).as_json()]


def rows_of(connection: sqlite3.Connection, run: Run, head: JsonObject) -> StoredRows:
    absent = {name: None for name in FREE if f"by_{name}" not in block(head, "scores")}
    entries = [] if run.opening.scoring else read_entries(connection, run.corpus, run.positions).in_order
    return StoredRows(connection, run, stored_scorer(run, "und", entries), absent)


def _broken(run_id: str) -> StoreError:
    return StoreError(
        f"The seal of run {run_id[:8]} is broken: its rows in the store are not those that were "
        "sealed. The store was changed from outside; import the card from a copy."
    )
