"""From the bytes of a file to its text, or the reason why it has none; and whether the file is still the same."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from corpora.files.problems import Findings

_BLOCK = 1 << 20
"""Bytes hashed at a time."""


class Original(StrEnum):
    """What has become of the file or files of a corpus."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    """There, with other bytes than those that were read."""
    GONE = "gone"
    """Not there any more, or not readable."""
    UNKNOWN = "unknown"
    """Nobody noted where the corpus was read from."""


def original(files: Sequence[Path], sha256: str) -> Original:
    """Compare files as they are now with the hash of what was read from them (``Corpus.sha256``)."""
    if not files:
        return Original.UNKNOWN
    try:
        if not all(path.is_file() for path in files):
            return Original.GONE
        now = sha256_of(block for path in files for block in blocks_of(path))
    except OSError:
        return Original.GONE
    return Original.UNCHANGED if now == sha256 else Original.CHANGED


def blocks_of(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file; raises OSError."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def sha256_of(blocks: Iterable[bytes]) -> str:
    """Return the SHA-256, in hexadecimal, of bytes that come in blocks."""
    from hashlib import sha256  # noqa: PLC0415  loads OpenSSL, which a list of runs does without

    digest = sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


LARGEST = 512 * 1024 * 1024
"""Bytes; a corpus of a million long entries stays below."""

_BINARY = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive or office document"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\xff\xff\xff\xff", "an Arrow file"),
    (b"FEA1", "a Feather file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"\x7fELF", "a program"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy file"),
    (b"\xde\x12\x04\x95", "a compiled catalogue (.mo) of a PO file"),
)

_WIDE = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


MARKS = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; OSError where it is a pipe or a device, which need not begin or end."""
    return open(path, "rb", opener=_opened)


def _opened(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # opening a folder says itself what is wrong
        return number
    os.close(number)
    raise OSError(errno.EINVAL, "a pipe or a device, not a file")


def read_bytes(path: Path, findings: Findings) -> bytes | None:
    """Read a whole file, or note why it cannot be read."""
    try:
        with open_regular(path) as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, IsADirectoryError):
            findings.error(*folder_words(path))
            return None
        reason = getattr(error, "strerror", None) or "the name is not valid"
        findings.error(f"The file cannot be read: {reason}.", "Check the name and its permissions.")
        return None
    if len(data) > LARGEST:
        what = f"The file is larger than {LARGEST // 1024**2} MiB."
        findings.error(what, "Split the corpus into several files.")
        return None
    return data


def what_is(data: bytes) -> tuple[str, str] | None:
    """Return what a file is that holds no text, by its first bytes, and what to do; None for anything else."""
    kind = next((name for magic, name in _BINARY if data.startswith(magic)), None)
    if kind is None:
        return None
    if mend := _EXPORTS.get(kind):
        return kind, mend
    return kind, "Give JSON, JSONL, CSV, TSV, XLSX or plain text; unpack archives, save other spreadsheets as .xlsx."


_LINES = "to_json('texts.jsonl', orient='records', lines=True, force_ascii=False)"
_EXPORTS = {
    "a Parquet file": f"Write it as JSONL in Python: pandas.read_parquet('FILE').{_LINES}",
    "a Feather file": f"Write it as JSONL in Python: pandas.read_feather('FILE').{_LINES}",
    "an Arrow file": "Write it as JSONL in Python: datasets.Dataset.from_file('FILE').to_json('texts.jsonl', force_ascii=False)",
}


def extra(package: str, what: str, findings: Findings) -> Any | None:
    """Return a package of the extra ``formats``; None where it is not installed, and the findings say so."""
    try:
        return import_module(package)
    except ImportError:
        findings.error(
            f"{what} needs the package {package}, which is not installed.",
            "Install it: pip install 'rosetta-tui[formats]'. Or save the file as CSV or JSONL.",
        )
        return None


def _is_dataset(folder: Path) -> bool:
    """Return whether a folder holds a data set as the library datasets saves or downloads it."""
    marks = ("dataset_info.json", "dataset_dict.json", "state.json", "dataset_infos.json")
    try:
        named = any((folder / name).is_file() for name in marks)
        inner = [place for place in (folder, folder / "data") if place.is_dir()]
        suffixes = (path.suffix for place in inner for path in place.iterdir())
        return named or any(suffix in {".parquet", ".arrow"} for suffix in suffixes)
    except OSError:
        return False


def folder_words(folder: Path) -> tuple[str, str]:
    """Return what is wrong with a folder that was named in place of a file, and the fix."""
    if _is_dataset(folder):
        return (
            "It is the folder of a data set of Hugging Face (Arrow or Parquet).",
            "Write one split as JSONL in Python: datasets.load_from_disk('FOLDER')['test'].to_json('texts.jsonl').",
        )
    inside = folder / "corpus.json"
    mend = f"Name the file: {inside}." if inside.is_file() else "Name a file in it."
    return "It is a folder and cannot be read as a file.", mend


def decode(data: bytes, findings: Findings) -> str | None:
    """Decode UTF-8, or UTF-16 that says so by its byte order mark, or note why the file is not text."""
    if not data.strip():
        findings.error("The file is empty.", "Give a file with at least one entry.")
        return None
    if (binary := what_is(data)) is not None:
        findings.error(f"The file is {binary[0]}, not a corpus.", binary[1])
        return None
    wide = wide_encoding(data)
    marked = data[:2] in MARKS or data.lstrip(b"\xff\xfe\x00 \r\n\t").startswith((b"<\0", b"<"))
    if wide == "UTF-16" and marked:
        return _decode_wide(data, findings)
    if wide is not None:
        findings.error(f"The file is in {wide}, not UTF-8.", "Save it again as UTF-8.", line=1)
        return None
    return _decode_utf8(data, findings)


def wide_encoding(data: bytes) -> str | None:
    """Return UTF-16 or UTF-32 where a mark or many NUL bytes show it, None for anything else."""
    for mark, name in _WIDE:
        if data.startswith(mark):
            return name
    head = data[:2048]
    halves = (head[0::2], head[1::2])
    nulls = [half.count(0) / max(1, len(half)) for half in halves]
    return "UTF-16" if max(nulls) > 0.4 and min(nulls) < 0.2 else None


def _decode_wide(data: bytes, findings: Findings) -> str | None:
    """Decode UTF-16, which translation tools and spreadsheets write; without its mark only XML."""
    name = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
    name = "utf-16" if data[:2] in MARKS else name
    try:
        text = data.decode(name)
    except UnicodeDecodeError:
        findings.error("Broken UTF-16.", "Save the file again as UTF-8.", line=1)
        return None
    if "\0" in text:
        findings.error("There is a NUL character.", "Remove it; text files have none.", line=1)
        return None
    return text


BROKEN = "Save the file again as UTF-8; perhaps it is in Windows-1252 or Latin-1."
NUL = ("There is a NUL character.", "Remove it; text files have none.")


def _decode_utf8(data: bytes, findings: Findings) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        offset = 0
        for number, content in enumerate(data.split(b"\n"), start=1):
            try:
                content.decode()
            except UnicodeDecodeError as error:
                findings.error(
                    f"Broken UTF-8: byte 0x{content[error.start]:02x} at offset {offset + error.start} "
                    f"of the file ({error.start} of the line).",
                    BROKEN,
                    line=number,
                )
            offset += len(content) + 1
        return None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        findings.error(*NUL, line=line)
        return None
    return text
