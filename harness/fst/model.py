"""The file of a morphological analyser: read, or told for what else it is."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from corpora.files.decode import open_regular
from harness.core.failures import HarnessError


class FstStatus(StrEnum):
    """What became of the attempt to use an analyser; shown as it is, and never taken for a value of 0."""

    NOT_CONFIGURED = "not_configured"
    """No analyser file was found or named."""
    OK = "ok"
    MODEL_INVALID = "model_invalid"
    """The file is damaged, or is of another kind."""
    ENGINE_ERROR = "engine_error"
    """The file is sound, and the engine that was to read it is missing or failed."""


class AnalyserError(HarnessError):
    """An analyser that cannot be used; the message names the file and the fix."""

    def __init__(self, status: FstStatus, message: str) -> None:
        self.status = status
        super().__init__(message)


MOST_BYTES = 256 * 2**20
"""Largest file, also when unpacked; the largest analysers that are published have some 100 MB."""

_FOREIGN = (
    (b"version https://git-lfs", "is only a Git LFS pointer: fetch the file itself with “git lfs pull”"),
    (b"PK\x03\x04", "is a zip archive: unpack it, and copy the acceptor or analyser that it holds"),
    (b"##foma-net", "is a foma network: convert it to HFST's optimized-lookup format"),
    (b"<", "is a web page or XML, not an analyser: download the file itself"),
)  # fmt: skip


@dataclass(frozen=True)
class Model:
    """An analyser file as it was found, not yet checked."""

    name: str
    """File name, without its folder."""
    content: bytes
    """Unpacked."""
    sha256: str
    """Over the file as it is on the disk."""

    def invalid(self, problem: str) -> AnalyserError:
        return AnalyserError(FstStatus.MODEL_INVALID, f"Analyser {self.name} {problem}.")


def read_model(path: Path) -> Model:
    """Read a file, unpacking ``.gz``; AnalyserError where it cannot be an analyser."""
    try:
        with open_regular(path) as file:
            stored = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise AnalyserError(
            FstStatus.NOT_CONFIGURED, f"Analyser {path.name} does not exist: copy it there, or name another file."
        ) from None
    except OSError as error:
        raise Model(path.name, b"", "").invalid(f"cannot be read ({error.strerror})") from None
    if len(stored) > MOST_BYTES:
        raise Model(path.name, b"", "").invalid(f"is larger than {MOST_BYTES >> 20} MB")
    sha256 = hashlib.sha256(stored).hexdigest()
    content = stored
    if stored.startswith(b"\x1f\x8b"):
        content = _unpacked(stored, Model(path.name, b"", sha256))
    model = Model(path.name, content, sha256)
    if not content:
        raise model.invalid("is empty: copy it again")
    for beginning, problem in _FOREIGN:
        if content.startswith(beginning):
            raise model.invalid(problem)
    return model


def _unpacked(stored: bytes, model: Model) -> bytes:
    """Unpack with a limit, so that a small file cannot fill the memory."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(stored)) as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise model.invalid("is a damaged gzip file: copy it again") from None
    if len(content) > MOST_BYTES:
        raise model.invalid(f"is larger than {MOST_BYTES >> 20} MB when unpacked")
    return content
