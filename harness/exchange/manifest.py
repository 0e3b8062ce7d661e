"""What each computer signs for in an exchange folder: all that it ever put there, and all that it took out of it.

A manifest is cumulative, so the newest one is enough, and counts its own states: an earlier state of the stick is known
by that to anyone who saw a later one. It also says how far this computer saw the log of each vault. So what was done with a
vault on one computer is known on the others, and a log that was shortened or goes two ways is noticed there.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from harness.core.canonical import canonical_bytes
from harness.exchange.kinds import MOST_NAME, tidy_name
from harness.sealed.keys import Identity
from harness.sealed.signed_archive import SignedRecord, read_record, signed_record
from harness.sealed.strict_records import Count, FileError, FileProblem, Hex64, Id, StrictRecord
from harness.vault.records import MOST_WORDS, Moment

FORMAT: Final = "rosetta-exchange/1"
MOST_FILES: Final = 2_000
"""Files of one computer in one folder."""
MOST_VAULTS: Final = 50
MOST_MANIFEST: Final = 2**20
"""Bytes."""

FileName = Annotated[str, Field(min_length=1, max_length=MOST_NAME)]
Machine = Annotated[str, Field(min_length=1, max_length=MOST_WORDS)]


class Offered(StrictRecord):
    """A file in the folder; it is there under its SHA-256."""

    name: FileName
    """What it was called, and will be called where it is imported; ``tidy_name`` leaves it as it is."""
    size: Annotated[int, Field(ge=1)]
    """Bytes."""

    @model_validator(mode="after")
    def _is_a_name_for_every_disk(self) -> Offered:
        if tidy_name(self.name) != self.name:
            raise ValueError("the name of a file is one that this program does not give")
        return self


class LogSeen(StrictRecord):
    """How far a computer saw the log of a vault."""

    lines: Annotated[Count, Field(ge=1)]
    head: Hex64
    """SHA-256 of the last of these lines."""


class ExchangeList(StrictRecord):
    """What one computer put into the folder, took out of it, and saw of vaults."""

    format: Literal["rosetta-exchange/1"] = FORMAT
    folder: Id
    """Of the folder, so that a manifest of one stick is nothing on another."""
    machine: Machine
    """What people call the computer."""
    by: Hex64
    """Its signing key."""
    state: Annotated[Count, Field(ge=1)]
    """How often it signed for this folder."""
    when: Moment
    """By its own clock; nothing follows from it."""
    files: Annotated[dict[Hex64, Offered], Field(max_length=MOST_FILES)]
    """SHA-256 → what it put in."""
    vaults: Annotated[dict[Hex64, LogSeen], Field(max_length=MOST_VAULTS)]
    """Number of a vault → the sealed copy of it that it put in."""
    taken: Annotated[tuple[Hex64, ...], Field(max_length=20 * MOST_FILES)]
    """SHA-256 of what it took in from others here; of a copy of a vault the last line of its log."""
    logs: Annotated[dict[Id, LogSeen], Field(max_length=20 * MOST_VAULTS)]
    """Beginning of a vault's number → how far this computer saw its log, wherever the vault lies."""


class SignedExchangeList(ExchangeList, SignedRecord):
    """The manifest with its signature."""


def write_manifest(manifest: ExchangeList, identity: Identity) -> bytes:
    """Return the bytes of a manifest, signed; raises FileError where it is too much for one folder."""
    data = signed_record(manifest, identity)
    if len(data) > MOST_MANIFEST:
        raise FileError(
            FileProblem.TOO_LARGE,
            "This exchange folder lists more than can be read again. Begin a new one on another stick, or in another folder.",
        )
    return data


def read_manifest(data: bytes, name: str) -> ExchangeList:
    """Read a manifest and check its signature; raises FileError in words that call it by ``name``."""
    try:
        signed = read_record(data, SignedExchangeList, name, most=MOST_MANIFEST)
    except FileError:
        raise FileError(
            FileProblem.NOT_OURS,
            f"{name} is no list of an exchange folder that this version reads: it is damaged, holds a name that no file may "
            "have, or comes from a newer version of Rosetta. Nothing was taken from it. Ask whose it is to put things out again.",
        ) from None
    whole = canonical_bytes(signed.model_dump(mode="json")) == data
    if not whole or not signed.is_signed_by(signed.by):
        raise FileError(
            FileProblem.DAMAGED,
            f"{name} was changed after it was signed. Nothing was taken from it: ask whose it is to put things out again.",
        )
    return ExchangeList.model_validate(signed.model_dump(exclude={"signature"}))


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()
