"""Computers that share no network and hand one stick around, each with a data folder of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.exchange.folder import MANIFEST_SUFFIX, NAME, ExportResult, VaultToCopy, name_computer, put_out
from harness.exchange.import_ import FolderLook, ImportResult, read_exchange_folder, take_in
from harness.exchange.manifest import KINDS, ExchangeList, FileKind, desk
from harness.sealed.archive import unpack
from harness.sealed.keys import Identity, Role
from harness.vault.keepers import write_card


def check_archive(data: bytes) -> None:
    """Read an archive with one member, as a batch that is not sealed is read."""
    unpack(data, {"manifest.json"})


EVERY_KIND: Sequence[FileKind] = (
    *KINDS,
    FileKind(".rosetta-archive", "an archive", check_archive, "rosetta look FILE", 2**20),
)
KEEPER = Identity.make(Role.KEEPER)


@dataclass(frozen=True)
class Computer:
    """A computer with its data folder, and what a person does at it."""

    home: Path
    name: str

    @property
    def inbox(self) -> Path:
        """Where it puts what it takes in."""
        return self.home / "inbox"

    @property
    def memory(self) -> Path:
        """Where it keeps what it saw of vaults."""
        return self.home / "vaults"

    @property
    def identity(self) -> Identity:
        """Its keys."""
        return Identity.load(self.home, Role.COMPUTER)

    def card(self, name: str) -> Path:
        """Write the card of a keeper of this name, another one for each name."""
        path = self.home / f"{name}.rosetta-keeper"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(write_card(KEEPER, name))
        return path

    def out(self, stick: Path, *files: Path, vault: VaultToCopy | None = None) -> ExportResult:
        with desk(self.home) as held:
            name_computer(held, self.name)
            return put_out(held, stick, files, EVERY_KIND, self.memory, vault)

    def take(self, stick: Path, *, known: bool = True) -> ImportResult:
        """Take from the stick, and know whoever is new, or nobody."""

        def words_were_compared(_: ExchangeList) -> bool:
            return known

        with desk(self.home) as held:
            return take_in(held, stick, self.inbox, EVERY_KIND, self.memory, words_were_compared)

    def look(self, stick: Path) -> FolderLook:
        with desk(self.home) as held:
            return read_exchange_folder(held, stick, EVERY_KIND)

    def list_on(self, stick: Path) -> Path:
        """Where this computer's signed list lies on the stick."""
        return stick / NAME / f"{self.identity.public.signing_key[:32]}{MANIFEST_SUFFIX}"

    def has(self) -> list[str]:
        """Return the names of what it took in."""
        return sorted(each.name for each in self.inbox.iterdir()) if self.inbox.exists() else []


def computers(folder: Path) -> tuple[Computer, Computer, Path]:
    """Two computers, with names, and a stick."""
    stick = folder / "stick"
    stick.mkdir()
    made = tuple(Computer(folder / name, name.title()) for name in ("office", "school"))
    for each in made:
        with desk(each.home) as held:
            name_computer(held, each.name)
    return made[0], made[1], stick


def files_on(stick: Path) -> list[Path]:
    """Return the files that were handed in on the stick."""
    return sorted((stick / NAME / "files").iterdir())
