"""What is in an exchange folder, and who took what, without taking or writing anything there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.exchange.export import own_part
from harness.exchange.folder import ExchangeFolder, found_at, stored_name
from harness.exchange.import_ import others
from harness.exchange.kinds import FileKind, kind_of
from harness.exchange.manifest import ExchangeList
from harness.exchange.record import ExchangeService, OwnPart


@dataclass(frozen=True, slots=True)
class ListedItem:
    """A file or a copy of a vault that a list names."""

    name: str
    what: str
    taken_by: tuple[str, ...]
    """Names of the computers that signed for having taken it; of this one where it did, signed or not."""
    there: bool
    """Whether a file is in its place; whether it is whole, taking it in tells."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A computer with what it put in."""

    name: str
    key: str
    known: bool
    """Whether its six words were compared here; True of this computer itself."""
    own: bool
    state: int
    lying: tuple[ListedItem, ...]


@dataclass(frozen=True, slots=True)
class FolderLook:
    """All of a folder."""

    path: Path
    folder: str
    machines: tuple[Machine, ...]
    refused: tuple[tuple[str, str], ...]
    """Lists that count for nothing, with the reason."""
    unnamed: int
    """Files that no list names: of a write that was stopped, or put there by another program."""


def look(desk: ExchangeService, place: Path, kinds: Sequence[FileKind]) -> FolderLook:
    """Return what is in the exchange folder at a place; raises UsageError or StickError as taking in does."""
    folder = found_at(place)
    refused: list[tuple[str, str]] = []
    lists = [manifest for manifest, _ in others(desk, folder, refused)]
    own, record = own_part(desk, folder), desk.record
    called = {list_.by: record.known.get(list_.by, list_.machine) for list_ in lists}
    my_name = record.name or "this computer"
    took = {my_name: {*own.taken, *record.taken}} | {
        called[list_.by]: {*list_.taken} for list_ in lists
    }
    names = folder.names()
    machines = [
        Machine(
            name=called[list_.by],
            key=list_.by,
            known=list_.by in record.known,
            own=False,
            state=list_.state,
            lying=tuple(_lying(folder, list_, kinds, names, took)),
        )
        for list_ in lists
    ]
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
    """Yield what one computer put in; ``took``: computer → what it says that it took."""
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
