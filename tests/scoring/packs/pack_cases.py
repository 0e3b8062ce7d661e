"""Golden cases of the packs (``tests/data/metric-goldens.jsonl``), and metrics made as a run makes them."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from corpora.model.entry import Entry
from scoring.core.metric import Metric
from scoring.core.packs import shipped_pack
from scoring.core.setup import ScoringSetup, Translation
from scoring.words.source_words import Resources

_FILE = Path(__file__).parents[2] / "data" / "metric-goldens.jsonl"

Case = dict[str, Any]


def cases(*prefixes: str) -> list[Case]:
    """Return the cases of the metrics whose names begin with one of these."""
    every = map(json.loads, _FILE.read_text("utf-8").splitlines())
    return [case for case in every if case["metric"].startswith(prefixes)]


def made_of(id_: str, found: Resources) -> Metric:
    """Make a metric of a shipped pack with what a run has at hand."""
    row = shipped_pack(id_.partition(".")[0]).rows[id_]
    made = import_module(str(row.module)).METRICS[id_].make(found)
    assert isinstance(made, Metric)
    assert made.info is row.info
    return made


def metric(id_: str, target: str = "crk", script: str | None = None, **setup: Any) -> Metric:
    """Make a metric of a shipped pack."""
    facts = ScoringSetup(metrics=(id_,), source_language="en", target_language=target, script=script, **setup)
    return made_of(id_, Resources(facts))


def record(fields: dict[str, Any], **annotations: Any) -> Translation:
    """Make a translation of the fields of a record, of which ``predicted`` is the output."""
    rest = {key: value for key, value in fields.items() if key != "predicted"}
    entry = Entry(**{"id": 1, "source": "", "reference": "", **rest})
    return Translation(entry, fields.get("predicted", ""), annotations)


def entry_values(made: Metric, translations: list[Translation]) -> list[float | None]:
    """Return the values of single entries."""
    found = [made.stats(each) for each in translations]
    return [None if each is None else made.value(each) for each in found]


def corpus_value(made: Metric, translations: list[Translation]) -> float | None:
    """Return the value of all entries together."""
    found = [stats for each in translations if (stats := made.stats(each)) is not None]
    return made.value([sum(column) for column in zip(*found, strict=True)]) if found else None
