"""The JSON Schema of the run card, made from the model and shipped beside it.

``python -m harness.card.schema > harness/card/run-card.schema.json`` writes it anew after a change.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from harness.card.model import RunCard


def card_schema() -> dict[str, Any]:
    """Make the schema from the model."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **RunCard.model_json_schema(by_alias=True),
    }


if __name__ == "__main__":
    json.dump(card_schema(), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
