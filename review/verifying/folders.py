"""Verifying every file of a folder: one verdict each, within limits, and no link is followed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.core.failures import UsageError
from review.verifying.kinds import VerifiedAgainst
from review.verifying.verifying import FileVerdict, UnknownFileError, verify_any

MOST_FILES: Final = 2_000
MOST_DEPTH: Final = 8
"""Folders below the one that was named."""


@dataclass(frozen=True)
class FolderLine:
    """What came out of one file of a folder."""

    path: str
    """Below the folder, with ``/`` between folders."""
    verdict: FileVerdict | None
    words: str
    """Why it was not examined, what does not hold, or that nobody signs it; empty where it holds."""
    unknown: bool = False
    """Whether it is of no kind that is known."""

    @property
    def holds(self) -> bool | None:
        """None where nobody could look at it, or nobody signs it."""
        if self.verdict is None or (self.verdict.holds and self.verdict.unsigned):
            return None
        return self.verdict.holds

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        kind = None if self.verdict is None else self.verdict.kind
        return {"file": self.path, "kind": kind, "holds": self.holds, "words": self.words}


def verify_folder(folder: Path, here: VerifiedAgainst) -> Iterator[FolderLine]:
    """Verify every file in a folder and those below, sorted by name; hidden files and links are left out.

    Raises UsageError, before the first file is examined, where there are more than ``MOST_FILES`` or folders go deeper
    than ``MOST_DEPTH``.
    """
    paths = sorted(_files(folder, MOST_DEPTH, folder))
    if len(paths) > MOST_FILES:
        raise UsageError(
            f"{folder} holds {len(paths):,} files, and {MOST_FILES:,} are examined in one go. Name a folder in it."
        )
    return (_line(path, folder, here) for path in paths)


def _files(folder: Path, depth: int, top: Path) -> Iterator[Path]:
    if depth < 0:
        raise UsageError(
            f"{top} has more than {MOST_DEPTH} folders within folders. Name one in it."
        )
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path), depth - 1, top)
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _line(path: Path, folder: Path, here: VerifiedAgainst) -> FolderLine:
    name = path.relative_to(folder).as_posix()
    try:
        file_verdict = verify_any(path, here)
    except UnknownFileError as error:
        return FolderLine(name, None, error.words, unknown=True)
    except UsageError as error:
        return FolderLine(name, None, str(error))
    wrong = [f"{check.name}: {check.words}" for check in file_verdict.checks if check.ok is False]
    return FolderLine(name, file_verdict, "; ".join(wrong) or file_verdict.unsigned)
