"""Ed25519 signatures over the exact bytes of a manifest, so that ``openssl`` can verify them too.

Every manifest names its format in its first field, which keeps a signature of one kind of file from
counting for another.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

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
        """Over the content, hexadecimal."""
        return sha256(self.content).hexdigest()


def new_seed() -> bytes:
    """Draw the 32 secret bytes of a signing key."""

    return secrets.token_bytes(SEED_BYTES)


def public_key(seed: bytes) -> str:
    """Return the public key of a seed: 32 bytes, hexadecimal."""
    public: bytes = _private(seed).public_key().public_bytes_raw()
    return public.hex()


def sign(seed: bytes, data: bytes) -> bytes:
    """Sign bytes; gives 64 bytes, the same for the same key and data."""
    signature: bytes = _private(seed).sign(data)
    return signature


def _private(seed: bytes) -> Any:
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
