"""Writes into the schemas what is made from records: ``python -P docs/make_schemas.py``.

``schemas/run-card.schema.json`` is made whole; of the others, ``$defs`` is. The rest of each schema is written by
hand; tests hold it against what the commands print.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from corpora.languages.cards import LanguageCard
from corpora.model.corpus import Dataset
from harness.card.checking.lint_subject import LintReport
from harness.card.model import card_schema
from harness.compare.gate import GateResult
from harness.doctor.finding import Finding
from harness.estimate.estimate import RunEstimate
from harness.estimate.framework import WorkedFramework
from harness.method.method import Setup
from harness.run.events import Failed, Finished
from harness.sweep.comparing import SweepComparison
from harness.sweep.expansion import SweepEstimate
from harness.sweep.record import CellRecord, SweepRecord, SweepSummary
from review.records.ownership import OwnershipRecord

SCHEMAS = Path(__file__).parent / "schemas"

RECORDS: dict[str, tuple[type, ...]] = {
    "cost": (WorkedFramework,),
    "doctor": (Finding,),
    "estimate": (RunEstimate,),
    "event": (Setup, Dataset, Finished, Failed),
    "gate": (GateResult,),
    "language-show": (LanguageCard,),
    "ownership-show": (OwnershipRecord,),
    "runs-lint": (LintReport,),
    "sweep": (SweepRecord,),
    "sweep-compare": (SweepComparison,),
    "sweep-estimate": (SweepEstimate,),
    "sweep-event": (CellRecord, SweepSummary),
    "sweep-list": (SweepSummary,),
}
"""Form → records that it holds."""


def definitions(records: tuple[type, ...]) -> dict[str, Any]:
    """Return the schemas of records and of what they hold, by name."""
    found: dict[str, Any] = {}
    for record in records:
        schema = TypeAdapter(record).json_schema(mode="serialization")
        found |= schema.pop("$defs", {})
        found[record.__name__] = schema
    return found


def pages() -> dict[str, str]:
    """Return what each file that is made, wholly or in part, ought to hold."""
    made = {"run-card": card_schema()}
    for name, records in RECORDS.items():
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
        made[name] = schema | {"$defs": definitions(records)}
    return {
        f"{name}.schema.json": json.dumps(schema, ensure_ascii=False, indent=2) + "\n" for name, schema in made.items()
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (SCHEMAS / name).write_text(text, encoding="utf-8")
