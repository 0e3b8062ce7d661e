"""What parts the cells of a table: tabs, commas or semicolons, as its header shows, and returns that Windows left."""

from __future__ import annotations

import io
import re

from corpora.files.problems import Findings


def first_record(text: str) -> str:
    """Return the first line that is neither blank nor a comment: the header."""
    lines = (line for line in io.StringIO(text, newline=None) if line.strip())
    return next((line for line in lines if not line.startswith("#")), "")


def delimiter_of(text: str) -> str:
    """Return what stands most often in the header."""
    header = first_record(text)
    return max(",;\t", key=header.count)


def is_separated_otherwise(text: str, findings: Findings) -> bool:
    """Tell whether a file that is named as one of tabs has none, and its header has commas or semicolons."""
    delimiter = delimiter_of(text)
    if "\t" in text or delimiter not in first_record(text):
        return False
    name = "commas" if delimiter == "," else "semicolons"
    findings.warning(
        f"The file has no tab, though its name or its form says so; its cells were parted at {name}.",
        "Nothing to do; a name that ends in .csv says the same.",
    )
    return True


def without_returns(text: str, delimiter: str, findings: Findings) -> str:
    """Take out the carriage returns that end cells where files with Windows line ends were put side by side."""
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
