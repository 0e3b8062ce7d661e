"""Judging the seal of a key beside a card: the signature, whose key it is, the rows, and the time.

A signature shows that somebody with this key vouched for this card, and never who that is. So the key of a stranger is
named by its six words and not called right: people compare them by another way than the one on which the card came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.card.checking.verdict import CardCheck, CardVerdict
from harness.card.checking.verify import consent_checks
from harness.card.seal import HASH_FIELD
from harness.card.signing.card_seal import CardSeal, SealFile, read_seal, rows_root
from harness.card.signing.reproduction import (
    ReproductionRecord,
    SignedReproduction,
    fits_card,
)
from harness.card.signing.row_proof import RowProof
from harness.card.signing.sealed_time import sealed_between
from harness.consent.verifying import Verified
from harness.core.failures import UsageError
from harness.sealed.keys import key_phrase, says_key
from harness.sealed.phrase import read_words
from harness.sealed.strict_records import FileError
from harness.vault.log import LogLine, VaultError
from scoring.core.messages import percent

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
    card: Mapping[str, Any],
    data: bytes,
    known: KnownSigners = UNKNOWN,
    rows: Sequence[Mapping[str, Any]] = (),
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
    verdict.checks.append(_check_rows(seal, card.get("results") or rows))
    if seal.seal.after is not None or known.log:
        verdict.checks.append(_check_time(seal, known.log))


def check_proof(
    verdict: CardVerdict, proof: RowProof, card: Mapping[str, Any] | None, known: KnownSigners
) -> None:
    """Judge a proof that was read, against a card where there is one."""
    verdict.checks.append(_whose(proof.seal, known))
    words = f"entry {proof.row.get('entry_id')} is row {proof.place + 1} of {proof.seal.rows:,} that were sealed"
    of = f"the card with the hash {proof.seal.card[:16]}…"
    if card is None:
        verdict.checks.append(CardCheck(ROW, True, f"{words} with {of}"))
        verdict.skip("card", f"not given; add --card CARD, to see whether it is {of}")
        return
    rows = card.get("results") or []
    if proof.seal.card != card.get(HASH_FIELD):
        verdict.checks.append(CardCheck(ROW, False, f"the proof is one for another card: {of}"))
    elif rows and (len(rows) != proof.seal.rows or rows[proof.place] != proof.row):
        verdict.checks.append(CardCheck(ROW, False, "the card has another row in this place"))
    else:
        verdict.checks.append(CardCheck(ROW, True, f"{words} with this card"))


def check_reproduction(
    verdict: CardVerdict,
    found: SignedReproduction,
    card: Mapping[str, Any] | None,
    signers: frozenset[str],
    known: KnownSigners,
) -> None:
    """Judge a record of a reproduction that was read, against the claimed card where it is available.

    ``signers``: keys whose seals of that card hold.
    """
    verdict.checks.append(_whose(found, known))
    verdict.checks += consent_checks(Verified(keys=frozenset({found.by, found.claimed_by})))
    outcome = {
        True: "reproduced",
        False: "NOT reproduced",
        None: "neither has composite nor chrF++",
    }
    words = f"{outcome[found.reproduced]} within {percent(found.tolerance)}, worked out again from the scores of both cards"
    verdict.checks.append(CardCheck(SCORES, True, words))
    if card is None:
        words = (
            f"not given; add --card CARD, to see whether it has the hash {found.claimed.card[:16]}…"
        )
        verdict.skip("card", words)
        return
    wrong = fits_card(found, card, signers)
    verdict.checks.append(CardCheck("card", not wrong, wrong or "it is the record of this card"))


def _whose(seal: CardSeal | ReproductionRecord, known: KnownSigners) -> CardCheck:
    words = f"made {seal.when} by the clock of anyone who signed, with "
    phrase = key_phrase(seal.by)
    if known.words:
        if not says_key(read_words(known.words), seal.by):
            return CardCheck(
                SIGNATURE,
                False,
                f"{words}another key than that of the words given; its six words are: {phrase}",
            )
        return CardCheck(SIGNATURE, True, f"{words}the key whose six words were given")
    if whose := known.keys.get(seal.by):
        return CardCheck(SIGNATURE, True, f"{words}{whose}: {phrase}")
    return CardCheck(
        SIGNATURE,
        None,
        f"{words}a key that nobody here knows. Its six words are: {phrase}. Ask who is said to have signed for theirs, by "
        'telephone or in person, and give them with --words "…"',
    )


def _check_rows(found: SealFile, rows: Sequence[Mapping[str, Any]]) -> CardCheck:
    seal = found.seal
    if found.salts is None:
        words = (
            f"{seal.rows:,} were sealed; they are checked where they are, or one by one by proofs"
        )
        return CardCheck(ROWS, None, words)
    try:
        same = (
            len(rows) == seal.rows
            and rows_root(rows, bytes.fromhex(found.salts)).hex() == seal.root
        )
    except UsageError:  # a row that has no canonical form
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
        return CardCheck(
            TIME, None, f"states that it was sealed after {stated}; --vault FOLDER looks there"
        )
    try:
        _, before = sealed_between(found.seal, log)
    except VaultError as error:
        return CardCheck(TIME, False, str(error))
    if before is None:
        return CardCheck(
            TIME,
            None,
            f"sealed after {stated}; no line of the log names the seal, so it may be much later",
        )
    return CardCheck(
        TIME, True, f"sealed after {stated} and before line {before.seq + 1} ({before.record.when})"
    )
