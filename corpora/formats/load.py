"""Reads a corpus file of any form, checks it, and says everything that is wrong in one go."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from corpora.checks.entries import PlacedEntry, check_ids, check_together
from corpora.checks.envelope import (
    MisplacedMark,
    check_against_entries,
    check_envelope,
    misplaced,
    named_for_secret,
    without_roles,
)
from corpora.files.decode import BROKEN, LARGEST, NUL, decode, open_regular, read_bytes, what_is, wide_encoding
from corpora.files.json_types import Json, JsonObject
from corpora.files.packed_list import PackedList, packed
from corpora.files.places import without_gaps
from corpora.files.problems import Findings, Problem, Severity, shown
from corpora.formats import read_sheet
from corpora.formats.assemble import assemble_dataset, assemble_entry
from corpora.formats.columns import OPTIONS, Columns
from corpora.formats.delimiters import first_record
from corpora.formats.read_json import read_json, read_jsonl
from corpora.formats.read_table import is_table, read_table
from corpora.formats.read_text import read_messages, read_parallel
from corpora.formats.read_xml import read_xml
from corpora.model.corpus import (
    SIDES,
    SYNONYMS,
    Corpus,
    Dataset,
    Form,
    RawCorpus,
    RawEntry,
    dataset_fields,
    with_tags_of,
)
from corpora.model.entry import Entry, Segment
from corpora.model.sidecar import KNOWN_OF_MARK, marks_beside, terms_of_mark
from corpora.model.task import TASKS, TRANSLATION
from corpora.model.terms import MEND, Term, terms_in, weighed
from corpora.text.comparison import is_blank

_BY_SUFFIX = {
    ".jsonl": Form.JSONL, ".ndjson": Form.JSONL, ".csv": Form.CSV, ".tsv": Form.TSV,
    ".tab": Form.TSV, ".tmx": Form.TMX, ".xlf": Form.XLIFF, ".xliff": Form.XLIFF,
    ".sdlxliff": Form.XLIFF, ".mqxliff": Form.XLIFF, ".xlsx": Form.XLSX, ".xlsm": Form.XLSX,
    ".po": Form.PO, ".pot": Form.PO, ".arb": Form.ARB,
}  # fmt: skip


ANY_COLUMNS = Columns()
"""Nothing was said of columns; they are found out."""


@dataclass(frozen=True, slots=True)
class File:
    """A file's name and content."""

    name: str
    data: bytes
    """Of one that is read line by line its beginning."""
    stream: BinaryIO | None = None
    """A JSONL file that is too large to be held, at its beginning."""


def load(
    path: str | Path,
    reference: str | Path | Sequence[str | Path] | None = None,
    *,
    form: Form | str | None = None,
    dataset: Dataset | JsonObject | None = None,
    columns: Columns = ANY_COLUMNS,
    kept_here: bool = False,
) -> Corpus:
    """Read the corpus in a file, or in a source file and files of references aligned by line.

    form: None finds it out from content and extension. dataset: fields of the envelope that the file
    lacks (id, source_language, target_language, …). columns: which column of a table, or field of JSON, holds
    the sources and the references. kept_here: no message quotes anything of an entry, whatever the file says of it.
    Raises CorpusError with every problem found.
    """
    findings = Findings(str(path))
    further = [reference] if isinstance(reference, str | Path) else reference or []
    paths = [Path(path), *map(Path, further)]
    files: list[File] = []
    for file_path in paths:
        own = Findings(str(file_path))
        file = _streamed(file_path, form) if len(paths) == 1 else None
        data = read_bytes(file_path, own) if file is None else file.data
        findings.problems += own.problems
        if data is not None:
            files.append(file or File(str(file_path), data))
    beside = _marks_beside(paths, findings)
    findings.stop_if_failed()
    file_form = None if form is None else Form(form)
    with closing(files[0].stream or BytesIO()):
        corpus = read(files, form=file_form, dataset=dataset, beside=beside, columns=columns, kept_here=kept_here)
    return replace(corpus, files=tuple(path.absolute() for path in paths))


WHOLE = 16 * 1024 * 1024
"""Bytes up to which a JSONL file is read at once."""


def _streamed(path: Path, form: Form | str | None) -> File | None:
    """Open a large JSONL file in UTF-8 to be read line by line; None for any other."""
    if form != Form.JSONL and (form is not None or _BY_SUFFIX.get(path.suffix.lower()) is not Form.JSONL):
        return None
    try:
        if path.stat().st_size <= WHOLE:
            return None
        stream = open_regular(path)
    except OSError:
        return None
    data = stream.read(WHOLE // 16)
    if wide_encoding(data) is None and what_is(data) is None and data.strip():
        stream.seek(0)
        return File(str(path), data, stream)
    stream.close()
    return None


def _lines(stream: BinaryIO, hashed: Callable[[bytes], None], findings: Findings) -> Iterator[str]:
    """Yield the lines of a JSONL file and hash its bytes; a broken line is noted, and empty."""
    for number, line in enumerate(iter(lambda: stream.readline(LARGEST), b""), 1):
        hashed(line)
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            what = f"Broken UTF-8: byte 0x{line[error.start]:02x} at offset {error.start} of the line."
            findings.error(what, BROKEN, line=number)
            text = ""
        if "\0" in text:
            findings.error(*NUL, line=number)
            text = ""
        yield text


def read(
    files: list[File],
    *,
    form: Form | None = None,
    dataset: Dataset | JsonObject | None = None,
    beside: Sequence[Term] = (),
    columns: Columns = ANY_COLUMNS,
    kept_here: bool = False,
) -> Corpus:
    """Read a corpus from the content of its files; see ``load``. beside: terms that marks beside the files hold."""
    findings = Findings(files[0].name)
    given = dataset_fields(dataset) if isinstance(dataset, Dataset) else dataset
    digest = hashlib.sha256()
    raw = _raw(files, form, columns.within(given or {}), findings, digest.update)
    if raw is None:
        raise findings.failure()
    envelope = assemble_dataset(raw, given or {}, _id_from(files[0].name), findings)
    placed, terms_of_entries = _placed(raw, envelope, given or {}, findings)
    _check_names([file.name for file in files], envelope, placed, findings)
    if envelope is not None:
        envelope = _with_terms(envelope, [*beside, *terms_of_entries], findings)
        check_envelope(envelope, findings, quiet=kept_here)
    if envelope is None or kept_here:
        placed = PackedList(item.kept_here() for item in placed.drain())
    elif (terms := envelope.terms).local_only:
        items = placed.drain()
        placed = PackedList(item.kept_here() if terms.keeps(item.entry.segment) else item for item in items)
    check_together(placed, findings)
    if envelope is not None:
        check_against_entries(envelope, placed, findings)
    findings.problems[:] = [_with_line(problem, files[0]) for problem in findings.problems]
    if envelope is None or findings.failed:
        raise findings.failure()
    if columns.said:
        envelope = envelope.model_copy(update={"columns_read": columns.said})
    for file in files if files[0].stream is None else ():
        digest.update(file.data)
    lines: list[int | None] = []

    def unplaced(item: PlacedEntry) -> Entry:
        lines.append(item.line)
        return item.entry

    entries = packed(map(unplaced, placed.drain()))
    return Corpus(
        envelope, entries, digest.hexdigest(), raw.form, tuple(findings.problems), lines=without_gaps(tuple(lines))
    )


def _with_line(problem: Problem, file: File) -> Problem:
    """Return a problem, one of the envelope with the line on which its field stands where the file names it once."""
    name = (problem.field or "").removeprefix("dataset.")
    if problem.line is not None or name == (problem.field or ""):
        return problem
    named = re.escape(name.encode())
    places = [at.start() for at in re.finditer(_NAMED % (named, named), file.data)]
    line = file.data.count(b"\n", 0, places[0]) + 1 if len(places) == 1 else None
    return problem._replace(line=line)


_NAMED = rb'"%s"\s*:|(?m:^)#\s*(?:dataset\.)?%s\s*:'


def _placed(
    raw: RawCorpus, envelope: Dataset | None, given: JsonObject, findings: Findings
) -> tuple[PackedList[PlacedEntry], Iterable[Term]]:
    """Make the entries of a file, with the tags of their corpus. Return with them the terms that they say, each once."""
    # The task of a corpus whose envelope lacks something is what it or the caller says.
    stated = raw.envelope.get("task") or given.get("task") if envelope is None else envelope.task
    task = TASKS.get(stated if isinstance(stated, str) else TRANSLATION, TASKS[TRANSLATION])
    if not raw.entries and not findings.failed:
        findings.error("There are no entries.", "Give at least one.", field="entries")
    placed = PackedList[PlacedEntry]()
    if any(problem.field == "dataset.task" for problem in findings.problems):
        return placed, ()
    if task.name == TRANSLATION and _lacks_a_side(raw.entries, findings):
        return placed, ()
    # What one entry says holds for the file. The card repeats a term that is understood, so that one does not
    # name its entry, which is then secret.
    terms: dict[tuple[str, str], Term] = {}
    raw.entries = _numbered(raw.entries, findings)
    check_ids(raw.entries, findings)
    for raw_entry in raw.entries.drain():
        entry = assemble_entry(raw_entry, task, findings)
        if entry is None:
            continue
        for term in terms_in(entry.model_extra or {}, of_entry=True):
            if (key := (term.field, str(term.said))) not in terms:
                where = f"entry {shown(entry.id, 30)}" if term.led_to is None else "an entry"
                terms[key] = replace(term, field=f"{where}, {term.field}")
        tagged = entry if envelope is None else with_tags_of(envelope, entry)
        placed.append(PlacedEntry(len(placed), tagged, raw_entry.line))
    findings.problems[:] = _each_mark_once(findings.problems)
    return placed, terms.values()


def _each_mark_once(problems: Sequence[Problem]) -> list[Problem]:
    """Merge the problems of a misplaced mark that is in many entries, such as a column, into one with their number."""
    marks = {MisplacedMark.segment("").mend, MisplacedMark.term("").mend}
    alike: dict[tuple[str | None, ...], list[Problem]] = {}
    for number, problem in enumerate(problems):
        in_entries = problem.mend in marks and problem.entry is not None
        key = (problem.field, problem.mend) if in_entries else (str(number),)
        alike.setdefault(key, []).append(problem)
    merged = []
    for first, *more in alike.values():
        entries = f" ({len(more) + 1:,} entries)" if more else ""
        merged.append(first._replace(message=f"{first.message}{entries}"))
    return merged


def _check_names(
    files: Sequence[str], envelope: Dataset | None, placed: Sequence[PlacedEntry], findings: Findings
) -> None:
    """Refuse entries without a segment where the name of file or corpus is that of a secret one."""
    if all(item.entry.segment is not None for item in placed):
        return
    parts = [part for name in files for part in Path(name).name.split(".")]
    named = "" if envelope is None else envelope.id
    if any(map(named_for_secret, (named, *parts))):
        findings.error(
            "The name of the file or of the corpus is that of a secret segment, and entries have none.",
            f"Write the segment of each entry ({', '.join(Segment)}), or give file and corpus another name.",
            field="segment",
        )


def _marks_beside(paths: Sequence[Path], findings: Findings) -> list[Term]:
    """Read the terms that are in files beside a corpus."""
    all_terms: list[Term] = []
    for mark in dict.fromkeys(mark for path in paths for mark in marks_beside(path)):
        own = Findings(str(mark))
        data = read_bytes(mark, own)
        try:
            terms, fields = terms_of_mark(data or b"", shown(mark.name))
        except ValueError as error:
            own.error(str(error), f"{MEND} As JSON, or take the file away.")
            terms, fields = [], {}
        for wrong in misplaced(without_roles(fields), KNOWN_OF_MARK):
            own.error(wrong.wrong, wrong.mend, field=shown(wrong.path))
        all_terms += terms
        findings.problems += own.problems
    return all_terms


def _with_terms(envelope: Dataset, others: Sequence[Term], findings: Findings) -> Dataset:
    """Weigh all terms of a corpus; what others than the envelope say is written into it."""
    own = list(terms_in(dataset_fields(envelope)))
    terms = weighed([*own, *others])
    for name, words in terms.unclear:
        findings.error(words, MEND, field=shown(name))
    if not others or weighed(own) == terms:
        return envelope
    fields: dict[str, Json] = {} if terms.training is None else {"training": terms.training}
    if terms.because:
        fields |= {"transmission": terms.as_written, "transmission_because": terms.because}
        fields |= {"transmission_class": terms.licence_class or None}
    return envelope.model_copy(update=fields)


def _lacks_a_side(entries: Sequence[RawEntry], findings: Findings) -> bool:
    """Report once, not for every entry, that a whole file has no sources or no references."""
    sides = [
        side
        for side in SIDES
        if all(is_blank(text) if isinstance(text := entry.fields.get(side), str) else text is None for entry in entries)
    ]
    noted = {problem.field for problem in findings.problems if problem.severity is Severity.ERROR}
    for side in (side for side in sides if entries and side not in noted):
        findings.error(
            f"No entry has a {side}.",
            f"Write it in a field {side}, or {', '.join(SYNONYMS[side])}; is this the right file?",
            field=side,
        )
    return bool(sides)


def _numbered(entries: PackedList[RawEntry], findings: Findings) -> PackedList[RawEntry]:
    """Number the entries of a file that gives no id at all; 1.0, as pandas writes 1, is a whole number."""
    unnumbered = len(entries) > 0 and all(entry.fields.get("id") is None for entry in entries)
    if unnumbered:
        mend = "Add ids, so that runs can be compared after the file changed."
        findings.warning("No entry has an id; they were numbered from 1.", mend, field="id")

    def with_id(entry: RawEntry) -> RawEntry:
        given = float(entry.place) if unnumbered else entry.fields.get("id")
        if isinstance(given, float) and given.is_integer():
            entry.fields["id"] = int(given)
        return entry

    if not unnumbered and not any(isinstance(entry.fields.get("id"), float) for entry in entries):
        return entries  # a long list is not packed again
    return PackedList(map(with_id, entries.drain()))


def _raw(
    files: list[File], form: Form | None, columns: Columns, findings: Findings, hashed: Callable[[bytes], None]
) -> RawCorpus | None:
    if (stream := files[0].stream) is not None:
        return read_jsonl(_lines(stream, hashed, findings), findings, columns)
    alone = files[0].data if len(files) == 1 and form in (None, Form.XLSX) else b""
    if alone.startswith(b"PK") and read_sheet.is_workbook(alone):
        return read_sheet.read_workbook(alone, findings, columns)
    texts: list[str] = []
    for file in files:
        beside = Findings(file.name)
        text = decode(file.data, beside)
        findings.problems += beside.problems
        texts += [] if text is None else [text]
    if len(texts) < len(files):
        return None
    by_key = all(_BY_SUFFIX.get(Path(file.name).suffix.lower()) is Form.ARB for file in files)
    several = Form.ARB if form is Form.ARB or (form is None and by_key) else Form.PARALLEL
    if len(files) > 1 and form not in (None, several):
        findings.error("A reference file was given.", "Only text files are read together.")
        return None
    form = several if len(files) > 1 else form or _form_of(files[0].name, texts[0], columns)
    options = [OPTIONS[side] for side in SIDES if columns.named(side)]
    if options and form in _WITHOUT_COLUMNS:
        what = f"{options[0]} does not apply to the form {form}."
        findings.error(what, "Leave it out; it is for tables and JSON.")
        return None
    return _by_form(files, texts, form, columns, findings)


_WITHOUT_COLUMNS = (Form.PARALLEL, Form.TMX, Form.XLIFF, Form.PO, Form.ARB)


def _by_form(
    files: list[File], texts: list[str], form: Form | None, columns: Columns, findings: Findings
) -> RawCorpus | None:
    """Read by the form's reader, which is loaded when it is needed."""
    match form:
        case Form.PARALLEL:
            if len(files) < 2:
                findings.error(
                    "The form cannot be told from this one text file.",
                    "Give the reference file too, or a table whose header names source and reference.",
                )
                return None
            return read_parallel(texts, [Path(file.name).name for file in files], findings)
        case Form.CSV | Form.TSV:
            return read_table(texts[0], form, findings, columns)
        case Form.TMX | Form.XLIFF:
            return read_xml(texts[0], form, findings, columns)
        case Form.PO | Form.ARB:
            return read_messages(texts, form, findings)
        case _:
            by_line = form is Form.JSONL
            lines = texts[0].split("\n") if by_line else ()
            return read_jsonl(lines, findings, columns) if by_line else read_json(texts[0], form, findings, columns)


def _form_of(name: str, text: str, columns: Columns) -> Form | None:
    """Return the form of one file; None for JSON, whose shape is known after decoding."""
    by_suffix = _BY_SUFFIX.get(Path(name).suffix.lower())
    if by_suffix is not None:
        return by_suffix
    start = text.lstrip()
    if start.startswith("{"):
        first, _, rest = start.partition("\n")
        lines = first.rstrip().endswith("}") and rest.lstrip().startswith("{")
        return Form.JSONL if lines else None
    if start.startswith("[") or Path(name).suffix.lower() == ".json":
        return None
    if start.startswith("<"):
        root = _ROOT.search(start[:_LONGEST_PROLOGUE])
        return Form(root[1].lower()) if root else Form.PARALLEL
    if not is_table(text, columns):
        return Form.PARALLEL
    return Form.TSV if "\t" in first_record(text) else Form.CSV


_ROOT = re.compile(r"<(?:[\w.-]+:)?(tmx|xliff)[\s>]", re.IGNORECASE | re.ASCII)
_LONGEST_PROLOGUE = 65_536


def _id_from(name: str) -> str:
    stem = Path(name).name.split(".")[0].strip() or "corpus"
    return stem.encode("utf-8", "replace").decode()
