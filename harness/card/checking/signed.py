"""Judging the seal of a key beside a card: the signature, whose key it is, the rows, and the time.

A signature shows that somebody with this key vouched for this card, and never who that is. So the key of a stranger is
named by its six words and not called right: people compare them by another way than the one on which the card came.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from corpora.files.json_types import JsonObject
from corpora.text.messages import percent
from harness.card.checking.verdict import CardCheck, CardVerdict
from harness.card.checking.verify_card import check_hash, consent_checks, verify_card, verify_object, verify_rows
from harness.card.foreign_cards import unwrapped
from harness.card.model import HASH_FIELD
from harness.card.reading import (
    card_head,
    must_be_released,
    objects,
    parse_object,
    read_card_bytes,
    read_card_file,
    read_small_file,
)
from harness.card.reproduction import (
    ReproductionRecord,
    SignedReproduction,
    fits_card,
    is_reproduction,
    read_reproduction,
)
from harness.card.rows import read_raw, rows_of, stored_rows
from harness.card.signing import (
    SUFFIX,
    CardSeal,
    RowProof,
    SealFile,
    is_proof,
    kept_seals,
    own_keys,
    read_proof,
    read_seal,
    rows_root,
    sealed_between,
)
from harness.consent.checks import Verified, of_card
from harness.core.canonical import StreamedArray
from harness.core.failures import UsageError
from harness.sealed.keys import key_phrase, says_key
from harness.sealed.phrase import read_words
from harness.sealed.strict_records import FileError
from harness.store.runs import Run, find_by_id
from harness.store.sqlite.sealing import StoreSealed
from harness.store.withdrawn import known_run, now_standing
from harness.vault.log import LogLine, VaultError

SIGNATURE, ROWS, TIME, ROW, SCORES = "signature", "rows", "time", "row", "scores"


@dataclass(frozen=True, slots=True)
class KnownSigners:
    """What anyone who verifies a card knows besides it."""

    keys: Mapping[str, str] = field(default_factory=dict)
    """Public signing key → whose it is, in words."""
    words: str = ""
    """Six words, as somebody read them out; empty where nobody did."""
    log: Sequence[LogLine] = ()
    """The log of a vault; empty where none was named."""


UNKNOWN = KnownSigners()


def check_unsigned(verdict: CardVerdict, known: KnownSigners) -> None:
    """Record that no seal is next to a card; wrong where somebody says whose key there ought to be one of."""
    words = "no seal of a key is next to this card, so nothing here tells who made it"
    verdict.checks.append(CardCheck(SIGNATURE, False if known.words else None, words))


def check_seal(
    verdict: CardVerdict,
    card: JsonObject,
    data: bytes,
    known: KnownSigners = UNKNOWN,
    rows: Sequence[JsonObject] | StreamedArray = (),
) -> None:
    """Judge the file of a seal beside a card; ``rows`` are those that stay at home where the card has none.

    Raises UsageError where words are typed that are none.
    """
    try:
        seal = read_seal(data)
    except FileError as error:
        verdict.checks.append(CardCheck(SIGNATURE, False, str(error)))
        return
    if seal.seal.card != card.get(HASH_FIELD):
        words = f"the seal is that of another card, whose hash is {seal.seal.card[:16]}…"
        verdict.checks.append(CardCheck(SIGNATURE, False, words))
        return
    verdict.checks.append(_whose(seal.seal, known))
    verdict.checks += consent_checks(Verified(keys=frozenset({seal.seal.by})))
    own = card.get("results")
    verdict.checks.append(
        _check_rows(seal, (own if isinstance(own, StreamedArray) else objects(card, "results")) or rows)
    )
    if seal.seal.after is not None or known.log:
        verdict.checks.append(_check_time(seal, known.log))


def check_proof(verdict: CardVerdict, proof: RowProof, card: JsonObject | None, known: KnownSigners) -> None:
    """Judge a proof that was read, against a card where there is one."""
    verdict.checks.append(_whose(proof.seal, known))
    words = f"entry {proof.row.get('entry_id')} is row {proof.place + 1} of {proof.seal.rows:,} that were sealed"
    of = f"the card with the hash {proof.seal.card[:16]}…"
    if card is None:
        verdict.checks.append(CardCheck(ROW, True, f"{words} with {of}"))
        verdict.skip("card", f"not given; add --card CARD, to see whether it is {of}")
        return
    rows = objects(card, "results")
    if proof.seal.card != card.get(HASH_FIELD):
        verdict.checks.append(CardCheck(ROW, False, f"the proof is one for another card: {of}"))
    elif rows and (len(rows) != proof.seal.rows or rows[proof.place] != proof.row):
        verdict.checks.append(CardCheck(ROW, False, "the card has another row in this place"))
    else:
        verdict.checks.append(CardCheck(ROW, True, f"{words} with this card"))


def check_reproduction(
    verdict: CardVerdict,
    found: SignedReproduction,
    card: JsonObject | None,
    signers: frozenset[str],
    known: KnownSigners,
) -> None:
    """Judge a record of a reproduction that was read, against the claimed card where it is available.

    ``signers``: keys whose seals of that card hold.
    """
    verdict.checks.append(_whose(found, known))
    verdict.checks += consent_checks(Verified(keys=frozenset({found.by, found.claimed_by})))
    neither = "neither has composite nor chrF++"
    outcome = {True: "reproduced", False: "NOT reproduced", None: neither}
    words = (
        f"{outcome[found.reproduced]} within {percent(found.tolerance)}, worked out again from the scores of both cards"
    )
    verdict.checks.append(CardCheck(SCORES, True, words))
    if card is None:
        words = "not given; add --card CARD, to see whether it has the hash"
        verdict.skip("card", f"{words} {found.claimed.card[:16]}…")
        return
    wrong = fits_card(found, card, signers)
    verdict.checks.append(CardCheck("card", not wrong, wrong or "it is the record of this card"))


def _whose(seal: CardSeal | ReproductionRecord, known: KnownSigners) -> CardCheck:
    words = f"made {seal.when} by the clock of anyone who signed, with "
    phrase = key_phrase(seal.by)
    if known.words:
        if not says_key(read_words(known.words), seal.by):
            words += f"another key than that of the words given; its six words are: {phrase}"
            return CardCheck(SIGNATURE, False, words)
        return CardCheck(SIGNATURE, True, f"{words}the key whose six words were given")
    if whose := known.keys.get(seal.by):
        return CardCheck(SIGNATURE, True, f"{words}{whose}: {phrase}")
    return CardCheck(
        SIGNATURE,
        None,
        f"{words}a key that nobody here knows. Its six words are: {phrase}. Ask who is said to have signed for theirs, by "
        'telephone or in person, and give them with --words "…"',
    )


def _check_rows(found: SealFile, rows: Sequence[JsonObject] | StreamedArray) -> CardCheck:
    seal = found.seal
    if found.salts is None:
        words = "were sealed; they are checked where they are, or one by one by proofs"
        return CardCheck(ROWS, None, f"{seal.rows:,} {words}")
    try:
        root = rows_root(rows, bytes.fromhex(found.salts)).hex()
        same = len(rows) == seal.rows and root == seal.root
    except (UsageError, TypeError, ValueError):  # a row that has no canonical form, or is no object
        same = False
    if same:
        return CardCheck(ROWS, True, f"the {seal.rows:,} that were sealed")
    return CardCheck(ROWS, False, f"they are not the {seal.rows:,} that were sealed")


def _check_time(found: SealFile, log: Sequence[LogLine]) -> CardCheck:
    """Return between which lines of a vault's log a card was sealed."""
    after = found.seal.after
    if after is None:
        return CardCheck(TIME, None, "the seal names no vault, so its log shows nothing of it")
    stated = f"line {after.seq + 1} of the log of the vault {after.vault[:16]}… ({after.when})"
    if not log:
        words = f"states that it was sealed after {stated}; --vault FOLDER looks there"
        return CardCheck(TIME, None, words)
    try:
        _, before = sealed_between(found.seal, log)
    except VaultError as error:
        return CardCheck(TIME, False, str(error))
    if before is None:
        words = "no line of the log names the seal, so it may be much later"
        return CardCheck(TIME, None, f"sealed after {stated}; {words}")
    words = f"sealed after {stated} and before line {before.seq + 1} ({before.record.when})"
    return CardCheck(TIME, True, words)


# ---- Verifying a card with what is next to it: the file of a card and its seal, a run of the
# store, the proof of a row.


def verify_file(
    connection: sqlite3.Connection, path: Path, known: KnownSigners, against: Path | None, home: Path
) -> CardVerdict:
    """Verify the file of a card with the seal next to it, the proof of a row, or the record of a reproduction, ``against`` a card where one is named.

    ``home``: the data folder, whose keys are known. Raises UsageError where the file is neither.
    """
    data = read_small_file(path)
    if is_proof(data):
        return _verify_proof(connection, data, path.name, against, with_own(known, home))
    if is_reproduction(data):
        return _verify_reproduction(connection, data, against, with_own(known, home))
    raw = unwrapped(read_card_file(path))
    verdict = verify_object(raw, connection, path.name)
    beside = path.with_suffix(SUFFIX)
    if beside.is_file():
        check_seal(verdict, raw, read_card_bytes(beside), with_own(known, home))
    elif raw.get(HASH_FIELD):
        check_unsigned(verdict, known)
    return verdict


def verify_stored(connection: sqlite3.Connection, run: Run, name: str, known: KnownSigners, home: Path) -> CardVerdict:
    """Verify a run of the store, with the seals that are kept of it and the rows that its card leaves out."""
    rows: Sequence[JsonObject] | StreamedArray = ()
    if not run.imported and not must_be_released(connection, run):
        raw = card_head(connection, run)
        stored = rows_of(connection, run, raw)
        verdict, rows = verify_rows(connection, run, raw, stored), stored.as_json()
    else:
        raw = read_raw(connection, run.id)
        verdict = verify_card(json.dumps(raw).encode(), connection, name)
    seals = kept_seals(connection, run.id, raw)
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
    connection: sqlite3.Connection, data: bytes, name: str, against: Path | None, known: KnownSigners
) -> CardVerdict:
    proof, verdict = read_proof(data, name), CardVerdict()
    raw = None if against is None else parse_object(read_card_bytes(against), against.name)
    if raw is not None:
        verdict.checks.append(check_hash(raw))
    check_proof(verdict, proof, raw, known)
    # Record what notices say of a row; its corpus and method come from the card, or by the
    # store's run.
    ids, keys = [proof.row.get("entry_id")], frozenset({proof.seal.by})
    stored = known_run(connection, proof.seal.run_id)
    if raw is not None:
        about = of_card(raw, ids)
    elif stored is not None:
        about = Verified(*stored, ids=frozenset(map(str, ids)))
    else:
        about = Verified()
        if now_standing():
            words = "the proof names neither corpus nor method; with --card CARD it is seen whether they were withdrawn"
            verdict.skip("consent", words)
    verdict.checks += consent_checks(about._replace(keys=keys))
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


def signers_of(seals: Sequence[SealFile], card: JsonObject) -> frozenset[str]:
    """Return the keys whose seals are seals of this card."""
    return frozenset(seal.seal.by for seal in seals if seal.seal.card == card.get(HASH_FIELD))


def with_own(known: KnownSigners, home: Path) -> KnownSigners:
    """Return what is known, and the keys of this computer with whose they are; ``home``: the data folder."""
    return replace(known, keys={**known.keys, **own_keys(home)})
