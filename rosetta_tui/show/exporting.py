"""Records as text for other programs: CSV, JSON, Markdown and LaTeX.

CSV and JSON hold every value in full; a table for a page is rounded as people read it. JSON alone holds texts
letter by letter: elsewhere, characters that would act on a terminal or run in a spreadsheet are made harmless.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Collection, Sequence
from enum import StrEnum

from corpora.text.visible import guarded
from rosetta_tui.show.clipboard import harmless
from rosetta_tui.show.columns import Record, Value
from rosetta_tui.show.text import plain


class TableFormat(StrEnum):
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "md"
    LATEX = "tex"


FORM_WORDS = {
    TableFormat.CSV: "CSV, for spreadsheets",
    TableFormat.JSON: "JSON, for programs",
    TableFormat.MARKDOWN: "Markdown, a table for a page",
    TableFormat.LATEX: "LaTeX, a table for a paper",
}
"""Form → what it is for; the form itself is the ending of its files."""

PAGES = frozenset({TableFormat.MARKDOWN, TableFormat.LATEX})  # people read these: rounded numbers
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def table_text(records: Sequence[Record], form: TableFormat, right: Collection[str] = frozenset()) -> str:
    """Write records in a form under their names; on a page, columns in ``right`` and pure numbers stand at the right."""
    names = list(dict.fromkeys(name for record in records for name in record))
    match form:
        case TableFormat.CSV:
            file = io.StringIO(newline="")
            sheet = csv.writer(file, lineterminator="\r\n")
            sheet.writerow(map(sheet_cell, names))
            sheet.writerows([sheet_cell(record.get(name)) for name in names] for record in records)
            return file.getvalue()
        case TableFormat.JSON:
            finite = [
                {n: (None if isinstance(v, float) and not math.isfinite(v) else v) for n, v in record.items()}
                for record in records
            ]
            return json.dumps(finite, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        case TableFormat.MARKDOWN:
            return _markdown(names, records, right)
        case TableFormat.LATEX:
            return _latex(names, records, right)


def encoded(text: str) -> bytes:
    """Return text as UTF-8; a half of a surrogate pair becomes an escape, which JSON reads back."""
    return text.encode("utf-8", "backslashreplace")


# Spreadsheets


def sheet_cell(value: Value) -> str:
    """Return a value for a cell of a spreadsheet; text that would be run there gets an apostrophe before it."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    return guarded(harmless(value))


def row_text(record: Record) -> str:
    """Return one record as a line with tabs between its values, for a spreadsheet or a page."""
    return "\t".join(plain(sheet_cell(value)) for value in record.values())


# Pages

_MARKDOWN = re.compile(r"[\\`*_\[\]<>|&~$#]")

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "→": r"$\to$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "◆": r"$\bullet$",
    "◇": r"$\circ$",
    "↺": "",
}
"""Characters that are commands, or are set as others; a mark beside a word that says the same is left out."""

_OPTION = re.compile(r"^[\[*]")  # at the start of a row it would belong to the command before it
_BESIDE = re.compile("(?<=-)-|(?<=')'")  # two of these in a row become another character


def rounded(value: Value) -> str:
    """Return a value as people read it: four digits of a number, nothing where there is none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return plain(str(value))


def _markdown(names: Sequence[str], records: Sequence[Record], right: Collection[str]) -> str:
    def line(values: Sequence[str]) -> str:
        return f"| {' | '.join(values)} |\n"

    def cell(text: str) -> str:
        return _MARKDOWN.sub(r"\\\g<0>", text)

    marks = ["---:" if numeric else "---" for numeric in _at_right(names, records, right)]
    rows = (line([cell(rounded(record.get(name))) for name in names]) for record in records)
    return "".join([line([cell(plain(name)) for name in names]), line(marks), *rows])


def _latex(names: Sequence[str], records: Sequence[Record], right: Collection[str]) -> str:
    def line(values: Sequence[str]) -> str:
        return f"{' & '.join(values)} \\\\\n"

    def cell(value: Value) -> str:
        text = rounded(value)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number or _NUMBER.fullmatch(text.replace("−", "-")):
            return f"${text.replace('−', '-')}$" if text else ""
        text = _BESIDE.sub(r"{}\g<0>", "".join(_LATEX.get(letter, letter) for letter in text))
        return _OPTION.sub(r"{\g<0>}", text)

    sides = "".join("r" if numeric else "l" for numeric in _at_right(names, records, right))
    rows = [line([cell(record.get(name)) for name in names]) for record in records]
    head = line([cell(name) for name in names])
    return "".join(
        [
            "% texts beyond Latin letters need xelatex or lualatex and a font that has them\n",
            f"\\begin{{tabular}}{{{sides}}}\n\\hline\n{head}\\hline\n",
            *rows,
            "\\hline\n\\end{tabular}\n",
        ]
    )


def _at_right(names: Sequence[str], records: Sequence[Record], right: Collection[str]) -> list[bool]:
    """Return which columns stand at the right."""
    return [
        name in right
        or all(
            value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            for value in (record.get(name) for record in records)
        )
        for name in names
    ]
