"""Verifying cards and what is next to them: seals, proofs, reproductions, released cards; ours, and reports of 0.4."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from harness.card.checking.seals import verify_file
from harness.card.checking.signed import SIGNATURE
from harness.card.checking.verdict import CardCheck, CardVerdict
from harness.card.foreign.layouts import layout, unwrapped
from harness.card.reading import block, read_card_bytes
from harness.card.signing.card_seal import SUFFIX, SealFile, read_seal
from harness.card.signing.reproduction import SignedReproduction, read_reproduction
from harness.card.signing.row_proof import RowProof, read_proof
from harness.core.failures import UsageError
from harness.leaderboard.released_files import check_consent, verify_released
from harness.release.records import (
    ReleasedCard,
    ReleasedDifference,
    ReleasedRefusal,
)
from harness.sealed.strict_records import FileError, formats
from review.verifying.kinds import (
    Signer,
    ToldOfFile,
    VerifiableKind,
    VerifiedAgainst,
    VerifiedFile,
)


def _is_card(file: VerifiedFile) -> bool:
    try:
        layout(unwrapped(dict(file.stated)), file.path.name)
    except UsageError:
        return False
    return True


def _verify_card(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Verify a card with the seal next to it, anyone who's program wrote it."""
    verdict = verify_file(here.connection, file.path, here.known, None, here.home)
    raw = unwrapped(dict(file.stated))
    kind = layout(raw, file.path.name)
    return ToldOfFile(
        (("layout", str(kind)), *_run(raw)),
        _sealed_by(file),
        _without_key(verdict, "the seal next to it is of this card, and as it was signed"),
    )


def _run(raw: Mapping[str, Any]) -> list[tuple[str, str]]:
    dataset = block(raw, "dataset")
    facts = {
        "run": raw.get("run_id"),
        "corpus": dataset.get("id"),
        "languages": dataset.get("language_pair"),
        "method": block(raw, "method").get("method") or raw.get("model_slug"),
        "program": raw.get("harness_version"),
        "written": raw.get("timestamp"),
    }
    return [(name, str(fact)) for name, fact in facts.items() if fact]


def _sealed_by(file: VerifiedFile) -> list[Signer]:
    beside = file.path.with_suffix(SUFFIX)
    try:
        return (
            [Signer("seal", read_seal(read_card_bytes(beside)).seal.by)] if beside.is_file() else []
        )
    except FileError:
        return []


def _without_key(verdict: CardVerdict, signed: str) -> list[CardCheck]:
    """Return the checks of a verdict; whose key signed is shown once for all signers of a file."""
    whole = [check for check in verdict.checks if check.name != SIGNATURE or check.ok is False]
    by_key = any(check.name == SIGNATURE and "six words" in check.words for check in verdict.checks)
    more = [CardCheck(SIGNATURE, True, signed)]
    unsigned = [
        check
        for check in verdict.checks
        if check.name == SIGNATURE and check.ok is None and not by_key
    ]
    is_known = any(check.name == SIGNATURE and check.ok for check in verdict.checks) or by_key
    return [*whole, *(more if is_known else unsigned)]


def _verify_seal(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    seal = read_seal(file.data)
    words = f"of the card with the hash {seal.seal.card[:16]}…, with {seal.seal.rows:,} rows"
    return ToldOfFile(
        (("run", seal.seal.run_id), ("signed", seal.seal.when)),
        [Signer("seal", seal.seal.by)],
        [
            CardCheck(SIGNATURE, True, words),
            CardCheck("card", None, "verify the card, beside which the seal lies"),
        ],
    )


def _verify_proof(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    proof = read_proof(file.data, file.path.name)
    against = _card_among(here)
    verdict = verify_file(here.connection, file.path, here.known, against, here.home)
    return ToldOfFile(
        (("entry", str(proof.row.get("entry_id"))),),
        [Signer("seal", proof.seal.by)],
        _without_key(verdict, "the seal in it is as it was signed"),
    )


def _verify_reproduction(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    reproduction = read_reproduction(file.data)
    verdict = verify_file(here.connection, file.path, here.known, _card_among(here), here.home)
    facts = (
        ("run", reproduction.claimed.run_id),
        ("repeated as", reproduction.repeated.run_id),
        ("signed", reproduction.when),
    )
    return ToldOfFile(
        facts,
        [Signer("who ran it again", reproduction.by)],
        _without_key(verdict, "as it was signed"),
    )


def _card_among(here: VerifiedAgainst) -> Path | None:
    """Return the path of the first card among the files that were named next to it; None where there is none."""
    return next((verified_file.path for verified_file in here.among(_is_card)), None)


def _verify_released(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    verdict = verify_released(file.data, here.known)
    assert verdict is not None  # noqa: S101  its form says so
    if verdict.ok:
        check_consent(verdict, file.data, here.connection)
    stated = file.stated
    corpus = block(stated, "corpus")
    told = {
        "run": stated.get("run") or f"{stated.get('first')}, {stated.get('second')}",
        "corpus": corpus.get("id"),
        "issued": stated.get("issued"),
    }
    checks = [check for check in verdict.checks if check.name != "key"]
    facts = [(name, str(fact)) for name, fact in told.items()]
    return ToldOfFile(facts, [Signer("custodian", str(stated.get("by")))], checks)


KINDS: Final = (
    VerifiableKind("card-seal", "the seal of a card", _verify_seal, formats(SealFile)),
    VerifiableKind("row-proof", "the proof that one row is on a card", _verify_proof, formats(RowProof)),
    VerifiableKind("reproduction", "the record that a run was made once more", _verify_reproduction, formats(SignedReproduction)),
    VerifiableKind("released-card", "a released card, coarse, of a run over secret entries", _verify_released, formats(ReleasedCard)),
    VerifiableKind("released-difference", "a released difference of two runs over secret entries", _verify_released, formats(ReleasedDifference)),
    VerifiableKind("released-refusal", "a released refusal: where a method that was handed in stopped", _verify_released, formats(ReleasedRefusal)),
    VerifiableKind("card", "the card, report, log or row of a run", _verify_card, fits=_is_card),
)  # fmt: skip
