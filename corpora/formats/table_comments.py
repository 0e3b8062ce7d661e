"""Comments of a table: the envelope that leading ones hold, and marks and terms that are not understood."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from corpora.checks.marks import SEGMENT_MEND, TERM_MEND, is_mark, is_term_mark, names_secret
from corpora.files.problems import Findings
from corpora.model.corpus import Dataset
from corpora.model.terms import TermMarking, forbids_plainly, has_licence_word, speaks_of_terms
from corpora.text.near_names import fold, folded_words

ENVELOPE_COMMENT = re.compile(r"#\s*(dataset\.)?([^:\s][^:]*?)\s*:\s*(.*?)\s*")
"""``# key: value`` for the envelope's own fields, ``# dataset.key: value`` for any other."""

_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


def envelope_of(comments: list[tuple[int, str]], delimiter: str) -> dict[str, Any]:
    """Return the envelope in the leading comments; a remark of a person is none of its fields."""
    envelope: dict[str, Any] = {}
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
    comments: Sequence[tuple[int, str]],
    later: Sequence[tuple[int, str]],
    delimiter: str,
    findings: Findings,
) -> None:
    """Refuse a comment that may be a mark or a term: nothing would follow from it."""
    before: set[str] = set()
    for line, comment in (*comments, *later):
        match = ENVELOPE_COMMENT.fullmatch(comment.rstrip(delimiter))
        key, value = (match[2], match[3]) if match else ("", comment)
        late = (line, comment) in later
        speaks = is_term_mark(key) or speaks_of_terms(key) is not None
        if speaks_of_terms(key) is not TermMarking.ROLE and (
            is_mark(key) or (key != "id" and names_secret(value, gold=key == "provenance"))
        ):
            findings.error(_NOT_UNDERSTOOD, SEGMENT_MEND, line=line)
        elif speaks and fold(key) in before:
            findings.error(
                "A term stands twice, so nobody knows which of them holds.", "Keep one.", line=line
            )
        elif late and speaks:
            findings.error(
                "The comment may say where the texts may go, and stands after the header.",
                f"Move it. {_BEFORE_HEADER}",
                line=line,
            )
        elif _may_be_term(key, value, is_read=match is not None and (speaks or bool(match[1]))):
            findings.error(_NOT_UNDERSTOOD, f"{TERM_MEND} {_BEFORE_HEADER}", line=line)
        before |= {fold(key)} if speaks else set()


_NOT_UNDERSTOOD = (
    "The comment may say what is secret, or where texts may go, and is not understood."
)
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
