"""The seal of a run card: a hash over the card without it, in the byte form that its version used (DESIGN C2)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Any

from harness.core.canonical import canonical_bytes, canonical_sha256, sorted_key_bytes
from harness.core.failures import UsageError

HASH_FIELD = "run_card_hash"
"""The field that holds the seal; it counts as the empty string while the seal is made (§3.9)."""


class SealForm(StrEnum):
    """Which byte form a card's seal was made over."""

    JCS = "jcs"
    """RFC 8785, UTF-8: what this program writes."""
    SORTED_KEYS = "sorted-keys"
    """Older cards: keys sorted by code point, ``", "`` and ``": "``, characters unescaped, UTF-8."""


def card_hash(card: Mapping[str, Any]) -> str:
    """Return the seal of a card: SHA-256 over its canonical bytes with ``run_card_hash`` set to ""."""
    return canonical_sha256({**card, HASH_FIELD: ""})


def seal_form(card: Mapping[str, Any]) -> SealForm | None:
    """Return in which form a card's seal holds, None where it holds in neither."""
    stated = card.get(HASH_FIELD)
    unsealed = {**card, HASH_FIELD: ""}
    for form, write in ((SealForm.JCS, canonical_bytes), (SealForm.SORTED_KEYS, sorted_key_bytes)):
        try:
            digest = sha256(write(unsealed)).hexdigest()
        except (UsageError, ValueError):
            continue  # the card cannot be written in this form, so it was not sealed in it
        if digest == stated:
            return form
    return None
