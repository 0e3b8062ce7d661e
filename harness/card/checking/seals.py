"""Verifying a card with what is next to it: the file of a card and its seal, a run of the store, the proof of a row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.card.checking.signed import (
    KnownSigners,
    check_proof,
    check_reproduction,
    check_seal,
    check_unsigned,
)
from harness.card.checking.verdict import CardVerdict
from harness.card.checking.verify import check_hash, consent_checks, verify_card
from harness.card.foreign.layouts import unwrapped
from harness.card.load import read_raw, stored_rows
from harness.card.reading import parse_object, read_card_bytes
from harness.card.seal import HASH_FIELD
from harness.card.signing.card_seal import SUFFIX, SealFile, read_seal
from harness.card.signing.reproduction import is_reproduction, read_reproduction
from harness.card.signing.row_proof import RowProof, is_proof, read_proof
from harness.card.signing.signed_run import kept_seals, own_keys
from harness.consent.verifying import Verified, of_card
from harness.store.file.sealing import StoreSealed
from harness.store.runs import Run, find_by_id
from harness.store.withdrawn import known_run, now_standing


def verify_file(
    connection: sqlite3.Connection,
    path: Path,
    known: KnownSigners,
    against: Path | None,
    home: Path,
) -> CardVerdict:
    """Verify the file of a card with the seal next to it, the proof of a row, or the record of a reproduction, ``against`` a card where one is named.

    ``home``: the data folder, whose keys are known. Raises UsageError where the file is neither.
    """
    data = read_card_bytes(path)
    if is_proof(data):
        return _verify_proof(connection, data, path.name, against, with_own(known, home))
    if is_reproduction(data):
        return _verify_reproduction(connection, data, against, with_own(known, home))
    verdict = verify_card(data, connection, path.name)
    raw = unwrapped(parse_object(data, path.name))
    beside = path.with_suffix(SUFFIX)
    if beside.is_file():
        check_seal(verdict, raw, read_card_bytes(beside), with_own(known, home))
    elif raw.get(HASH_FIELD):
        check_unsigned(verdict, known)
    return verdict


def verify_stored(
    connection: sqlite3.Connection, run: Run, name: str, known: KnownSigners, home: Path
) -> CardVerdict:
    """Verify a run of the store, with the seals that are kept of it and the rows that its card leaves out."""
    raw = read_raw(connection, run.id)
    verdict = verify_card(json.dumps(raw).encode(), connection, name)
    seals = kept_seals(connection, run.id, raw)
    rows: Sequence[dict[str, Any]] = ()
    if seals and "withheld" in raw and not run.imported:
        try:
            rows = stored_rows(connection, run.id)
        except StoreSealed:  # from a vault that is not open, so nobody can tell
            seals = [seal.without_salts() for seal in seals]
    for seal in seals:
        check_seal(verdict, raw, seal.data(), with_own(known, home), rows)
    if known.words and not seals:
        check_unsigned(verdict, known)
    return verdict


def _verify_proof(
    connection: sqlite3.Connection,
    data: bytes,
    name: str,
    against: Path | None,
    known: KnownSigners,
) -> CardVerdict:
    proof, verdict = read_proof(data, name), CardVerdict()
    raw = None if against is None else parse_object(read_card_bytes(against), against.name)
    if raw is not None:
        verdict.checks.append(check_hash(raw))
    check_proof(verdict, proof, raw, known)
    _check_consent(verdict, connection, proof, raw)
    return verdict


def _verify_reproduction(
    connection: sqlite3.Connection, data: bytes, against: Path | None, known: KnownSigners
) -> CardVerdict:
    """Verify a record of a reproduction against the card that is named, else the store's run that it names."""
    signed_reproduction, verdict = read_reproduction(data), CardVerdict()
    run = find_by_id(connection, signed_reproduction.claimed.run_id)
    raw, seals = None, []
    if against is not None:
        raw = unwrapped(parse_object(read_card_bytes(against), against.name))
        beside = against.with_suffix(SUFFIX)
        seals = [read_seal(read_card_bytes(beside))] if beside.is_file() else []
    elif run is not None:
        raw = read_raw(connection, run.id)
        seals = kept_seals(connection, run.id, raw)
    if raw is not None:
        verdict.checks.append(check_hash(raw))
    check_reproduction(verdict, signed_reproduction, raw, signers_of(seals, raw or {}), known)
    return verdict


def signers_of(seals: Sequence[SealFile], card: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys whose seals are seals of this card."""
    return frozenset(seal.seal.by for seal in seals if seal.seal.card == card.get(HASH_FIELD))


def _check_consent(
    verdict: CardVerdict,
    connection: sqlite3.Connection,
    proof: RowProof,
    card: Mapping[str, Any] | None,
) -> None:
    """Record what notices say of a row; its corpus and method come from the card, or by the store's run."""
    ids, keys = [proof.row.get("entry_id")], frozenset({proof.seal.by})
    stored = known_run(connection, proof.seal.run_id)
    if card is not None:
        about = of_card(card, ids)
    elif stored is not None:
        about = Verified(*stored, ids=frozenset(map(str, ids)))
    else:
        about = Verified()
        if now_standing():
            words = "the proof names neither corpus nor method; with --card CARD it is seen whether they were withdrawn"
            verdict.skip("consent", words)
    verdict.checks += consent_checks(about._replace(keys=keys))


def with_own(known: KnownSigners, home: Path) -> KnownSigners:
    """Return what is known, and the keys of this computer with whose they are; ``home``: the data folder."""
    return replace(known, keys={**known.keys, **own_keys(home)})
