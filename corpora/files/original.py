"""Whether the file that a corpus was read from is still there, and still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

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
    digest = hashlib.sha256()
    try:
        for path in files:
            _feed(digest, path)
    except OSError:
        return Original.GONE
    return Original.UNCHANGED if digest.hexdigest() == sha256 else Original.CHANGED


def _feed(digest: hashlib._Hash, path: Path) -> None:
    if not path.is_file():
        raise FileNotFoundError(path)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
