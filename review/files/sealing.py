"""Encryption in the age format, so that the real ``age`` opens what is sealed here, and the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from harness.failures import UsageError

MOST_BYTES: Final = 51 * 2**20
"""Bytes of one sealed file: an archive, and what age adds."""

_MAGIC = b"age-encryption.org/v1\n"
_ARMOUR = b"-----BEGIN AGE ENCRYPTED FILE-----"
_SECRET = re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]{58}")
_SCRYPT = re.compile(rb"-> scrypt [A-Za-z0-9+/]{22} ([0-9]{1,2})\n")

_MOST_WORK: Final = 20
"""2²⁰ needs 1 GiB of memory; a file that asks for more would take an old laptop down."""


class Lock(StrEnum):
    """What opens a sealed file."""

    KEYS = "keys"
    PASSPHRASE = "passphrase"  # noqa: S105  a kind of lock, not a secret


class SealError(UsageError):
    """This cannot be sealed or opened; the message says why."""


class WrongKey(SealError):  # noqa: N818  an adjective reads better where it is caught
    """The file is whole as far as one can see, but it was sealed for another key or passphrase."""


@dataclass(frozen=True)
class AgeIdentity:
    """The secret that opens what was sealed for its recipient."""

    secret: str = field(repr=False)
    """``AGE-SECRET-KEY-1…``."""

    @classmethod
    def make(cls) -> AgeIdentity:
        """Make a new one."""
        return cls(str(_age().x25519.Identity.generate()))

    @property
    def recipient(self) -> str:
        """The public side, ``age1…``."""
        return str(_age().x25519.Identity.from_str(self.secret).to_public())

    def text(self) -> str:
        """Give it as a file that ``age --identity`` and ``read_age_identities`` read."""
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
        raise SealError("Nobody was named who may open this file. Name a recipient (age1…).")
    return bytes(age.encrypt(data, keys))


def unseal(data: bytes, identities: Iterable[AgeIdentity]) -> bytes:
    """Decrypt with any of the identities; raises WrongKey or SealError in words."""
    _check_sealed(data, Lock.KEYS)
    age = _age()
    keys = [age.x25519.Identity.from_str(each.secret) for each in identities]
    try:
        return bytes(age.decrypt(data, keys))
    except age.DecryptError as error:
        raise _said(error, "it was sealed for another key than those that are here") from None


def unseal_with_passphrase(data: bytes, passphrase: str) -> bytes:
    """Decrypt with a passphrase; takes seconds, because that is what slows a guesser down."""
    _check_sealed(data, Lock.PASSPHRASE)
    work = _SCRYPT.match(data, len(_MAGIC))
    if work is None or int(work[1]) > _MOST_WORK:
        raise SealError("This file is damaged, or it asks for more memory than a laptop has.")
    age = _age()
    try:
        return bytes(age.passphrase.decrypt(data, passphrase))
    except age.DecryptError as error:
        raise _said(error, "the passphrase is not the one it was sealed with") from None


def checked_recipient(text: str) -> str:
    """Give the recipient without white space around it; SealError where it is none."""
    recipient = text.strip()
    age = _age()
    try:
        return str(age.x25519.Recipient.from_str(recipient))
    except age.RecipientError:
        raise SealError(
            f"{recipient[:80]!r} is no age recipient. It begins with age1 and has 62 characters; "
            "age-keygen prints it after 'public key'."
        ) from None


def read_age_identities(path: Path) -> list[AgeIdentity]:
    """Read a file that ``age-keygen`` or this program made; UsageError names file, line and mend."""
    from harness.user_file import read_text

    text, _ = read_text(path, "an age identity file", most_bytes=2**16)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if (content := line.strip()) and not content.startswith("#"):
            found.append(_identity(content, f"{path}: line {number}"))
    if not found:
        raise SealError(f"{path}: holds no secret key. Name the file that age-keygen made.")
    return found


def _identity(text: str, where: str) -> AgeIdentity:
    age = _age()
    try:
        if _SECRET.fullmatch(text):
            return AgeIdentity(str(age.x25519.Identity.from_str(text)))
    except age.IdentityError:
        pass  # said below, without quoting a secret
    raise SealError(
        f"{where}: not a secret key of age (AGE-SECRET-KEY-1…). Name the file that age-keygen made."
    )


def _check_sealed(data: bytes, lock: Lock) -> None:
    if data.startswith(_ARMOUR):
        raise SealError("This file is in age's text form. Ask for the file as Rosetta wrote it.")
    found = lock_of(data)
    if found is None:
        cut = _MAGIC.startswith(data[: len(_MAGIC)])
        raise SealError(
            "This file is cut short." if cut else "This file is not sealed, or damaged."
        )
    if found is not lock:
        raise WrongKey(
            "This file opens with a passphrase, not with a key."
            if found is Lock.PASSPHRASE
            else "This file opens with a key, not with a passphrase."
        )


def _said(error: Exception, wrong_key: str) -> SealError:
    """Put age's finding into words; it tells a key that does not fit from damage."""
    reason = str(error)
    if "No matching keys" in reason or reason == "Decryption failed":
        return WrongKey(f"This file cannot be opened: {wrong_key}.")
    if "Excessive work" in reason:
        return SealError("This file asks for more work than this computer can do to open it.")
    return SealError("This file is damaged or cut short. Copy it again, or ask for a new copy.")


def _age() -> Any:
    """Give the age library, which is loaded only where something is sealed or opened."""
    import pyrage  # type: ignore[import-untyped]  # it ships no types

    return pyrage
