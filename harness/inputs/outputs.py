"""Outputs that were made elsewhere, read from text, JSONL, JSON, TSV, CSV or a log of inspect_ai."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import Findings, shown
from corpora.formats.delimiters import delimiter_of, first_record
from corpora.formats.read_text import arb_messages, po_messages, rows_of_po
from corpora.model.corpus import SYNONYMS, entry_fields
from corpora.model.entry import AnyEntry, Entry, EntryId, only_open, reveal_here
from corpora.model.task_records import own_answer
from corpora.text.comparison import is_blank
from corpora.text.visible import guarded
from harness.core.failures import ErrorClass, UsageError
from harness.core.storage import MOST_BYTES, read_bytes, storable, text_of
from harness.endpoint.reply import usage
from harness.inputs.inspect_logs import eval_rows, is_log, log_rows
from harness.inputs.table import EntryIds, sheet_rows, table_rows, unreadable
from harness.method.method import Output, Recorded

ID_FIELDS = ("id", *SYNONYMS["id"])
FORMS = (
    "Outputs are a text with a line for each entry, in the order of the corpus (.txt), or records with `id` and `output`: "
    "JSON, JSONL, or a table with a heading (.csv, .tsv, .xlsx); .po and .arb files of messages, and logs of inspect_ai (.json, .eval), are read too."
)
TEXT_FIELDS = ("output", "predicted", "prediction", "translation", "hypothesis")
_KNOWN = frozenset(
    (*ID_FIELDS, *TEXT_FIELDS, "latency_seconds", "latency_s", "usage", "prompt_tokens", "completion_tokens",
     "cost_usd", "model", "model_id", "error", "raw", "raw_predicted")
)  # fmt: skip
"""Names of fields; those of a file may be in any case, with spaces for underscores."""

_NO_OUTPUTS = frozenset((*_KNOWN, "source", *SYNONYMS["source"], "reference", "ref"))
"""Names of columns that are no output, whatever is next to them."""

_Row = tuple[str, JsonObject]
"""Where a row stands (“line 3”), and its fields."""


class Outputs:
    def __init__(self, by_id: Mapping[str, Output], sha256: str) -> None:
        self._by_id = by_id
        self.sha256 = sha256
        """Hash of the file's bytes."""

    def output(self, entry_id: EntryId) -> Output:
        return self._by_id.get(str(entry_id), _MISSING)

    def models(self) -> list[str]:
        named = (out.recorded.model_id for out in self._by_id.values() if out.recorded)
        return sorted({model for model in named if model})


def given_outputs(outputs: Sequence[str | None] | Mapping[EntryId, str | None], entries: Sequence[AnyEntry]) -> Outputs:
    """Return the outputs that a program holds: one for each entry of a whole corpus in its order, or texts by entry id.

    None and what is left out count as missing. Raises UsageError for another number of them, and for an id that
    no entry has.
    """
    if not isinstance(outputs, Mapping):
        if len(outputs) != len(entries):
            raise UsageError(
                f"{len(outputs)} outputs for {len(entries)} entries. Give one for each entry of the whole corpus, "
                "in its order, or texts by entry id."
            )
        outputs = {entry.id: text for entry, text in zip(entries, outputs, strict=True)}
    texts = {str(entry_id): text for entry_id, text in outputs.items()}
    if stray := texts.keys() - {str(entry.id) for entry in entries}:
        raise UsageError(f"Outputs: the corpus has no entry {min(stray)[:40]!r}. Correct the id.")
    lines = "".join(f"{json.dumps([id_, texts[id_]])}\n" for id_ in sorted(texts))
    made = {id_: _output(text, Recorded()) for id_, text in texts.items()}
    return Outputs(made, hashlib.sha256(lines.encode()).hexdigest())


def own_outputs(entries: Sequence[AnyEntry]) -> Outputs | None:
    """Return the outputs that the records of a corpus bring with them; None where no record brings any.

    The hash is over those of open entries: the store may not hold the others, and the corpus's own hash covers them.
    """
    texts = {str(entry.id): own_answer(entry.of_task, entry_fields(entry)) for entry in reveal_here(entries)}
    if all(text is None for text in texts.values()):
        return None
    lines = [f"{json.dumps([str(e.id), texts[str(e.id)]])}\n" for e in only_open(entries)]
    made = {id_: _output(text, Recorded()) if text is not None else _NO_ANSWER for id_, text in texts.items()}
    return Outputs(made, hashlib.sha256("".join(sorted(lines)).encode()).hexdigest())


_NO_ANSWER = Output(None, ErrorClass.MISSING, "The record brings no output with it.", recorded=Recorded())
_MISSING = Output(None, ErrorClass.MISSING, "The outputs file has none for this entry.", recorded=Recorded())


def read_outputs(path: Path, entries: Sequence[AnyEntry], file_lines: int | None = None) -> Outputs:
    """Read the outputs for the entries of a whole corpus, in its order.

    A text file has one line for each entry, or, where lines of the corpus' text files were left out, for each
    of its ``file_lines`` (an entry's id is the number of its line). JSONL, JSON (a list, a run card, a log of inspect_ai, or a log or report of the reference implementation) and tables with a
    header have an id and an output in each row, and may have latency_seconds, usage or prompt_tokens
    and completion_tokens, cost_usd, model, error, and raw (the text before repairs). UsageError names file,
    line and fix; never a text.
    """
    content = read_bytes(path, "a file of outputs", MOST_BYTES)
    sha256 = hashlib.sha256(content).hexdigest()
    sheet = sheet_rows(path, content)
    if sheet is not None:
        return Outputs(_match(path, sheet, entries), sha256)
    if path.suffix.lower() == ".eval":
        return Outputs(_match(path, eval_rows(path, content, reveal_here(entries)), entries), sha256)
    text = text_of(path, "a file of outputs", content)
    if path.suffix.lower() == ".json":
        return Outputs(_match(path, _json_rows(path, text, entries), entries), sha256)
    if path.suffix.lower() == ".po":
        return Outputs(_match(path, _po_rows(path, text, entries), entries), sha256)
    rows = _READERS.get(path.suffix.lower()) or (table_rows if _names_columns(text) else None)
    if rows is not None:
        quoted = rows is table_rows
        return Outputs(_match(path, rows(path, text), entries, quoted=quoted), sha256)
    lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    if len(lines) == file_lines != len(entries):
        # Choose the lines of the entries, whose ids are the numbers of their lines.
        numbers = [entry.id for entry in entries if isinstance(entry.id, int) and 0 < entry.id <= len(lines)]
        if len(numbers) != len(entries):
            raise UsageError(
                f"{path}: {len(lines)} lines, as the corpus' files had, but its ids are no longer the numbers of "
                "their lines. Use JSONL with ids."
            )
        lines = [lines[number - 1] for number in numbers]
    if len(lines) != len(entries):
        files = f", or {file_lines} as the corpus' files have" if file_lines else ""
        raise UsageError(
            f"{path}: {len(lines)} lines for {len(entries)} entries. A text file must have one line "
            f"for each entry of the whole corpus, in its order{files}; use JSONL with ids for a part of it."
        )
    aligned = {str(entry.id): _output(line, Recorded()) for entry, line in zip(entries, lines, strict=True)}
    return Outputs(aligned, sha256)


def _names_columns(text: str) -> bool:
    """Return whether the first line is the header of a table: it names an id and an output."""
    names = [cell.strip('" \t\r\n') for cell in first_record(text).split(delimiter_of(text))]
    folded = set(_folded(dict.fromkeys(names)))
    return not folded.isdisjoint(ID_FIELDS) and not folded.isdisjoint(TEXT_FIELDS)


def _folded(row: JsonObject) -> dict[str, Json]:
    """Return a row under the names of fields that are known, whatever their case."""
    folded: dict[str, Json] = {}
    for name, value in row.items():
        plain = name.strip().lower().replace(" ", "_").replace("-", "_")
        folded[plain if plain in _KNOWN and plain not in row else name] = value
    return folded


def _match(path: Path, rows: Iterable[_Row], entries: Sequence[AnyEntry], *, quoted: bool = False) -> dict[str, Output]:
    """Return the outputs by entry id; ``quoted``: a quotation mark may have swallowed rows."""
    known = EntryIds(str(entry.id) for entry in entries)
    if len(known.all) != len(entries):
        raise UsageError("The corpus has ids that differ only in being number or text. Rename one.")
    outputs: dict[str, Output] = {}
    places: dict[str, str] = {}
    lacking = any(entry.not_stored for entry in entries)
    for where, named in rows:
        row = _folded(named)
        given = _id(path, where, row)
        entry_id = known.find(given)
        if entry_id is None:
            if lacking:
                continue  # of a secret entry that this run does not have
            raise UsageError(f"{path}: {where}: the corpus has no entry with the id {shown(given, 40)!r}. Correct it.")
        if entry_id in outputs:
            raise UsageError(f"{path}: {where}: the entry has an output already. Keep one of them.")
        outputs[entry_id] = _row_output(path, where, row)
        places[entry_id] = where
    if quoted:
        _refuse_swallowed(path, outputs, places, known.all - outputs.keys())
    if not outputs:
        raise UsageError(f"{path}: there is no output in it.")
    return outputs


def _refuse_swallowed(path: Path, outputs: Mapping[str, Output], places: Mapping[str, str], missing: Set[str]) -> None:
    """Refuse a cell that a stray quote made swallow the rows of entries that are then missing."""
    if not missing:
        return
    for entry_id, output in outputs.items():
        for line in (output.text or "").split("\n")[1:]:
            if _FIRST_CELL.split(line, maxsplit=1)[0].strip(' "') in missing:
                raise UsageError(
                    f"{path}: {places[entry_id]}: the output holds what looks like the row of another "
                    "entry, which is missing. Close every quote."
                )


_FIRST_CELL = re.compile(r"[,;\t|]")


def _id(path: Path, where: str, row: JsonObject) -> str:
    stated_id = next((row[name] for name in ID_FIELDS if row.get(name) is not None), None)
    if isinstance(stated_id, float) and stated_id.is_integer():
        stated_id = int(stated_id)
    named = isinstance(stated_id, int | str) and not isinstance(stated_id, bool)
    if not named or not str(stated_id).strip():
        raise UsageError(f"{path}: {where}: field 'id' is wanted, a number or a text. {FORMS}")
    return str(stated_id).strip()


def _row_output(path: Path, where: str, row: JsonObject) -> Output:
    names = [name for name in TEXT_FIELDS if name in row]
    if not names and len(row) == 2:  # an id and one other column
        names = [name for name in row if name not in _NO_OUTPUTS]
    if len(names) != 1:
        raise UsageError(f"{path}: {where}: exactly one of the fields {', '.join(TEXT_FIELDS)} is wanted.")
    text = row[names[0]]
    if isinstance(text, str) and isinstance(row.get("entry_chrf"), str) and guarded(text[1:]) == text:
        text = text[1:]  # a table that `runs export` wrote for people
    if text is not None and not isinstance(text, str):
        raise UsageError(
            f"{path}: {where}: field {names[0]!r} must be a text or null. Write calls, states and the "
            "answers of a chat as JSON inside the text."
        )
    recorded = Recorded(
        latency_seconds=_number(path, where, row, "latency_seconds"),
        usage=usage({"usage": row["usage"] if isinstance(row.get("usage"), Mapping) else row}),
        cost_usd=_number(path, where, row, "cost_usd"),
        model_id=str(row.get("model") or row.get("model_id") or "") or None,
    )
    if row.get("error") and not text:
        return Output(None, ErrorClass.METHOD, "Failed when it was made.", recorded=recorded)
    raw = row.get("raw", row.get("raw_predicted"))
    return _output(text, recorded, raw if isinstance(raw, str) and raw != text else None)


def _output(text: str | None, recorded: Recorded, raw: str | None = None) -> Output:
    if text is None:
        return Output(None, _MISSING.error_class, _MISSING.error, recorded=recorded)
    if is_blank(text):
        return Output(None, ErrorClass.EMPTY, "The output is empty.", recorded=recorded)
    return Output(storable(text), recorded=recorded, raw=None if raw is None else storable(raw))


def _number(path: Path, where: str, row: JsonObject, name: str) -> float | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise UsageError(f"{path}: {where}: field {name!r} must be a number of at least 0, or left out.")
    return number


def _po_rows(path: Path, text: str, entries: Sequence[AnyEntry]) -> Iterator[_Row]:
    """Yield the messages of a PO file, each as the output of the entry with its source, or with its number.

    Several entries may have one source; then the context tells which is meant.
    """
    findings = Findings(str(path))
    listed = po_messages(text, findings)
    if listed is None:
        raise unreadable(path, findings)
    by_source: dict[str, list[Entry]] = {}
    for entry in reveal_here(entries):
        by_source.setdefault(entry.source, []).append(entry)
    for line, message in rows_of_po(listed):
        same = by_source.get(message.source, [])
        if len(same) > 1:
            same = [entry for entry in same if (entry.model_extra or {}).get("msgctxt", "") == message.context] or same
        if not same:
            continue  # a message that is no entry of the corpus
        own = next((entry.id for entry in same if str(entry.id) == str(message.id)), same[0].id)
        yield f"line {line}", {"id": own, "output": message.texts[0]}


def _arb_rows(path: Path, text: str) -> Iterator[_Row]:
    findings = Findings(str(path))
    messages = arb_messages(text, findings)
    if messages is None:
        raise unreadable(path, findings)
    for key, output in messages[0].items():
        yield f"key {shown(key, 40)}", {"id": key, "output": output}


def _jsonl_rows(path: Path, text: str) -> Iterator[_Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"line {number}", _object(path, f"line {number}", _decoded(path, number, line))


def _json_rows(path: Path, text: str, entries: Sequence[AnyEntry]) -> Iterator[_Row]:
    data = _decoded(path, 1, text)
    if is_log(data):
        yield from log_rows(path, data, reveal_here(entries))
        return
    top = data if isinstance(data, dict) else {}
    rows = next((top[name] for name in ("results", "entries") if name in top), data)
    if not isinstance(rows, list):
        raise UsageError(
            f"{path}: a list of outputs, or a run card, run log or report with 'results' or 'entries', is wanted."
        )
    config = top.get("config")
    model = config.get("model") if isinstance(config, dict) else None
    of_all = {"model": model} if isinstance(model, str) else {}
    for place, row in enumerate(rows, 1):
        fields = _object(path, f"item {place}", row)
        if "latency_s" in fields:  # so it is called in logs of the reference implementation
            fields = {**fields, "latency_seconds": fields["latency_s"]}
        yield f"item {place}", {**of_all, **fields}


def _decoded(path: Path, line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = line + error.lineno - 1
        raise UsageError(f"{path}: line {place}: not valid JSON: {error.msg}.") from None
    except RecursionError:
        raise UsageError(f"{path}: line {line}: the JSON is nested too deep. Give one flat object a line.") from None
    except ValueError:
        raise UsageError(f"{path}: line {line}: not valid JSON.") from None


def _object(path: Path, where: str, row: Any) -> JsonObject:
    if not isinstance(row, dict):
        raise UsageError(f"{path}: {where}: a JSON object with 'id' and 'output' is wanted.")
    return row


_READERS = {
    ".jsonl": _jsonl_rows,
    ".ndjson": _jsonl_rows,
    ".tsv": table_rows,
    ".tab": table_rows,
    ".csv": table_rows,
    ".arb": _arb_rows,
}
