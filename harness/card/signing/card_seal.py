"""The seal of a key: a signature that names a card by its hash, and a root over its rows.

It is next to the card and never in it, because a sealed card does not change (DESIGN C4): the hash of a card is the
same with it and without it. The root is that of a Merkle tree (``harness.sealed.merkle``) whose leaves are the rows,
each behind its own salt. So one row can be shown to be on the card, and the hashes that are shown with it confirm
no guess about another row.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

from pydantic import ValidationError

from harness.card.seal import HASH_FIELD, card_hash
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.keys import Identity
from harness.sealed.merkle import leaf_hash, tree_root
from harness.sealed.signed_archive import SignedRecord, signed_record
from harness.sealed.strict_records import Count, FileError, FileProblem, Hex64, Short, StrictRecord
from harness.vault.records import Moment

SUFFIX: Final = ".seal.json"
"""The seal of ``card.json`` is next to it as ``card.seal.json``."""

MOST_BYTES: Final = 8192
"""Of a seal's file."""

_SALT: Final = b"rosetta-row-salt/1"
_MOMENT = "%Y-%m-%dT%H:%M:%SZ"


class LogPlace(StrictRecord):
    """A line of a vault's log: what was sealed after it names it, which nobody could before it was written."""

    vault: Hex64
    """SHA-256 of the log's first line."""
    seq: Count
    """Place in the log, from 0."""
    line: Hex64
    """SHA-256 of the line."""
    when: Moment
    """Time that it states."""


class CardSeal(StrictRecord):
    """What is signed of a card."""

    format: Literal["rosetta-card-seal/1"] = "rosetta-card-seal/1"
    run_id: Short
    card: Hex64
    """The card's ``run_card_hash``."""
    rows: Count
    """Rows in the tree; of a run with secret entries they stay at home."""
    root: Hex64
    """Of the tree over the rows."""
    when: Moment
    """By the clock of the computer that signed; nothing shows that it was right."""
    after: LogPlace | None = None
    """The last line of the vault's log when it was sealed; None where the run came from no vault."""
    by: Hex64
    """Public signing key."""


class SignedSeal(CardSeal, SignedRecord):
    """The seal with its signature."""


class SealFile(StrictRecord):
    """The file beside a card."""

    format: Literal["rosetta-seal/1"] = "rosetta-seal/1"
    seal: SignedSeal
    salts: Hex64 | None = None
    """What the salts of the rows are made from; None where the rows stay at home, or only some were handed on."""

    def data(self) -> bytes:
        """Return the bytes of the file."""
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"

    def without_salts(self) -> SealFile:
        """Return it as it goes out where the rows do not."""
        return self.model_copy(update={"salts": None})


def seal_card(
    card: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    identity: Identity,
    now: datetime,
    after: LogPlace | None = None,
) -> SealFile:
    """Sign a card that has its hash, and the root over ``rows``, which are those of the card or stay at home.

    ``after``: the last line of the log of the vault that the run came from. Raises UsageError where the card's hash
    is not its own, so that nobody signs what was changed.
    """
    if card.get(HASH_FIELD) != card_hash(card):
        raise UsageError(
            "This card cannot be signed: its hash is not its own, so it was changed after it was sealed."
        )
    salts = secrets.token_bytes(32)
    record = CardSeal(
        run_id=card["run_id"],
        card=card[HASH_FIELD],
        rows=len(rows),
        root=rows_root(rows, salts).hex(),
        when=now.astimezone(UTC).strftime(_MOMENT),
        after=after,
        by=identity.public.signing_key,
    )
    signed = SignedSeal.model_validate_json(signed_record(record, identity))
    return SealFile(seal=signed, salts=salts.hex())


def read_seal(data: bytes) -> SealFile:
    """Read the file beside a card and check its signature; raises FileError in words."""
    try:
        seal_file = SealFile.model_validate_json(data[: MOST_BYTES + 1], strict=True)
    except ValidationError:
        raise FileError(
            FileProblem.NOT_OURS,
            "This is not the seal of a card, or it is damaged. Ask for the file once more.",
        ) from None
    if seal_file.data() != data or not seal_file.seal.is_signed_by(seal_file.seal.by):
        raise FileError(
            FileProblem.DAMAGED,
            "The seal was changed after it was signed, or it is damaged. Ask for the card and its seal once more.",
        )
    return seal_file


def rows_root(rows: Sequence[Mapping[str, Any]], salts: bytes) -> bytes:
    """Return the root over the rows of a card in their order."""
    return tree_root(row_hashes(rows, salts))


def row_hashes(rows: Sequence[Mapping[str, Any]], salts: bytes) -> list[bytes]:
    """Return the leaf hash of each row."""
    return [row_hash(row, row_salt(salts, place)) for place, row in enumerate(rows)]


def row_hash(row: Mapping[str, Any], salt: bytes) -> bytes:
    """Return the leaf hash of one row: over its salt of 32 bytes and its canonical JSON."""
    return leaf_hash(salt + canonical_bytes(dict(row)))


def row_salt(salts: bytes, place: int) -> bytes:
    """Return the salt of one row, from which nobody can tell those of the others: HMAC-SHA256 over its place, from 0."""
    return hmac.digest(salts, _SALT + place.to_bytes(8, "big"), "sha256")
