"""Tables that people bring, read as tables of corpora are: the rows of CSV, TSV or a sheet, each with its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from corpora.files.problems import Findings, Severity
from corpora.formats.read_sheet import is_workbook, read_sheet
from corpora.formats.read_table import RecordTable, read_records
from harness.core.failures import UsageError
from harness.core.storage import read_text

_MOST_DIGITS = 12
"""Digits of a token count; no call has more."""


def is_csv(path: Path) -> bool:
    """Return whether a table's cells are separated by commas, by the ending of its name; by tabs if not."""
    return path.suffix.lower() == ".csv"


def table_cells(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the place of each row (``line 3``) and its cells, of a table that may have no header.

    UsageError names file, line and fix, and never quotes a text.
    """
    yield from _cells(_records(path, text, headed=False))


def table_rows(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, str | int]]]:
    """Yield the place of each row below a header and its fields, by the header's names.

    UsageError names file, line and fix, and never quotes a text.
    """
    return _rows(path, _records(path, text, headed=True))


def sheet_rows(path: Path, content: bytes) -> Iterator[tuple[str, Mapping[str, str | int]]] | None:
    """Return the rows of a workbook's first sheet as ``table_rows`` does; None for bytes of no workbook."""
    if not is_workbook(content):
        return None
    findings = Findings(str(path))
    return _rows(path, _checked(path, read_sheet(content, findings), findings))


def _records(path: Path, text: str, *, headed: bool) -> RecordTable:
    findings = Findings(str(path))
    records = read_records(text, findings, tabs=not is_csv(path), headed=headed, remarks=False)
    return _checked(path, records, findings)


def _checked(path: Path, table: RecordTable | None, findings: Findings) -> RecordTable:
    if table is None:
        raise unreadable(path, findings)
    return table


def unreadable(path: Path, findings: Findings) -> UsageError:
    """Return the first fault of a file that could not be read, with line and fix."""
    wrong = next(problem for problem in findings.problems if problem.severity is Severity.ERROR)
    where = f"line {wrong.line}: " if wrong.line else ""
    return UsageError(f"{path}: {where}{wrong.message} {wrong.mend}")


def _cells(table: RecordTable) -> Iterator[tuple[str, list[str]]]:
    return ((f"line {row.line}", row.cells) for row in table.rows)


def _rows(path: Path, table: RecordTable) -> Iterator[tuple[str, Mapping[str, str | int]]]:
    rows = _cells(table)
    place, named = next(rows, ("line 1", []))
    header = [name.strip() or f"column_{number}" for number, name in enumerate(named, 1)]
    if len(set(header)) < len(header):
        raise UsageError(f"{path}: {place}: two columns have the same name. Rename one.")
    for where, cells in rows:
        if len(cells) != len(header):
            raise UsageError(f"{path}: {where}: the row does not have as many fields as the header.")
        fields: dict[str, str | int] = dict(zip(header, cells, strict=True))
        # A table has only texts; token counts are the numbers that are looked for.
        for name in [name for name, cell in fields.items() if name.lower().endswith("_tokens") and cell]:
            digits = str(fields[name]).strip().removesuffix(".0")
            if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
                raise UsageError(f"{path}: {where}: field {name!r} must be a whole number, or left out.")
            fields[name] = int(digits)
        yield where, fields


# ---- Ids of entries as people's tables give them back: spreadsheets and pandas make 1.0 of 1,
# and 7 of 007.

_NUMBER = re.compile(r"0*(\d{1,15})(?:[.,]0*)?", re.ASCII)


class EntryIds:
    """The ids of a corpus, found as they are or, where only one id has it, by their number."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.all = frozenset(ids)
        numbers: dict[str, list[str]] = {}
        for id_ in self.all:
            if (number := _number(id_)) is not None:
                numbers.setdefault(number, []).append(id_)
        self._by_number = {number: ids[0] for number, ids in numbers.items() if len(ids) == 1}

    def find(self, given: str) -> str | None:
        if given in self.all:
            return given
        unguarded = given.removeprefix("'")  # as the cells of tables for people are written
        if unguarded in self.all:
            return unguarded
        number = _number(unguarded)
        return None if number is None else self._by_number.get(number)


def _number(text: str) -> str | None:
    match = _NUMBER.fullmatch(unicodedata.normalize("NFKC", text.strip()))
    return match[1] if match else None


# ---- A text file of sentences, one on each line ----

MOST_BYTES = 32 * 2**20
_ACTS = frozenset(map(chr, range(0x20))) - {"\t"} | {"\x7f"}


def read_lines(path: Path, longest: int) -> dict[int, str]:
    """Return number of a line, from 1 → its sentence, in UTF-8; empty lines are passed over.

    UsageError names file, line and fix for a sentence of more than ``longest`` characters, a control character, and
    where there is no sentence.
    """
    text, _ = read_text(path, "the sentences", MOST_BYTES)
    lines = {n: line.strip() for n, line in enumerate(text.split("\n"), 1) if line.strip()}
    if not lines:
        raise UsageError(f"{path}: no sentence is in it. Write one on each line.")
    for number, line in lines.items():
        check_length(line, f"{path}: line {number}", longest)
        if not _ACTS.isdisjoint(line):
            raise UsageError(f"{path}: line {number}: a control character is in it. Save the file as plain text.")
    return lines


def check_length(text: str, where: str, longest: int) -> None:
    if len(text) > longest:
        raise UsageError(
            f"{where}: {len(text):,} characters are too many for one sentence; at most {longest:,}. Part it."
        )
