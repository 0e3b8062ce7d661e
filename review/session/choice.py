"""A review that can be opened: what its file tells before it is, and which files are copies of one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.core.failures import HarnessError
from harness.sealed.carried_files import ReviewFile, read_one
from harness.sealed.sealing import Lock, lock_of
from review.files.batch import Batch, open_batch
from review.log.laptop import StoredBatch

_LONGEST_MARK = 300
_MOST_PEEKED = 2**21
"""Bytes of a file whose head is read for the list; in a larger one nobody waits for it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A review that can be opened: a file, or one that is kept on this computer."""

    title: str
    """As it stands on the card; of a file that is locked or damaged its name."""
    organisation: str = ""
    """Who asks, as far as the file tells before it is opened; empty for one that is locked or damaged."""
    batch: str | None = None
    """Id of one that is kept here."""
    path: Path | None = None
    """Of a file."""
    inside: str = ""
    """Name of the review in the zip or mail that the file is; empty for the first in it, or the file itself."""
    lock: Lock | None = None
    """What opens it; None where it lies open."""
    done: int | None = None
    """Items that the remembered person answered; None where nobody is remembered, or it is for others."""
    total: int = 0
    """Items of that person."""
    content: str = ""
    """Of a file: what all its copies have in common, whatever their names and places; empty where that is not known."""

    def kept_as(self, kept: Choice | None) -> Choice:
        """Return a file with how far the person is in it, where it is ``kept`` here."""
        if kept is None:
            return self
        return replace(self, batch=kept.batch, done=kept.done, total=kept.total)

    @property
    def place(self) -> str:
        """Folder of a file that is not kept here; empty for one that is."""
        return str(self.path.parent.absolute()) if self.path and self.batch is None else ""


def of_file(path: Path, inside: str = "") -> Choice:
    """Return a file, or one in a zip or mail, as something to open; whether it is a review, opening it tells."""
    data = _peeked(path, inside)
    lock = lock_of(data) if data else _lock(path)
    head = None if lock is not None else _head(data)
    stem = _title(Path(inside or path).name)
    if head is None:
        content = _hash(data) if data else ""
        return Choice(stem, path=path, inside=inside, lock=lock, content=content)
    title, name = head.manifest.title.strip(), head.manifest.organisation.name.strip()
    content = _hash(head.manifest_bytes)
    return Choice(title or stem, name, path=path, inside=inside, content=content)


def _title(name: str) -> str:
    """Return a file's name without the ending, and without what mail or a system put behind that."""
    end = name.casefold().find(ReviewFile.BATCH.value)
    return name[:end] if end > 0 else Path(name).stem


def _peeked(path: Path, inside: str) -> bytes:
    """Read a file that is not too large to wait for; nothing of another."""
    try:
        if path.stat().st_size <= _MOST_PEEKED:
            return read_one(path, ReviewFile.BATCH, inside)
    except (HarnessError, OSError):
        pass  # opening it says why
    return b""


def _head(data: bytes) -> Batch | None:
    """Read what is on the card; a file that is none of ours is reported when it is opened."""
    try:
        return open_batch(data)
    except HarnessError:
        return None


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def contents(kept: StoredBatch) -> tuple[str, str]:
    """Return what the copies of a review's file have in common: those that lie open, and those that are locked."""
    return _hash(kept.manifest), _hash(kept.members)


def copies_once(choices: Iterable[Choice]) -> list[Choice]:
    """Return of each review the first of its copies; a damaged one is no copy."""
    once = {choice.content or str(choice.path): choice for choice in reversed(list(choices))}
    return list(reversed(once.values()))


def _lock(path: Path) -> Lock | None:
    """Return the lock by a file's first bytes; what cannot be read is reported when it is opened."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return lock_of(file.read(64))
    except OSError:
        pass  # opening it says why
    return None


def mark_of(choice: Choice) -> str | None:
    """Name a file by what a copy of it keeps; None where it is none, or gone."""
    if choice.path is None:
        return None
    try:
        facts = choice.path.stat()
    except OSError:
        return None
    name = f"{choice.path.name} {choice.inside}".strip()
    return f"file {facts.st_size} {int(facts.st_mtime)} {name}"[:_LONGEST_MARK]
