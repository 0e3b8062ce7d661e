"""Tables that people bring: the rows of CSV or TSV, each with the line on which it begins.

A quote that does not close, or closes in the middle of a cell, would swallow rows without a word; CSV is therefore
read strictly. In TSV a quotation mark is a character like any other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.core.failures import UsageError

_MOST_DIGITS = 12
"""Digits of a token count; no call has more."""


def is_csv(path: Path) -> bool:
    """Tell whether a table's cells are separated by commas, by the ending of its name; by tabs if not."""
    return path.suffix.lower() == ".csv"


def table_cells(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the place of each row that is not empty (``line 3``) and its cells.

    UsageError names file, line and mend, and never quotes a text.
    """
    comma = is_csv(path)
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
            'double a quote inside a quoted cell: "". Very long texts need JSON.'
        ) from None


def table_rows(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, str | int]]]:
    """Yield the place of each row below a header and its fields, by the header's names.

    UsageError names file, line and mend, and never quotes a text.
    """
    rows = table_cells(path, text)
    _, header = next(rows, ("line 1", []))
    if len(set(header)) < len(header):
        raise UsageError(f"{path}: line 1: two columns have the same name. Rename one.")
    for where, cells in rows:
        if len(cells) != len(header):
            raise UsageError(
                f"{path}: {where}: the row does not have as many fields as the header."
            )
        fields = zip(header, cells, strict=True)
        yield where, {name: _value(path, where, name, cell) for name, cell in fields}


def _value(path: Path, where: str, name: str, cell: str) -> str | int:
    """Read a cell; a table has only texts, and token counts are the numbers that are looked for."""
    if not name.endswith("_tokens") or not cell:
        return cell
    if not (cell.isascii() and cell.isdigit() and len(cell) <= _MOST_DIGITS):
        raise UsageError(f"{path}: {where}: field {name!r} must be a whole number, or left out.")
    return int(cell)
