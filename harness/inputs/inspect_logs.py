"""Logs of inspect_ai as outputs: JSON, or ``.eval``, a zip with a file of JSON for each sample.

A sample belongs to the entry whose source is its input. Several entries may have one source, and an input may be a prompt
around a source; then its id decides, and the input must hold that entry's source: inspect_ai numbers samples on its own, so an
id alone proves nothing.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import shown
from corpora.model.entry import Entry
from harness.core.failures import UsageError
from harness.inputs.table import EntryIds
from harness.sealed.archive import PLAIN_METHODS, open_zip
from harness.sealed.strict_records import FileError

_MOST_DIRECTORY: Final = 64 * 2**20
_MOST_MEMBER: Final = 64 * 2**20
MOST_TOTAL: Final = 2**30
"""Bytes of the list of members, of one sample and of all samples, unpacked."""
_ZSTANDARD: Final = 93
"""The method of compression that newer logs use, which ``zipfile`` does not know."""
_MEND = "Score it with the corpus that the task was made from, or write records with `id` and `output`."


def is_log(value: Json) -> bool:
    """Return whether the JSON of a file is a log of inspect_ai."""
    return isinstance(value, Mapping) and isinstance(value.get("eval"), Mapping) and "plan" in value


def log_rows(path: Path, log: JsonObject, entries: Sequence[Entry]) -> Iterator[tuple[str, JsonObject]]:
    """Yield the place of each sample of a log and its fields as a row of outputs has them.

    UsageError names file, sample, field and fix, and never quotes a text.
    """
    samples = log.get("samples")
    if not isinstance(samples, list):
        raise UsageError(
            f"{path}: field 'samples' is missing: this log of inspect_ai was written without its samples, or is only the "
            "head of one. Give the whole log, of a run with log_samples."
        )
    numbered = ((f"sample {number}", sample) for number, sample in enumerate(samples, 1))
    yield from _rows(path, numbered, entries)


def eval_rows(path: Path, content: bytes, entries: Sequence[Entry]) -> Iterator[tuple[str, JsonObject]]:
    """Yield the samples of a log in the form ``.eval`` as ``log_rows`` does."""
    try:
        archive = open_zip(io.BytesIO(content), len(content), _MOST_DIRECTORY)
    except FileError:
        raise _damaged(path, "the file", "Copy it again") from None
    # a later member of a name takes the place of an earlier one, as inspect_ai reads it
    names = [
        name for name in dict.fromkeys(archive.namelist()) if name.startswith("samples/") and name.endswith(".json")
    ]
    if not names:
        raise UsageError(f"{path}: no log of inspect_ai: there is no samples/….json in this archive. Give outputs, or a log with samples.")  # fmt: skip
    yield from _rows(path, _members(path, archive, content, names), entries)


def _members(path: Path, archive: zipfile.ZipFile, content: bytes, names: Iterable[str]) -> Iterator[tuple[str, Json]]:
    left = MOST_TOTAL
    for name in names:
        where, most = f"member {shown(name, 60)}", min(left, _MOST_MEMBER)
        try:
            data = _unpacked(path, archive, archive.getinfo(name), content, most + 1)
            left -= len(data)
            sample = json.loads(data) if len(data) <= most else None
        except UsageError:
            raise
        except Exception as error:
            raise _damaged(path, where, "Copy it again") from error
        if len(data) > most:
            raise UsageError(f"{path}: {where}: too large, unpacked. Write records with `id` and `output` instead.")
        yield where, sample


def _unpacked(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, content: bytes, most: int) -> bytes:
    """Return the bytes of a member, at most ``most``, whatever size it states."""
    if member.compress_type in PLAIN_METHODS:
        with archive.open(member) as file:
            return file.read(most)
    if member.compress_type != _ZSTANDARD:
        raise zipfile.BadZipFile
    # a local header: 26 bytes, then the lengths of a name and of extra fields, which lie before the content
    name, extra = struct.unpack_from("<2H", content, member.header_offset + 26)
    start = member.header_offset + 30 + name + extra
    packed = content[start : start + member.compress_size]
    data: bytes = _decompressor(path).stream_reader(packed, read_across_frames=True).read(most)
    if len(data) < most and zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile
    return data


def _decompressor(path: Path) -> Any:
    try:
        return import_module("zstandard").ZstdDecompressor(max_window_size=2**27)
    except ImportError:
        raise UsageError(
            f"{path}: this log needs the package zstandard, which is not installed. Install it: pip install "
            "'rosetta-tui[formats]'. Or write the log as JSON: inspect log convert --to json."
        ) from None


def _damaged(path: Path, where: str, mend: str) -> UsageError:
    return UsageError(f"{path}: {where} is damaged, so this log of inspect_ai cannot be read. {mend}.")


def _rows(
    path: Path, samples: Iterable[tuple[str, Json]], entries: Sequence[Entry]
) -> Iterator[tuple[str, JsonObject]]:
    finder = _EntryFinder(entries)
    for place, sample in samples:
        if not isinstance(sample, Mapping) or not isinstance(sample.get("output"), Mapping | None):
            raise UsageError(f"{path}: {place}: field 'output' is wanted, an object as inspect_ai writes it.")
        where = f"{place} (id {shown(str(sample.get('id')), 40)!r})"
        if sample.get("epoch") not in (None, 1):
            raise UsageError(
                f"{path}: {where}: field 'epoch' is not 1, and an entry has one output. Give a log of one epoch."
            )
        entry_id = finder.find(sample)
        if entry_id is None and not finder.lacking:
            raise UsageError(
                f"{path}: {where}: fields 'input' and 'id': no entry of the corpus has this source. {_MEND}"
            )
        if entry_id is not None:
            yield where, _row(sample, entry_id)


def _row(sample: JsonObject, entry_id: str) -> JsonObject:
    output = _object(sample.get("output"))
    usage = _object(output.get("usage"))
    read = [usage.get(name) for name in ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")]
    tokens = {
        "prompt_tokens": sum(count for count in read if isinstance(count, int)),
        "completion_tokens": usage.get("output_tokens"),
    }
    return {
        "id": entry_id,
        "output": _completion(sample, output),
        "error": bool(sample.get("error") or output.get("error")),
        "model": output.get("model"),
        "latency_seconds": output.get("time"),
        "cost_usd": usage.get("total_cost"),
        "usage": tokens if usage else None,
    }


def _completion(sample: JsonObject, output: JsonObject) -> Json:
    """Return the text of the first answer, without reasoning; None where nothing was answered."""
    choices = output.get("choices")
    if not (isinstance(choices, list) and choices):
        return None
    text = output.get("completion")
    if not isinstance(text, str):
        text = _text(_object(_object(choices[0]).get("message")).get("content"))
    attached = _object(sample.get("attachments")).get(text.removeprefix("attachment://"))
    return attached if text.startswith("attachment://") and isinstance(attached, str) else text


def _text(content: Json) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in map(_object, content) if part.get("type") == "text")
    return content if isinstance(content, str) else ""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


class _EntryFinder:
    """The entries of a corpus, found by the input and the id of a sample."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.lacking = any(entry.not_stored for entry in entries)
        self._by_id: dict[str, Entry] = {}
        self._by_source: dict[str, list[str]] = {}
        for entry in entries:
            self._by_id[str(entry.id)] = entry
            self._by_source.setdefault(_folded(entry.source), []).append(str(entry.id))
        self._ids = EntryIds(self._by_id)

    def find(self, sample: JsonObject) -> str | None:
        """Return the id of the entry that a sample is of; None where it is of none."""
        text = _folded(_asked(sample.get("input")))
        same = self._by_source.get(text, []) if text else []
        if len(same) == 1:
            return same[0]
        given = self._ids.find(str(sample.get("id")).strip())
        if given is None or (same and given not in same):
            return None
        return given if _folded(self._by_id[given].source) in text else None


def _asked(asked: Json) -> str:
    """Return the text of a sample's input, of a chat its last message of a user."""
    if not isinstance(asked, list):
        return _text(asked)
    users = [message for message in map(_object, asked) if message.get("role") == "user"]
    return _text(users[-1].get("content")) if users else ""


def _folded(text: str) -> str:
    return " ".join(text.split())
