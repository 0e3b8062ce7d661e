"""Test reports of the reference implementation: outputs with scores, but neither set-up nor seal.

What such a report carries becomes entries and rows here; it is scored again, because its own numbers
leave failed entries out of every denominator (DESIGN M2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field, ValidationError

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.model.segment import SEGMENT_NAMES
from corpora.text.comparison import comparison_form
from harness.card.model import Block, EntryResult
from harness.core.failures import ErrorClass, UsageError
from harness.method.method import MethodClass, Setup
from scoring.core.scorer import Scorer
from scoring.core.translation import Translation
from scoring.metrics.inventory import surface_metrics


class ReportEntry(Block):
    """One entry of a test report."""

    id: int | str
    source: str
    expected: str
    predicted: str = ""
    segment: str | None = None
    difficulty: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    cached: bool = False
    error: str | None = None

    @property
    def failed(self) -> bool:
        """True where there is no output."""
        return bool(self.error) or not self.predicted.strip()


class ReportConfig(Block):
    """What a test report says of its set-up."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    model: str = "unknown"
    prompt_version: str = ""
    temperature: float | None = Field(default=None, alias="_effective_temperature")
    max_tokens: int | None = None
    batch_size: int = 1
    source_lang: str = ""
    target_lang: str = ""
    target_lang_code: str = ""
    corpus_path: str | None = None
    dataset_id: str = ""
    coaching_file: str | None = None


class Report(Block):
    """A test report."""

    run_id: str
    config: ReportConfig
    overall: dict[str, Any]
    entries: list[ReportEntry]


def read_report(raw: Mapping[str, Any], name: str) -> Report:
    """Read a report; raises UsageError that names the first wrong field."""
    try:
        return Report.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in first["loc"])
        raise UsageError(f"{name}: ${place}: {first['msg']}.") from error


def report_setup(report: Report) -> Setup:
    """Return the set-up as far as the report tells it."""
    coached = report.config.coaching_file is not None
    return Setup(
        method="imported",
        method_class=MethodClass.COACHED_LLM if coached else MethodClass.RAW_LLM,
        method_version="",
        model_slug=report.config.model,
        condition=report.config.prompt_version,
        temperature=report.config.temperature,
        max_tokens=report.config.max_tokens,
        prompt_version=report.config.prompt_version or None,
        batch_size=report.config.batch_size,
    )


def report_dataset(report: Report) -> Dataset:
    """Return the corpus' envelope as far as the report tells it; languages are names there, not tags."""
    config = report.config
    path = (config.corpus_path or "").replace("\\", "/")
    stem = path.rsplit("/", 1)[-1].removesuffix(".json")
    return Dataset(
        id=config.dataset_id or _own_id(report) or stem or report.run_id,
        language_pair=f"{config.source_lang}→{config.target_lang}",
        source_language="und",
        target_language=config.target_lang_code or "und",
    )


def _own_id(report: Report) -> str | None:
    """Return the corpus' own id where the report or log tells it."""
    extra = report.model_extra or {}
    provenance = extra.get("provenance")
    meta = provenance.get("dataset_meta") if isinstance(provenance, dict) else None
    for place in (report.config.model_extra, meta, extra.get("dataset"), extra):
        corpus_id = place.get("corpus_id", place.get("id")) if isinstance(place, dict) else None
        if isinstance(corpus_id, str) and corpus_id.strip():
            return corpus_id.strip()[:_LONGEST_ID]
    return None


_LONGEST_ID = 200


def report_rows(report: Report) -> list[EntryResult]:
    """Return the entries as rows of a card; the words of what a report does not tell are null."""
    return [_row(entry, report.config.batch_size) for entry in report.entries]


def _row(entry: ReportEntry, batch_size: int) -> EntryResult:
    return EntryResult(
        entry_id=entry.id,
        source=entry.source,
        reference=entry.expected,
        variants=[],
        predicted=None if entry.failed else entry.predicted,
        exact_match=False,
        segment=SEGMENT_NAMES.get(entry.segment or "", entry.segment) or None,
        difficulty=entry.difficulty,
        latency_seconds=entry.latency_s,
        cost_usd=entry.cost_usd,
        cached=entry.cached,
        batch_size=batch_size,
        error=entry.error or None,
        error_class=_error_class(entry),
    )


def _error_class(entry: ReportEntry) -> ErrorClass | None:
    if not entry.failed:
        return None
    return ErrorClass.METHOD if entry.error else ErrorClass.EMPTY


def report_again(raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Compute a report's corpus scores and those of its entries by its own rules.

    Its corpus scores leave failed entries out, and its exact match ignores case.
    """
    report = read_report(raw, "the report")
    kept = [entry for entry in report.entries if not entry.error]
    exact = [_equal(entry) for entry in kept]
    scorer = Scorer(surface_metrics(tokenizer="13a", has_variants=False))
    statistics = scorer.statistics([_translation(entry) for entry in report.entries])
    part = [
        numbers
        for entry, numbers in zip(report.entries, statistics, strict=True)
        if not entry.error
    ]
    corpus = scorer.table(part).corpus_values()
    overall = {
        "total_entries": len(report.entries),
        "evaluated": len(kept),
        "exact_match_count": sum(exact),
        "exact_match_rate": sum(exact) / len(kept) if kept else None,
        "corpus_chrf": corpus["chrf_plus_plus"],
        "corpus_bleu": corpus["bleu"],
        "corpus_ter": corpus["ter"],
    }
    entries = [
        _entry_again(entry, values.values)
        for entry, values in zip(report.entries, scorer.entries_values(statistics), strict=True)
    ]
    return overall, entries


def _translation(entry: ReportEntry) -> Translation:
    return Translation(Entry(id=0, source=entry.source, reference=entry.expected), entry.predicted)


def _entry_again(entry: ReportEntry, values: Mapping[str, float | None]) -> dict[str, Any]:
    if entry.error:
        return {}
    return {
        "exact_match": _equal(entry),
        "chrf_score": values["chrf_plus_plus"],
        "ter_score": values["ter"],
    }


def _equal(entry: ReportEntry) -> bool:
    predicted = comparison_form(entry.predicted).lower()
    return predicted != "" and predicted == comparison_form(entry.expected).lower()
