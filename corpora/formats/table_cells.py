"""What stands in one cell of a CSV or TSV corpus, read and written by the same rules.

A cell is text. A column whose name ends in ``:json`` holds JSON values, so that objects, numbers and
texts that look like something else come back as they were. An empty cell means: not given.
"""

from __future__ import annotations

import json
import re
from typing import Any

from corpora.model.raw import SYNONYMS

JSON_COLUMN = ":json"
NOTHING: tuple[Any, ...] = ("", [])
"""Values that a cell stands for where the field is not given."""
_TEXTS = frozenset({"source", "reference", "notes", "morphological_analysis"})
_STRIPPED = frozenset(SYNONYMS) - _TEXTS
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,14}", re.ASCII)
_TIER = re.compile(r"([0-9]{1,3})(\.0+)?", re.ASCII)


def read_cell(name: str, cell: str) -> Any:
    """Return the value of a plain cell; ids that are whole numbers become integers."""
    if name not in _STRIPPED:
        return cell
    cell = cell.strip()
    if name == "id" and _INTEGER.fullmatch(cell):
        return int(cell)
    if name == "difficulty":
        tier = _TIER.fullmatch(cell)
        return int(tier[1]) if tier else cell
    return read_variants(cell) if name == "variants" else cell


def read_variants(cell: str) -> list[str]:
    """Read variants given as a JSON list of texts or separated by ``|``."""
    if cell.startswith("["):
        try:
            listed = json.loads(cell)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list) and all(isinstance(text, str) for text in listed):
            return listed
    return [part.strip() for part in cell.split("|") if part.strip()]


def is_plain(name: str, value: Any) -> bool:
    """Tell whether a value comes back the same from a plain cell."""
    text = write_cell(name, value)
    return bool(text) and value not in NOTHING and read_cell(name, text or "") == value


def write_cell(name: str, value: Any) -> str | None:
    """Return the text of a plain cell, None for a value that only a JSON column can hold."""
    if isinstance(value, str):
        return value
    if name in {"id", "difficulty"} and type(value) is int:
        return str(value)
    return json.dumps(value, ensure_ascii=False) if name == "variants" else None
