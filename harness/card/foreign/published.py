"""Run logs and published rows of the reference implementation, brought into the shape of what is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corpora.checks.marks import is_mark, names_secret
from corpora.model.segment import SEGMENT_NAMES, Segment
from harness.card.foreign.layouts import log_rows
from harness.card.model import Scores
from harness.card.reading import number
from harness.core.failures import UsageError
from scoring.core.inventory import metric_named
from scoring.core.specification import specification

_TOLD = ("score_caveats", "metric_availability")
"""What a report says about its own scores."""


def report_of_log(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
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


def told_of_scores(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a report says about its scores: caveats, and metrics that were not available."""
    overall = raw.get("overall")
    places = (raw, overall if isinstance(overall, Mapping) else {})
    return {name: place[name] for name in _TOLD for place in places if place.get(name)}


_LONGEST_REASON = 300


def reasons_told(raw: Mapping[str, Any], *, teller: str) -> dict[str, str]:
    """Return by metric id why it has no value, as a report or row says it; ``teller`` names which of the two.

    A metric that is said to be available, and a name that is no metric's, are left out.
    """
    availability = told_of_scores(raw).get("metric_availability")
    reasons: dict[str, str] = {}
    for name, reason_text in availability.items() if isinstance(availability, Mapping) else ():
        metric = metric_named(name[:60].removeprefix("corpus_"))
        why = _why_not(reason_text)
        if metric is not None and why is not None:
            reasons.setdefault(metric, f"{teller} says: {why}"[:_LONGEST_REASON])
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


def _reasons(row: Mapping[str, Any], scores: Mapping[str, Any]) -> dict[str, str]:
    """Return why each metric of the specification that a published row has no value of has none."""
    stated_reasons = reasons_told(row, teller="the published row")
    return {
        metric: stated_reasons.get(metric, "the published row has no value for it")
        for metric in specification().metrics
        if number(scores.get(metric)) is None
    }


def refuse_unclear_marks(report: Mapping[str, Any], name: str) -> None:
    """Raise UsageError where a report or log may be of a secret segment, and its entries do not say it as cards do.

    An entry whose ``segment`` is one of the names of segments is what that says.
    """
    about = {key: value for key, value in report.items() if key != "entries"}
    whole = _names_secret(about)
    for place, entry in enumerate(report["entries"]):
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
    return any(isinstance(value.get(key), str) for key in _ENTRY_TEXTS) or any(
        map(_has_entries, value.values())
    )


_ENTRY_TEXTS = ("source", "expected", "reference", "predicted")


def card_of_published(row: Mapping[str, Any], name: str) -> dict[str, Any]:
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
    scores: dict[str, Any] = {key: row[key] for key in fields if row.get(key) is not None}
    scores["total"] = _count(row, "total", "entry_count", "total_entries", "n_entries")
    scores["errors"] = _count(row, "errors", "error_count")
    if (interval := _interval(row)) is not None:
        scores.setdefault("confidence_intervals", {})
        scores["confidence_intervals"]["chrf_plus_plus"] = interval
    scores["reasons"] = _reasons(row, scores)
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


def _first(row: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of these fields that is a text with something in it."""
    texts = (row.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), None)


def _count(row: Mapping[str, Any], *names: str) -> int:
    counts = (row.get(name) for name in names)
    return next((count for count in counts if type(count) is int and count >= 0), 0)


def _interval(row: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the interval of chrF++, whose ends are fields of their own."""
    ends = [
        next((value for name in names if (value := number(row.get(name))) is not None), None)
        for names in (("chrf_ci_lower", "chrf_ci_low"), ("chrf_ci_upper", "chrf_ci_high"))
    ]
    lower, upper = ends
    if lower is None or upper is None:
        return None
    return {"ci_lower": lower, "ci_upper": upper}
