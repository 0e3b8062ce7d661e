"""Sealing with a passphrase in age's format, with a work factor that an old laptop can bear.

The age library chooses the factor by the speed of the computer that seals: a fast one would ask an old
laptop for a gigabyte of memory. Here the factor is fixed; the random words on a reviewer's card carry the
strength. The form is that of the age specification (C2SP, ``age.md``, version 1), and ``age`` opens it.

Making each guess at a short secret dear: scrypt (RFC 7914), the same in every build of the program.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import unicodedata
from typing import Final

from review.sealed.problem import FileProblem
from review.sealed.sealing import SealError


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
    """Encrypt with a passphrase; ``review.sealed.sealing.unseal_with_passphrase`` opens it."""
    file_key, salt, nonce = (secrets.token_bytes(16) for _ in range(3))
    wrapped = _encrypt(_wrapping_key(passphrase, salt), bytes(12), file_key)
    header = (
        f"age-encryption.org/v1\n-> scrypt {_base64(salt)} {WORK}\n{_base64(wrapped)}\n---".encode()
    )
    mac = _base64(_mac(_derive(file_key, b"", b"header"), header))
    payload = _stream(_derive(file_key, nonce, b"payload"), data)
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


def _stream(key: bytes, data: bytes) -> bytes:
    """Encrypt in chunks whose nonce is their number and whether they are the last."""
    chunks = [data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK)] or [b""]
    last = len(chunks) - 1
    return b"".join(
        _encrypt(key, number.to_bytes(11, "big") + bytes([number == last]), chunk)
        for number, chunk in enumerate(chunks)
    )


def _wrapping_key(passphrase: str, salt: bytes) -> bytes:
    label = b"age-encryption.org/v1/scrypt"
    return stretch(passphrase.encode(), label + salt, work=WORK, length=32)


def _derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length=32, salt=salt, info=purpose).derive(key)


def _encrypt(key: bytes, nonce: bytes, data: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    return ChaCha20Poly1305(key).encrypt(nonce, data, None)


def _mac(key: bytes, data: bytes) -> bytes:
    import hmac

    return hmac.digest(key, data, hashlib.sha256)


def _base64(data: bytes) -> str:
    """Write as age does: without padding."""
    return base64.b64encode(data).rstrip(b"=").decode()
