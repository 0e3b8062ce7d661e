"""Reads CSV and TSV: header line, quotes, ``#`` comment lines, envelope in leading comments.

A quote that does not close, or closes in the middle of a cell, would swallow rows silently; CSV is
therefore read strictly, and TSV whose quotes do not work out is read without quoting.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from corpora.checks.envelope import MOST_FIELDS, is_mark, is_term_mark
from corpora.files.json_types import Json
from corpora.files.problems import Findings
from corpora.formats.columns import (
    JSON_COLUMN,
    LISTED,
    NOTHING,
    OPTIONS,
    Columns,
    add_references,
    choose_columns,
    note_choice,
    note_missing,
    note_unknown,
    read_cell,
    take_listed,
    whole_number,
)
from corpora.formats.delimiters import (
    check_comments,
    delimiter_of,
    delimiter_of_rows,
    directive,
    envelope_of,
    first_record,
    is_separated_otherwise,
    without_returns,
)
from corpora.formats.read_json import parse_line
from corpora.languages.tags import tag_of
from corpora.model.corpus import SIDES, SYNONYMS, Form, RawCorpus, RawEntry, canonical_names

FURTHER = ""
"""Is in place of the name of a column that holds further references; no other has it."""


@dataclass(slots=True)
class TableRow:
    """The cells of one record and the line it begins on."""

    line: int
    cells: list[str]


@dataclass(slots=True)
class RecordTable:
    """The records of a file and its comments."""

    rows: list[TableRow] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    """Those before the first record."""
    later: list[tuple[int, str]] = field(default_factory=list)
    """Those after it."""
    delimiter: str = "\t"


class _Lines:
    """Hands lines to the csv reader, leaving out comment lines where a record may begin."""

    def __init__(self, text: str, table: RecordTable, *, remarks: bool) -> None:
        self._lines = io.StringIO(text, newline="")
        self._table = table
        self._remarks = remarks
        self._between_records = True
        self.line = 0
        self.begun = 0
        """Line on which the current record begins."""

    def __iter__(self) -> Iterator[str]:
        for text in self._lines:
            self.line += 1
            if self._between_records:
                if text.startswith("#") and (self._remarks or not self._table.rows):
                    kept = self._table.later if self._table.rows else self._table.comments
                    kept.append((self.line, text.rstrip("\r\n")))
                    continue
                self.begun = self.line
            self._between_records = False
            yield text

    def record_ends(self) -> None:
        self._between_records = True


def read_table(text: str, form: Form, findings: Findings, columns: Columns) -> RawCorpus | None:
    """Read a table; its header, or what was said beforehand, tells the source and the reference column."""
    table = read_records(text, findings, tabs=form is Form.TSV)
    return None if table is None else of_records(table, text, form, findings, columns)


def read_records(
    text: str, findings: Findings, *, tabs: bool, headed: bool = True, remarks: bool = True
) -> RecordTable | None:
    """Cut the text of a table into records, as every table is: corpora, outputs, ratings, dictionaries.

    ``tabs``: whether its name says that tabs separate its cells. ``headed``: whether its first record is a header.
    ``remarks``: whether lines that begin with # are remarks after the first record too.
    None where it cannot be read; the findings say why, with the line.
    """
    tabs = tabs and directive(text)[1] in (None, "\t")
    if headed:
        tabs = tabs and not is_separated_otherwise(text, findings)
        delimiter = "\t" if tabs else delimiter_of(text)
    else:
        delimiter = delimiter_of_rows(text, "\t" if tabs else ",")
    plain = directive(text)[0]
    if delimiter == "\t":
        read = _tsv(plain, findings, remarks=remarks)
    else:
        try:
            read = _records(without_returns(plain, delimiter, findings), delimiter, csv.QUOTE_MINIMAL, remarks=remarks)
        except _BrokenRecord as broken:
            findings.error(
                f"The record that begins here cannot be read ({broken.reason}).",
                'Close every quote, and double a quote inside a quoted cell: "". Very long texts need JSON or JSONL.',
                line=broken.line,
            )
            return None
    if read is not None:
        read.delimiter = delimiter
        if (widest := max((len(row.cells) for row in read.rows), default=0)) > MOST_FIELDS:
            what = f"It has {widest:,} columns; {MOST_FIELDS:,} are read."
            findings.error(what, "Is this the right file?")
            return None
    return read


def of_records(table: RecordTable, text: str, form: Form, findings: Findings, columns: Columns) -> RawCorpus | None:
    """Return the corpus in the records of a table, or of a sheet, whose ``text`` is empty."""
    if not table.rows:
        findings.error("There is no header line.", "Begin with id, source, reference.")
        return None
    delimiter = table.delimiter
    tabs = delimiter == "\t"
    check_comments(table.comments, table.later, delimiter, findings)
    raw = RawCorpus(form, envelope_of(table.comments, delimiter))
    header, columns = table.rows[0], columns.within(raw.envelope)
    sides = _without_header(header, columns, tabs=tabs)
    names: list[str] | None
    if sides is not None:
        names = [f"column_{number}" for number in range(1, len(header.cells) + 1)]
        further = [FURTHER] * (len(sides) - len(SIDES))
        for side, place in zip((*SIDES, *further), sides, strict=True):
            names[place] = side
        # Show how a table without a header was read; its ids are the numbers of its lines.
        left_out = len(table.comments) + len(table.later)
        comments = f" {left_out} lines that begin with # were read as comments." if left_out else ""
        listed = ", ".join(str(place + 1) for place in sides[2:])
        others = f", {listed} as variants" if listed else ""
        findings.warning(
            f"No header was recognised: the first line was read as an entry, column {sides[0] + 1} as the source, "
            f"column {sides[1] + 1} as the reference{others}.{comments}",
            "If the first line is a header, name its columns source and reference, or say which they are: "
            f"{OPTIONS['source']} NAME {OPTIONS['reference']} NAME.",
            line=table.rows[0].line,
        )
        lines = len(text.removesuffix("\n").split("\n"))
        if '"' not in text and lines > len(table.rows):
            raw.envelope.setdefault("file_lines", lines)
    else:
        names = _column_names(table.rows.pop(0), columns, raw, findings)
    if names is None:
        return None
    whole = _has_whole_numbers(table.rows, names)
    for row in table.rows:
        fields = _fields(row, names, len(raw.entries) + 1, findings)
        if fields is not None:
            if sides is not None:
                fields["id"] = row.line
            elif whole and "id" in fields:
                fields["id"] = whole_number(str(fields["id"]))
            raw.entries.append(RawEntry(fields, len(raw.entries) + 1, row.line))
    return raw


def _has_whole_numbers(rows: Sequence[TableRow], names: Sequence[str]) -> bool:
    """Return whether all ids are whole numbers, as 1.0 is, which spreadsheets and pandas make of 1."""
    if "id" not in names:
        return False
    place = names.index("id")
    cells = [row.cells[place].strip() for row in rows if len(row.cells) == len(names)]
    return all(whole_number(cell) is not None for cell in cells if cell)


def _without_header(first: TableRow, columns: Columns, *, tabs: bool) -> tuple[int, ...] | None:
    """Return the places of the sources and the references where the first record is no header, None where it may be one.

    A record in which nothing is known is none where the columns were given as numbers, and in a TSV of two
    columns of which nothing was said.
    """
    if columns.known_only:
        return None
    names = tuple(cell.strip() for cell in first.cells)
    known = {*SYNONYMS, *canonical_names(names)}
    tagged = any(tag_of(name) is not None for name in names)
    if tagged or known.intersection(names) or any(is_mark(n) or is_term_mark(n) for n in names):
        return None
    if columns.numbers is not None:
        return columns.numbers if max(columns.numbers) < len(names) else None
    named_side = columns.source or columns.reference
    return (0, 1) if tabs and len(names) == 2 and not named_side else None


def is_table(text: str, columns: Columns) -> bool:
    """Return whether a text without a telling name is a table.

    It is where the first record names both sides, by names or languages, or somebody says which columns they
    are; and where each of the first lines has as many tabs, and one at least.
    """
    cells = tuple(cell.strip().strip('"') for cell in first_record(text).split(delimiter_of(text)))
    names = {*cells, *canonical_names(cells).values()}
    known = [side for side in SIDES if side in names]
    chosen = choose_columns(cells, columns, known)
    if len({*known, *chosen.places, *chosen.alike}) == len(SIDES):
        return True
    lines = (line for line in io.StringIO(text, newline=None) if line.strip())
    tabs = {line.count("\t") for line in islice(lines, _LOOKED_AT)}
    return columns.numbers is not None or (len(tabs) == 1 and max(tabs) > 0)


_LOOKED_AT = 100
"""Lines by which a table without a header is told from running text."""


def _tsv(text: str, findings: Findings, *, remarks: bool) -> RecordTable | None:
    text = without_returns(text, "\t", findings)
    if '"' not in text:
        return _unquoted(text, findings, remarks=remarks)
    try:
        table = _records(text, "\t", csv.QUOTE_MINIMAL, remarks=remarks)
    except _BrokenRecord:
        table = None
    if table is None or len({len(row.cells) for row in table.rows}) > 1:
        findings.warning(
            "The quotation marks do not enclose cells; they were read as text.",
            "Nothing to do if the file was written without quoting.",
        )
        return _unquoted(text, findings, remarks=remarks)
    for row in table.rows:
        if any("\t" in cell and "\n" in cell for cell in row.cells):
            findings.warning(
                "A quoted cell holds tabs and line breaks; a stray quote may have swallowed rows.",
                "Look at this row.",
                line=row.line,
            )
    return table


def _unquoted(text: str, findings: Findings, *, remarks: bool) -> RecordTable | None:
    try:
        return _records(text, "\t", csv.QUOTE_NONE, remarks=remarks)
    except _BrokenRecord as broken:
        what = f"The row cannot be read ({broken.reason})."
        findings.error(what, "Very long texts need JSON or JSONL.", line=broken.line)
        return None


class _BrokenRecord(Exception):  # noqa: N818  never leaves this file
    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason


def _records(text: str, delimiter: str, quoting: Any, *, remarks: bool) -> RecordTable:
    table = RecordTable()
    lines = _Lines(text, table, remarks=remarks)
    reader = csv.reader(iter(lines), delimiter=delimiter, quoting=quoting, strict=True)
    try:
        for cells in reader:
            lines.record_ends()
            if any(cell.strip() for cell in cells):
                table.rows.append(TableRow(lines.begun, cells))
    except csv.Error as error:
        raise _BrokenRecord(lines.begun, str(error)) from None
    return table


def _column_names(header: TableRow, columns: Columns, raw: RawCorpus, findings: Findings) -> list[str] | None:
    plain = tuple(
        cell.removesuffix(JSON_COLUMN) if cell.strip() else f"column_{number}"
        for number, cell in enumerate(header.cells, start=1)
    )
    mapping = canonical_names(plain)
    names = [mapping.get(name, name) for name in plain]
    chosen = choose_columns(plain, columns, [side for side in SIDES if side in names])
    note_choice(chosen, columns, findings, OPTIONS, line=header.line)
    raw.guessed |= chosen.languages
    for side, place in chosen.places.items():
        pairs = [(own, own if name == side else name) for own, name in zip(plain, names, strict=True)]
        names = [f"other_{side}" if own == side else name for own, name in pairs]
        names[place] = side
    for place in chosen.further:
        names[place] = FURTHER
    folded = [name.strip().casefold() for name in names]
    listed = next((name for name in LISTED if name in folded), None)
    if listed is not None and "reference" not in names and not columns.reference:
        names[folded.index(listed)] = listed
    else:
        listed = None
    if columns.known_only:
        note_unknown(names, header.cells, findings, line=header.line)
        if findings.failed:
            return None
    for side in SIDES:
        lost = columns.named(side) is not None and side not in chosen.places
        optional = (side == columns.optional and not lost) or (side == "reference" and listed)
        if (side not in names or lost) and side not in chosen.alike and not optional:
            note_missing(side, columns, len(names), findings, line=header.line)
    single = [name for name in names if name != FURTHER]
    if len(set(single)) != len(single):
        findings.error("Two columns have the same name.", "Rename one.", line=header.line)
    if findings.failed:
        return None
    return [
        name + JSON_COLUMN if cell.endswith(JSON_COLUMN) else name
        for name, cell in zip(names, header.cells, strict=True)
    ]


def _fields(row: TableRow, names: list[str], place: int, findings: Findings) -> dict[str, Json] | None:
    if len(row.cells) != len(names):
        findings.error(
            f"The row has {len(row.cells)} {'cell' if len(row.cells) == 1 else 'cells'}, the header {len(names)}.",
            "Put texts that hold the separator in quotes."
            if len(row.cells) > len(names)
            else "Write the missing cells; an empty one is still separated from its neighbours.",
            line=row.line,
            entry=place,
        )
        return None
    fields: dict[str, Json] = {}
    further: list[str] = []
    for name, cell in zip(names, row.cells, strict=True):
        if name == FURTHER:
            further.append(cell)
            continue
        if not cell and name in SIDES and any(row.cells):
            fields[name] = cell
        if not cell:
            continue
        if name.endswith(JSON_COLUMN):
            fields[name.removesuffix(JSON_COLUMN)] = parse_line(cell, row.line, place, findings)
        elif (value := read_cell(name, cell)) not in NOTHING:
            fields[name] = value
    take_listed(fields)
    if further:
        add_references(fields, further)
    return fields
