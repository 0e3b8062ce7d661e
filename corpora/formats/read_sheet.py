"""Reads the first sheet of an Excel workbook (.xlsx) as the table that it is.

A workbook is a zip archive of a stranger: what it unpacks to and how many cells it claims are bounded.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Any

from corpora.checks.envelope import MOST_FIELDS
from corpora.files.decode import LARGEST, extra
from corpora.files.problems import Findings, shown
from corpora.formats.columns import Columns
from corpora.formats.read_table import RecordTable, TableRow, of_records
from corpora.model.corpus import Form, RawCorpus

MOST_CELLS = 20_000_000
"""Cells of a sheet, empty ones counted; a corpus of a million entries has fewer."""


def is_workbook(data: bytes) -> bool:
    """Return whether the bytes of a file are those of an Excel workbook."""
    if not data.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return False


def read_workbook(data: bytes, findings: Findings, columns: Columns) -> RawCorpus | None:
    """Return the corpus in the first sheet, which is read as any other table."""
    table = read_sheet(data, findings)
    return None if table is None else of_records(table, "", Form.XLSX, findings, columns)


def read_sheet(data: bytes, findings: Findings) -> RecordTable | None:
    """Return the records of the first sheet, blank ones left out; None where the findings say why not."""
    if not _fits(data, findings):
        return None
    openpyxl = extra("openpyxl", "An Excel workbook", findings)
    if openpyxl is None:
        return None
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # what a file claims of its size may be untrue
        table = _table(sheet.iter_rows(values_only=True), findings)
        names = book.sheetnames
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  openpyxl raises whatever a broken part makes it raise
        findings.error("The workbook cannot be read.", "Save it again as .xlsx, or as CSV.")
        return None
    if table is not None and len(names) > 1:
        findings.warning(
            f"The first of {len(names)} sheets, “{shown(names[0], 30)}”, was read.",
            "Nothing to do if that is meant; else save the other sheet as its own file.",
        )
    return table


def _fits(data: bytes, findings: Findings) -> bool:
    """Return whether the workbook is no larger, unpacked, than any file that is read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        findings.error("The workbook is damaged.", "Save it again as .xlsx, or as CSV.")
        return False
    if size > LARGEST:
        what = f"The workbook unpacks to more than {LARGEST // 1024**2} MiB."
        findings.error(what, "Split the corpus into several files, or save it as CSV.")
    return size <= LARGEST


def _table(rows: Iterable[tuple[Any, ...]], findings: Findings) -> RecordTable | None:
    """Return the records; cells beyond the header's that are empty are no cells."""
    table = RecordTable(delimiter=",")
    width = counted = 0
    for line, values in enumerate(rows, 1):
        counted += len(values) + 1
        if counted > MOST_CELLS or len(values) > MOST_FIELDS:
            what = f"The sheet has more than {MOST_CELLS:,} cells, or {MOST_FIELDS:,} columns."
            mend = "Copy the filled part into a new workbook, or save it as CSV."
            findings.error(what, mend, line=line)
            return None
        cells = list(map(_text, values))
        while cells and not cells[-1]:
            cells.pop()
        if not any(cell.strip() for cell in cells):
            continue
        if not table.rows and cells[0].startswith("#"):
            table.comments.append((line, cells[0]))
            continue
        width = width or len(cells)
        table.rows.append(TableRow(line, cells + [""] * (width - len(cells))))
    return table


def _text(value: Any) -> str:
    """Return what a cell shows: whole numbers without a point, dates as ISO 8601 has them."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)
