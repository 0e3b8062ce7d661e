"""Verifying records after a verdict: ownership, use, an organisation's profile and single statements of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.card.checking.verify import CardCheck
from harness.card.seal import HASH_FIELD
from harness.sealed.forms import FileError, FileProblem, formats
from harness.sealed.signature import verify as signed_by
from harness.sealed.signed_archive import read_record
from review.office.results.certifying import read_signed_certificate
from review.records.agreeing import with_kept
from review.records.ownership import OwnershipRecord, read_ownership
from review.records.profile import (
    MOST_BYTES,
    REQUIREMENTS,
    SignedProfile,
    SignedProfileStatement,
    read_profile,
)
from review.records.use import SignedUse, UseRecord, read_use
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.coarse import read_coarse
from review.verdict.gate.verdict import GateOutcome
from review.verifying.kinds import (
    LookedAt,
    Signer,
    ToldOfFile,
    VerifiableKind,
    VerifiedAgainst,
    look,
    signature_check,
)


def _verify_ownership(file: LookedAt, here: VerifiedAgainst) -> ToldOfFile:
    """Verify a record of ownership by itself, by what is known of it here, and against card and certificate that were named."""
    stated = read_ownership(file.data)
    found = with_kept(here.connection, stated)
    terms = found.terms
    words = f"{found.state}; each word is signed over these terms by the side that it is of"
    checks = [signature_check(words)]
    if found.ended:
        checks.append(
            CardCheck("standing", False, f"it was {found.state}: nothing holds by it any more")
        )
    if found != stated:
        checks.append(
            CardCheck(
                "newest words",
                False,
                "more is known of it here than this file says: it is an older copy",
            )
        )
    signers = [
        Signer("organisation", terms.organisation.signing_key),
        Signer("developer", terms.developer.signing_key),
    ]
    facts = (
        ("method", terms.method),
        ("run", terms.run_id),
        ("organisation", f"{terms.organisation.name}, {terms.organisation_share} %"),
        ("developer", f"{terms.developer.name}, {terms.developer_share} %"),
        ("state", str(found.state)),
    )
    return ToldOfFile(facts, signers, [*checks, *_against(found, here)])


def _against(record: OwnershipRecord, here: VerifiedAgainst) -> Iterator[CardCheck]:
    terms = record.terms
    files = [look(each) for each in here.others]
    cards = [
        each for each in files if (each.stated.get(HASH_FIELD) or each.stated.get("run_card_hash"))
    ]
    certificates = [each for each in files if "certificate/" in each.format]
    if not cards:
        yield CardCheck(
            "card", None, f"add --with CARD, to see whether it has the hash {terms.card[:16]}…"
        )
    for each in cards:
        same = str(each.stated.get("run_card_hash")) == terms.card
        yield CardCheck(
            "card",
            same,
            "it is about this card" if same else "it is about another card than the one named",
        )
    if not certificates:
        yield CardCheck(
            "certificate",
            None,
            f"add --with CERTIFICATE, to see whether its SHA-256 is {terms.certificate[:16]}…",
        )
    for each in certificates:
        yield _certificate(record, each)


def _certificate(record: OwnershipRecord, file: LookedAt) -> CardCheck:
    """Hold a record against the certificate that it names: of this run and card, with go, by the same organisation."""
    coarse = file.format.startswith("rosetta-coarse-certificate/")
    stated = (read_coarse if coarse else read_certificate)(file.data, file.path.name)
    terms, key = record.terms, stated.organisation.signing_key
    _, signature = read_signed_certificate(file.path)
    wrong = {
        "another certificate than the one that the record names": stated.sha256
        == terms.certificate,
        "not signed by the organisation that it names": signed_by(key, file.data, signature),
        "of another organisation's key than the record": key == terms.organisation.signing_key,
        "about another card": stated.run.run_card_hash == terms.card,
        "no go": stated.outcome is GateOutcome.GO,
    }
    found = [words for words, right in wrong.items() if not right]
    words = (
        f"the certificate is {'; '.join(found)}"
        if found
        else "go, by the same organisation, about the same card"
    )
    return CardCheck("certificate", not found, words)


def _verify_use(file: LookedAt, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    found = read_use(file.data)
    return ToldOfFile(_of_use(found), [Signer("organisation", found.by)], [signature_check()])


def _of_use(found: UseRecord) -> list[tuple[str, str]]:
    return [
        ("use", found.words),
        ("run", found.run_id),
        ("says", found.organisation),
        ("signed", found.when),
    ]


def _verify_profile(file: LookedAt, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    found = read_profile(file.data)
    facts = [("organisation", found.name), ("signed", found.when)]
    facts += [(f"seen, {REQUIREMENTS[each.item].title}", each.words) for each in found.seen]
    facts += [
        (
            f"stated, {REQUIREMENTS[each.item].title}",
            f"{each.words} ({each.person}, {each.when[:10]})",
        )
        for each in found.stated
    ]
    words = "what was seen was seen by the organisation's own computer; only its signature can be checked"
    return ToldOfFile(
        facts,
        [Signer("organisation", found.by)],
        [signature_check(), CardCheck("seen", None, words)],
    )


def _verify_statement(file: LookedAt, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    found = read_record(file.data, SignedProfileStatement, "a statement", most=MOST_BYTES)
    if found.data() != file.data or not found.is_signed_by(found.by):
        raise FileError(
            FileProblem.DAMAGED, "The statement was changed after it was signed, or it is damaged."
        )
    facts = (
        ("requirement", REQUIREMENTS[found.item].title),
        ("stated", found.words),
        ("person", found.person),
    )
    return ToldOfFile(facts, [Signer("organisation", found.by)], [signature_check()])


KINDS: Final = (
    VerifiableKind("ownership", "a record of who owns a method", _verify_ownership, formats(OwnershipRecord)),
    VerifiableKind("use", "the record of a use of a method", _verify_use, formats(SignedUse)),
    VerifiableKind("profile", "the profile of an organisation", _verify_profile, formats(SignedProfile)),
    VerifiableKind("statement", "a statement of an organisation", _verify_statement, formats(SignedProfileStatement)),
)  # fmt: skip
