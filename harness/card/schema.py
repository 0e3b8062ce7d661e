"""The JSON Schema of the run card, made from the model and shipped next to it.

``python -m harness.card.schema > harness/card/run-card.schema.json`` writes it again after a change.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from harness.card.model import RunCard
from scoring.core.inventory import shipped_inventory


def card_schema() -> dict[str, Any]:
    """Make the schema from the model; metrics that it does not name follow from the inventory."""
    schema = RunCard.model_json_schema(by_alias=True)
    scores = schema["$defs"]["Scores"]["properties"]
    for id_, row in shipped_inventory().items():
        kinds = [{"type": "number"}, {"type": "null"}]
        scores.setdefault(
            id_,
            {"anyOf": kinds, "default": None, "description": row.what, "title": row.info.title},
        )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


if __name__ == "__main__":
    json.dump(card_schema(), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
