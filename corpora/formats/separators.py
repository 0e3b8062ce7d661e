"""What separates the cells of a table: as its header or Excel's ``sep=`` line shows; and returns that Windows left."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import islice

from corpora.files.problems import Findings

_DELIMITERS = ",;\t|"
_DIRECTIVE = re.compile(
    r"\s*\"?sep=([^\w\"\r\n])\"?\1*[^\S\t\r\n]*(?:\r\n|\r|\n|\Z)", re.IGNORECASE
)
_QUOTED = re.compile(r"\"[^\"]*+\"")
_LOOKED_AT = 50
"""Lines by which the delimiter of a table without a header is told."""


def directive(text: str) -> tuple[str, str | None]:
    """Return a table with its ``sep=;`` line left blank, and what that line says; None without one.

    Excel writes and reads such a first line: it is no header and no record. Line numbers stay as they are.
    """
    match = _DIRECTIVE.match(text)
    if match is None:
        return text, None
    return "\n" + text[match.end() :], match[1]


def first_record(text: str) -> str:
    """Return the first line that is neither blank nor a comment: the header."""
    return next(_lines(directive(text)[0]), "")


def _lines(text: str) -> Iterator[str]:
    lines = io.StringIO(text, newline=None)
    return (line for line in lines if line.strip() and not line.startswith("#"))


def delimiter_of(text: str) -> str:
    """Return what the ``sep=`` line says, else what stands most often in the header outside quotation marks."""
    if (separator := directive(text)[1]) is not None:
        return separator
    header = _QUOTED.sub("", first_record(text))
    return max(_DELIMITERS, key=header.count)


def delimiter_of_rows(text: str, usual: str) -> str:
    """Return what separates the cells of a table that may have no header: it is in each of the first lines.

    ``usual`` comes first. Commas only separate where they are usual, since numbers and texts have them too.
    """
    text, separator = directive(text)
    lines = [_QUOTED.sub("", line) for line in islice(_lines(text), _LOOKED_AT)]
    fitting = (
        candidate
        for candidate in (usual, "\t", ";")
        if lines and all(candidate in line for line in lines)
    )
    return separator or next(fitting, usual)


def is_separated_otherwise(text: str, findings: Findings) -> bool:
    """Return whether a file that is named as one of tabs has none, and its header has commas or semicolons."""
    delimiter = delimiter_of(text)
    if "\t" in text or delimiter not in first_record(text):
        return False
    name = {",": "commas", ";": "semicolons"}.get(delimiter, f"“{delimiter}”")
    findings.warning(
        f"The file has no tab, though its name or its form says so; its cells were separated at {name}.",
        "Nothing to do; a name that ends in .csv says the same.",
    )
    return True


def without_returns(text: str, delimiter: str, findings: Findings) -> str:
    """Remove the carriage returns that end cells where files with Windows line ends were put side by side."""
    stray = re.compile(rf"\r+(?={re.escape(delimiter)}|\r\n)")
    first = stray.search(text)
    if '"' in text or first is None:
        return text
    text, number = stray.subn("", text)
    cells = "One cell ends" if number == 1 else f"{number:,} cells end"
    findings.warning(
        f"{cells} in a carriage return (\\r), which lines of Windows files have; it was left out.",
        "Nothing to do. `tr -d '\\r'` takes them out of the parts before they are put together.",
        line=text.count("\n", 0, first.start()) + 1,
    )
    return text
