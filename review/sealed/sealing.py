"""Encryption in the age format, so that the real ``age`` opens what is sealed here, and the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from review.sealed.problem import FileError, FileProblem

MOST_BYTES: Final = 51 * 2**20
"""Bytes of one sealed file: an archive, and what age adds."""

_MAGIC = b"age-encryption.org/v1\n"
_ARMOUR = b"-----BEGIN AGE ENCRYPTED FILE-----"
_SECRET = re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]{58}")
_SCRYPT = re.compile(rb"-> scrypt [A-Za-z0-9+/]{22} ([0-9]{1,2})\n")

_MOST_HEADER: Final = 2**14
"""Bytes; each of thousands of recipients would be tried."""

_MOST_WORK: Final = 20
"""2²⁰ needs 1 GiB of memory; a file that asks for more would take an old laptop down."""


class Lock(StrEnum):
    """What opens a sealed file."""

    KEYS = "keys"
    PASSPHRASE = "passphrase"  # noqa: S105  a kind of lock, not a secret


class SealError(FileError):
    """This cannot be sealed or opened; the message says why."""


@dataclass(frozen=True)
class AgeIdentity:
    """The secret that opens what was sealed for its recipient."""

    secret: str = field(repr=False)
    """``AGE-SECRET-KEY-1…``."""

    @classmethod
    def make(cls) -> AgeIdentity:
        """Make a new one."""
        return cls(str(_age().x25519.Identity.generate()))

    @classmethod
    def read(cls, text: str) -> AgeIdentity:
        """Read ``AGE-SECRET-KEY-1…``; SealError, which does not quote it, where it is none."""
        age = _age()
        try:
            if _SECRET.fullmatch(text):
                return cls(str(age.x25519.Identity.from_str(text)))
        except age.IdentityError:
            pass  # said below
        raise SealError(FileProblem.INVALID, "This is not a secret key of age (AGE-SECRET-KEY-1…).")

    @property
    def recipient(self) -> str:
        """The public side, ``age1…``."""
        return str(_age().x25519.Identity.from_str(self.secret).to_public())

    def text(self) -> str:
        """Return it as a file that ``age --identity`` and ``read_age_identities`` read."""
        return f"# public key: {self.recipient}\n{self.secret}\n"


def lock_of(data: bytes) -> Lock | None:
    """Say what opens these bytes; None where they are not sealed at all."""
    if not data.startswith(_MAGIC):
        return None
    return Lock.PASSPHRASE if data.startswith(_MAGIC + b"-> scrypt ") else Lock.KEYS


def seal(data: bytes, recipients: Sequence[str]) -> bytes:
    """Encrypt for all of the recipients (``age1…``); each of them alone can open it."""
    age = _age()
    keys = [age.x25519.Recipient.from_str(checked_recipient(each)) for each in recipients]
    if not keys:
        raise SealError(
            FileProblem.INVALID,
            "Nobody was named who may open this file. Name a recipient (age1…).",
        )
    return bytes(age.encrypt(data, keys))


def unseal(data: bytes, identities: Iterable[AgeIdentity]) -> bytes:
    """Decrypt with any of the identities; raises SealError in words; its ``problem`` WRONG_KEY says that none fits."""
    _check_sealed(data, Lock.KEYS)
    age = _age()
    keys = [age.x25519.Identity.from_str(each.secret) for each in identities]
    try:
        return bytes(age.decrypt(data, keys))
    except age.DecryptError as error:
        raise _said(
            error, "it was sealed for another key than those that are here, or it is damaged"
        ) from None


def unseal_with_passphrase(data: bytes, passphrase: str) -> bytes:
    """Decrypt with a passphrase; takes seconds, because that is what slows a guesser down."""
    _check_sealed(data, Lock.PASSPHRASE)
    work = _SCRYPT.match(data, len(_MAGIC))
    if work is None or int(work[1]) > _MOST_WORK:
        raise SealError(
            FileProblem.DAMAGED,
            "This file is damaged, or it asks for more memory than a laptop has.",
        )
    age = _age()
    try:
        return bytes(age.passphrase.decrypt(data, passphrase))
    except age.DecryptError as error:
        raise _said(
            error, "the passphrase is not the one it was sealed with, or it is damaged"
        ) from None


def checked_recipient(text: str) -> str:
    """Return the recipient without white space around it; SealError where it is none."""
    recipient = text.strip()
    age = _age()
    try:
        return str(age.x25519.Recipient.from_str(recipient))
    except age.RecipientError:
        raise SealError(
            FileProblem.INVALID,
            f"{recipient[:80]!r} is no age recipient. It begins with age1 and has 62 characters; "
            "age-keygen prints it after 'public key'.",
        ) from None


def read_age_identities(path: Path) -> list[AgeIdentity]:
    """Read a file that ``age-keygen`` or this program made; UsageError names file, line and mend."""
    from harness.core.user_file import read_text

    text, _ = read_text(path, "an age identity file", most_bytes=2**16)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if (content := line.strip()) and not content.startswith("#"):
            found.append(_read_line(content, f"{path}: line {number}"))
    if not found:
        raise SealError(
            FileProblem.INVALID, f"{path}: holds no secret key. Name the file that age-keygen made."
        )
    return found


def _read_line(text: str, where: str) -> AgeIdentity:
    try:
        return AgeIdentity.read(text)
    except SealError as error:
        raise SealError(
            FileProblem.INVALID, f"{where}: {error} Name the file that age-keygen made."
        ) from None


def _check_sealed(data: bytes, lock: Lock) -> None:
    if len(data) > MOST_BYTES:
        raise SealError(FileProblem.TOO_LARGE, "This file is larger than any file of a review.")
    if data.startswith(_ARMOUR):
        raise SealError(
            FileProblem.REPACKED, "This file is in age's text form. Ask for it as Rosetta wrote it."
        )
    found = lock_of(data)
    if found is None and _MAGIC.startswith(data[: len(_MAGIC)]):
        raise SealError(FileProblem.CUT_SHORT, "This file is cut short. Copy it again.")
    if found is None:
        raise SealError(FileProblem.NOT_OURS, "This file is not sealed, or it is damaged.")
    if found is not lock:
        opens = (
            "a passphrase, not with a key"
            if found is Lock.PASSPHRASE
            else "a key, not with a passphrase"
        )
        raise SealError(FileProblem.LOCKED, f"This file opens with {opens}.")
    if data.find(b"\n--- ", 0, _MOST_HEADER) == -1:
        raise _damaged()


def _said(error: Exception, wrong_key: str) -> SealError:
    """Put age's finding into words; it tells a key that does not fit from damage."""
    reason = str(error)
    if "No matching keys" in reason or reason == "Decryption failed":
        return SealError(FileProblem.WRONG_KEY, f"This file cannot be opened: {wrong_key}.")
    return _damaged()


def _damaged() -> SealError:
    return SealError(
        FileProblem.DAMAGED,
        "This file is damaged or cut short. Copy it again, or ask for a new copy.",
    )


def _age() -> Any:
    """Return the age library, which is loaded only where something is sealed or opened."""
    import pyrage

    return pyrage
