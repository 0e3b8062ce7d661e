"""Outputs in a table with a header, CSV or TSV.

A quote that does not close, or closes in the middle of a cell, would swallow rows without a word; CSV is
therefore read strictly. In TSV a quotation mark is a character like any other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.core.failures import UsageError

MOST_DIGITS = 12
"""Digits of a token count; no call has more."""


def table_rows(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each row's place and fields; UsageError names file, line and mend, never a text."""
    records = _records(path, text)
    _, header = next(records, ("line 1", []))
    _refuse_doubled(path, header)
    for where, cells in records:
        if len(cells) != len(header):
            raise UsageError(f"{path}: {where}: the row has not as many fields as the header.")
        fields = zip(header, cells, strict=True)
        yield where, {name: _value(path, where, name, cell) for name, cell in fields}


def _records(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    comma = path.suffix.lower() == ".csv"
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="," if comma else "\t",
        quoting=csv.QUOTE_MINIMAL if comma else csv.QUOTE_NONE,
        strict=True,
    )
    where = "line 1"
    try:
        for cells in reader:
            if cells:
                yield where, cells
            where = f"line {reader.line_num + 1}"
    except csv.Error as error:
        raise UsageError(
            f"{path}: {where}: the row that begins here cannot be read ({error}). Close every quote, and "
            'double a quote inside a quoted cell: "". Very long texts need JSONL.'
        ) from None


def _refuse_doubled(path: Path, header: list[str]) -> None:
    if len(set(header)) < len(header):
        raise UsageError(f"{path}: line 1: two columns have the same name. Rename one.")


def _value(path: Path, where: str, name: str, cell: str) -> str | int:
    """Read a cell; a table has only texts, and token counts are the numbers that are looked for."""
    if not name.endswith("_tokens") or not cell:
        return cell
    if not (cell.isascii() and cell.isdigit() and len(cell) <= MOST_DIGITS):
        raise UsageError(f"{path}: {where}: field {name!r} must be a whole number, or left out.")
    return int(cell)
