"""Making each guess at a short secret dear: scrypt (RFC 7914), the same in every build of the program."""

from __future__ import annotations


def stretch(secret: bytes, salt: bytes, *, work: int, length: int) -> bytes:
    """Return bytes that take 2^(work + 10) bytes of memory to make, by scrypt with N = 2^work, r = 8 and p = 1.

    ``hashlib`` has scrypt only beside OpenSSL, which the reviewer's bundle does not bring.
    """
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=length, n=2**work, r=8, p=1).derive(secret)
