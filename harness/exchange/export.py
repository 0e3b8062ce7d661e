"""Putting files and copies of vaults into an exchange folder, and signing for all that this computer ever put there.

Files come first, the signed list last; so anyone who pulls the stick in between leaves files that no list names, and the next
time continues from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from harness.core.failures import UsageError
from harness.exchange.folder import ExchangeFolder, made_at, read_plain, stored_name
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
from harness.sealed.stick import READABLE, StickError, read_file, write_file
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.keepers import VaultsSeen
from harness.vault.vault import Vault
from harness.vault.vault_records import MOST_WORDS

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
