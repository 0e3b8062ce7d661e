"""Verifying cards and what is next to them, ours and those of the reference implementation (0.4)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from itertools import islice
from pathlib import Path
from typing import Final

from corpora.files.json_types import JsonObject
from harness.card.checking.signed import SIGNATURE, verify_file
from harness.card.checking.verdict import CardCheck, CardVerdict
from harness.card.foreign_cards import layout, unwrapped
from harness.card.reading import block, read_card_bytes
from harness.card.reproduction import SignedReproduction, read_reproduction
from harness.card.signing import SUFFIX, RowProof, SealFile, read_proof, read_seal
from harness.core.failures import UsageError
from harness.leaderboard.official import check_consent, verify_released
from harness.release.ledger_records import ReleasedCard, ReleasedDifference, ReleasedRefusal
from harness.sealed.keys import verify
from harness.sealed.strict_records import FileError, formats
from review.verifying.custody import public_key_in, public_key_of_der
from review.verifying.kinds import Signer, ToldOfFile, VerifiableKind, VerifiedAgainst, VerifiedFile, read_verified_file


def _is_card(file: VerifiedFile) -> bool:
    try:
        layout(unwrapped(dict(file.stated)), file.path.name)
    except UsageError:
        return False
    return True


def _verify_card(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    verdict = verify_file(here.connection, file.path, here.known, None, here.home)
    raw = unwrapped(dict(file.stated))
    dataset = block(raw, "dataset")
    facts = {
        "layout": str(layout(raw, file.path.name)),
        "run": raw.get("run_id"),
        "corpus": dataset.get("id"),
        "languages": dataset.get("language_pair"),
        "method": block(raw, "method").get("method") or raw.get("model_slug"),
        "program": raw.get("harness_version"),
        "written": raw.get("timestamp"),
    }
    return ToldOfFile(
        [(name, str(fact)) for name, fact in facts.items() if fact],
        _sealed_by(file),
        _without_key(verdict, "the seal next to it is of this card, and as it was signed"),
    )


def _sealed_by(file: VerifiedFile) -> list[Signer]:
    if not (beside := file.path.with_suffix(SUFFIX)).is_file():
        return []
    try:
        return [Signer("seal", read_seal(read_card_bytes(beside)).seal.by)]
    except FileError:
        return []


def _without_key(verdict: CardVerdict, signed: str) -> list[CardCheck]:
    """Return the checks of a verdict; whose key signed is shown once for all signers of a file."""
    whole = [check for check in verdict.checks if check.name != SIGNATURE or check.ok is False]
    signatures = [check for check in verdict.checks if check.name == SIGNATURE]
    if any(check.ok or "six words" in check.words for check in signatures):
        return [*whole, CardCheck(SIGNATURE, True, signed)]
    return [*whole, *(check for check in signatures if check.ok is None)]


def _verify_seal(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    seal = read_seal(file.data)
    words = f"of the card with the hash {seal.seal.card[:16]}…, with {seal.seal.rows:,} rows"
    card = CardCheck("card", None, "verify the card, beside which the seal lies")
    facts = (("run", seal.seal.run_id), ("signed", seal.seal.when))
    signers = [Signer("seal", seal.seal.by)]
    return ToldOfFile(facts, signers, [CardCheck(SIGNATURE, True, words), card])


def _verify_proof(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    proof = read_proof(file.data, file.path.name)
    verdict = verify_file(here.connection, file.path, here.known, _card_among(here), here.home)
    return ToldOfFile(
        (("entry", str(proof.row.get("entry_id"))),),
        [Signer("seal", proof.seal.by)],
        _without_key(verdict, "the seal in it is as it was signed"),
    )


def _verify_reproduction(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    reproduction = read_reproduction(file.data)
    verdict = verify_file(here.connection, file.path, here.known, _card_among(here), here.home)
    facts = {
        "run": reproduction.claimed.run_id,
        "repeated as": reproduction.repeated.run_id,
        "signed": reproduction.when,
    }
    signers = [Signer("who ran it again", reproduction.by)]
    return ToldOfFile(list(facts.items()), signers, _without_key(verdict, "as it was signed"))


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
    shown = {
        "run": stated.get("run") or f"{stated.get('first')}, {stated.get('second')}",
        "corpus": corpus.get("id"),
        "issued": stated.get("issued"),
    }
    checks = [check for check in verdict.checks if check.name != "key"]
    facts = [(name, str(fact)) for name, fact in shown.items()]
    return ToldOfFile(facts, [Signer("custodian", str(stated.get("by")))], checks)


# ---- Verifying what nodes of the reference implementation (0.4) sign: score manifests and
# bundles, by the block beside them.
#
# The block (``FILE.sig.json``) is a detached Ed25519 signature over the file's exact bytes. It
# names its key by 16 digits only, so the public key has to be named: a key file of theirs
# (``publicKeyDerB64``), or the key in one of our forms.

SIGNATURE_END: Final = ".sig.json"
SCHEME: Final = "ed25519-single-node-wave1"
VERSIONS: Final = ("1", "2")
_MARK: Final = "champollionScoreManifest"
_BLOCK: Final = frozenset({"scheme", "payloadSha256", "signatureB64"})


def _verify_manifest(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    stated = file.stated
    names = ("nodeId", "sealedSetId", "corpusVersion", "methodSha256", "auditHead", "harnessVersion", "createdAt")
    facts = [(name, str(stated[name])) for name in names if stated.get(name)]
    numbers = ((name, score) for name, score in block(stated, "scores").items() if isinstance(score, int | float))
    facts += [(f"score {name}", str(score)) for name, score in islice(numbers, 40)]
    if (data := file.beside(SIGNATURE_END)) is None:
        words = f"no {file.path.name}{SIGNATURE_END} is next to it, so nothing shows that a node signed it"
        return ToldOfFile(facts, (), [_version(stated), CardCheck("signature", False, words)])
    signature = VerifiedFile(file.path.with_name(file.path.name + SIGNATURE_END), data).stated
    checks, signers = _signed(file.data, signature, here)
    return ToldOfFile(facts, signers, [_version(stated), *checks])


def _version(said: JsonObject) -> CardCheck:
    version = str(said.get(_MARK))
    if version in VERSIONS:
        return CardCheck("form", True, f"of version {version}")
    return CardCheck("form", None, f"of version {version[:40]}, which this program does not know")


def _signed(data: bytes, block: JsonObject, here: VerifiedAgainst) -> tuple[list[CardCheck], list[Signer]]:
    """Judge a signature block over bytes, by the first key among the files that were named."""
    if not block.keys() >= _BLOCK or block.get("scheme") != SCHEME:
        words = "the block next to it is of another scheme, or damaged"
        return [CardCheck("signature", False, words)], []
    if block["payloadSha256"] != hashlib.sha256(data).hexdigest():
        words = "its bytes are not those that were signed (SHA-256)"
        return [CardCheck("signature", False, words)], []
    node = next(here.among(lambda node_file: _key_in(node_file) is not None), None)
    key = None if node is None else _key_in(node)
    named = str(block.get("keyId"))
    if key is None:
        words = f"not checked, for the block names its key only as {named[:32]}: add --with KEYFILE of the node"
        return [CardCheck("signature", False, words)], []
    try:
        holds = verify(key, data, base64.b64decode(str(block["signatureB64"]), validate=True))
    except binascii.Error:
        holds = False
    short = hashlib.sha256(bytes.fromhex("302a300506032b6570032100" + key)).hexdigest()[:16]
    other = "the key that was named did not sign it"
    words = "as the node with this key signed it" if holds else other
    checks = [CardCheck("signature", holds, words)]
    if named != short:
        words = f"the block names the key {named[:32]}, and the one that was named is {short}"
        checks.append(CardCheck("key", False, words))
    return checks, [Signer("node", key)]


def _key_in(file: VerifiedFile) -> str | None:
    """Return the public key of a file, in a form of theirs or ours; None where it holds none."""
    encoded = file.stated.get("publicKeyDerB64")
    if isinstance(encoded, str):
        try:
            return public_key_of_der(encoded.encode())
        except ValueError:
            raise UsageError(f"{file.path.name}: publicKeyDerB64 is no base64. Name the node's key file.") from None
    return public_key_in(file.data)


def _verify_block(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    of = file.path.with_name(file.path.name.removesuffix(SIGNATURE_END))
    if not of.is_file() or of == file.path:
        raise UsageError(f"{file.path.name} is the signature of {of.name}, which is not next to it. Put it there.")
    checks, signers = _signed(read_verified_file(of).data, file.stated, here)
    return ToldOfFile((("of", of.name), ("signed", str(file.stated.get("signedAt")))), signers, checks)


KINDS: Final = (
    VerifiableKind("reference-manifest", "a score manifest of the reference implementation", _verify_manifest, fits=lambda file: _MARK in file.stated),
    VerifiableKind("reference-signature", "a signature of a node of the reference implementation", _verify_block, fits=lambda file: file.stated.keys() >= _BLOCK),
    VerifiableKind("card-seal", "the seal of a card", _verify_seal, formats(SealFile)),
    VerifiableKind("row-proof", "the proof that one row is on a card", _verify_proof, formats(RowProof)),
    VerifiableKind("reproduction", "the record that a run was made once more", _verify_reproduction, formats(SignedReproduction)),
    VerifiableKind("released-card", "a released card, coarse, of a run over secret entries", _verify_released, formats(ReleasedCard)),
    VerifiableKind("released-difference", "a released difference of two runs over secret entries", _verify_released, formats(ReleasedDifference)),
    VerifiableKind("released-refusal", "a released refusal: where a method that was handed in stopped", _verify_released, formats(ReleasedRefusal)),
    VerifiableKind("card", "the card, report, log or row of a run", _verify_card, fits=_is_card),
)  # fmt: skip
