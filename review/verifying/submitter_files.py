"""Verifying records after a verdict, and what a submitter hands in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.card.checking.signed import KnownSigners
from harness.card.checking.verdict import CardCheck
from harness.card.checking.verify_card import check_hash
from harness.card.model import HASH_FIELD
from harness.card.reading import parse_object
from harness.leaderboard.official import verify_released
from harness.method.method_names import BUNDLE_SUFFIX
from harness.release.ledger_records import ReleasedCard
from harness.sealed.archive import read_signed_record
from harness.sealed.keys import key_phrase
from harness.sealed.keys import verify as signed_by
from harness.sealed.strict_records import formats
from harness.submission.bundle import SubmissionManifest, parse_submission
from review.office.results.certifying import read_signed_certificate
from review.records.agreeing import with_kept
from review.records.ownership import OwnershipAction, OwnershipRecord, OwnershipTerms, Side, read_ownership
from review.records.profile import MOST_BYTES, REQUIREMENTS, SignedProfile, SignedProfileStatement, read_profile
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.coarse import read_coarse
from review.verdict.gate.verdict import GateOutcome
from review.verifying.kinds import (
    Signer,
    ToldOfFile,
    VerifiableKind,
    VerifiedAgainst,
    VerifiedFile,
    is_archive_called,
    signature_check,
)


def _verify_ownership(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Verify a record of ownership on its own, by what is known of it here, and against card and certificate that were named."""
    stated = read_ownership(file.data)
    ownership_record = with_kept(here.connection, stated)
    terms = ownership_record.terms
    words = f"{ownership_record.state}; each word is signed over these terms by the side that it is of"
    checks = [signature_check(words)]
    if ownership_record.ended:
        checks.append(CardCheck("standing", False, f"it was {ownership_record.state}: it has no effect any more"))
    if ownership_record != stated:
        checks.append(
            CardCheck("newest words", False, "more is known of it here than this file says: it is an older copy")
        )
    facts = (
        ("method", terms.method),
        ("run", terms.run_id),
        ("organisation", f"{terms.organisation.name}, {terms.organisation_share} %"),
        ("developer", f"{terms.developer.name}, {terms.developer_share} %"),
        ("state", str(ownership_record.state)),
    )
    against = _against(terms, here)
    # Sides that signed a word of a record; one that only is in its terms did not.
    spoke = {act.by for act in stated.acts}
    parties = ((side, stated.terms.party(side).signing_key) for side in Side)
    speakers = [Signer(str(side), key) for side, key in parties if key in spoke]
    unsigned = [
        CardCheck(str(side), None, f"{party.name} did not agree: no signature of theirs under the terms is in it")
        for side, party in ((side, stated.terms.party(side)) for side in Side)
        if side not in stated.said(OwnershipAction.SIGNED)
    ]
    return ToldOfFile(facts, speakers, [*checks, *unsigned, *against])


def _against(terms: OwnershipTerms, here: VerifiedAgainst) -> Iterator[CardCheck]:
    """Compare the card and the certificate that the terms name with those that were given."""
    cards = list(here.among(lambda file: bool(file.stated.get(HASH_FIELD))))
    certificates = list(here.among(lambda file: "certificate/" in file.format))
    if not cards:
        yield CardCheck("card", None, f"add --with CARD, to see whether it has the hash {terms.card[:16]}…")
    for card in cards:
        yield _card(terms.card, card)
    if not certificates:
        yield CardCheck(
            "certificate", None, f"add --with CERTIFICATE, to see whether its SHA-256 is {terms.certificate[:16]}…"
        )
    for certificate in certificates:
        yield _certificate(terms, certificate)


def _card(named: str, file: VerifiedFile) -> CardCheck:
    """Compare the hash of a card that a record names with a card, whose hash must be its own, or a released one as it was signed."""
    if file.stated.get(HASH_FIELD) != named:
        return CardCheck("card", False, "it is about another card than the one named")
    if file.format not in formats(ReleasedCard):
        whole = check_hash(parse_object(file.data, file.path.name))
        return CardCheck("card", whole.ok, "it is about this card" if whole.ok else whole.words)
    card_verdict = verify_released(file.data, KnownSigners())
    assert card_verdict is not None  # noqa: S101  its form says so
    if not card_verdict.ok:
        wrong = "; ".join(check.words for check in card_verdict.checks if check.ok is False)
        return CardCheck("card", False, f"the released card that was named does not hold: {wrong}")
    phrase = key_phrase(str(file.stated.get("by")))
    words = f"it is about this card, which was released by the key with the six words: {phrase}"
    return CardCheck("card", True, words)


def _certificate(terms: OwnershipTerms, file: VerifiedFile) -> CardCheck:
    """Compare a record with the certificate that it names: of this run and card, with go, by the same organisation."""
    coarse = file.format.startswith("rosetta-coarse-certificate/")
    stated = (read_coarse if coarse else read_certificate)(file.data, file.path.name)
    key = stated.organisation.signing_key
    _, signature = read_signed_certificate(file.path)
    wrong = {
        "another certificate than the one that the record names": stated.sha256 == terms.certificate,
        "not signed by the organisation that it names": signed_by(key, file.data, signature),
        "of another organisation's key than the record": key == terms.organisation.signing_key,
        "about another card": stated.run.run_card_hash == terms.card,
        "no go": stated.outcome is GateOutcome.GO,
        "not of a confirmed run": getattr(stated, "confirmation", "confirmed") == "confirmed",
    }
    faults = [words for words, right in wrong.items() if not right]
    words = f"the certificate is {'; '.join(faults)}" if faults else "go, by the same organisation, about the same card"
    return CardCheck("certificate", not faults, words)


def _verify_profile(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    profile = read_profile(file.data)
    facts = [("organisation", profile.name), ("signed", profile.when)]
    facts += [(f"seen, {REQUIREMENTS[here.item].title}", here.words) for here in profile.seen]
    facts += [
        (f"stated, {REQUIREMENTS[s.item].title}", f"{s.words} ({s.person}, {s.when[:10]})") for s in profile.stated
    ]
    words = "what was seen was seen by the organisation's own computer; only its signature can be checked"
    return ToldOfFile(facts, [Signer("organisation", profile.by)], [signature_check(), CardCheck("seen", None, words)])


def _verify_statement(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    most, name = MOST_BYTES, "the statement of an organisation"
    signed_record = read_signed_record(file.data, SignedProfileStatement, name, most=most, end=b"\n")
    facts = (
        ("requirement", REQUIREMENTS[signed_record.item].title),
        ("stated", signed_record.words),
        ("person", signed_record.person),
    )
    return ToldOfFile(facts, [Signer("organisation", signed_record.by)], [signature_check()])


# ---- Verifying what a submitter hands in: the bundle's signature, the hash of each member, and
# that nothing is in it that may not be.


def _verify_submission(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    """Verify a bundle; nothing of it is run."""
    submission = parse_submission(file.data)
    manifest = submission.manifest
    terms = "not accepted" if manifest.terms is None else f"{manifest.terms.sha256}, by {manifest.terms.by}"
    facts = (
        ("method", f"{manifest.name} {manifest.release}"),
        ("submitter", manifest.submitter),
        ("languages", f"{manifest.source_language} → {manifest.target_language}"),
        ("licence", manifest.licence),
        ("packed", manifest.packed),
        ("terms", terms),
        ("sha256", submission.sha256),
    )
    words = "whether every part is there, `rosetta submission check` says"
    checks = [
        signature_check("every member is the one that was signed, and none of them is forbidden"),
        CardCheck("parts", None, words),
    ]
    return ToldOfFile(facts, [Signer("submitter", manifest.signer)], checks)


KINDS: Final = (
    VerifiableKind(
        "submission",
        "a method that was handed in",
        _verify_submission,
        formats(SubmissionManifest),
        is_archive_called(BUNDLE_SUFFIX),
    ),
    VerifiableKind("ownership", "a record of who owns a method", _verify_ownership, formats(OwnershipRecord)),
    VerifiableKind("profile", "the profile of an organisation", _verify_profile, formats(SignedProfile)),
    VerifiableKind("statement", "a statement of an organisation", _verify_statement, formats(SignedProfileStatement)),
)  # fmt: skip
