"""Reads JSONL: one entry a line, the first line may hold the envelope under ``dataset``."""

from __future__ import annotations

from corpora.files.findings import Findings
from corpora.formats.columns import Columns
from corpora.formats.json_sides import name_sides
from corpora.formats.json_text import parse_line
from corpora.model.corpus import Form
from corpora.model.raw import RawCorpus, RawEntry


def read_jsonl(text: str, findings: Findings, columns: Columns) -> RawCorpus:
    """Read every line by itself, so that one broken line hides no other problem."""
    raw = RawCorpus(Form.JSONL, {})
    begun = False
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        place = len(raw.entries) + 1
        before = len(findings.problems)
        value = parse_line(row.strip(), line, place, findings)
        if len(findings.problems) > before:
            begun = True
            continue
        if not isinstance(value, dict):
            findings.error("A line must be an object.", "Write {…}.", line=line)
        elif not begun and set(value) == {"dataset"} and isinstance(value["dataset"], dict):
            raw.envelope = value["dataset"]
        else:
            raw.entries.append(RawEntry(value, place, line))
        begun = True
    name_sides(raw, columns, findings)
    return raw
