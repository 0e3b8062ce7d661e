"""A code on a card, made into what files name its person by: nobody reads the code back from it.

A review's secret salt travels in its batch and in no evidence. The *tag* takes scrypt to make of code and salt, so
that whoever has the batch cannot try all codes in a reasonable time; events name their person by it. A batch names
people by the hash of the tag, so that from a batch alone nobody can write in anybody's name.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

from review.sealed.passphrase import stretch

SALT_BYTES: Final = 32

_WORK: Final = 14
"""scrypt with N = 2¹⁴, r = 8 and p = 1: 16 MiB and a tenth of a second for each code that is tried."""
_TAG_BYTES: Final = 16
_PLACE: Final = b"rosetta person "
_SALT = re.compile(rb"[0-9a-f]{64}\n")


def new_salt() -> bytes:
    """Draw the salt of a review."""
    return secrets.token_bytes(SALT_BYTES)


def tag_of(code: str, salt: bytes) -> str:
    """Return the tag of a code in the review of a salt, 32 hexadecimal digits; takes a tenth of a second."""
    return stretch(code.encode(), salt, work=_WORK, length=_TAG_BYTES).hex()


def place_of(tag: str) -> str:
    """Return the name under which a batch lists the person of a tag, 64 hexadecimal digits."""
    return hashlib.sha256(_PLACE + tag.encode()).hexdigest()


def salt_member(salt: bytes) -> bytes:
    """Write a salt as a batch holds it: a line of 64 hexadecimal digits."""
    return salt.hex().encode() + b"\n"


def read_salt(content: bytes) -> bytes:
    """Read a salt as a batch holds it; raises ValueError where it is none."""
    if not _SALT.fullmatch(content):
        raise ValueError("not 64 hexadecimal digits and the end of a line")
    return bytes.fromhex(content.decode().strip())
