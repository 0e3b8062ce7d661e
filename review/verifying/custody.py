"""Verifying what keepers and custodians sign: logs and heads of vaults, requests and answers, ledgers, registers, notices, lists, keys."""

from __future__ import annotations

import base64
import re
from typing import Final

from corpora.text.messages import counted
from harness.card.checking.verdict import CardCheck
from harness.consent.notice import SignedNotice, read_notice
from harness.consent.register import SignedLine, held
from harness.consent.register import checked_lines as register_lines
from harness.core.failures import UsageError
from harness.exchange.manifest import SignedExchangeList, read_manifest
from harness.release.ledger import checked_lines as ledger_lines
from harness.release.ledger_records import LedgerLine
from harness.sealed.archive import read_signed_record
from harness.sealed.keys import public_pem
from harness.sealed.strict_records import formats
from harness.vault.folder import HEAD, LOG, read_state
from harness.vault.grants.files import read_answer, read_request
from harness.vault.keepers import read_card
from harness.vault.log import LogLine, keepers_of, read_lines
from harness.vault.vault_records import SignedCard, SignedHead, SignedLogRecord, SignedRequest
from review.verifying.kinds import Signer, ToldOfFile, VerifiableKind, VerifiedAgainst, VerifiedFile, signature_check

_NEWEST: Final = "whether the newest lines are missing, only a computer knows that saw them"


def _verify_log(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    if file.path.name == LOG and file.path.with_name(HEAD).is_file():
        return _of_vault(read_state(file.path.parent).lines, "the whole vault: head, log and every sealed file")
    checks = [CardCheck("newest lines", None, _NEWEST)]
    vault = _of_vault(read_lines(file.data), "each line, by a keeper of its time, in one chain")
    return ToldOfFile(vault.facts, vault.signers, [*vault.checks, *checks])


def _verify_head(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    if file.path.name == HEAD and file.path.with_name(LOG).is_file():
        return _of_vault(read_state(file.path.parent).lines, "the whole vault: head, log and every sealed file")
    head = read_signed_record(file.data, SignedHead, "the head of a vault", most=2**24)
    words = "that its signer is a keeper, the log next to it would show"
    checks = [signature_check(), CardCheck("keeper", None, words)]
    return ToldOfFile((("vault", head.vault), ("lines", str(head.lines))), [Signer("keeper", head.by)], checks)


def _of_vault(lines: tuple[LogLine, ...], words: str) -> ToldOfFile:
    keepers = keepers_of(lines)
    facts = (
        ("vault", lines[0].id),
        ("lines", f"{len(lines):,}, the last of {lines[-1].record.when}"),
        ("keepers", ", ".join(sorted(keeper.name for keeper in keepers.values()))),
    )
    return ToldOfFile(facts, [Signer("last line", lines[-1].record.by)], [signature_check(words)])


def _verify_keeper(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    card = read_card(file.data)
    return ToldOfFile((("keeper", card.name),), [Signer("keeper", card.signing_key)], [signature_check()])


def _verify_request(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    request = read_request(file.data)
    facts = (
        ("vault", request.vault),
        ("corpus", request.name),
        ("purpose", request.purpose),
        ("expires", request.expires),
    )
    words = "that its signer is a keeper, and what was answered, the vault's log shows"
    checks = [signature_check(), CardCheck("keeper", None, words)]
    return ToldOfFile(facts, [Signer("requesting keeper", request.by)], checks)


def _verify_answer(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    signed_answer, sealed = read_answer(file.data)
    facts = (
        ("vault", signed_answer.vault),
        ("request", signed_answer.request),
        ("answer", "allowed" if signed_answer.allowed else f"refused: {signed_answer.reason}"),
        ("share", "with a sealed share" if sealed else "without a share"),
    )
    checks = [signature_check(), CardCheck("keeper", None, "that its signer is a keeper, the vault's log shows")]
    return ToldOfFile(facts, [Signer("keeper", signed_answer.keeper)], checks)


def _verify_ledger(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    lines = ledger_lines(file.data, file.path.name)
    facts = (("lines", f"{len(lines):,}, the last of {lines[-1].when}"),) if lines else ()
    whole = CardCheck(
        "end", file.data.endswith(b"\n"), "its last line is whole" if file.data.endswith(b"\n") else "it is cut short"
    )
    checks = [signature_check("each line, in one chain"), whole, CardCheck("newest lines", None, _NEWEST)]
    return ToldOfFile(facts, [Signer("custodian", lines[0].by)] if lines else (), checks)


def _verify_register(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    lines, _ = register_lines(file.path, file.data)
    standing = [held for held in held(lines) if held.lifted is None]
    facts = (("notices", f"{counted(len(lines), 'line')}, {len(standing):,} in force"),)
    checks = [signature_check("each line and each notice, in one chain"), CardCheck("newest lines", None, _NEWEST)]
    return ToldOfFile(facts, [Signer("organisation", lines[0].by)], checks)


def _verify_notice(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    notice = read_notice(file.data)
    words = "whether its signer may say it, people find out: `rosetta community take` asks for their six words"
    checks = [signature_check(), CardCheck("standing", None, words)]
    return ToldOfFile((("notice", notice.said),), [Signer(f"signed as {notice.by}", notice.signing_key)], checks)


def _verify_list(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    manifest = read_manifest(file.data, file.path.name)
    facts = (
        ("folder", manifest.folder),
        ("computer", manifest.machine),
        ("state", f"{manifest.state:,}, of {manifest.when}"),
        ("files", f"{len(manifest.files):,} exported, {len(manifest.taken):,} imported"),
    )
    return ToldOfFile(facts, [Signer("computer", manifest.by)], [signature_check()])


_KEY: Final = re.compile(rb"\s*([0-9a-fA-F]{64})\s*")
_PEM: Final = b"-----BEGIN PUBLIC KEY-----"
_SECRET: Final = (b"# Rosetta: secret keys", b"AGE-SECRET-KEY-1")


def _verify_key(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    """Return which public key it is; what else it shows is who reads its six words to you."""
    if (public_key := public_key_in(file.data)) is None:
        raise UsageError(
            f"{file.path.name} holds a public key of another kind than Ed25519. No file of ours is signed with it."
        )
    return ToldOfFile(
        (("key", public_key),),
        [Signer("key", public_key)],
        [CardCheck("key", True, "a public key; compare its six words with anyone who it is to belong to")],
    )


def public_key_in(data: bytes) -> str | None:
    """Return the public Ed25519 key of a file, as 64 hexadecimal digits or in the form of openssl; None where it holds none."""
    if match := _KEY.fullmatch(data):
        return match[1].decode().lower()
    lines = data[:1000].split()
    for line in lines:
        try:
            public_key = public_key_of_der(line)
        except ValueError:
            continue
        if public_key is not None and public_pem(public_key).encode().strip() == data.strip():
            return public_key
    return None


def public_key_of_der(encoded: bytes) -> str | None:
    """Return an Ed25519 key, hexadecimal, from its DER form in base64 (RFC 8410); None where it is another; ValueError where it is no base64."""
    raw = base64.b64decode(encoded, validate=True)
    head = bytes.fromhex("302a300506032b6570032100")
    return raw[12:].hex() if raw.startswith(head) and len(raw) == 44 else None


def _verify_secret(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    raise UsageError(
        f"{file.path.name} holds SECRET keys: nobody else may see it, and nothing in it is to be verified. Lock it away; "
        "if it was sent to you, tell anyone who sent it that their key is known now (rosetta community withdraw --signing-key)."
    )


KINDS: Final = (
    VerifiableKind("vault-log", "the log of a vault", _verify_log, formats(SignedLogRecord)),
    VerifiableKind("vault-head", "the head of a vault", _verify_head, formats(SignedHead)),
    VerifiableKind("keeper", "the card of a keeper", _verify_keeper, formats(SignedCard)),
    VerifiableKind("request", "a request to open a vault", _verify_request, formats(SignedRequest)),
    VerifiableKind("answer", "an answer to a request", _verify_answer, fits=lambda file: file.stated.keys() == {"answer", "sealed"}),
    VerifiableKind("release-ledger", "the ledger of what was released", _verify_ledger, formats(LedgerLine)),
    VerifiableKind("register", "a register of what was taken back", _verify_register, formats(SignedLine)),
    VerifiableKind("notice", "a notice of consent", _verify_notice, formats(SignedNotice)),
    VerifiableKind("exchange-list", "the list of a computer in an exchange folder", _verify_list, formats(SignedExchangeList)),
    VerifiableKind("secret-keys", "secret keys", _verify_secret, fits=lambda file: any(mark in file.data[:2000] for mark in _SECRET)),
    VerifiableKind("public-key", "a public key", _verify_key, fits=lambda file: bool(_KEY.fullmatch(file.data)) or file.data.lstrip().startswith(_PEM)),
)  # fmt: skip
