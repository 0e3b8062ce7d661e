"""What verifying any file needs: the file as it was examined, what is known here, and what came out of it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.card.checking.signed import KnownSigners
from harness.card.checking.verdict import CardCheck
from harness.card.reading import read_card_bytes
from harness.core.failures import UsageError
from harness.core.user_file import read_bytes
from harness.sealed.archive import FLAT, unpack_all
from harness.sealed.sealing import Lock, lock_of
from harness.sealed.signed_archive import MANIFEST
from harness.sealed.strict_records import FileError
from harness.submission.members import SHAPE

MOST_LINE: Final = 2**25
"""Bytes of the first line that is examined to know what a file is."""
_FORM: Final = re.compile(rb'"format"\s*:\s*"([a-z-]{1,60}/[0-9]{1,4})"')
MOST_BESIDE: Final = 2**20
"""Bytes of a signature's file."""


@dataclass(frozen=True)
class VerifiedFile:
    """A file that was read, and what it says of itself."""

    path: Path
    data: bytes

    @property
    def lock(self) -> Lock | None:
        """Return what opens it where it is sealed; None where it is not."""
        return lock_of(self.data)

    @cached_property
    def members(self) -> Mapping[str, bytes]:
        """The members of an archive of ours; none where it is no archive, or one that was changed."""
        for shape in (FLAT, SHAPE):
            with suppress(FileError):
                return unpack_all(self.data, shape)
        return {}

    @cached_property
    def stated(self) -> Mapping[str, Any]:
        """The JSON object that it is, or that its first line or its manifest is; empty where there is none."""
        content = self.members.get(MANIFEST, b"") if self.data.startswith(b"PK") else self.data
        return _object(content) or _object(content[:MOST_LINE].split(b"\n", 1)[0])

    @cached_property
    def is_cut(self) -> bool:
        """Return whether it begins as an object of JSON that is never closed, on its first line or at all."""
        if self.stated or self.data.lstrip()[:1] != b"{":
            return False
        try:
            json.loads(self.data)
        except ValueError:
            return True
        except RecursionError:
            pass
        return False

    @property
    def format(self) -> str:
        """The name and version of its form, as it says; empty where it names none."""
        stated_format = self.stated.get("format")
        if self.is_cut and (match := _FORM.search(self.data[:MOST_LINE])):
            stated_format = match[1].decode()
        return stated_format if isinstance(stated_format, str) else ""

    def beside(self, suffix: str) -> bytes | None:
        """Return the bytes of the file next to it whose name continues with this; None where there is none."""
        path = self.path.with_name(self.path.name + suffix)
        return read_bytes(path, "what is next to it", MOST_BESIDE) if path.is_file() else None


def _object(content: bytes) -> Mapping[str, Any]:
    """Return a JSON object; empty where bytes are none."""
    with suppress(ValueError, RecursionError):
        value = json.loads(content)
        if isinstance(value, dict):
            return value
    return {}


@dataclass(frozen=True)
class VerifiedAgainst:
    """What a file is held against."""

    connection: sqlite3.Connection
    home: Path
    known: KnownSigners
    others: Sequence[Path] = ()
    """Files that somebody named next to it: a card, a certificate, evidence, a public key."""
    used: set[Path] = field(default_factory=set)
    """Those of them against which the file was held."""

    @cached_property
    def files(self) -> tuple[VerifiedFile, ...]:
        """The others, as they were examined; UsageError where one cannot be read."""
        return tuple(map(look, self.others))

    def among(self, fits: Callable[[VerifiedFile], bool]) -> Iterator[VerifiedFile]:
        """Yield the others that are of a kind, and note that the file is held against them."""
        for file in self.files:
            if fits(file):
                self.used.add(file.path)
                yield file

    @property
    def unused(self) -> tuple[VerifiedFile, ...]:
        """The others against which the file was not held."""
        return tuple(file for file in self.files if file.path not in self.used)


class Signer(NamedTuple):
    """A key that signed a file."""

    role: str
    key: str


@dataclass(frozen=True)
class ToldOfFile:
    """What the verifier of one kind found."""

    facts: Sequence[tuple[str, str]] = ()
    signers: Sequence[Signer] = ()
    checks: Sequence[CardCheck] = ()


@dataclass(frozen=True)
class VerifiableKind:
    """A kind of file: how it is known, and who verifies it."""

    name: str
    what: str
    """What it is, for people."""
    verify: Callable[[VerifiedFile, VerifiedAgainst], ToldOfFile]
    forms: tuple[str, ...] = ()
    """What ``format`` may say."""
    fits: Callable[[VerifiedFile], bool] = field(default=lambda _: False)
    """How a file is known that names no form."""


def signature_check(words: str = "its bytes are those that were signed") -> CardCheck:
    """Return the check of a file whose reader found its signature right."""
    return CardCheck("signature", True, words)


UNSIGNED: Final = "unsigned"
"""Name of the check of a file of a kind that nobody signs."""


def unsigned_check(words: str) -> CardCheck:
    """Return the check of such a file; ``words`` say that nobody signs it."""
    return CardCheck(UNSIGNED, None, words)


def is_archive_called(suffix: str) -> Callable[[VerifiedFile], bool]:
    """Return what knows an archive by the end of its name, where its content was changed so that it tells nothing."""
    return lambda file: file.data.startswith(b"PK") and file.path.name.casefold().endswith(suffix)


def look(path: Path) -> VerifiedFile:
    """Read a file; raises UsageError where it cannot be read, is not a file, or is too large."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a file in it.")
    return VerifiedFile(path, read_card_bytes(path))
