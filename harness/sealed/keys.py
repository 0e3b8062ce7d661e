"""The keys of one installation: who it is when it signs, and what it can open.

A laptop and an organisation are such installations. Their keys are in a file of the data folder where one
is there, else in the operating system's keyring; what is not there yet is made, in the keyring if it keeps
what it is given, else in a file that only its owner may read.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from corpora.files.decode import open_regular
from harness.core.failures import KeyStoreError
from harness.core.keyring import ask_keyring
from harness.core.storage import private_folder, storage_problem
from harness.sealed.phrase import phrase, says
from harness.sealed.sealing import AgeIdentity, SealError, read_age_identities

# ---- Ed25519 signatures over the exact bytes of a manifest, so that ``openssl`` can verify them
# too.
#
# Every manifest names its format in its first field, which keeps a signature of one kind of file
# from counting for another.

SEED_BYTES: Final = 32

_DER_HEAD = bytes.fromhex("302a300506032b6570032100")
"""What RFC 8410 puts before the 32 bytes of a public key."""


@dataclass(frozen=True, slots=True)
class Signed:
    """A manifest as it was signed, with its signature: what can be shown to others later."""

    content: bytes = field(repr=False)
    signature: bytes = field(repr=False)
    """64 bytes; empty where it was not kept."""

    @property
    def sha256(self) -> str:
        return sha256(self.content).hexdigest()


def new_seed() -> bytes:
    """Draw the 32 secret bytes of a signing key."""
    return secrets.token_bytes(SEED_BYTES)


def public_key(seed: bytes) -> str:
    """Return the public key of a seed: 32 bytes, hexadecimal."""
    public: bytes = _signature_private(seed).public_key().public_bytes_raw()
    return public.hex()


def sign(seed: bytes, data: bytes) -> bytes:
    """Sign bytes; gives 64 bytes, the same for the same key and data."""
    signature: bytes = _signature_private(seed).sign(data)
    return signature


def _signature_private(seed: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed)


def verify(public: str, data: bytes, signature: bytes) -> bool:
    """Return whether the key (hexadecimal) signed exactly these bytes; False for a key that is none."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def public_pem(public: str) -> str:
    """Return a public key (hexadecimal) in the form that ``openssl`` reads."""
    encoded = base64.b64encode(_DER_HEAD + bytes.fromhex(public)).decode()
    return f"-----BEGIN PUBLIC KEY-----\n{encoded}\n-----END PUBLIC KEY-----\n"


SERVICE: Final = "rosetta-review"
"""Under this name the keyring keeps the keys of reviews."""

_SEED_LINE = re.compile(r"^# signing key: ([0-9a-f]{64})$", re.MULTILINE)
_AGE_LINE = re.compile(r"^(AGE-SECRET-KEY-1[0-9A-Z]{58})$", re.MULTILINE)
_ENTRY = re.compile(r"[0-9a-f]{32}")

_MOST_BYTES: Final = 2**16
"""Of a file of keys that is read."""


class KeysNotWrittenError(KeyStoreError):
    """The disk of the data folder does not take the keys."""

    def __init__(self, said: str, error: OSError) -> None:
        super().__init__(said)
        self.problem = storage_problem(error)


class Role(StrEnum):
    """Whose keys these are; one data folder may hold both."""

    LAPTOP = "laptop"
    ORGANISATION = "organisation"
    KEEPER = "keeper"
    COMPUTER = "computer"
    """The computer itself: what signs the cards of its runs and what it hands over, what keepers seal shares for, and what
    opens what its own store holds sealed."""


@dataclass(frozen=True)
class PublicIdentity:
    signing_key: str
    """Ed25519 public key, 32 bytes, hexadecimal."""
    recipient: str
    """age recipient, ``age1…``."""

    @property
    def phrase(self) -> str:
        """The six words by which two people compare the signing key."""
        return key_phrase(self.signing_key)


@dataclass(frozen=True)
class Identity:
    role: Role
    seed: bytes = field(repr=False)
    """Secret half of the signing key, 32 bytes."""
    age: AgeIdentity
    """Opens what others seal for this installation."""

    @classmethod
    def load(cls, folder: Path, role: Role | str) -> Identity:
        """Return the keys of the installation whose data is in ``folder``, making them the first time.

        Raises KeyStoreError where they are somewhere but cannot be read: new ones in their place would
        make this installation a stranger to everybody who knows it.
        """
        role = Role(role)
        if (identity := _stored(folder, role)) is not None:
            return identity
        import filelock

        locks = _private(_private(folder) / "locks")
        with filelock.FileLock(locks / f"{role}-key.lock", mode=0o600):
            return _stored(folder, role) or _keep(cls.make(role), folder)

    @classmethod
    def known(cls, folder: Path, role: Role) -> bool:
        """Return whether the installation whose data is in ``folder`` ever had keys of this role."""
        return _file(folder, role).exists() or key_pointer(folder, role).exists()

    @classmethod
    def read(cls, path: Path, role: Role) -> Identity:
        """Read what ``text`` wrote to its own file; raises KeyStoreError that names the file and the fix."""
        if (text := _read(path)) is None:
            raise KeyStoreError(f"The file {path} does not exist. Name the file that holds the keys.")
        return _parsed(text, role, f"{path} is damaged, or another file")

    @classmethod
    def make(cls, role: Role) -> Identity:
        """Make new keys, which are kept nowhere yet."""
        return cls(role, new_seed(), AgeIdentity.make())

    @property
    def public(self) -> PublicIdentity:
        return PublicIdentity(public_key(self.seed), self.age.recipient)

    def sign(self, data: bytes) -> bytes:
        return sign(self.seed, data)

    def text(self) -> str:
        """Write both secrets as one text, which ``age --identity`` reads as well."""
        return (
            f"# Rosetta: secret keys of this {self.role}. Anyone who has them can sign and open in its name.\n"
            f"# signing key: {self.seed.hex()}\n{self.age.text()}"
        )


def opening_identities(folder: Path, more: Path | None) -> list[AgeIdentity]:
    """Return what opens ratings: the organisation's own key, and those of a file such as its recovery key."""
    named = [] if more is None else read_age_identities(more)
    return [Identity.load(folder, Role.ORGANISATION).age, *named]


def key_phrase(signing_key: str, *, earlier: bool = False) -> str:
    """Return the six words of a public signing key: those of the SHA-256 of its 32 bytes; of which version as ``phrase``."""
    return phrase(_digest(signing_key), earlier=earlier)


def says_key(words: str, signing_key: str) -> bool:
    """Return whether six words are those of a public signing key, in the form of any version."""
    return says(words, _digest(signing_key))


def _digest(signing_key: str) -> str:
    return hashlib.sha256(bytes.fromhex(signing_key)).hexdigest()


def key_files(folder: Path, role: Role) -> tuple[Path, ...]:
    """Name the files in which an installation's keys are, or were while they were made."""
    own = _file(folder, role), key_pointer(folder, role)
    beside = (path.with_name(f".{path.name}.part") for path in own)
    return (*own, *beside, folder / "locks" / f"{role}-key.lock")


def forget_entry(folder: Path, role: Role) -> None:
    """Extract an installation's keys from the keyring, if they are there; their files stay.

    Raises KeyStoreError where the keyring cannot be used, or keeps them all the same.
    """
    entry = (_read(key_pointer(folder, role)) or "").strip()
    if not _ENTRY.fullmatch(entry) or not ask_keyring(lambda ring: ring.get_password(SERVICE, entry)):
        return
    ask_keyring(lambda ring: ring.delete_password(SERVICE, entry))
    if ask_keyring(lambda ring: ring.get_password(SERVICE, entry)):
        raise KeyStoreError("the operating system's keyring still holds the deleted entry")


def write_private(path: Path, text: str) -> None:
    """Write a secret to a new file that only its owner may read; FileExistsError where one is there."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _stored(folder: Path, role: Role) -> Identity | None:
    if (text := _read(_file(folder, role))) is not None:
        return _parsed(text, role, f"{_file(folder, role)} is damaged")
    if (entry := _read(key_pointer(folder, role))) is None:
        return None
    if not _ENTRY.fullmatch(entry.strip()):
        raise KeyStoreError(_lost(folder, role, f"{key_pointer(folder, role)} is damaged"))
    try:
        kept = ask_keyring(lambda ring: ring.get_password(SERVICE, entry.strip()))
    except KeyStoreError as error:
        raise KeyStoreError(_lost(folder, role, str(error))) from None
    if not kept:
        raise KeyStoreError(_lost(folder, role, "the operating system's keyring no longer has it"))
    return _parsed(kept, role, "what the operating system's keyring gave is damaged")


def _keep(identity: Identity, folder: Path) -> Identity:
    """Store new keys: in the keyring if it returns what it was given, else in a file."""
    entry = secrets.token_hex(16)
    try:
        ask_keyring(lambda ring: ring.set_password(SERVICE, entry, identity.text()))
        kept = ask_keyring(lambda ring: ring.get_password(SERVICE, entry)) == identity.text()
    except KeyStoreError:
        kept = False
    path = key_pointer(folder, identity.role) if kept else _file(folder, identity.role)
    # Write a file so that it is there as a whole or not at all.
    text = f"{entry}\n" if kept else identity.text()
    beside = path.with_name(f".{path.name}.part")
    try:
        beside.unlink(missing_ok=True)
        write_private(beside, text)
        beside.replace(path)
    except OSError as error:
        raise KeysNotWrittenError(
            f"The keys of this installation cannot be written to {path} ({error.strerror}). "
            "Make room there, or name another folder in ROSETTA_HOME.",
            error,
        ) from None
    return identity


def _parsed(text: str, role: Role, trouble: str) -> Identity:
    seed, secret = _SEED_LINE.search(text), _AGE_LINE.search(text)
    with suppress(SealError):
        if seed is not None and secret is not None:
            return Identity(role, bytes.fromhex(seed[1]), AgeIdentity.read(secret[1]))
    raise KeyStoreError(f"The keys of this {role} cannot be read: {trouble}. Put back a copy.")


def _lost(folder: Path, role: Role, reason: str) -> str:
    return (
        f"The keys of this {role} cannot be read: {reason}. Unlock the keyring and try again. "
        f"To continue with new keys, under which nobody knows this {role} yet and sealed files from before "
        f"stay shut, delete {key_pointer(folder, role)}."
    )


def _file(folder: Path, role: Role) -> Path:
    return folder / f"{role}.key"


def key_pointer(folder: Path, role: Role) -> Path:
    """Name the file that names the keyring's entry; two data folders never share one."""
    return folder / f"{role}.keyring"


def _private(folder: Path) -> Path:
    try:
        return private_folder(folder)
    except OSError as error:
        raise KeysNotWrittenError(
            f"The data folder {folder} cannot be written ({error.strerror}). Name another folder in ROSETTA_HOME.",
            error,
        ) from None


def _read(path: Path) -> str | None:
    try:
        with open_regular(path) as file:
            return file.read(_MOST_BYTES).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise KeyStoreError(f"{path} cannot be read ({reason}). Make it readable, or put back a copy.") from None
