"""What the computer that asked keeps of its requests: the throw-away key of each, and the sealed shares that came in.

The key is in one file, ``NUMBER.key``. It is used up in place: before the log has the opening, its bytes are written
over with when that was, and they stay so. Whatever is no key any more is used up, a write that was stopped half way too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.core.failures import UsageError
from harness.core.written_files import private_folder, write_file
from harness.sealed.sealing import AgeIdentity, SealError
from harness.sealed.strict_records import FileProblem
from harness.vault.log import VaultError

LOCK: Final = "use.lock"
_USED = "used up "


@dataclass(frozen=True)
class KeptGrants:
    """The folder in which one computer keeps them, of its owner alone."""

    folder: Path

    @property
    def lock(self) -> Path:
        """A file to lock while a grant is used: a vault may lie here twice, and each has its own lock."""
        return private_folder(self.folder) / LOCK

    def keep_key(self, grant: str, key: AgeIdentity) -> None:
        """Store the key of a new request; raises VaultError where the disk takes nothing."""
        self._write(self._key(grant), key.secret.encode())

    def key(self, grant: str) -> AgeIdentity:
        """Return the key of a request; VaultError where it is used up, or not here."""
        try:
            text = self._key(grant).read_text("utf-8")
        except FileNotFoundError:
            raise VaultError(
                FileProblem.LOCKED,
                "The key of this request is not on this computer: it was asked for with another data folder, or the key was "
                "deleted. Nothing can be opened with this grant. Ask for a new one (--ask).",
            ) from None
        except (OSError, UnicodeDecodeError):
            text = ""
        with suppress(SealError):
            return AgeIdentity.read(text)
        when = text.removeprefix(_USED).strip("\0 ") if text.startswith(_USED) else ""
        raise VaultError(
            FileProblem.LOCKED,
            f"This grant was used up on this computer{f' at {when}' if when else ''}, though this copy of the vault does not "
            "have the opening: the program was stopped in that moment, or this is not the copy that was opened. A grant opens "
            "once, whatever happened then. Ask for a new one (--ask).",
        )

    def use_up(self, grant: str, when: str) -> None:
        """Write over the key of a request, on the disk before this returns; what an earlier block of the disk has, nobody knows."""
        path = self._key(grant)
        length = path.stat().st_size
        self._overwrite(path, f"{_USED}{when}".encode().ljust(length, b"\0")[:length])

    def put_back(self, grant: str, key: AgeIdentity) -> None:
        """Undo ``use_up`` where the log could not be written, so that nothing was opened."""
        self._overwrite(self._key(grant), key.secret.encode())

    def keep_share(self, grant: str, keeper: str, sealed: bytes) -> None:
        """Store the sealed share of an answer; raises VaultError where the disk takes nothing."""
        self._write(self._share(grant, keeper), sealed)

    def share(self, grant: str, keeper: str) -> bytes | None:
        """Return a keeper's sealed share; None where it was not imported on this computer."""
        try:
            return self._share(grant, keeper).read_bytes()
        except OSError:
            return None

    def forget_shares(self, grant: str) -> None:
        """Delete what came in for a request that is used up or over."""
        for path in self.folder.glob(f"{grant}-*.share"):
            with suppress(OSError):
                path.unlink()

    def forget_key(self, grant: str) -> None:
        """Delete the key of a request that is over, or never got into the log; its bytes are written over first."""
        path = self._key(grant)
        with suppress(OSError):
            self._overwrite(path, bytes(path.stat().st_size))
            path.unlink()

    def _key(self, grant: str) -> Path:
        return self.folder / f"{grant}.key"

    def _share(self, grant: str, keeper: str) -> Path:
        return self.folder / f"{grant}-{keeper}.share"

    def _write(self, path: Path, data: bytes) -> None:
        try:
            private_folder(self.folder)
            write_file(path, data, overwrite=True)
        except (OSError, UsageError) as error:
            raise VaultError(
                FileProblem.INVALID,
                f"This computer cannot keep what belongs to the request ({error}). Make room, or name another folder in "
                "ROSETTA_HOME.",
            ) from None

    @staticmethod
    def _overwrite(path: Path, data: bytes) -> None:
        with path.open("r+b") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
