"""Verifying what nodes of the reference implementation (0.4) sign: score manifests and bundles, by the block beside them.

The block (``FILE.sig.json``) is a detached Ed25519 signature over the file's exact bytes. It names its key by 16 digits only,
so the public key has to be named: a key file of theirs (``publicKeyDerB64``), or the key in one of our forms.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any, Final

from harness.card.checking.verdict import CardCheck
from harness.core.failures import UsageError
from harness.sealed.signature import verify
from review.verifying.custody import public_key_in, public_key_of_der
from review.verifying.kinds import (
    Signer,
    ToldOfFile,
    VerifiableKind,
    VerifiedAgainst,
    VerifiedFile,
    look,
)

SIGNATURE_END: Final = ".sig.json"
SCHEME: Final = "ed25519-single-node-wave1"
VERSIONS: Final = ("1", "2")
_MARK: Final = "champollionScoreManifest"
_BLOCK: Final = frozenset({"scheme", "payloadSha256", "signatureB64"})


def _verify_manifest(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Verify a score manifest, or any file of theirs with a block next to it."""
    stated = file.stated
    names = (
        "nodeId",
        "sealedSetId",
        "corpusVersion",
        "methodSha256",
        "auditHead",
        "harnessVersion",
        "createdAt",
    )
    facts = [(name, str(stated[name])) for name in names if stated.get(name)]
    scores = stated.get("scores")
    facts += [(f"score {name}", str(score)) for name, score in _scores(scores)]
    data = file.beside(SIGNATURE_END)
    if data is None:
        words = f"no {file.path.name}{SIGNATURE_END} is next to it, so nothing shows that a node signed it"
        return ToldOfFile(facts, (), [_version(stated), CardCheck("signature", False, words)])
    block = VerifiedFile(file.path.with_name(file.path.name + SIGNATURE_END), data).stated
    checks, signers = _signed(file.data, block, here)
    return ToldOfFile(facts, signers, [_version(stated), *checks])


def _scores(scores: object) -> list[tuple[str, float]]:
    """Return the numbers of the scores block; more than numbers is in none."""
    stated_scores = scores if isinstance(scores, Mapping) else {}
    return [
        (str(name), score)
        for name, score in stated_scores.items()
        if isinstance(score, int | float)
    ][:40]


def _version(said: Mapping[str, Any]) -> CardCheck:
    version = str(said.get(_MARK))
    known = version in VERSIONS
    words = (
        f"of version {version}"
        if known
        else f"of version {version[:40]}, which this program does not know"
    )
    return CardCheck("form", True if known else None, words)


def _signed(
    data: bytes, block: Mapping[str, Any], here: VerifiedAgainst
) -> tuple[list[CardCheck], list[Signer]]:
    """Judge a signature block over bytes, by the first key among the files that were named."""
    if not block.keys() >= _BLOCK or block.get("scheme") != SCHEME:
        return [
            CardCheck("signature", False, "the block next to it is of another scheme, or damaged")
        ], []
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
    words = (
        "as the node with this key signed it" if holds else "the key that was named did not sign it"
    )
    checks = [CardCheck("signature", holds, words)]
    if named != short:
        checks.append(
            CardCheck(
                "key",
                False,
                f"the block names the key {named[:32]}, and the one that was named is {short}",
            )
        )
    return checks, [Signer("node", key)]


def _key_in(file: VerifiedFile) -> str | None:
    """Return the public key of a file, in a form of theirs or ours; None where it holds none."""
    encoded = file.stated.get("publicKeyDerB64")
    if isinstance(encoded, str):
        try:
            return public_key_of_der(encoded.encode())
        except ValueError:
            raise UsageError(
                f"{file.path.name}: publicKeyDerB64 is no base64. Name the node's key file."
            ) from None
    return public_key_in(file.data)


def _verify_block(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Verify the file that a signature block is of."""
    of = file.path.with_name(file.path.name.removesuffix(SIGNATURE_END))
    if not of.is_file() or of == file.path:
        raise UsageError(
            f"{file.path.name} is the signature of {of.name}, which is not next to it. Put it there."
        )
    signed = look(of)
    checks, signers = _signed(signed.data, file.stated, here)
    return ToldOfFile(
        (("of", of.name), ("signed", str(file.stated.get("signedAt")))), signers, checks
    )


KINDS: Final = (
    VerifiableKind("reference-manifest", "a score manifest of the reference implementation", _verify_manifest, fits=lambda file: _MARK in file.stated),
    VerifiableKind("reference-signature", "a signature of a node of the reference implementation", _verify_block, fits=lambda file: file.stated.keys() >= _BLOCK),
)  # fmt: skip
