"""Taking in what others put into an exchange folder: each thing checked, placed whole, and noted before the next.

What is taken is noted at once, so anyone who is stopped continues with the next file, and a second time takes nothing twice. What
is refused is refused in words and keeps nothing else from being taken. Nothing here believes a stick: a list counts by
its signature and by six words that two people compared, a file by its hash in that list and by its own reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from harness.core.failures import UsageError
from harness.core.storage import StorageProblem, private_folder
from harness.exchange.folder import (
    DIGITS_OF_VAULT,
    ExchangeFolder,
    found_at,
    logs_seen,
    own_part,
    read_plain,
    sign_for,
    stored_name,
)
from harness.exchange.manifest import (
    MOST_MANIFEST,
    ExchangeList,
    ExchangeService,
    FileKind,
    ImportedFile,
    LogSeen,
    Offered,
    OwnPart,
    SeenState,
    digest,
    kind_of,
    read_manifest,
    tidy_name,
)
from harness.sealed.stick import StickError, write_file
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.folder import copy_to, read_state
from harness.vault.keepers import VaultsSeen
from harness.vault.vault import Vault

_PULLED = frozenset({StorageProblem.GONE, StorageProblem.DISK_FAILS})

_UNKNOWN = (
    "This computer is not known here, and anybody can write a name. Have its six words read to you by telephone (rosetta "
    'community stick shows them there), and give them with --words "…". Nothing was taken from it.'
)

FormCache = Callable[[ExchangeList], bool]
"""Asked of a computer that nobody knows here: whether its six words were compared and are those of its key."""


@dataclass(frozen=True, slots=True)
class Arrived:
    name: str
    machine: str
    """Who put it out, by the name under which it is known here."""
    what: str
    place: Path
    then: str
    """The command that takes it further."""


@dataclass
class ImportResult:
    """What came of looking into a folder."""

    folder: Path
    new: list[Arrived] = field(default_factory=list)
    before: int = 0
    """Things that were imported earlier."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """What was not taken, and why with the fix."""
    notes: list[str] = field(default_factory=list)
    """What the logs of vaults, as others saw them, say of those here."""
    receipt: bool = False
    """Whether this computer signed on the stick for what it took."""


@dataclass(frozen=True)
class _Visit:
    desk: ExchangeService
    folder: ExchangeFolder
    into: Path
    kinds: Sequence[FileKind]
    memory: Path
    found: ImportResult
    names: Mapping[str, Sequence[str]]
    """Names of files on the stick in small letters → as they are there."""


def take_in(
    desk: ExchangeService, place: Path, into: Path, kinds: Sequence[FileKind], memory: Path, known: FormCache
) -> ImportResult:
    """Import what others put into the exchange folder at a place, and is new here, into a folder of this computer.

    ``memory``: folder in which this computer keeps what it saw of vaults. Raises UsageError where there is no such folder,
    StickError where the stick is pulled, and what was taken until then stays and is noted.
    """
    folder = found_at(place)
    visit = _Visit(desk, folder, into, kinds, memory, ImportResult(folder.path), folder.names())
    for manifest, sha256 in others(desk, folder, visit.found.refused):
        if _is_known(visit, manifest, known) and _is_not_older(visit, manifest, sha256):
            private_folder(into)
            for sha256_of_file, offered in manifest.files.items():
                _refusing(visit, manifest, offered.name, _File(sha256_of_file, offered))
            for number, seen in manifest.vaults.items():
                _refusing(visit, manifest, f"the vault {number[:16]}", _Copy(number, seen))
            latest = {manifest.by: SeenState(state=manifest.state, sha256=sha256)}
            states = desk.record.seen.get(folder.id, {}) | latest
            desk.keep(seen={**desk.record.seen, folder.id: states})
            visit.found.notes += compared(visit.memory, manifest)
    _receipt(visit)
    return visit.found


def others(
    desk: ExchangeService, folder: ExchangeFolder, refused: list[tuple[str, str]]
) -> Iterator[tuple[ExchangeList, str]]:
    """Yield each other computer's list with its hash; what is none goes to ``refused`` in words."""
    for path in folder.manifests():
        try:
            data = read_plain(path, MOST_MANIFEST)
            manifest = read_manifest(data, path.name)
            _check_place(path, manifest, folder)
        except (StickError, FileError) as error:
            if isinstance(error, StickError) and error.problem in _PULLED:
                raise
            refused.append((path.name, str(error)))
        else:
            if manifest.by != desk.identity.public.signing_key:
                yield manifest, digest(data)


def _check_place(path: Path, manifest: ExchangeList, folder: ExchangeFolder) -> None:
    """Raise FileError for a list that is under another computer's name, or on another stick than it was signed for."""
    if path.name.lower() != folder.manifest(manifest.by).name:
        raise FileError(
            FileProblem.DAMAGED,
            f"This list is signed by another computer ({manifest.machine!r}) than its name says. Nothing was taken from it.",
        )
    if manifest.folder != folder.id:
        raise FileError(
            FileProblem.INVALID,
            f"This list of {manifest.machine!r} was written for another stick, and somebody copied it here. Nothing of it was "
            "taken.",
        )


def _is_known(visit: _Visit, manifest: ExchangeList, known: FormCache) -> bool:
    """Return whether a computer's six words were compared, now or earlier."""
    desk = visit.desk
    if manifest.by in desk.record.known:
        return True
    if not known(manifest):
        visit.found.refused.append((manifest.machine, _UNKNOWN))
        return False
    desk.keep(known={**desk.record.known, manifest.by: manifest.machine})
    return True


def _is_not_older(visit: _Visit, manifest: ExchangeList, sha256: str) -> bool:
    """Return whether a list is the one that was seen here last, or a later one."""
    seen = visit.desk.record.seen.get(visit.folder.id, {}).get(manifest.by)
    if seen is None or manifest.state > seen.state or sha256 == seen.sha256:
        return True
    older = (
        f"The stick holds an older state of this list than this computer saw on it: state {manifest.state:,} after {seen.state:,}. "
        "Somebody put back what was on it earlier, or it is a copy from then. Nothing was taken from it; ask for the stick as it "
        "is now."
        if manifest.state < seen.state
        else f"This list says something else under the same number ({manifest.state:,}) than this computer saw before. The data folder of "
        "that computer was copied or put back, and both continue. Nothing was taken from it; ask there which one counts."
    )
    visit.found.refused.append((visit.desk.record.known[manifest.by], older))
    return False


@dataclass(frozen=True)
class _File:
    sha256: str
    offered: Offered

    def take(self, visit: _Visit, manifest: ExchangeList) -> Arrived | None:
        """Check it and put it into its place; None where it was taken earlier."""
        if self.sha256 in visit.desk.record.taken:
            return None
        name = self.offered.name
        kind = kind_of(name, visit.kinds)
        if kind is None:
            raise FileError(
                FileProblem.NEWER,
                "This is not a kind of file that this version can pass on. It may come from a newer version of Rosetta.",
            )
        data = visit.folder.read(self.sha256, kind, self.offered.size, visit.names)
        kind.check(data)
        place = visit.into / name
        _place(place, data)
        arrived = Arrived(name, "", kind.what, place, kind.then)
        return _arrived(visit, manifest, self.sha256, arrived)


@dataclass(frozen=True)
class _Copy:
    number: str
    seen: LogSeen

    def take(self, visit: _Visit, manifest: ExchangeList) -> Arrived | None:
        """Check it and copy it, over an older copy of the same vault; None where it was taken earlier."""
        if self.seen.head in visit.desk.record.taken:
            return None
        where = visit.folder.vault(self.number)
        state = read_state(where)  # remembered below only, once it is the one that was signed for
        there = state.head.lines >= self.seen.lines
        right = state.head.vault == self.number and there
        if not right or state.lines[self.seen.lines - 1].id != self.seen.head:
            raise FileError(
                FileProblem.DAMAGED,
                "The vault in this place is another one than the signature names, or an older copy of it. Nothing was copied: have it "
                "exported once more.",
            )
        state = Vault(where, visit.memory, lambda: datetime.now(UTC)).read()
        name = f"{tidy_name(state.founded.name)}-{self.number[:8]}"
        place = visit.into / name
        copy_to(state, place)
        Vault(place, visit.memory, lambda: datetime.now(UTC)).read()
        arrived = Arrived(name, "", "a sealed copy of a vault", place, "rosetta vault list FILE")
        return _arrived(visit, manifest, self.seen.head, arrived)


def _refusing(visit: _Visit, manifest: ExchangeList, name: str, item: _File | _Copy) -> None:
    """Import one thing; what is wrong with it is reported, and keeps no other from being imported."""
    try:
        arrived = item.take(visit, manifest)
    except (StickError, UsageError) as error:
        if isinstance(error, StickError) and error.problem in _PULLED:
            raise
        visit.found.refused.append((name, str(error)))
    else:
        if arrived is None:
            visit.found.before += 1
        else:
            visit.found.new.append(arrived)


def _place(path: Path, data: bytes) -> None:
    """Write a file that is not there yet; one with the same bytes is it, and one with others is left alone."""
    if path.exists() or path.is_symlink():
        with suppress(StickError, FileError):
            if read_plain(path, len(data)) == data:
                return
        raise FileError(
            FileProblem.INVALID,
            f"{path} is there already, and is something else. Move it away, or name another folder with --into.",
        )
    write_file(path, data)


def _arrived(visit: _Visit, manifest: ExchangeList, key: str, arrived: Arrived) -> Arrived:
    """Record what was taken, on this computer, before anything else is."""
    desk = visit.desk
    noted = ImportedFile(
        name=arrived.name,
        by=manifest.by,
        when=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        place=str(arrived.place),
    )
    desk.keep(taken={**desk.record.taken, key: noted})
    return replace(arrived, machine=desk.record.known[manifest.by])


def _receipt(visit: _Visit) -> None:
    """Sign on the stick for what was taken from it, where this computer has a name and the stick can be written."""
    desk, folder, import_result = visit.desk, visit.folder, visit.found
    if not desk.record.name:
        import_result.notes.append(
            "This computer has no name yet, so it left no receipt on the stick. Give it one: --as NAME."
        )
        return
    offered = {
        key
        for manifest, _ in others(desk, folder, [])
        for key in (*manifest.files, *(seen.head for seen in manifest.vaults.values()))
    }
    part = own_part(desk, folder)
    taken = tuple(sorted({*part.taken, *(offered & desk.record.taken.keys())}))
    try:
        sign_for(desk, folder, part.model_copy(update={"taken": taken}), visit.memory)
        import_result.receipt = True
    except StickError as error:
        import_result.notes.append(f"No receipt was left on the stick: {error}")


def compared(memory: Path, manifest: ExchangeList) -> Iterator[str]:
    """Yield what another computer saw of the logs of vaults that this one knows, where the two do not agree."""
    ours = logs_seen(memory)
    for vault, theirs in manifest.logs.items():
        if vault not in ours:
            continue
        known = ours[vault]
        if theirs.lines > known.lines:
            yield (
                f"{manifest.machine!r} saw {theirs.lines:,} lines of the log of vault {vault}, this computer {known.lines:,}: "
                "the copy here is older. Bring it up to date before you rely on its log."
            )
        elif _line_of(memory, vault, theirs.lines, known) not in {None, theirs.head}:
            yield (
                f"{manifest.machine!r} saw ANOTHER log of vault {vault} than this computer: line {theirs.lines:,} differs. One of "
                "the two was changed, or a copy was used on its own. Open nothing; compare 'rosetta vault log' with all keepers."
            )


def _line_of(memory: Path, vault: str, place: int, known: LogSeen) -> str | None:
    """Return the id of a line of a vault's log, as this computer has it; None where the vault is not available."""
    if place == known.lines:
        return known.head
    seen = VaultsSeen(memory).all()
    [folder] = [Path(where) for path, (_, _, where) in seen if path.stem == vault]
    with suppress(UsageError, OSError):
        lines = read_state(folder).lines
        if len(lines) >= place and lines[0].id[:DIGITS_OF_VAULT] == vault:
            return lines[place - 1].id
    return None


# ---- What is in an exchange folder, and who took what, without taking or writing anything there.


@dataclass(frozen=True, slots=True)
class ListedItem:
    name: str
    what: str
    taken_by: tuple[str, ...]
    """Names of the computers that signed for having taken it; of this one where it did, signed or not."""
    there: bool
    """Whether a file is in its place; whether it is whole, taking it in tells."""


@dataclass(frozen=True, slots=True)
class Machine:
    name: str
    key: str
    known: bool
    """Whether its six words were compared here; True of this computer itself."""
    own: bool
    state: int
    lying: tuple[ListedItem, ...]


@dataclass(frozen=True, slots=True)
class FolderLook:
    path: Path
    folder: str
    machines: tuple[Machine, ...]
    refused: tuple[tuple[str, str], ...]
    """Lists that count for nothing, with the reason."""
    unnamed: int
    """Files that no list names: of a write that was stopped, or put there by another program."""


def read_exchange_folder(desk: ExchangeService, place: Path, kinds: Sequence[FileKind]) -> FolderLook:
    """Return what is in the exchange folder at a place; raises UsageError or StickError as taking in does."""
    folder = found_at(place)
    refused: list[tuple[str, str]] = []
    lists = [manifest for manifest, _ in others(desk, folder, refused)]
    own, record = own_part(desk, folder), desk.record
    called = {list_.by: record.known.get(list_.by, list_.machine) for list_ in lists}
    my_name = record.name or "this computer"
    took = {my_name: {*own.taken, *record.taken}}
    took |= {called[list_.by]: {*list_.taken} for list_ in lists}
    names = folder.names()
    machines = [
        Machine(
            called[list_.by], list_.by, known=list_.by in record.known, own=False, state=list_.state,
            lying=tuple(_lying(folder, list_, kinds, names, took)),
        )
        for list_ in lists
    ]  # fmt: skip
    if own.state:
        me = desk.identity.public.signing_key
        mine = tuple(_lying(folder, own, kinds, names, took))
        machines.insert(0, Machine(my_name, me, known=True, own=True, state=own.state, lying=mine))
    every = [own.files, *(list_.files for list_ in lists)]
    listed = {_stored(key, file.name, kinds) for files in every for key, file in files.items()}
    unnamed = sum(len(same_names) for name, same_names in names.items() if name not in listed)
    return FolderLook(folder.path, folder.id, tuple(machines), tuple(refused), unnamed)


def _lying(
    folder: ExchangeFolder,
    part: ExchangeList | OwnPart,
    kinds: Sequence[FileKind],
    names: Mapping[str, Sequence[str]],
    took: Mapping[str, set[str]],
) -> Iterator[ListedItem]:
    for sha256, offered in part.files.items():
        kind = kind_of(offered.name, kinds)
        what = "a kind that this version does not know" if kind is None else kind.what
        there = _stored(sha256, offered.name, kinds) in names
        yield ListedItem(offered.name, what, _takers(sha256, took), there)
    for number, seen in part.vaults.items():
        name, there = f"vault {number[:16]}", folder.vault(number).is_dir()
        yield ListedItem(name, "a sealed copy of a vault", _takers(seen.head, took), there)


def _stored(sha256: str, name: str, kinds: Sequence[FileKind]) -> str:
    kind = kind_of(name, kinds)
    return "" if kind is None else stored_name(sha256, kind)


def _takers(key: str, took: Mapping[str, set[str]]) -> tuple[str, ...]:
    return tuple(sorted(machine for machine, keys in took.items() if key in keys))
