"""What tests of the pack ``au`` share: its metrics by id, records, and the golden cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from corpora.model.entry import Entry
from scoring.core.metric import Metric
from scoring.core.setup import ScoringSetup, Translation
from scoring.words.source_words import Resources
from tests.scoring.packs import pack_cases
from tests.scoring.packs.pack_cases import corpus_value


def cases(metric: str) -> list[pack_cases.Case]:
    """Return the golden cases of a metric."""
    found = [case for case in pack_cases.cases(metric) if case["metric"] == metric]
    assert found
    return found


def resources(language: str = "crk", **facts: Any) -> Resources:
    """Return what a run into a language has at hand."""
    setup = ScoringSetup(metrics=(), source_language="en", target_language=language, **facts)
    return Resources(setup)


def metric(name: str, found: Resources | None = None) -> Metric:
    """Make a metric as a run does."""
    made = pack_cases.made_of(f"au.{name}", found or resources())
    assert made.signature.isprintable()
    return made


def record(
    output: str, reference: str = "", *, annotations: Mapping[str, Any] | None = None, **fields: Any
) -> Translation:
    """Return a record with its answer."""
    entry = Entry.model_validate({"id": 1, "source": "x", "reference": reference, **fields})
    return Translation(entry, output, annotations or {})


def golden(entry: Mapping[str, Any]) -> Translation:
    """Turn an entry of a golden case into a record; a structured answer is its JSON text."""
    fields = dict(entry)
    output = fields.pop("predicted", None)
    for name in ("predicted_calls", "predicted_state"):
        if name in fields:
            output = json.dumps(fields.pop(name), ensure_ascii=False)
    return record(output, **fields)


def entry_value(made: Metric, translation: Translation) -> float | None:
    """Return the value of one record."""
    return pack_cases.entry_values(made, [translation])[0]


def check_golden(made: Metric, case: Mapping[str, Any], *, scale: float = 1.0) -> None:
    """Compare a golden case with what a metric makes of it; ``scale`` turns its values into the case's."""
    records = [golden(entry) for entry in case["entries"]]
    wanted, tolerance = case["expect"], case.get("tol", 1e-9)
    values: list[Any] = pack_cases.entry_values(made, records)
    if "entry" in wanted:
        assert [value * scale for value in values] == pytest.approx(wanted["entry"], abs=tolerance)
    if "corpus" in wanted:
        assert corpus_value(made, records) * scale == pytest.approx(wanted["corpus"], abs=tolerance)
    if "mean" in wanted:
        assert sum(values) / len(values) * scale == pytest.approx(wanted["mean"], abs=tolerance)
