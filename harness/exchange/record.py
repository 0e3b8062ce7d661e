"""What this computer knows of exchanges: its name, whom it knows, its exports and imports, and how far it saw each stick."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import filelock
from pydantic import Field, ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.written_files import PRIVATE, private_folder, write_file
from harness.exchange.manifest import LogSeen, Machine, Offered
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import Count, Hex64, Id, StrictRecord

FOLDER: Final = "exchange"
"""In the data folder."""
_FILE: Final = "record.json"
_BUSY_SECONDS: Final = 20


class ImportedFile(StrictRecord):
    """A file, or a copy of a vault, that was imported."""

    name: str
    by: Hex64
    """Whose list named it."""
    when: str
    """UTC."""
    place: str
    """Where it was put."""


class SeenState(StrictRecord):
    """The latest state of a computer's manifest that was seen in a folder."""

    state: Count
    sha256: Hex64


class OwnPart(StrictRecord):
    """What this computer put into a folder."""

    state: Count = 0
    files: dict[Hex64, Offered] = Field(default_factory=dict)
    vaults: dict[Hex64, LogSeen] = Field(default_factory=dict)
    taken: tuple[Hex64, ...] = ()


class ExchangeRecord(StrictRecord):
    """All of it, as it is in the data folder."""

    format: Literal["rosetta-exchange-record/1"] = "rosetta-exchange-record/1"
    name: Machine | Literal[""] = ""
    """What people call this computer; empty until somebody says."""
    known: dict[Hex64, Machine] = Field(default_factory=dict)
    """Signing key of a computer whose six words somebody compared → its name then."""
    seen: dict[Id, dict[Hex64, SeenState]] = Field(default_factory=dict)
    """Folder → computer → its latest state."""
    own: dict[Id, OwnPart] = Field(default_factory=dict)
    """Folder → what this computer put there."""
    taken: dict[Hex64, ImportedFile] = Field(default_factory=dict)
    """SHA-256, of a copy of a vault the last line of its log → what was imported; from whichever folder."""


@dataclass
class ExchangeService:
    """The record while it is held, with the keys of this computer; no other program changes it meanwhile."""

    home: Path
    record: ExchangeRecord
    identity: Identity

    def keep(self, **changes: object) -> None:
        """Change fields of the record and write it; on the disk there is the one before or this one."""
        self.record = self.record.model_copy(update=changes)
        write_file(
            self.home / FOLDER / _FILE,
            canonical_bytes(self.record.model_dump(mode="json")),
            overwrite=True,
        )


@contextmanager
def desk(home: Path) -> Iterator[ExchangeService]:
    """Lock the record of this computer; make its keys the first time. UsageError where another program holds it."""
    folder = private_folder(private_folder(home) / FOLDER)
    try:
        with filelock.FileLock(folder / "record.lock", timeout=_BUSY_SECONDS, mode=PRIVATE):
            yield ExchangeService(home, read_record_of(home), Identity.load(home, Role.COMPUTER))
    except filelock.Timeout:
        raise UsageError(
            "Another program is exchanging files on this computer. Try again when it is done."
        ) from None


def read_record_of(home: Path) -> ExchangeRecord:
    """Return what this computer knows; UsageError with the fix where its file is damaged."""
    path = home / FOLDER / _FILE
    try:
        return ExchangeRecord.model_validate_json(path.read_bytes(), strict=True)
    except FileNotFoundError:
        return ExchangeRecord()
    except (OSError, ValidationError):
        raise UsageError(
            f"{path} cannot be read or is damaged: it says what this computer took in. Put back a copy of it, or delete it; "
            "then six words are compared again, and what was imported before is found in its place again."
        ) from None
