"""The schemas of ``docs/schemas``, and outputs held against them more strictly than readers may."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"


def schema_of(name: str) -> dict[str, Any]:
    found = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def closed(schema: Any) -> Any:
    """Return the schema with every object closed whose keys are listed: a key that nobody wrote down is an error."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(each) for name, each in schema.items() if name != "$defs"}
    if "$defs" in schema:  # records are closed where they are referred to
        inner["$defs"] = schema["$defs"]
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        inner["unevaluatedProperties"] = False
    return inner


def faults(name: str, shown: Any) -> list[str]:
    """Return what a printed value of a form has otherwise than its schema says."""
    validator = jsonschema.Draft202012Validator(closed(schema_of(name)))
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(shown)]
