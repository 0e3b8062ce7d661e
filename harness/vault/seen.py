"""What one computer saw of vaults: how far the log of each went, and in which folder it lay.

By this an older copy is known, and another vault in a vault's place. It is in the data folder, a file for each vault;
two programs that see a vault grow at once write it one after the other, so that it never goes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import filelock
from pydantic import Field, TypeAdapter, ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.written_files import PRIVATE, private_folder, write_file
from harness.sealed.strict_records import FileProblem
from harness.vault.folder import BUSY_SECONDS, VaultState
from harness.vault.log import VaultError

LOCK: Final = "seen.lock"

SeenVault = tuple[Annotated[int, Field(ge=1)], str, str]
"""Lines of a vault's log, the id of the last, and the folder in which this computer saw it."""
_SEEN: TypeAdapter[SeenVault] = TypeAdapter(SeenVault)


@dataclass(frozen=True)
class VaultsSeen:
    """The files of one computer."""

    folder: Path

    def all(self) -> Iterator[tuple[Path, SeenVault]]:
        """Yield each file and what it says; what is damaged of it is written again when its vault is seen."""
        for path in sorted(self.folder.glob("[0-9a-f]*.json")):
            with suppress(ValidationError):
                yield path, _SEEN.validate_json(path.read_bytes())

    def compare(self, state: VaultState) -> None:
        """Refuse another vault than this computer saw in this folder, and a copy that knows less than it saw, or other things."""
        for path, (lines, head, folder) in self.all():
            if path == self._path(state):
                if lines > state.head.lines or state.lines[lines - 1].id != head:
                    raise VaultError(
                        FileProblem.DAMAGED,
                        f"This is an older copy of the vault, or one that was used elsewhere meanwhile: this computer saw {lines:,} "
                        f"lines of its log, and here there are {state.head.lines:,}, or others. Use the newest copy. If that is lost "
                        f"for good, delete {path}; openings since then are not in the log.",
                    )
            elif folder == str(state.folder.resolve()):
                raise VaultError(
                    FileProblem.DAMAGED,
                    f"Another vault is in {state.folder} than this computer saw there. Somebody may have put theirs in its place: "
                    f"ask the other keepers for its number (rosetta vault list). If it is right, delete {path}.",
                )

    def remember(self, state: VaultState) -> None:
        """Record how far this computer saw the log, and where; another program may have seen more meanwhile."""
        now = (state.head.lines, state.head.log_head, str(state.folder.resolve()))
        path = self._path(state)
        if dict(self.all()).get(path) == now:
            return
        with self._locked():
            known = dict(self.all()).get(path)
            if known is None or known[0] <= now[0]:
                write_file(path, canonical_bytes(now), overwrite=True)

    def forget(self, folder: Path) -> None:
        """Forget the vault that lay in a folder, where a new one was made."""
        with self._locked():
            for path, (_, _, where) in self.all():
                if where == str(folder.resolve()):
                    path.unlink()

    def _path(self, state: VaultState) -> Path:
        return self.folder / f"{state.head.vault[:16]}.json"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Prevent other programs of this computer from writing what they saw meanwhile."""
        try:
            lock = private_folder(self.folder) / LOCK
            with filelock.FileLock(lock, timeout=BUSY_SECONDS, mode=PRIVATE):
                yield
        except filelock.Timeout:
            raise VaultError(
                FileProblem.LOCKED,
                f"Another program of this computer is writing what it saw of vaults in {self.folder}. Try again when it is done.",
            ) from None
        except OSError as error:
            raise VaultError(
                FileProblem.INVALID,
                f"This computer cannot keep what it saw of the vault in {self.folder} ({error.strerror}). Name another folder "
                "in ROSETTA_HOME.",
            ) from None
