"""What separates the cells of a table: as its header or Excel's ``sep=`` line shows; and returns that Windows left."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from corpora.checks.envelope import SEGMENT_MEND, TERM_MEND, is_mark, is_term_mark, names_secret
from corpora.files.json_types import Json
from corpora.files.problems import Findings
from corpora.model.corpus import Dataset
from corpora.model.terms import TermMarking, forbids_plainly, has_licence_word, speaks_of_terms
from corpora.text.messages import fold, folded_words

_DELIMITERS = ",;\t|"
_DIRECTIVE = re.compile(r"\s*\"?sep=([^\w\"\r\n])\"?\1*[^\S\t\r\n]*(?:\r\n|\r|\n|\Z)", re.IGNORECASE)
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
    fitting = (sign for sign in (usual, "\t", ";") if all(sign in line for line in lines))
    return separator or (next(fitting, usual) if lines else usual)


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


# ---- Comments of a table: the envelope that leading ones hold, and marks and terms that are not
# understood.

ENVELOPE_COMMENT = re.compile(r"#\s*(dataset\.)?([^:\s][^:]*?)\s*:\s*(.*?)\s*")
"""``# key: value`` for the envelope's own fields, ``# dataset.key: value`` for any other."""
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


def envelope_of(comments: list[tuple[int, str]], delimiter: str) -> dict[str, Json]:
    """Return the envelope in the leading comments; a remark of a person is none of its fields."""
    envelope: dict[str, Json] = {}
    for _, comment in comments:
        match = ENVELOPE_COMMENT.fullmatch(comment.rstrip(delimiter))
        if match is None:
            continue
        prefix, key, text = match.groups()
        if prefix:
            envelope[key] = _value(text)
        elif key not in Dataset.model_fields and speaks_of_terms(key):
            envelope[key.strip("# ")] = text
        elif key == "provenance" and not text.startswith("["):
            envelope[key] = [tag.strip() for tag in text.split(",") if tag.strip()]
        elif key == "file_lines" and _NUMBER.fullmatch(text):
            envelope[key] = int(text)
        elif key in Dataset.model_fields:
            envelope[key] = _value(text) if text[:1] in {'"', "[", "{"} else text
    return envelope


def check_comments(
    comments: Sequence[tuple[int, str]], later: Sequence[tuple[int, str]], delimiter: str, findings: Findings
) -> None:
    """Refuse a comment that may be a mark or a term: nothing would follow from it."""
    before: set[str] = set()
    for line, comment in (*comments, *later):
        match = ENVELOPE_COMMENT.fullmatch(comment.rstrip(delimiter))
        key, value = (match[2], match[3]) if match else ("", comment)
        late = (line, comment) in later
        speaks = is_term_mark(key) or speaks_of_terms(key) is not None
        secret = key != "id" and names_secret(value, gold=key == "provenance")
        if (is_mark(key) or secret) and speaks_of_terms(key) is not TermMarking.ROLE:
            findings.error(_NOT_UNDERSTOOD, SEGMENT_MEND, line=line)
        elif speaks and fold(key) in before:
            what = "A term stands twice, so nobody knows which of them holds."
            findings.error(what, "Keep one.", line=line)
        elif late and speaks:
            what = "The comment may say where the texts may go, and stands after the header."
            findings.error(what, f"Move it. {_BEFORE_HEADER}", line=line)
        elif _may_be_term(key, value, is_read=match is not None and (speaks or bool(match[1]))):
            findings.error(_NOT_UNDERSTOOD, f"{TERM_MEND} {_BEFORE_HEADER}", line=line)
        before |= {fold(key)} if speaks else set()


_NOT_UNDERSTOOD = "The comment may say what is secret, or where texts may go, and is not understood."
_BEFORE_HEADER = "In a table: # transmission: local-only, or # license: …, before the header."


def _may_be_term(key: str, value: str, *, is_read: bool) -> bool:
    """Return whether a comment may hold a term that is not taken into the envelope."""
    if is_term_mark(key):
        return key not in Dataset.model_fields
    if is_read or key in Dataset.model_fields:
        return False
    words = folded_words(f"{key} {value}")
    return has_licence_word(words) or forbids_plainly(value)


def _value(text: str) -> Any:
    """Read JSON where it is JSON; what a person wrote by hand is text."""
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value
