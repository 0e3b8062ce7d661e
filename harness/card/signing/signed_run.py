"""Signing the runs of this computer, and the seals stored beside their cards."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.card.load import stored_rows
from harness.card.reading import parse_object
from harness.card.seal import HASH_FIELD
from harness.card.signing.card_seal import LogPlace, SealFile, read_seal, seal_card
from harness.core.failures import KeyStoreError, UsageError
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError, FileProblem
from harness.store.card_seals import keep_seal, seals_of
from harness.store.runs import read_run

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
    card: bytes,
    identity: Identity,
    now: datetime,
    after: LogPlace | None = None,
) -> SealFile:
    """Sign a run of this computer and keep the seal; the one of these keys where the card has it already.

    ``card``: its bytes as they go out. Raises UsageError for an imported run: only who made a run seals it.
    """
    raw = parse_object(card, "the card")
    if read_run(connection, run).imported:
        raise UsageError("This run was made elsewhere: only who made it signs its card.")
    signer = identity.public.signing_key
    for kept in kept_seals(connection, run, raw):
        if kept.seal.by == signer and (after is None or _of_vault(kept, after)):
            return kept
    made = seal_card(raw, raw["results"] or stored_rows(connection, run), identity, now, after)
    keep_seal(connection, run, signer, made.data())
    return made


def _of_vault(sealed: SealFile, place: LogPlace) -> bool:
    return sealed.seal.after is not None and sealed.seal.after.vault == place.vault


def kept_seals(connection: sqlite3.Connection, run: int, card: Mapping[str, Any]) -> list[SealFile]:
    """Return the seals that are kept of a card, the newest first; one that is damaged counts as absent."""
    seal_files = []
    for data in seals_of(connection, run):
        with suppress(FileError):
            seal_files.append(read_seal(data))
    fitting = [seal_file for seal_file in seal_files if seal_file.seal.card == card.get(HASH_FIELD)]
    return sorted(fitting, key=lambda seal_file: seal_file.seal.when, reverse=True)


def keep_others_seal(
    connection: sqlite3.Connection, run: int, card: Mapping[str, Any], data: bytes
) -> None:
    """Store the seal that came with an imported card; raises FileError where it is damaged or another card's."""
    seal = read_seal(data)
    if seal.seal.card != card.get(HASH_FIELD):
        raise FileError(
            FileProblem.INVALID,
            f"It is the seal of another card, whose hash is {seal.seal.card[:16]}….",
        )
    keep_seal(connection, run, seal.seal.by, data)


def outgoing(sealed: SealFile, card: Mapping[str, Any]) -> SealFile:
    """Return a seal as it goes out beside a card: with its salts only where the rows go out too."""
    return sealed if card["results"] else sealed.without_salts()
