"""The folder on a stick: where what is in it, read as what a stranger may have written, and written so that a pull does no harm.

Names on the stick are hashes, so no disk minds them, whatever it makes of letters, cases and times. A name that stands
there in another case is found; two that differ in case alone are refused, for nobody knows which one was meant.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.exchange.manifest import (
    MOST_MANIFEST,
    ExchangeList,
    ExchangeService,
    FileKind,
    LogSeen,
    Offered,
    OwnPart,
    digest,
    kind_of,
    read_manifest,
    tidy_name,
    with_vouching,
    write_manifest,
)
from harness.sealed.keys import Identity
from harness.sealed.stick import READABLE, StickError, read_file, stick_error, write_file
from harness.sealed.strict_records import FileError, FileProblem, Id, StrictRecord
from harness.vault.keepers import VaultsSeen
from harness.vault.vault import Vault
from harness.vault.vault_records import MOST_WORDS

NAME: Final = "rosetta-exchange"
"""Of the folder, at the place that somebody names; the stick's own files stay next to it."""
MANIFEST_SUFFIX: Final = ".rosetta-exchange"
_HEAD: Final = "exchange.json"
_README: Final = "README.txt"
_FILES: Final = "files"
_VAULTS: Final = "vaults"
_KEY_DIGITS: Final = 32
"""Hexadecimal digits of a signing key in the name of its manifest."""
_VAULT_DIGITS: Final = 16
_MOST_HEAD: Final = 1024
MOST_MANIFESTS: Final = 100
"""Computers that share one folder."""
MOST_LISTED: Final = 20_000
"""Names in one folder that are examined."""

_TEMPLATES = Path(__file__).parent / "templates"
README: Final = (_TEMPLATES / "README.txt").read_text("utf-8")


class _Head(StrictRecord):
    format: Literal["rosetta-exchange-folder/1"] = "rosetta-exchange-folder/1"
    folder: Id


@dataclass(frozen=True)
class ExchangeFolder:
    path: Path
    id: str

    @property
    def files(self) -> Path:
        return self.path / _FILES

    def vault(self, number: str) -> Path:
        return self.path / _VAULTS / number[:_VAULT_DIGITS]

    def manifest(self, key: str) -> Path:
        return self.path / f"{key[:_KEY_DIGITS]}{MANIFEST_SUFFIX}"

    def manifests(self) -> list[Path]:
        names = [name for name in _listed(self.path) if name.lower().endswith(MANIFEST_SUFFIX)]
        if len(names) > MOST_MANIFESTS:
            raise FileError(
                FileProblem.TOO_LARGE,
                f"{self.path} holds {len(names):,} lists of computers, and {MOST_MANIFESTS} are read at most. Nothing was taken.",
            )
        return [self.path / name for name in sorted(names) if not name.startswith(".")]

    def names(self) -> dict[str, list[str]]:
        """Return the names of files in small letters → as they are there."""
        names: dict[str, list[str]] = defaultdict(list)
        for name in _listed(self.files):
            names[name.lower()].append(name)
        return names

    def read(self, sha256: str, kind: FileKind, size: int, names: Mapping[str, Sequence[str]]) -> bytes:
        """Return a file's bytes, which are those that were signed for; raises StickError or FileError in words."""
        name = stored_name(sha256, kind)
        there = names.get(name, [])
        if not there:
            raise FileError(
                FileProblem.CUT_SHORT,
                "It is missing on the stick, which was not written or copied to its end. Have it exported again.",
            )
        if len(there) > 1:
            raise FileError(
                FileProblem.DAMAGED,
                "It is there under two names that differ in small and capital letters only. Somebody put one of them there: "
                "have it exported once more on another stick.",
            )
        if size > kind.most:
            raise FileError(
                FileProblem.TOO_LARGE,
                f"Its list says that it has {size:,} bytes, and {kind.what} has {kind.most:,} at most.",
            )
        path = self.files / there[0]
        data = read_plain(path, size) if _plain_size(path) == size else b""
        if digest(data) != sha256:
            raise FileError(
                FileProblem.DAMAGED,
                "Its bytes are not those that were signed for: it was changed, or not copied to its end. Have it exported again.",
            )
        return data

    def write(self, sha256: str, kind: FileKind, data: bytes) -> None:
        """Write a file, whole or not at all; one that is there with these bytes stays as it is."""
        name = stored_name(sha256, kind)
        same = [name_there for name_there in _listed(self.files) if name_there.lower() == name]
        try:
            if len(same) == 1 and read_plain(self.files / same[0], len(data)) == data:
                return
        except (StickError, FileError):
            pass  # written again below
        for name_there in same:
            path = self.files / name_there
            try:
                path.unlink()
            except OSError as error:
                raise stick_error(path, error) from None
        write_file(self.files / name, data, READABLE)


def stored_name(sha256: str, kind: FileKind) -> str:
    return f"{sha256}{kind.suffix}"


def read_plain(path: Path, most: int) -> bytes:
    """Return the bytes of a plain file of the stick; never through a link, and no pipe, device or folder is waited for."""
    _plain_size(path)
    return read_file(path, most)


def _plain_size(path: Path) -> int:
    """Return the bytes of a plain file; raises FileError for anything else, StickError for nothing."""
    try:
        facts = path.lstat()
    except OSError as error:
        raise stick_error(path, error) from None
    if not stat.S_ISREG(facts.st_mode):
        raise FileError(
            FileProblem.DAMAGED,
            f"{path.name}: instead of the file lies {_what(facts.st_mode)}. Rosetta did not put it there.",
        )
    return facts.st_size


def found_at(place: Path) -> ExchangeFolder:
    """Return the exchange folder at a place that somebody named: that folder itself, or the one in it.

    Raises UsageError where there is none, FileError where somebody put something else there.
    """
    for path in (place, place / NAME):
        if os.path.lexists(path / _HEAD):
            _refuse_links(path)
            data = read_plain(path / _HEAD, _MOST_HEAD)
            try:
                return ExchangeFolder(path, _Head.model_validate_json(data, strict=True).folder)
            except ValidationError:
                raise FileError(
                    FileProblem.NOT_OURS,
                    f"{path / _HEAD} does not say which exchange folder this is: it is damaged, or of a newer version of Rosetta. "
                    "Nothing was read or changed there. Take another stick.",
                ) from None
    raise UsageError(
        f"There is no exchange folder in {place}. Is the stick in its place? Somebody makes one by putting something there: "
        "rosetta community out STICK FILE."
    )


def made_at(place: Path) -> ExchangeFolder:
    """Return the exchange folder at a place, made there where it is not yet; StickError where the stick takes nothing."""
    try:
        return found_at(place)
    except UsageError as error:
        if isinstance(error, FileError):
            raise
    path = place if place.name == NAME else place / NAME
    try:
        place.mkdir(parents=True, exist_ok=True)
        path.mkdir(exist_ok=True)
        _refuse_links(path)
        for folder in (_FILES, _VAULTS):
            (path / folder).mkdir(exist_ok=True)
    except OSError as error:
        raise stick_error(path, error) from None
    write_file(path / _README, README.encode(), READABLE)
    head = _Head(folder=secrets.token_hex(8))
    write_file(path / _HEAD, canonical_bytes(head.model_dump(mode="json")), READABLE)
    return ExchangeFolder(path, head.folder)


def _refuse_links(path: Path) -> None:
    """Refuse folders that are links: what is written there would go elsewhere."""
    for folder in (path, path / _FILES, path / _VAULTS):
        try:
            status = folder.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise stick_error(folder, error) from None
        mode, attributes = status.st_mode, getattr(status, "st_file_attributes", 0)
        junction = attributes & getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0)  # Windows leads it elsewhere
        if not stat.S_ISDIR(mode) or junction:
            raise FileError(
                FileProblem.DAMAGED,
                f"{folder}: instead of the folder lies {_what(mode)}. Somebody put it there; take another stick.",
            )


def _what(mode: int) -> str:
    kinds = {stat.S_IFLNK: "link", stat.S_IFIFO: "pipe", stat.S_IFDIR: "folder", stat.S_IFREG: "file"}
    return f"a {kinds.get(stat.S_IFMT(mode), 'device')}"


def _listed(folder: Path) -> list[str]:
    """Return the names in a folder; FileError where there are more than anybody put there, StickError where it is gone."""
    names: list[str] = []
    try:
        with os.scandir(folder) as folder_entries:
            for entry in folder_entries:
                names.append(entry.name)
                if len(names) > MOST_LISTED:
                    raise FileError(
                        FileProblem.TOO_LARGE,
                        f"{folder} holds more than {MOST_LISTED:,} files. Somebody else filled it: take another stick.",
                    )
    except FileNotFoundError:
        return []
    except OSError as error:
        raise stick_error(folder, error) from None
    return names


# ---- Putting files and copies of vaults into an exchange folder, and signing for all that this computer ever put there.
# Files come first, the signed list last; so anyone who pulls the stick in between leaves files that no list names, and the
# next time continues from there.

DIGITS_OF_VAULT = 16
"""Hexadecimal digits of a vault's number by which computers tell what they saw of it."""


@dataclass(frozen=True)
class VaultToCopy:
    """A vault of which a sealed copy is to be exported."""

    vault: Vault
    purpose: str
    """Its log has it."""
    keeper: Identity


@dataclass(frozen=True)
class ExportResult:
    """What is in the folder now, of this computer."""

    folder: Path
    state: int
    files: Mapping[str, Offered]
    """By SHA-256; all that this computer ever put there."""
    new: tuple[str, ...]
    """Names of the files that were not on its list before."""
    vaults: Mapping[str, LogSeen]
    lost: tuple[str, ...]
    """Names of files that were on its list and are gone from the stick, or are no longer what they were."""


@dataclass(frozen=True)
class _Ready:
    """A file that was read and found to be what its name says."""

    name: str
    kind: FileKind
    data: bytes


def put_out(
    desk: ExchangeService,
    place: Path,
    paths: Sequence[Path],
    kinds: Sequence[FileKind],
    memory: Path,
    vault: VaultToCopy | None = None,
) -> ExportResult:
    """Export files to the exchange folder at a place, which is made if it does not exist yet, and sign for them.

    ``memory``: folder in which this computer keeps what it saw of vaults. Each file is checked by its own reader before the
    first is written; what vouches for one (the seal of a card) and is next to it goes along. Raises UsageError, FileError or StickError in words; what was in the folder before is whole then.
    """
    if not desk.record.name:
        raise UsageError(
            'Give this computer a name by which the others know it, once: --as "Office". It is on the stick openly.'
        )
    ready = [_ready(path, kinds) for path in with_vouching(paths, kinds)]
    folder = made_at(place)
    own, lost = _own(desk, folder, kinds)
    for item in ready:
        folder.write(digest(item.data), item.kind, item.data)
    copies = {}
    if vault is not None:  # its sealed copy is made or renewed; its log has that first
        number = vault.vault.read().head.vault
        state = vault.vault.export(folder.vault(number), vault.purpose, vault.keeper)
        copies[number] = LogSeen(lines=state.head.lines, head=state.head.log_head)
    files = {digest(ready.data): Offered(name=ready.name, size=len(ready.data)) for ready in ready}
    fresh = tuple(offered.name for sha256, offered in files.items() if sha256 not in own.files)
    more = {"files": {**files, **own.files}, "vaults": {**own.vaults, **copies}}
    part = own.model_copy(update=more)
    signed = sign_for(desk, folder, part, memory)
    return ExportResult(folder.path, signed.state, signed.files, fresh, signed.vaults, lost)


def name_computer(desk: ExchangeService, name: str) -> None:
    """Call this computer by a name from now on; raises UsageError for one that is none."""
    line = " ".join(name.split())
    if not 0 < len(line) <= MOST_WORDS:
        raise UsageError(f"The name of this computer has 1 to {MOST_WORDS} characters.")
    desk.keep(name=line)


def sign_for(desk: ExchangeService, folder: ExchangeFolder, part: OwnPart, memory: Path) -> OwnPart:
    """Sign for what this computer put into a folder and took out of it; a list that says the same already stays."""
    manifest = ExchangeList(
        folder=folder.id,
        machine=desk.record.name,
        by=desk.identity.public.signing_key,
        state=part.state + 1,
        when=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        files=part.files,
        vaults=part.vaults,
        taken=part.taken,
        logs=logs_seen(memory),
    )
    before = _signed(desk, folder)
    same = {"state": manifest.state, "when": manifest.when}
    if before is not None and before.model_copy(update=same) == manifest:
        after = part.model_copy(update={"state": before.state})
    else:
        after = part.model_copy(update={"state": manifest.state})
        # noted first: a state that is on the stick is never signed twice with other contents
        desk.keep(own={**desk.record.own, folder.id: after})
        write_file(folder.manifest(manifest.by), write_manifest(manifest, desk.identity), READABLE)
    desk.keep(own={**desk.record.own, folder.id: after})
    return after


def logs_seen(memory: Path) -> dict[str, LogSeen]:
    """Return how far this computer saw the log of each vault, by the beginning of the vault's number."""
    return {
        path.stem: LogSeen(lines=lines, head=head)
        for path, (lines, head, _) in VaultsSeen(memory).all()
        if len(path.stem) == DIGITS_OF_VAULT
    }


def own_part(desk: ExchangeService, folder: ExchangeFolder) -> OwnPart:
    """Return what this computer put into a folder, as the record and its own list on the stick have it together.

    A record that was put back from a copy may know less than the stick, a stick less than the record.
    """
    kept = desk.record.own.get(folder.id, OwnPart())
    before = _signed(desk, folder)
    if before is None:
        return kept
    return OwnPart(
        state=max(kept.state, before.state),
        files={**before.files, **kept.files},
        vaults={**before.vaults, **kept.vaults},
        taken=tuple(sorted({*before.taken, *kept.taken})),
    )


def _own(desk: ExchangeService, folder: ExchangeFolder, kinds: Sequence[FileKind]) -> tuple[OwnPart, tuple[str, ...]]:
    """Return that part without what is gone from the stick, and the names of what is."""
    part = own_part(desk, folder)
    names = folder.names()
    there: dict[str, Offered] = {}
    lost: list[str] = []
    for sha256, offered in part.files.items():
        kind = kind_of(offered.name, kinds)
        if kind is not None and len(names.get(stored_name(sha256, kind), ())) == 1:
            there[sha256] = offered
        else:
            lost.append(offered.name)
    copies = {n: seen for n, seen in part.vaults.items() if folder.vault(n).is_dir()}
    lost += [f"the copy of vault {number[:16]}" for number in part.vaults if number not in copies]
    return part.model_copy(update={"files": there, "vaults": copies}), tuple(sorted(lost))


def _signed(desk: ExchangeService, folder: ExchangeFolder) -> ExchangeList | None:
    """Return this computer's own list on the stick; None where there is none, or none that it signed for this folder."""
    path = folder.manifest(desk.identity.public.signing_key)
    try:
        manifest = read_manifest(read_plain(path, MOST_MANIFEST), path.name)
    except (StickError, FileError):
        return None
    ours = (manifest.by, manifest.folder) == (desk.identity.public.signing_key, folder.id)
    return manifest if ours else None


def _ready(path: Path, kinds: Sequence[FileKind]) -> _Ready:
    """Read a file and let its own reader look at it; the words of what is wrong begin with its name."""
    name = tidy_name(path.name)
    kind = kind_of(name, kinds)
    if kind is None:
        ends = ", ".join(sorted({kind.suffix for kind in kinds}))
        raise FileError(
            FileProblem.NOT_OURS,
            f"{path.name}: this is not a file that computers pass to each other. Their names end in {ends}. A vault goes out "
            "with --vault FOLDER.",
        )
    data = read_file(path, kind.most)
    try:
        kind.check(data)
    except FileError as error:
        raise FileError(error.problem, f"{path.name}: {error}") from None
    except UsageError as error:
        raise UsageError(f"{path.name}: {error}") from None
    return _Ready(name, kind, data)
