"""The seal of a key: a signature that names a card by its hash, and a root over its rows.

It is next to the card and never in it, because a sealed card does not change (DESIGN C4): the hash of a card is the
same with it and without it. The root is that of a Merkle tree (``harness.sealed.chain``) whose leaves are the rows,
each behind its own salt. So one row can be shown to be on the card, and the hashes that are shown with it confirm
no guess about another row.
"""

from __future__ import annotations

import hmac
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue, ValidationError

from corpora.files.json_types import JsonObject
from corpora.files.toml_text import first_problem
from harness.card.model import HASH_FIELD, card_hash
from harness.card.reading import parse_object
from harness.card.rows import rows_of, streamed_card
from harness.core.canonical import StreamedArray, canonical_bytes
from harness.core.failures import KeyStoreError, UsageError
from harness.sealed.archive import SignedRecord, signed_record
from harness.sealed.chain import inclusion_path, leaf_hash, root_by_path, tree_root
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import Count, FileError, FileProblem, Hex64, Short, StrictRecord
from harness.store.attachments import keep_seal, seals_of
from harness.store.runs import read_run
from harness.vault.folder import VaultState
from harness.vault.log import LogLine, VaultError
from harness.vault.vault import Vault
from harness.vault.vault_records import CardSealed, Moment

SUFFIX: Final = ".seal.json"  # The seal of `card.json` is next to it as `card.seal.json`
MOST_BYTES: Final = 8192  # Of a seal's file
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
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"

    def without_salts(self) -> SealFile:
        """Return it as it goes out where the rows do not."""
        return self.model_copy(update={"salts": None})


def seal_card(
    card: JsonObject,
    rows: Sequence[JsonObject] | StreamedArray,
    identity: Identity,
    now: datetime,
    after: LogPlace | None = None,
) -> SealFile:
    """Sign a card that has its hash, and the root over ``rows``, which are those of the card or stay at home.

    ``after``: the last line of the log of the vault that the run came from. Raises UsageError where the card's hash
    is not its own, so that nobody signs what was changed.
    """
    if card.get(HASH_FIELD) != card_hash(card):
        raise UsageError("This card cannot be signed: its hash is not its own, so it was changed after it was sealed.")
    salts = secrets.token_bytes(32)
    record = CardSeal(
        run_id=str(card["run_id"]),
        card=str(card[HASH_FIELD]),
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
            FileProblem.NOT_OURS, "This is not the seal of a card, or it is damaged. Ask for the file once more."
        ) from None
    if seal_file.data() != data or not seal_file.seal.is_signed_by(seal_file.seal.by):
        raise FileError(
            FileProblem.DAMAGED,
            "The seal was changed after it was signed, or it is damaged. Ask for the card and its seal once more.",
        )
    return seal_file


def rows_root(rows: Iterable[JsonObject], salts: bytes) -> bytes:
    """Return the root over the rows of a card in their order."""
    # Four rows: root = H(H(h0 h1) H(h2 h3)). The proof of row 2 is the row, its salt, h3 and H(h0 h1): from these
    # anyone gets to the root, and the salts keep the other hashes from confirming a guess.
    return tree_root(row_hashes(rows, salts))


def row_hashes(rows: Iterable[JsonObject], salts: bytes) -> list[bytes]:
    """Return the leaf hash of each row."""
    return [row_hash(row, row_salt(salts, place)) for place, row in enumerate(rows)]


def row_hash(row: JsonObject, salt: bytes) -> bytes:
    """Return the leaf hash of one row: over its salt of 32 bytes and its canonical JSON."""
    return leaf_hash(salt + canonical_bytes(dict(row)))


def row_salt(salts: bytes, place: int) -> bytes:
    """Return the salt of one row, from which nobody can tell those of the others: HMAC-SHA256 over its place, from 0."""
    return hmac.digest(salts, _SALT + place.to_bytes(8, "big"), "sha256")


# ---- The proof that one row is on a signed card: the row, its salt, and the hashes between it
# and the root.

FORMAT: Final = "rosetta-row-proof/1"


class RowProof(StrictRecord):
    """The file that shows one row; of the others it has hashes from which no guess is confirmed."""

    format: Literal["rosetta-row-proof/1"] = "rosetta-row-proof/1"
    seal: SignedSeal
    place: Count
    """Of the row on the card, from 0."""
    row: dict[str, JsonValue]
    """As it is in the card's ``results``."""
    salt: Hex64
    path: Annotated[tuple[Hex64, ...], Field(max_length=64)]
    """Hashes beside the way from the row to the root, the lowest first."""

    def data(self) -> bytes:
        return canonical_bytes(self.model_dump(mode="json")) + b"\n"

    @property
    def holds(self) -> bool:
        """Return whether the seal's signature fits and the row leads to its root."""
        led = root_by_path(
            row_hash(self.row, bytes.fromhex(self.salt)),
            self.place,
            self.seal.rows,
            [bytes.fromhex(step) for step in self.path],
        )
        signed = self.seal.is_signed_by(self.seal.by)
        return signed and led is not None and led.hex() == self.seal.root


def prove_row(sealed: SealFile, rows: Sequence[JsonObject], entry: str) -> RowProof:
    """Make the proof of the row of one entry, by its id.

    Raises UsageError where no row has this id, or several have, and where the salts are not there.
    """
    if sealed.salts is None:
        raise UsageError("The salts of these rows stayed with anyone who sealed the card. Ask them for the proof.")
    places = [place for place, row in enumerate(rows) if str(row.get("entry_id")) == entry]
    if len(places) != 1:
        matches = "Several rows have" if places else "No row has"
        raise UsageError(
            f"{matches} the id {entry!r}. `rosetta runs export RUN -o rows.jsonl --form jsonl` lists them."
        )
    salts, place = bytes.fromhex(sealed.salts), places[0]
    path = inclusion_path(row_hashes(rows, salts), place)
    return RowProof(
        seal=sealed.seal,
        place=place,
        row=dict(rows[place]),
        salt=row_salt(salts, place).hex(),
        path=tuple(digest.hex() for digest in path),
    )


def is_proof(data: bytes) -> bool:
    """Return whether a file calls itself the proof of a row; its form has the name in its canonical beginning."""
    return data.startswith(b'{"format":"rosetta-row-proof/')


def read_proof(data: bytes, name: str) -> RowProof:
    """Read the file of a proof and check it; ``name`` stands for it in messages. Raises FileError in words."""
    raw = parse_object(data, name)
    if raw.get("format") != FORMAT:
        raise FileError(FileProblem.NOT_OURS, f"{name} is no proof of a row, or one of a newer version of Rosetta.")
    try:
        proof = RowProof.model_validate_json(data, strict=True)
    except ValidationError as error:
        raise FileError(FileProblem.INVALID, f"{name}: {first_problem(error)}") from None
    if proof.data() != data or not proof.holds:
        raise FileError(
            FileProblem.DAMAGED,
            f"{name} proves nothing: its row is not one of those that were sealed, or the file was changed. Ask for it "
            "once more.",
        )
    return proof


# ---- Signing the runs of this computer, and the seals stored beside their cards ----

_WHOSE = {
    Role.ORGANISATION: "this organisation's key",
    Role.KEEPER: "the key of this computer's keeper",
    Role.COMPUTER: "this computer's key",
}


_MADE = {
    Role.ORGANISATION: "They are on the computer where its reviews are made: rosetta review create makes them.",
    Role.KEEPER: "Who keeps a vault makes them: rosetta vault card.",
    Role.LAPTOP: "They are on the laptop of a reviewer.",
}
"""Whose keys → where they are made."""


def own_signer(home: Path, role: Role | None = None) -> Identity:
    """Return the keys that sign here: those of a role, else the organisation's where it has any, else the computer's.

    Those of a computer are made when first needed. They are others than a reviewing laptop's, so that a signed card
    leads to no reviewer. Raises KeyStoreError where they cannot be read, or a role has none.
    """
    if role is None:
        known = Identity.known(home, Role.ORGANISATION)
        role = Role.ORGANISATION if known else Role.COMPUTER
    if role is not Role.COMPUTER and not Identity.known(home, role):
        raise KeyStoreError(f"This computer has no keys of the {role} to sign with. {_MADE[role]}")
    return Identity.load(home, role)


def own_keys(home: Path) -> dict[str, str]:
    """Return the public signing keys of this computer, each with whose it is; those that cannot be read are left out."""
    keys = {}
    for role, whose in _WHOSE.items():
        with suppress(KeyStoreError):
            if Identity.known(home, role):
                keys[Identity.load(home, role).public.signing_key] = whose
    return keys


def sign_run(
    connection: sqlite3.Connection,
    run: int,
    identity: Identity,
    now: datetime,
    after: LogPlace | None = None,
) -> SealFile:
    """Sign the card of a run of this computer and keep the seal; the one of these keys where the card has it already.

    Raises UsageError for an imported run: only who made a run seals it.
    """
    stored = read_run(connection, run)
    if stored.imported:
        raise UsageError("This run was made elsewhere: only who made it signs its card.")
    card = streamed_card(connection, stored)
    signer = identity.public.signing_key
    for kept in kept_seals(connection, run, card):
        if kept.seal.by == signer and (
            after is None or (kept.seal.after is not None and kept.seal.after.vault == after.vault)
        ):
            return kept
    made = seal_card(card, card["results"] or rows_of(connection, stored, card).as_json(), identity, now, after)
    keep_seal(connection, run, signer, made.data())
    return made


def kept_seals(connection: sqlite3.Connection, run: int, card: JsonObject) -> list[SealFile]:
    """Return the seals that are kept of a card, the newest first; one that is damaged counts as absent."""
    seal_files = []
    for data in seals_of(connection, run):
        with suppress(FileError):
            seal_files.append(read_seal(data))
    fitting = [seal_file for seal_file in seal_files if seal_file.seal.card == card.get(HASH_FIELD)]
    return sorted(fitting, key=lambda seal_file: seal_file.seal.when, reverse=True)


def keep_others_seal(connection: sqlite3.Connection, run: int, card: JsonObject, data: bytes) -> None:
    """Store the seal that came with an imported card; raises FileError where it is damaged or another card's."""
    seal = read_seal(data)
    if seal.seal.card != card.get(HASH_FIELD):
        raise FileError(FileProblem.INVALID, f"It is the seal of another card, whose hash is {seal.seal.card[:16]}….")
    keep_seal(connection, run, seal.seal.by, data)


def outgoing(sealed: SealFile, card: JsonObject) -> SealFile:
    """Return a seal as it goes out beside a card: with its salts only where the rows go out too."""
    return sealed if card["results"] else sealed.without_salts()


# ---- When a card was sealed, by the log of the vault that its run came from: behind one line and
# before another.
#
# A seal names the last line of the log, which nobody could name before it was written; the line
# behind it names the seal. The lines name each other, so the order cannot be changed later; their
# times are those of keepers' computers.


def log_end(state: VaultState) -> LogPlace:
    """Return the last line of a vault's log, as a seal names it."""
    last = state.lines[-1]
    return LogPlace(vault=state.head.vault, seq=last.seq, line=last.id, when=last.record.when)


def sign_vault_run(vault: Vault, connection: sqlite3.Connection, run: int, identity: Identity) -> SealFile:
    """Sign the card of a run over a vault's texts with a keeper's keys, and write it into the log.

    Under the vault's lock, so nothing comes between the line that the seal names and the one that names the seal.
    Stopped in between, the seal has no line behind it, and ``sealed_between`` says so.
    """
    with vault.changing(identity) as state:
        made = sign_run(connection, run, identity, vault.clock(), log_end(state))
        if _line_of(made.seal, state.lines) is None:
            act = CardSealed(card=made.seal.card, seal=seal_sha256(made.seal))
            vault.write(state, act, identity)
    return made


def seal_sha256(seal: SignedSeal) -> str:
    """Return the hash by which a log names a seal."""
    return sha256(canonical_bytes(seal.model_dump(mode="json"))).hexdigest()


def sealed_between(seal: SignedSeal, lines: Sequence[LogLine]) -> tuple[LogLine | None, LogLine | None]:
    """Return the line that a seal was made behind, and the one before which it was made; None for one that is not there.

    ``lines`` were read by ``read_lines``. Raises VaultError where the seal names a line that this log does not have.
    """
    return _line_behind(seal, lines), _line_of(seal, lines)


def _line_behind(seal: CardSeal, lines: Sequence[LogLine]) -> LogLine | None:
    named = seal.after
    if named is None:
        return None
    line = lines[named.seq] if named.seq < len(lines) else None
    line_facts = None if line is None else (lines[0].id, line.id, line.record.when)
    if line_facts != (named.vault, named.line, named.when):
        raise VaultError(
            FileProblem.INVALID,
            f"The seal names line {named.seq + 1} of the log of the vault {named.vault[:16]}…, which is not in this log: "
            "it is another vault's, or an older copy.",
        )
    return line


def _line_of(seal: SignedSeal, lines: Sequence[LogLine]) -> LogLine | None:
    sha = seal_sha256(seal)
    acts = ((line, line.record.act) for line in lines)
    named = (line for line, act in acts if isinstance(act, CardSealed) and act.seal == sha)
    return next(named, None)
