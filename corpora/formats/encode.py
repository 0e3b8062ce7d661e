"""A corpus as the text of a file, one function for each form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from corpora.formats.columns import JSON_COLUMN, is_plain, write_cell
from corpora.formats.read_json import PAIR_LABEL, PAIR_NAMES
from corpora.languages.tags import pair_label
from corpora.model.corpus import (
    DIFFICULTY_WORD,
    EXACT_TIER,
    INHERITED,
    LEGACY_NAMES,
    RECORD,
    TIER_OF_WORD,
    WORD_OF_TIER,
    Corpus,
    Dataset,
    Form,
    dataset_fields,
    entry_fields,
)
from corpora.model.entry import Entry
from corpora.text.spreadsheet import guarded, is_formula

Fields = dict[str, Any]

_FIRST_COLUMNS = ("id", "source", "reference")


def encode(corpus: Corpus, form: Form) -> tuple[str, ...]:
    """Return the text of the file, or of both files of the parallel form."""
    if form is Form.PARALLEL:
        return _parallel(corpus)
    writers: dict[Form, Callable[[Corpus], str]] = {
        Form.SPECIFICATION: _specification,
        Form.LEGACY: _legacy,
        Form.REFERENCE_IMPLEMENTATION: _reference_implementation,
        Form.JSONL: _jsonl,
        Form.CSV: lambda corpus: _table(corpus, ","),
        Form.TSV: lambda corpus: _table(corpus, "\t"),
    }
    return (writers[form](corpus),)


def _parallel(corpus: Corpus) -> tuple[str, str]:
    """Write every entry on the line that is its id, where lines of its files were left out; else in order."""
    rows: Sequence[Entry | None] = corpus.entries
    last = corpus.dataset.file_lines or 0
    lines = {entry.id: entry for entry in corpus.entries if isinstance(entry.id, int)}
    if (
        len(lines) == len(rows)
        and list(lines) == sorted(lines)
        and lines.keys() <= set(range(1, last + 1))
    ):
        rows = [lines.get(line) for line in range(1, last + 1)]
    sources = ("" if row is None else row.source for row in rows)
    references = ("" if row is None else row.reference for row in rows)
    return _lines(sources), _lines(references)


def _rows(corpus: Corpus) -> Iterator[Fields]:
    """Yield the fields of each entry, without the tags that the envelope says of it."""
    inherited = [
        (name, tag) for name in INHERITED if (tag := getattr(corpus.dataset, name)) is not None
    ]
    for entry in corpus.entries:
        fields = entry_fields(entry)
        yield {name: value for name, value in fields.items() if (name, value) not in inherited}


def _specification(corpus: Corpus) -> str:
    return _json_file({"dataset": dataset_fields(corpus.dataset)}, _rows(corpus))


def _legacy(corpus: Corpus) -> str:
    entries = map(_legacy_entry, _rows(corpus))
    return _json_file({"dataset": dataset_fields(corpus.dataset)}, entries)


def _legacy_entry(fields: Fields) -> Fields:
    """Use the old names; the tier becomes a word, and stays next to it where the word says less."""
    tier, word = fields.get("difficulty"), fields.get(DIFFICULTY_WORD)
    old = {LEGACY_NAMES.get(name, name): value for name, value in fields.items()}
    if tier is None:
        return old
    if isinstance(word, str) and TIER_OF_WORD.get(word.strip().lower()) == tier:
        old["difficulty"] = old.pop(DIFFICULTY_WORD)
        return old
    return old | {"difficulty": WORD_OF_TIER[tier], EXACT_TIER: tier}


def _reference_implementation(corpus: Corpus) -> str:
    envelope = dataset_fields(corpus.dataset)
    source, target = envelope.pop("source_language"), envelope.pop("target_language")
    label = envelope.pop("language_pair")
    names = envelope.pop(PAIR_NAMES, {})
    top: Fields = {"corpus_id": envelope.pop("id"), "version": envelope.pop("version")}
    top["language_pair"] = {"source": source, "target": target} | names
    if label != pair_label(source, target):
        top[PAIR_LABEL] = label
    if RECORD in envelope:
        if "provenance" in envelope:
            envelope["provenance_tags"] = envelope.pop("provenance")
        envelope["provenance"] = envelope.pop(RECORD)
    top |= envelope | {"entry_count": len(corpus.entries)}
    return _json_file(top, map(_with_record, _rows(corpus)))


def _with_record(fields: Fields) -> Fields:
    """Restore a provenance that was given as an object."""
    if not isinstance(fields.get(RECORD), dict):
        return fields
    if "provenance" in fields:
        fields["provenance_tag"] = fields.pop("provenance")
    fields["provenance"] = fields.pop(RECORD)
    return fields


def _jsonl(corpus: Corpus) -> str:
    envelope = {"dataset": dataset_fields(corpus.dataset)}
    return _lines(map(_json, (envelope, *_rows(corpus))))


def _json_file(top: Mapping[str, Any], entries: Iterable[Fields]) -> str:
    """Format a JSON file with one entry a line, so that changes can be read in a diff."""
    head = json.dumps(top, ensure_ascii=False, allow_nan=False, indent=2)
    rows = ",\n".join("    " + _json(fields) for fields in entries)
    return f'{head[:-2]},\n  "entries": [\n{rows}\n  ]\n}}\n'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def _table(corpus: Corpus, delimiter: str) -> str:
    """Write the envelope as comment lines, then the header, then one record an entry.

    A field whose texts a spreadsheet would run is written as JSON, which begins with a quotation mark.
    """
    rows = list(_rows(corpus))
    names = dict.fromkeys((*_FIRST_COLUMNS, *(name for row in rows for name in row)))
    plain = {name: all(is_plain(name, row[name]) for row in rows if name in row) for name in names}
    header = [guarded(name if plain[name] else name + JSON_COLUMN) for name in names]
    records = [header, *([_cell(name, row, plain[name]) for name in names] for row in rows)]
    comments = _envelope_comments(dataset_fields(corpus.dataset), delimiter)
    return _lines(comments) + _lines(_record(cells, delimiter) for cells in records)


def _cell(name: str, row: Fields, plain: bool) -> str:
    if name not in row:
        return ""
    return (write_cell(name, row[name]) if plain else None) or _json(row[name])


def _record(cells: list[str], delimiter: str) -> str:
    return delimiter.join(_quoted(cell, delimiter) for cell in cells)


def _quoted(cell: str, delimiter: str) -> str:
    """Quote a cell that would otherwise be cut, joined, or taken for a comment."""
    special = any(sign in cell for sign in (delimiter, '"', "\r", "\n")) or cell.startswith("#")
    return '"' + cell.replace('"', '""') + '"' if special or cell != cell.strip() else cell


def _envelope_comments(envelope: Fields, delimiter: str) -> Iterable[str]:
    for name, value in envelope.items():
        if name in Dataset.model_fields:
            yield f"# {name}: {value if _is_plain_comment(value, delimiter) else _unsplit(_json(value), delimiter)}"
        else:
            yield f"# dataset.{name}: {_unsplit(_json(value), delimiter)}"


def _unsplit(value: str, delimiter: str) -> str:
    """Return JSON in which no delimiter inside a text begins a cell that a spreadsheet would run."""
    escaped = f"\\u{ord(delimiter):04x}"

    def _joined(literal: re.Match[str]) -> str:
        first, *cells = literal[0].split(delimiter)
        return first + "".join(
            f"{escaped if is_formula(cell) else delimiter}{cell}" for cell in cells
        )

    return _STRING.sub(_joined, value)


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
"""A text of JSON, with its quotation marks."""


def _is_plain_comment(value: Any, delimiter: str) -> bool:
    return (
        isinstance(value, str)
        and value == value.strip()
        and value.isprintable()
        and value[:1] not in {"", '"', "[", "{"}
        and not value.endswith(delimiter)
        and not any(map(is_formula, value.split(delimiter)[1:]))
    )
