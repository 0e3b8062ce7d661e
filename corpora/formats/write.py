"""Writes a corpus in any form; what a form cannot carry is found by reading the text back."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import CorpusError, Findings, shown
from corpora.formats.columns import JSON_COLUMN, is_plain, write_cell
from corpora.formats.load import File, read
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
    with_tags_of,
)
from corpora.model.entry import Entry
from corpora.text.visible import guarded, is_formula

# ---- A corpus as the text of a file, one function for each form ----

Fields = dict[str, Json]
_FIRST_COLUMNS = ("id", "source", "reference")


def encode(corpus: Corpus, form: Form) -> tuple[str, ...]:
    """Return the text of the file, or of both files of the parallel form."""
    if form is Form.PARALLEL:
        # Write every entry on the line that is its id, where lines of its files were left out; else
        # in order.
        entries = corpus.reveal_here()
        rows: Sequence[Entry | None] = entries
        last = corpus.dataset.file_lines or 0
        lines = {entry.id: entry for entry in entries if isinstance(entry.id, int)}
        ordered = len(lines) == len(rows) and list(lines) == sorted(lines)
        if ordered and lines.keys() <= set(range(1, last + 1)):
            rows = [lines.get(line) for line in range(1, last + 1)]
        sources = ("" if row is None else row.source for row in rows)
        references = ("" if row is None else row.reference for row in rows)
        return _lines(sources), _lines(references)
    envelope: JsonObject = {"dataset": dataset_fields(corpus.dataset)}
    match form:
        case Form.SPECIFICATION:
            text = _json_file(envelope, _rows(corpus))
        case Form.LEGACY:
            text = _json_file(envelope, map(_legacy_entry, _rows(corpus)))
        case Form.REFERENCE_IMPLEMENTATION:
            text = _reference_implementation(corpus)
        case Form.JSONL:
            text = _lines(map(_json, (envelope, *_rows(corpus))))
        case Form.CSV | Form.TSV:
            text = _table(corpus, "," if form is Form.CSV else "\t")
        case _:
            raise KeyError(form)  # is read and not written
    return (text,)


def _rows(corpus: Corpus) -> Iterator[Fields]:
    """Yield the fields of each entry, without the tags that the envelope says of it."""
    tags = ((name, getattr(corpus.dataset, name)) for name in INHERITED)
    inherited = [(name, tag) for name, tag in tags if tag is not None]
    for entry in corpus.reveal_here():
        fields = entry_fields(entry)
        yield {name: value for name, value in fields.items() if (name, value) not in inherited}


def _legacy_entry(fields: Fields) -> Fields:
    """Use the old names; the tier becomes a word, and stays next to it where the word says less."""
    tier, word = fields.get("difficulty"), fields.get(DIFFICULTY_WORD)
    old = {LEGACY_NAMES.get(name, name): value for name, value in fields.items()}
    if not isinstance(tier, int):
        return old
    if isinstance(word, str) and TIER_OF_WORD.get(word.strip().lower()) == tier:
        old["difficulty"] = old.pop(DIFFICULTY_WORD)
        return old
    return old | {"difficulty": WORD_OF_TIER[tier], EXACT_TIER: tier}


def _reference_implementation(corpus: Corpus) -> str:
    dataset = corpus.dataset
    source, target = dataset.source_language, dataset.target_language
    top: Fields = {"corpus_id": dataset.id, "version": dataset.version}
    written = {"id", "version", "source_language", "target_language", "language_pair", PAIR_NAMES}
    envelope = {name: value for name, value in dataset_fields(dataset).items() if name not in written}
    names = (dataset.model_extra or {}).get(PAIR_NAMES, {})
    top["language_pair"] = {"source": source, "target": target, **names}
    if dataset.language_pair != pair_label(source, target):
        top[PAIR_LABEL] = dataset.language_pair
    if RECORD in envelope:
        if "provenance" in envelope:
            envelope["provenance_tags"] = envelope.pop("provenance")
        envelope["provenance"] = envelope.pop(RECORD)
    top |= envelope | {"entry_count": len(corpus.entries)}
    rows = list(_rows(corpus))
    for fields in rows:
        if isinstance(fields.get(RECORD), dict):  # a provenance that was given as an object
            if "provenance" in fields:
                fields["provenance_tag"] = fields.pop("provenance")
            fields["provenance"] = fields.pop(RECORD)
    return _json_file(top, rows)


def _json_file(top: JsonObject, entries: Iterable[Fields]) -> str:
    """Format a JSON file with one entry a line, so that changes can be read in a diff."""
    head = json.dumps(top, ensure_ascii=False, allow_nan=False, indent=2)
    rows = ",\n".join("    " + _json(fields) for fields in entries)
    return f'{head[:-2]},\n  "entries": [\n{rows}\n  ]\n}}\n'


def _json(value: Json) -> str:
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
    records = [header]
    for row in rows:
        texts = {name: (plain[name] and write_cell(name, own)) or _json(own) for name, own in row.items()}
        records.append([texts.get(name, "") for name in names])
    lines = (delimiter.join(_quoted(cell, delimiter) for cell in cells) for cells in records)
    return _lines(_envelope_comments(dataset_fields(corpus.dataset), delimiter)) + _lines(lines)


def _quoted(cell: str, delimiter: str) -> str:
    """Quote a cell that would otherwise be cut, joined, or taken for a comment."""
    special = any(sign in cell for sign in (delimiter, '"', "\r", "\n")) or cell.startswith("#")
    return '"' + cell.replace('"', '""') + '"' if special or cell != cell.strip() else cell


def _envelope_comments(envelope: Fields, delimiter: str) -> Iterable[str]:
    for name, value in envelope.items():
        plain = (
            isinstance(value, str)
            and value == value.strip()
            and value.isprintable()
            and value[:1] not in {"", '"', "[", "{"}
            and not value.endswith(delimiter)
            and not any(map(is_formula, value.split(delimiter)[1:]))
        )
        if name in Dataset.model_fields:
            yield f"# {name}: {value if plain else _unsplit(_json(value), delimiter)}"
        else:
            yield f"# dataset.{name}: {_unsplit(_json(value), delimiter)}"


def _unsplit(value: str, delimiter: str) -> str:
    """Return JSON in which no delimiter inside a text begins a cell that a spreadsheet would run."""
    escaped = f"\\u{ord(delimiter):04x}"

    def join(literal: re.Match[str]) -> str:
        first, *cells = literal[0].split(delimiter)
        rest = (f"{escaped if is_formula(cell) else delimiter}{cell}" for cell in cells)
        return first + "".join(rest)

    return _STRING.sub(join, value)


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
"""A text of JSON, with its quotation marks."""


_GIVEN_AGAIN = ("id", "source_language", "target_language")
"""Envelope fields that the reader of two text files gives as options."""


def write(
    corpus: Corpus,
    path: str | Path,
    form: Form | str,
    *,
    reference: str | Path | None = None,
    lossy: bool = False,
    allow_secret: bool = False,
) -> None:
    """Write a corpus so that reading the file gives the same corpus again.

    reference: the second file of the parallel form. lossy: write although the form cannot carry
    everything. allow_secret: write entries of secret segments. Files appear whole or not at all, and
    only their owner can read them. Raises CorpusError where something would be lost or leak.
    """
    form = Form(form)
    findings = Findings(str(path))
    if not form.written:
        findings.error(f"The form {form} is read and not written.", "Choose another one.")
    secret = sum(entry.secret for entry in corpus.entries)
    if secret and not allow_secret and corpus.dataset.terms.local_only:
        findings.error(
            f"The terms of the corpus keep its {secret} entries here ({corpus.dataset.terms.because}).",
            "Leave it where it is, or allow it (--allow-secret); what is written carries the term.",
        )
    elif secret and not allow_secret:
        findings.error(
            f"{secret} entries belong to secret segments (gold_standard, held_out).",
            "Write only public ones (--segment development), or allow it (--allow-secret).",
        )
    if form is Form.PARALLEL and reference is None:
        mend = "Name the reference file too (--reference-output)."
        findings.error("The parallel form is two files.", mend)
    if form is not Form.PARALLEL and reference is not None:
        findings.error(f"The form {form} is one file.", "Leave the reference file out.")
    paths = [Path(path)] if reference is None else [Path(path), Path(reference)]
    findings.stop_if_failed()
    if lossy and form is Form.PARALLEL:
        corpus = _on_one_line(corpus)
    data = _bytes(corpus, form, findings)
    if not lossy:
        _check_lossless(corpus, form, [File(str(p), d) for p, d in zip(paths, data, strict=True)])
    _replace(paths, data, findings)


def _bytes(corpus: Corpus, form: Form, findings: Findings) -> list[bytes]:
    try:
        return [text.encode() for text in encode(corpus, form)]
    except UnicodeEncodeError:
        findings.error("A text holds half a surrogate pair.", "Correct the text.")
    except (TypeError, ValueError, RecursionError):
        findings.error("A field holds a value that JSON has not.", "Use texts and finite numbers.")
    raise findings.failure()


def losses(corpus: Corpus, form: Form, files: list[File]) -> list[str]:
    """Name what the files would not give back: envelope fields, entry fields with counts."""
    envelope = dataset_fields(corpus.dataset)
    given = {name: envelope[name] for name in _GIVEN_AGAIN} if form is Form.PARALLEL else None
    try:
        back = read(files, form=form, dataset=given)
    except CorpusError as error:
        first = error.problems[0]
        return [f"the file could not be read again ({first.message})"]
    lost = [f"dataset.{name}" for name in _unequal(envelope, dataset_fields(back.dataset))]
    if len(back.entries) != len(corpus.entries):
        return [*lost, "entries"]
    fields: Counter[str] = Counter()
    for ours, theirs in zip(corpus.reveal_here(), back.reveal_here(), strict=True):
        tagged = with_tags_of(corpus.dataset, ours)  # a store may keep it without them
        if tagged != theirs:
            fields.update(_unequal(entry_fields(tagged), entry_fields(theirs)))
    return lost + [f"{name} ({count} entries)" for name, count in fields.items()]


def _unequal(ours: dict[str, Json], theirs: dict[str, Json]) -> Iterable[str]:
    missing = object()
    names = dict.fromkeys((*ours, *theirs))
    return [shown(n) for n in names if ours.get(n, missing) != theirs.get(n, missing)]


def _check_lossless(corpus: Corpus, form: Form, files: list[File]) -> None:
    lost = losses(corpus, form, files)
    if lost:
        findings = Findings(files[0].name)
        findings.error(
            f"The form {form} would lose: {', '.join(lost[:12])}.",
            "Choose another form (specification and jsonl carry everything), or allow the loss (--allow-loss).",
        )
        raise findings.failure()


def _on_one_line(corpus: Corpus) -> Corpus:
    """Fold line breaks inside texts, which would shift every pair after them."""
    entries = []
    for entry in corpus.reveal_here():
        texts = {"source": entry.source, "reference": entry.reference}
        folded = {side: " ".join(text.splitlines()) for side, text in texts.items()}
        entries.append(entry.model_copy(update=folded))
    return replace(corpus, entries=tuple(entries))


def _replace(paths: list[Path], contents: list[bytes], findings: Findings) -> None:
    """Replace every file only after all of them are safely on the disk."""
    written: list[tuple[str, Path]] = []
    try:
        for path, content in zip(paths, contents, strict=True):
            handle, name = tempfile.mkstemp(prefix=".corpus-", dir=path.parent)
            written.append((name, path))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for name, path in written:
            Path(name).replace(path)
    except OSError as error:
        findings.error(f"The file cannot be written: {error.strerror}.", "Check folder and disk.")
        raise findings.failure() from None
    finally:
        for name, _ in written:
            with suppress(OSError):
                Path(name).unlink(missing_ok=True)
