"""One row of ``results[]`` (§3.7): made from what is stored, and read back to be scored again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from corpora.model.entry import Entry, Segment
from corpora.model.segment import SEGMENT_NAMES
from harness.card.entry_ids import card_id
from harness.card.model import EntryResult, EntryUsage
from harness.core.failures import ErrorClass
from harness.method.method import Result
from harness.store.results import RowWords
from scoring.core.columns import KeptColumns
from scoring.core.scorer import EntryValues, Scorer, verdict_field
from scoring.core.specification import COMPOSITE
from scoring.core.table import EntryStatistics, StatisticsError
from scoring.statistics.breakdown import FREE

ALL_ACCEPTED = 2
"""Place among the statistics of FST acceptance where an entry says that all of its words are accepted."""

WITHHELD_ERROR = "The words of this failure are withheld: the entry belongs to a secret segment."

NO_WORDS = RowWords(None, None)


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
    entry: Entry,
    result: Result,
    taken: EntryStatistics,
    scorer: Scorer,
    scores: EntryValues,
    words: RowWords = NO_WORDS,
) -> EntryResult:
    """Write an entry's outcome as a row; of a secret entry only its numbers (DESIGN, S and C)."""
    secret = entry.secret
    row_words = NO_WORDS if secret else words
    statistics = _beyond_texts(scorer, taken)
    return EntryResult(
        entry_id=card_id(entry.id),
        source=None if secret else entry.source,
        reference=None if secret else entry.reference,
        variants=None if secret else list(entry.variants),
        predicted=None if secret else result.output,
        withheld=secret,
        exact_match=result.exact,
        entry_chrf=result.headline if scorer.mixes else None,
        composite=result.second if scorer.mixes else None,
        values=None if scorer.mixes else scorer.columns.told(result.kept) | scores.values,
        fst_accepted=all_accepted(statistics),
        fst_analysis=None if row_words.analyses is None else list(row_words.analyses),
        lint_verdict=row_words.lint,
        semantic_verdict=None if secret else scores.verdicts.get("semantic_score"),
        segment=entry.segment,
        difficulty=entry.difficulty,
        provenance=_tag(entry, "provenance"),
        register_=_tag(entry, "register_"),
        context=_tag(entry, "context"),
        variety=_tag(entry, "variety"),
        orthography=_tag(entry, "orthography"),
        latency_seconds=result.latency_seconds,
        usage=_usage(result),
        cost_usd=result.cost_usd,
        spent_usd=result.spent_usd,
        cached=result.cached,
        batch_size=result.batch_size,
        attempts=result.attempts,
        error=WITHHELD_ERROR if secret and result.error is not None else result.error,
        error_class=result.error_class,
        statistics=statistics,
    )


def _tag(entry: Entry, field: str) -> str | None:
    tag = entry.open_tag(field)
    return None if tag is None else str(tag)


def entry_rows(
    entries: Mapping[int, Entry],
    results: Sequence[Result],
    statistics: Sequence[EntryStatistics],
    scorer: Scorer,
    words: Mapping[int, RowWords],
) -> list[EntryResult]:
    """Write the rows of some results with their statistics; ``entries`` and ``words`` are by place."""
    return [
        entry_row(
            entries[result.position],
            result,
            taken,
            scorer,
            scores,
            words.get(result.position, NO_WORDS),
        )
        for result, taken, scores in zip(
            results, statistics, scorer.entries_values(statistics), strict=True
        )
    ]


def row_json(row: EntryResult) -> dict[str, Any]:
    """Return a row as JSON values; without what it has not."""
    fields = row.model_dump(mode="json", by_alias=True)
    for name in ("statistics", "lint_verdict", "semantic_verdict", "values", *FREE):
        if getattr(row, name) is None:
            del fields[name]
    return fields


def _beyond_texts(scorer: Scorer, taken: EntryStatistics) -> dict[str, list[float] | None] | None:
    """Return the statistics that cannot be taken from the texts of the row again."""
    beyond = {
        id_: None if numbers is None else list(numbers)
        for id_, numbers in taken.items()
        if id_ not in scorer.from_texts
    }
    return beyond or None


def all_accepted(statistics: Mapping[str, list[float] | None] | None) -> bool | None:
    """Read from the statistics of FST acceptance whether every word was accepted."""
    taken = (statistics or {}).get("fst_acceptance_rate")
    return None if taken is None or len(taken) <= ALL_ACCEPTED else bool(taken[ALL_ACCEPTED])


def _usage(result: Result) -> EntryUsage | None:
    if result.total_tokens is None:
        return None
    return EntryUsage(
        prompt_tokens=result.prompt_tokens,
        completion_tokens=result.completion_tokens,
        reasoning_tokens=result.reasoning_tokens,
        cached_tokens=result.cached_tokens,
    )


def row_entry(row: EntryResult) -> Entry:
    """Return the entry of a row; a withheld one has empty texts."""
    fields: dict[str, object] = {
        "id": row.entry_id,
        "source": row.source or "",
        "reference": row.reference or "",
        "variants": tuple(row.variants or ()),
        "segment": _segment(row.segment),
        "difficulty": row.difficulty if row.difficulty in range(1, 6) else None,
        "provenance": row.provenance,
        "register": row.register_,
        "context": row.context,
        "variety": row.variety,
        "orthography": row.orthography,
    }
    if row.withheld:
        fields["withheld"] = True
    return Entry.model_validate(
        {name: value for name, value in fields.items() if value is not None}
    )


def _segment(name: str | None) -> Segment | None:
    with suppress(ValueError):
        return SEGMENT_NAMES.get(name or "") or Segment(name or "")
    return None


def row_result(
    row: EntryResult, position: int, statistics: bytes, finished_at: float, columns: KeptColumns
) -> Result:
    """Return the outcome of a row, with statistics that were computed from its texts."""
    usage = row.usage or EntryUsage()
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
        error_class=_error_class(row),
        error=row.error,
        latency_seconds=row.latency_seconds,
        cached=row.cached,
        batch_size=row.batch_size,
        attempts=row.attempts,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cached_tokens=usage.cached_tokens,
        cost_usd=row.cost_usd,
        spent_usd=row.spent_usd,
        finished_at=finished_at,
    )


def _error_class(row: EntryResult) -> ErrorClass | None:
    """Return the kind of failure; a kind that this version does not know counts as the method's own."""
    if not failed(row):
        return None
    with suppress(ValueError):
        return ErrorClass(row.error_class or "")
    return ErrorClass.METHOD


def failed(row: EntryResult) -> bool:
    """Return whether the entry failed."""
    return row.error_class is not None or bool(row.error)
