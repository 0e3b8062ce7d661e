"""Run logs and published rows of the reference implementation, brought into the shape of what is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ConfigDict, Field, JsonValue, ValidationError

from corpora.checks.envelope import is_mark, names_secret
from corpora.files.json_types import Json, JsonObject
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.model.vocabularies import SEGMENT_NAMES, Segment
from corpora.text.comparison import comparison_form
from harness.card.foreign_cards import log_rows
from harness.card.model import Block, EntryResult, Scores
from harness.card.reading import block, number, objects
from harness.core.failures import ErrorClass, UsageError
from harness.method.method import MethodClass, Setup
from scoring.core.inventory import metric_named
from scoring.core.scorer import Scorer
from scoring.core.setup import Translation
from scoring.core.specification import specification
from scoring.metrics.inventory import surface_metrics

_TOLD = ("score_caveats", "metric_availability")  # What a report says about its own scores


def report_of_log(raw: JsonObject, name: str) -> dict[str, Json]:
    """Return a run log as a test report without scores; UsageError where it names no run."""
    if not isinstance(raw.get("run_id"), str):
        raise UsageError(f"{name}: $.run_id: a run log names its run. Give the whole file.")
    rows = log_rows(raw)
    assert isinstance(rows, list)  # noqa: S101  the layout was told by it
    entries = [
        {field: value for field, value in row.items() if field != "usage" and value is not None}
        if isinstance(row, dict)
        else row
        for row in rows
    ]
    others = {key: value for key, value in raw.items() if key not in {"results", "entries"}}
    return {**others, "overall": {}, "entries": entries}


def told_of_scores(raw: JsonObject) -> dict[str, Json]:
    """Return what a report says about its scores: caveats, and metrics that were not available."""
    overall = raw.get("overall")
    places = (raw, overall if isinstance(overall, Mapping) else {})
    return {name: place[name] for name in _TOLD for place in places if place.get(name)}


def reasons_told(raw: JsonObject, *, teller: str) -> dict[str, str]:
    """Return by metric id why it has no value, as a report or row says it; ``teller`` names which of the two.

    A metric that is said to be available, and a name that is no metric's, are left out.
    """
    availability = told_of_scores(raw).get("metric_availability")
    reasons: dict[str, str] = {}
    for name, reason_text in availability.items() if isinstance(availability, Mapping) else ():
        metric = metric_named(name[:60].removeprefix("corpus_"))
        why = _why_not(reason_text)
        if metric is not None and why is not None:
            reasons.setdefault(metric, f"{teller} says: {why}"[:300])
    return reasons


def _why_not(said: object) -> str | None:
    """Return why a metric was not available: said as a text, as false, or as an object with a reason."""
    if isinstance(said, Mapping):
        words = (said.get(key) for key in ("reason", "message", "error", "detail", "status"))
        why = next((word for word in words if isinstance(word, str) and word.strip()), "")
        return None if said.get("available") is True else why or "not available"
    if isinstance(said, str):
        text = said.strip()
        return None if text.casefold() in _AVAILABLE else text or "not available"
    return "not available" if said is False else None


_AVAILABLE = frozenset({"available", "ok", "yes", "true", "computed"})


def refuse_unclear_marks(report: JsonObject, name: str) -> None:
    """Raise UsageError where a report or log may be of a secret segment, and its entries do not say it as cards do.

    An entry whose ``segment`` is one of the names of segments is what that says.
    """
    about = {key: value for key, value in report.items() if key != "entries"}
    whole = _names_secret(about)
    for place, entry in enumerate(objects(report, "entries")):
        segment = entry.get("segment")
        known = isinstance(segment, str) and segment in {*Segment, *SEGMENT_NAMES}
        if not known and (whole or _names_secret(entry)):
            raise UsageError(
                f"{name}: $.entries[{place}]: it may be of a secret segment, and that is not understood here. "
                f'Write "segment" of each entry ({", ".join(Segment)}).'
            )


def _names_secret(value: object) -> bool:
    """Return whether a mark anywhere in a value names a secret segment."""
    if isinstance(value, list):
        return any(map(_names_secret, value))
    if not isinstance(value, Mapping):
        return False
    marks = (text for key, text in value.items() if is_mark(key) and isinstance(text, str))
    return any(map(names_secret, marks)) or any(map(_names_secret, value.values()))


def _has_entries(value: object) -> bool:
    """Return whether a value has the text of an entry in it, however deep."""
    if isinstance(value, list):
        return any(map(_has_entries, value))
    if not isinstance(value, Mapping):
        return False
    texts = (value.get(key) for key in ("source", "expected", "reference", "predicted"))
    return any(isinstance(text, str) for text in texts) or any(map(_has_entries, value.values()))


def card_of_published(row: JsonObject, name: str) -> dict[str, Json]:
    """Return the aggregates of a published row as a card without entries; UsageError where it names no run, or has entries.

    The row itself is kept under ``published_row``.
    """
    if any(_has_entries(value) for value in row.values()):
        raise UsageError(
            f"{name}: a published row tells the scores of a run, and this one holds texts of entries, which nobody "
            "would see to be secret. Import the run's card, or take them out."
        )
    run_id = _first(row, "run_id", "id")
    if run_id is None:
        raise UsageError(f"{name}: $.run_id: a published row names its run. Give the whole row.")
    pair = row.get("language_pair")
    languages = (_first(row, "source_lang"), _first(row, "target_lang"))
    sides = "→".join(language for language in languages if language)
    fields = Scores.model_fields
    scores: dict[str, Json] = {key: row[key] for key in fields if row.get(key) is not None}
    scores["total"] = _count(row, "total", "entry_count", "total_entries", "n_entries")
    scores["errors"] = _count(row, "errors", "error_count")
    # the ends of the interval of chrF++ are fields of their own
    ends = [
        next((value for name in names if (value := number(row.get(name))) is not None), None)
        for names in (("chrf_ci_lower", "chrf_ci_low"), ("chrf_ci_upper", "chrf_ci_high"))
    ]
    if None not in ends:
        interval = dict(zip(("ci_lower", "ci_upper"), ends, strict=True))
        scores["confidence_intervals"] = {**block(scores, "confidence_intervals"), "chrf_plus_plus": interval}
    # Why each metric of the specification that a published row has no value of has none.
    stated_reasons = reasons_told(row, teller="the published row")
    scores["reasons"] = {
        metric: stated_reasons.get(metric, "the published row has no value for it")
        for metric in specification().metrics
        if number(scores.get(metric)) is None
    }
    return {
        "run_id": run_id,
        "harness_version": _first(row, "harness_version") or "",
        "timestamp": _first(row, "timestamp", "created_at", "published_at") or "",
        "model_slug": _first(row, "model_slug", "model", "model_id") or "unknown",
        "condition": _first(row, "condition", "method", "prompt_version") or "",
        "dataset": {
            "id": _first(row, "corpus_id", "dataset_id", "dataset") or "",
            "language_pair": pair if isinstance(pair, str) else sides,
            "sha256": _first(row, "corpus_sha256", "dataset_sha256") or "",
            "entry_count": scores["total"],
        },
        "scores": scores,
        "fingerprint": {"hash": _first(row, "fingerprint_hash") or "", "components": {}},
        "published_row": dict(row),
    }


def _first(row: JsonObject, *names: str) -> str | None:
    """Return the first of these fields that is a text with something in it."""
    texts = (row.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), None)


def _count(row: JsonObject, *names: str) -> int:
    counts = (row.get(name) for name in names)
    return next((count for count in counts if type(count) is int and count >= 0), 0)


# ---- Test reports of the reference implementation: outputs with scores, but neither set-up nor
# seal.
#
# What such a report carries becomes entries and rows here; it is scored again, because its own
# numbers leave failed entries out of every denominator (DESIGN M2).


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
    overall: dict[str, JsonValue]
    entries: list[ReportEntry]


def read_report(raw: JsonObject, name: str) -> Report:
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
            return corpus_id.strip()[:200]
    return None


def report_rows(report: Report) -> list[EntryResult]:
    """Return the entries as rows of a card; the words of what a report does not tell are null."""
    rows = []
    for entry in report.entries:
        kind = ErrorClass.METHOD if entry.error else ErrorClass.EMPTY
        rows.append(
            EntryResult(
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
                batch_size=report.config.batch_size,
                error=entry.error or None,
                error_class=kind if entry.failed else None,
            )
        )
    return rows


def report_again(raw: JsonObject) -> tuple[JsonObject, Sequence[JsonObject]]:
    """Compute a report's corpus scores and those of its entries by its own rules.

    Its corpus scores leave failed entries out, and its exact match ignores case.
    """
    report = read_report(raw, "the report")
    kept = [entry for entry in report.entries if not entry.error]
    exact = [_equal(entry) for entry in kept]
    scorer = Scorer(surface_metrics(tokenizer="13a", has_variants=False))
    texts = [
        Translation(Entry(id=0, source=entry.source, reference=entry.expected), entry.predicted)
        for entry in report.entries
    ]
    statistics = scorer.statistics(texts)
    pairs = zip(report.entries, statistics, strict=True)
    part = [numbers for entry, numbers in pairs if not entry.error]
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
        {}
        if entry.error
        else {"exact_match": _equal(entry), "chrf_score": own.values["chrf_plus_plus"], "ter_score": own.values["ter"]}
        for entry, own in zip(report.entries, scorer.entries_values(statistics), strict=True)
    ]
    return overall, entries


def _equal(entry: ReportEntry) -> bool:
    predicted = comparison_form(entry.predicted).lower()
    return predicted != "" and predicted == comparison_form(entry.expected).lower()
