"""Encryption in the age format, so that the real ``age`` opens what is sealed here, and the reverse.

The age library chooses the work factor of a passphrase by the speed of the computer that seals: a fast one would ask
an old laptop for a gigabyte of memory. Here the factor is fixed, and one that an old laptop can bear; the random words
on a reviewer's card carry the strength. The form is that of the age specification (C2SP, ``age.md``, version 1).
Guesses at a short secret are made dear by scrypt (RFC 7914), the same in every build of the program.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from harness.core.storage import read_text
from harness.sealed.strict_records import FileError, FileProblem

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

    @classmethod
    def of(cls, secret: bytes) -> AgeIdentity:
        """Return the identity of 32 random bytes: the secret half of an X25519 key."""
        return cls.read(_bech32("age-secret-key-", secret).upper())

    @property
    def recipient(self) -> str:
        """The public side, ``age1…``."""
        return str(_age().x25519.Identity.from_str(self.secret).to_public())

    def text(self) -> str:
        """Return it as a file that ``age --identity`` and ``read_age_identities`` read."""
        return f"# public key: {self.recipient}\n{self.secret}\n"


def lock_of(data: bytes) -> Lock | None:
    """Return what opens these bytes; None where they are not sealed at all."""
    if not data.startswith(_MAGIC):
        return None
    return Lock.PASSPHRASE if data.startswith(_MAGIC + b"-> scrypt ") else Lock.KEYS


def seal(data: bytes, recipients: Sequence[str]) -> bytes:
    """Encrypt for all of the recipients (``age1…``); each of them alone can open it."""
    age = _age()
    keys = [age.x25519.Recipient.from_str(checked_recipient(recipient)) for recipient in recipients]
    if not keys:
        raise SealError(FileProblem.INVALID, "Nobody was named who may open this file. Name a recipient (age1…).")
    return bytes(age.encrypt(data, keys))


def recipients_in(data: bytes) -> int:
    """Count the recipients (``age1…``) that a sealed file names; who they are, it does not tell."""
    header = data[:_MOST_HEADER].partition(b"\n--- ")[0]
    return sum(stanza.startswith(b"X25519 ") for stanza in header.split(b"\n-> ")[1:])


def unseal(data: bytes, identities: Iterable[AgeIdentity]) -> bytes:
    """Decrypt with any of the identities; raises SealError in words; its ``problem`` WRONG_KEY says that none fits."""
    _check_sealed(data, Lock.KEYS)
    age = _age()
    keys = [age.x25519.Identity.from_str(identity.secret) for identity in identities]
    try:
        return bytes(age.decrypt(data, keys))
    except age.DecryptError as error:
        why = "it was sealed for another key than those that are here, or it is damaged"
        raise _said(error, why) from None


def unseal_with_passphrase(data: bytes, passphrase: str) -> bytes:
    """Decrypt with a passphrase; takes seconds, because that is what slows a guesser down."""
    _check_sealed(data, Lock.PASSPHRASE)
    work = _SCRYPT.match(data, len(_MAGIC))
    if work is None or int(work[1]) > _MOST_WORK:
        raise SealError(FileProblem.DAMAGED, "This file is damaged, or it asks for more memory than a laptop has.")
    age = _age()
    try:
        return bytes(age.passphrase.decrypt(data, passphrase))
    except age.DecryptError as error:
        why = "the passphrase is not the one it was sealed with, or it is damaged"
        raise _said(error, why) from None


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
    """Read a file that ``age-keygen`` or this program made; UsageError names file, line and fix."""
    text, _ = read_text(path, "an age identity file", most_bytes=2**16)
    age_identities = []
    for number, line in enumerate(text.splitlines(), 1):
        if (content := line.strip()) and not content.startswith("#"):
            try:
                age_identities.append(AgeIdentity.read(content))
            except SealError as error:
                words = f"{path}: line {number}: {error} Name the file that age-keygen made."
                raise SealError(FileProblem.INVALID, words) from None
    if not age_identities:
        raise SealError(FileProblem.INVALID, f"{path}: holds no secret key. Name the file that age-keygen made.")
    return age_identities


def _check_sealed(data: bytes, lock: Lock) -> None:
    if len(data) > MOST_BYTES:
        raise SealError(FileProblem.TOO_LARGE, "This file is larger than any file of a review.")
    if data.startswith(_ARMOUR):
        raise SealError(FileProblem.REPACKED, "This file is in age's text form. Ask for it as Rosetta wrote it.")
    own_lock = lock_of(data)
    if own_lock is None and _MAGIC.startswith(data[: len(_MAGIC)]):
        raise SealError(FileProblem.CUT_SHORT, "This file is cut short. Copy it again.")
    if own_lock is None:
        raise SealError(FileProblem.NOT_OURS, "This file is not sealed, or it is damaged.")
    if own_lock is not lock:
        right, wrong = ("passphrase", "key") if own_lock is Lock.PASSPHRASE else ("key", "passphrase")
        raise SealError(FileProblem.LOCKED, f"This file opens with a {right}, not with a {wrong}.")
    if data.find(b"\n--- ", 0, _MOST_HEADER) == -1:
        raise _damaged()


def _said(error: Exception, wrong_key: str) -> SealError:
    """Return age's error in words; it distinguishes a key that does not fit from damage."""
    reason = str(error)
    if "No matching keys" in reason or reason == "Decryption failed":
        return SealError(FileProblem.WRONG_KEY, f"This file cannot be opened: {wrong_key}.")
    return _damaged()


def _damaged() -> SealError:
    return SealError(FileProblem.DAMAGED, "This file is damaged or cut short. Copy it again, or ask for a new copy.")


def _bech32(prefix: str, data: bytes) -> str:
    """Write bytes as age writes its keys: Bech32 of BIP-173, with its six letters that check the others."""
    count = -(-8 * len(data) // 5)
    number = int.from_bytes(data, "big") << 5 * count - 8 * len(data)
    values = [number >> 5 * place & 31 for place in reversed(range(count))]
    codes = prefix.encode()
    ahead = [*(code >> 5 for code in codes), 0, *(code & 31 for code in codes)]
    check = 1
    for value in (*ahead, *values, *[0] * _BECH32_CHECK):
        top, check = check >> 25, (check & 2**25 - 1) << 5 ^ value
        for bit, generator in enumerate(_BECH32_GENERATORS):
            check ^= generator if top >> bit & 1 else 0
    check ^= 1
    values += [check >> 5 * place & 31 for place in reversed(range(_BECH32_CHECK))]
    return f"{prefix}1{''.join(_BECH32[value] for value in values)}"


_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_GENERATORS: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_BECH32_CHECK: Final = 6


def _age() -> Any:
    """Return the age library, which is loaded only where something is sealed or opened."""
    import pyrage

    return pyrage


def stretch(secret: bytes, salt: bytes, *, work: int, length: int) -> bytes:
    """Return bytes that take 2^(work + 10) bytes of memory to make, by scrypt with N = 2^work, r = 8 and p = 1.

    ``hashlib`` has scrypt only beside OpenSSL, which the reviewer's bundle does not bring.
    """
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=length, n=2**work, r=8, p=1).derive(secret)


WORK: Final = 16
"""scrypt with N = 2¹⁶, r = 8, p = 1: 64 MiB, a fraction of a second."""

SHORTEST: Final = 12
"""Characters of a passphrase."""

_CHUNK = 64 * 1024


def seal_with_passphrase(data: bytes, passphrase: str) -> bytes:
    """Encrypt with a passphrase; ``harness.sealed.sealing.unseal_with_passphrase`` opens it."""
    file_key, salt, nonce = (secrets.token_bytes(16) for _ in range(3))
    salted = b"age-encryption.org/v1/scrypt" + salt
    wrapping_key = stretch(passphrase.encode(), salted, work=WORK, length=32)
    wrapped = _encrypt(wrapping_key, bytes(12), file_key)
    header = f"age-encryption.org/v1\n-> scrypt {_base64(salt)} {WORK}\n{_base64(wrapped)}\n---".encode()
    mac = _base64(hmac.digest(_derive(file_key, b"", b"header"), header, hashlib.sha256))
    # Encrypt in chunks whose nonce is their number and whether they are the last.
    key = _derive(file_key, nonce, b"payload")
    chunks = [data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK)] or [b""]
    last = len(chunks) - 1
    payload = b"".join(
        _encrypt(key, number.to_bytes(11, "big") + bytes([number == last]), chunk)
        for number, chunk in enumerate(chunks)
    )
    return header + f" {mac}\n".encode() + nonce + payload


def typed_passphrase(text: str) -> str:
    """Return a passphrase as it is used: lower case, one space for any run of spaces, hyphens and commas.

    People copy words from a card in many ways; raises SealError where too little is left to protect.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    passphrase = " ".join(re.split(r"[\s,\-‐-―]+", plain)).strip()
    if len(passphrase) < SHORTEST:
        raise SealError(
            FileProblem.INVALID,
            f"This passphrase is too short: {SHORTEST} characters at least. Take the words of the card.",
        )
    return passphrase


def _derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length=32, salt=salt, info=purpose).derive(key)


def _encrypt(key: bytes, nonce: bytes, data: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    return ChaCha20Poly1305(key).encrypt(nonce, data, None)


def _base64(data: bytes) -> str:
    """Write as age does: without padding."""
    return base64.b64encode(data).rstrip(b"=").decode()
