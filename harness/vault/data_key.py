"""The key of one corpus: what seals each of its texts, and what tells a text again without keeping it.

A data key is 32 random bytes, sealed by age for every keeper, so that each of them alone can open it. Two keys are
derived from it with HKDF (RFC 5869): one seals texts with ChaCha20-Poly1305 (RFC 8439), one makes keyed digests.
Before a text is sealed it is filled up, so that only steps of its length can be seen.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from corpora.text.comparison import normalised
from harness.core.canonical import canonical_bytes
from harness.sealed.sealing import AgeIdentity, seal, unseal
from harness.sealed.strict_records import FileError, FileProblem
from harness.vault.secret_text import SecretText

KEY_BYTES: Final = 32
STEP: Final = 64
"""Bytes: a sealed text is as long as the next multiple of it."""

_NONCE_BYTES = 12
_DIGEST_BYTES = 16
_END = b"\x80"
"""Between a text and what fills it up, which is zeros (ISO/IEC 7816-4)."""


class SealedPlace(NamedTuple):
    """Where a text belongs; sealed at one place it opens at no other."""

    corpus: str
    """Random id of the corpus in its vault."""
    entry: str
    """Random id of the entry; empty for what is told of the corpus."""
    field: str


@dataclass(frozen=True)
class DataKey:
    """The opened key of a corpus."""

    secret: bytes = field(repr=False)
    """32 bytes."""

    @classmethod
    def make(cls) -> DataKey:
        return cls(secrets.token_bytes(KEY_BYTES))

    @classmethod
    def opened(cls, sealed: bytes, identities: Iterable[AgeIdentity]) -> DataKey:
        """Open what ``sealed_for`` gave with any of the identities; FileError in words where none fits."""
        secret = unseal(sealed, identities)
        if len(secret) != KEY_BYTES:
            raise FileError(FileProblem.INVALID, "This is not the key of a corpus.")
        return cls(secret)

    @classmethod
    def fitting(cls, sealed: bytes, identities: Iterable[AgeIdentity]) -> DataKey | None:
        """Open it with the first identity that fits, no later one is asked for; None where none does, FileError where it is damaged."""
        for identity in identities:
            try:
                return cls.opened(sealed, [identity])
            except FileError as error:
                if error.problem is not FileProblem.WRONG_KEY:
                    raise
        return None

    def sealed_for(self, recipients: Sequence[str]) -> bytes:
        """Seal the key for these recipients of age (``age1…``); each of them alone opens it."""
        return seal(self.secret, recipients)

    def seal_text(self, text: str, place: SealedPlace) -> bytes:
        """Seal a text for one place: 12 random bytes, and the text with its proof."""
        data = text.encode("utf-8", "surrogatepass") + _END
        filled = data + bytes(-len(data) % STEP)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, filled, canonical_bytes([*place]))

    def open_text(self, sealed: bytes, place: SealedPlace) -> SecretText:
        """Open a text; raises FileError where a byte of it changed, or it was sealed elsewhere."""
        nonce, rest = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            filled = self._cipher.decrypt(nonce, rest, canonical_bytes([*place]))
            return SecretText(filled.rstrip(b"\0")[:-1].decode("utf-8", "surrogatepass"))
        except (InvalidTag, ValueError):  # of bytes that are no UTF-8 as well
            raise FileError(
                FileProblem.DAMAGED,
                "A sealed text is damaged, or it was moved from another place. Put back a copy of the vault.",
            ) from None

    def digest(self, text: str) -> bytes:
        """Return 16 bytes by which a text is known again, however it is written; without the key they confirm no guess."""
        data = normalised(text).encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=_DIGEST_BYTES, key=self._derived(b"digests")).digest()

    @cached_property
    def _cipher(self) -> ChaCha20Poly1305:
        return ChaCha20Poly1305(self._derived(b"texts"))

    def _derived(self, purpose: bytes) -> bytes:
        label = b"rosetta-vault/1 " + purpose
        return HKDF(SHA256(), length=KEY_BYTES, salt=None, info=label).derive(self.secret)
