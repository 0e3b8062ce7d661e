"""What may be in an exchange folder: the program's own kinds of file, each with who reads it, and names that every disk takes."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError, model_validator

from harness.card import signing
from harness.card.checking.signed import UNKNOWN
from harness.card.model import HASH_FIELD, seal_form
from harness.card.reading import parse_object, refuse_inside
from harness.card.signing import is_proof, read_proof
from harness.consent import notice
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import exclusive, private_folder, write_file
from harness.leaderboard.official import verify_released
from harness.sealed.archive import RESERVED, SignedRecord, read_record, signed_record
from harness.sealed.keys import Identity, Role
from harness.sealed.stick import MOST_BYTES
from harness.sealed.strict_records import Count, FileError, FileProblem, Hex64, Id, StrictRecord
from harness.vault.grants import files
from harness.vault.keepers import CARD_SUFFIX, read_card
from harness.vault.request import REQUEST_SUFFIX
from harness.vault.vault_records import MOST_WORDS, Moment

MOST_NAME: Final = 100
"""Characters of a file's name; with its folder it stays below what Windows takes."""

_KEPT: Final = frozenset(" -_.()+,'")


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file that one computer hands to another, known by the end of its name."""

    suffix: str
    """In small letters, from the point on."""
    what: str
    """What it is, for people: ``the card of a keeper``."""
    check: Callable[[bytes], object]
    """Its own reader, as far as it goes without keys; raises UsageError in words."""
    then: str
    """What takes it in on the other computer, with FILE for its path."""
    most: int = MOST_BYTES
    """Bytes of the largest one."""
    beside: str = ""
    """End of the name of the file that vouches for it, which goes along where it is next to it."""


def kind_of(name: str, kinds: Iterable[FileKind]) -> FileKind | None:
    """Return the kind of a file by its name, the longest end that fits; None where it is none of ours."""
    folded = name.casefold()
    fits = [kind for kind in kinds if folded.endswith(kind.suffix) and folded != kind.suffix]
    return max(fits, key=lambda kind: len(kind.suffix), default=None)


def with_vouching(paths: Iterable[Path], kinds: Sequence[FileKind]) -> list[Path]:
    """Return paths, each followed by the file that vouches for it where one is next to it; each path once."""
    paths_with_vouching: dict[Path, None] = {}
    for path in paths:
        paths_with_vouching[path] = None
        kind = kind_of(path.name, kinds)
        if kind is not None and kind.beside:
            other = path.with_name(f"{path.name[: -len(kind.suffix)]}{kind.beside}")
            if other.is_file():
                paths_with_vouching[other] = None
    return list(paths_with_vouching)


def tidy_name(name: str) -> str:
    """Return a name that FAT, exFAT, NTFS and every other disk takes, and that no terminal acts on.

    Letters of all writings, digits and a few signs stay, others become hyphens; it is composed (NFC), is no device of
    Windows, and neither begins nor ends with a point or space.
    """
    composed = unicodedata.normalize("NFC", name)
    kept = "".join(
        character if character in _KEPT or unicodedata.category(character)[0] in "LNM" else "-"
        for character in composed
    )
    stem, point, end = re.sub(r"\.\.+", ".", kept).strip(" .").partition(".")
    tidy = f"{stem.strip() or '-'}{point}{end}"[-MOST_NAME:].strip(" .")
    return f"-{tidy}"[:MOST_NAME] if RESERVED.fullmatch(tidy) or not tidy else tidy


def check_json(data: bytes) -> None:
    """Raise UsageError where JSON is no sealed card of a run, no proof of a row of one, and nothing that was released.

    The card of a run over secret entries is refused: what leaves of it is a released card.
    """
    if is_proof(data):
        read_proof(data, "this proof")
        return
    if (released := verify_released(data, UNKNOWN)) is not None:
        if not released.ok:
            raise FileError(FileProblem.DAMAGED, _NOT_AS_RELEASED)
        return
    card = parse_object(data, "this card")
    if not card.get(HASH_FIELD):
        raise FileError(
            FileProblem.NOT_OURS,
            "This is JSON, but neither a card of a run, nor the proof of a row of one, nor a released card. Name the file that rosetta runs export "
            "wrote, with or without --row.",
        )
    if seal_form(card) is None:
        raise FileError(
            FileProblem.DAMAGED,
            "The seal of this card is broken: it was changed after it was sealed. Export the run again, or ask for it once more.",
        )
    refuse_inside(card, str(card.get("run_id", "")))


_NOT_AS_RELEASED: Final = "This released card is not as it was signed: it was changed, or it is damaged. Release it again, or ask for it once more."

KINDS: Final = (
    FileKind(CARD_SUFFIX, "the card of a keeper", read_card, "rosetta vault enrol VAULT FILE", 4096),
    FileKind(
        notice.SUFFIX, "a notice of consent", notice.read_notice, "rosetta community take FILE",
        notice.MOST_BYTES,
    ),
    FileKind(
        signing.SUFFIX, "the seal of a card", signing.read_seal, "is next to its card",
        signing.MOST_BYTES,
    ),
    FileKind(
        ".json", "a card of a run, whole or released, or the proof of a row", check_json,
        "rosetta runs verify FILE", beside=signing.SUFFIX,
    ),
    FileKind(
        REQUEST_SUFFIX, "a request to open a vault", files.read_request,
        "rosetta vault grant show VAULT FILE", files.MOST_BYTES,
    ),
    FileKind(
        files.ANSWER_SUFFIX, "an answer to a request", files.read_answer,
        "put it next to the request", files.MOST_BYTES,
    ),
)  # fmt: skip
"""Those of the harness; reviews have more."""


# ---- What each computer signs for in an exchange folder: all that it ever put there, and all
# that it took out of it.
#
# A manifest is cumulative, so the newest one is enough, and counts its own states: an earlier
# state of the stick is known by that to anyone who saw a later one. It also says how far this
# computer saw the log of each vault. So what was done with a vault on one computer is known on
# the others, and a log that was shortened or goes two ways is noticed there.

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


# ---- What this computer knows of exchanges: its name, whom it knows, its exports and imports,
# and how far it saw each stick.

FOLDER: Final = "exchange"
"""In the data folder."""
_FILE: Final = "record.json"
_BUSY_SECONDS: Final = 20


class ImportedFile(StrictRecord):
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
        data = canonical_bytes(self.record.model_dump(mode="json"))
        write_file(self.home / FOLDER / _FILE, data, overwrite=True)


@contextmanager
def desk(home: Path) -> Iterator[ExchangeService]:
    """Lock the record of this computer; make its keys the first time. UsageError where another program holds it."""
    folder = private_folder(private_folder(home) / FOLDER)
    busy = "Another program is exchanging files on this computer. Try again when it is done."
    with exclusive(folder / "record.lock", UsageError(busy), _BUSY_SECONDS):
        yield ExchangeService(home, read_record_of(home), Identity.load(home, Role.COMPUTER))


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
