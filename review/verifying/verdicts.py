"""Verifying what comes of reviews (certificates, evidence, batches, ratings, cards of laptops, statements of witnesses), records
after a verdict, and what a submitter hands in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from corpora.text.messages import counted
from harness.card.checking.signed import KnownSigners
from harness.card.checking.verdict import CardCheck
from harness.card.checking.verify_card import check_hash
from harness.card.model import HASH_FIELD
from harness.card.reading import parse_object
from harness.consent.checks import Found, Verified, found
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals
from harness.core.failures import UsageError
from harness.leaderboard.official import verify_released
from harness.method.method_names import BUNDLE_SUFFIX
from harness.release.ledger_records import ReleasedCard
from harness.sealed.archive import read_signed_record
from harness.sealed.keys import Identity, Role, Signed, key_files, key_phrase
from harness.sealed.keys import verify as signed_by
from harness.sealed.sealing import AgeIdentity, Lock, recipients_in
from harness.sealed.stick import BATCH_SUFFIX, RATINGS_SUFFIX
from harness.sealed.strict_records import FileError, FileProblem, formats
from harness.store.withdrawn import entry_ids_of_run, known_run, now_standing
from harness.submission.bundle import SubmissionManifest, parse_submission
from review.files.batch import open_batch
from review.files.identities import Statement, read_laptop_card, read_statement
from review.files.manifests import EXPORT_SUFFIX, BatchManifest
from review.files.ratings import open_ratings
from review.office.results.certifying import (
    CERTIFICATE_SUFFIX,
    SIGNATURE_SUFFIX,
    NotInside,
    presented,
    read_signed_certificate,
)
from review.records.agreeing import with_kept
from review.records.ownership import OwnershipAction, OwnershipRecord, OwnershipTerms, Side, read_ownership
from review.records.profile import MOST_BYTES, REQUIREMENTS, SignedProfile, SignedProfileStatement, read_profile
from review.verdict.certificate.certificate import Certificate, read_certificate
from review.verdict.certificate.coarse import CoarseCertificate, read_coarse
from review.verdict.certificate.evidence import EVIDENCE_SUFFIX, Evidence, EvidenceFile, unpack_evidence
from review.verdict.certificate.signed import CertificateCheck
from review.verdict.certificate.verifying import coarse_signature, verify, verify_outside
from review.verdict.gate.verdict import GateOutcome
from review.verifying.kinds import (
    Signer,
    ToldOfFile,
    VerifiableKind,
    VerifiedAgainst,
    VerifiedFile,
    is_archive_called,
    read_verified_file,
    signature_check,
)

# ---- What comes of reviews ----

# ---- What notices that were imported here say of a certificate that is verified ----


def of_certificate(
    stated: Certificate | CoarseCertificate,
    evidence: Evidence | None,
    now: Withdrawals,
    run: tuple[CorpusFacts, Mapping[str, Any]] | None = None,
    ids: Iterable[object] | None = None,
) -> list[Found]:
    """Return what is believed here of its corpus, entries, method, people, and the key that signed it.

    ``run`` and ``ids``: what the store knows of its run, and the run's entries; a certificate alone names neither a method
    nor entries, and its evidence only those that people were asked about. A run is concerned whole.
    """
    label = stated.run.language_pair
    facts, setup = run or (CorpusFacts("", stated.run.dataset_id, language_pair=label), {})
    asked = () if evidence is None else (item.entry for item in evidence.key.items.values())
    about = Verified(
        facts,
        setup,
        ids=frozenset(map(str, (*asked, *(ids or ())))),
        names_all=ids is not None,
        keys=frozenset({stated.organisation.signing_key}),
        review=stated.review,
        people=None if evidence is None else frozenset(evidence.key.orders),
    )
    return found(about, now)


def _verify_certificate(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Compute a certificate's verdict again where its evidence is here; else look at its form and signature."""
    stated = read_certificate(file.data, file.path.name)
    if not _has_signature(file):
        checks = [_UNSIGNED, *_consents(stated, here)]
        return ToldOfFile(_of_run(stated), _issuer(stated), checks)
    given = _evidence(here)
    try:
        evidence_files = presented(file.path, given, here.home)
    except UsageError as error:
        _, signature = read_signed_certificate(file.path)
        holds = signed_by(stated.organisation.signing_key, file.data, signature)
        words = (
            "as the organisation that it names signed it"
            if holds
            else "that organisation did not sign it: it was changed"
        )
        left = CardCheck("verdict", None if given is None else False, str(error))
        checks = [CardCheck("signature", holds, words), left, *_consents(stated, here)]
        return ToldOfFile(_of_run(stated), _issuer(stated), checks)
    checks = [check for one in evidence_files.values() for check in _evidenced(one, here)]
    return ToldOfFile(_of_run(stated), _issuer(stated), list(dict.fromkeys(checks)))


def _verify_coarse(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Check a coarse certificate by what it follows from where that is here; else its form and signature."""
    coarse = read_coarse(file.data, file.path.name)
    facts, signer = _of_run(coarse)[:-1], _issuer(coarse)
    if not _has_signature(file):
        return ToldOfFile(facts, signer, [_UNSIGNED, *_consents(coarse, here)])
    signed = Signed(*read_signed_certificate(file.path))
    try:
        evidence_files = presented(file.path, _evidence(here), here.home)
    except NotInside:
        outside = _checks(verify_outside(signed, file.path.name)[1])
        return ToldOfFile(facts, signer, [*outside, *_consents(coarse, here)])
    checks = _checks([coarse_signature(coarse, signed)])
    checks += [check for one in evidence_files.values() for check in _evidenced(one, here)]
    return ToldOfFile(facts, signer, list(dict.fromkeys(checks)))


_UNSIGNED: Final = CardCheck(
    "signature", False, f"no signature (NAME{SIGNATURE_SUFFIX}) is next to it, so nothing shows that anybody issued it"
)


def _has_signature(file: VerifiedFile) -> bool:
    name = file.path.name.removesuffix(CERTIFICATE_SUFFIX).removesuffix(".json")
    return file.path.with_name(name + SIGNATURE_SUFFIX).is_file()


def _verify_evidence(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    evidence_file = unpack_evidence(file.data)
    stated = read_certificate(evidence_file.certificate, "the certificate in it")
    return ToldOfFile(_of_run(stated), _issuer(stated), list(_evidenced(evidence_file, here)))


def _evidenced(found: EvidenceFile, here: VerifiedAgainst) -> Iterator[CardCheck]:
    done = verify(found.certificate, found.signature, found.evidence, found.program, coarse=found.coarse)
    yield from _checks(done.every)
    yield from _consents(done.certificate, here, found.evidence)


def _consents(
    stated: Certificate | CoarseCertificate, here: VerifiedAgainst, evidence: Evidence | None = None
) -> Iterator[CardCheck]:
    for check in taken_back(here.connection, stated, evidence):
        yield CardCheck("consent", check.ok, check.words)


def taken_back(
    connection: sqlite3.Connection, stated: Certificate | CoarseCertificate, evidence: Evidence | None = None
) -> list[Found]:
    """Return what notices that are believed here say of a certificate, by its evidence and what the store knows of its run."""
    if not (now := now_standing()):
        return []
    run_id = stated.run.run_id
    run, ids = known_run(connection, run_id), entry_ids_of_run(connection, run_id)
    return of_certificate(stated, evidence, now, run, ids)


def _checks(found: tuple[CertificateCheck, ...] | list[CertificateCheck]) -> list[CardCheck]:
    return [CardCheck(check.name, check.ok, check.words) for check in found]


def _of_run(stated: Certificate | CoarseCertificate) -> list[tuple[str, str]]:
    return [
        ("review", stated.review),
        ("run", stated.run.run_id),
        ("outcome", str(stated.outcome)),
        ("issued", stated.issued),
        ("organisation", stated.organisation.name),
    ]


def _issuer(stated: Certificate | CoarseCertificate) -> list[Signer]:
    return [Signer("organisation", stated.organisation.signing_key)]


def _evidence(here: VerifiedAgainst) -> Path | None:
    evidence = next(here.among(lambda file: file.path.name.endswith(EVIDENCE_SUFFIX)), None)
    return None if evidence is None else evidence.path


def _verify_signature(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Verify the certificate beside which a signature lies."""
    beside = file.path.with_name(file.path.name.removesuffix(SIGNATURE_SUFFIX) + CERTIFICATE_SUFFIX)
    if len(file.data) != _SIGNATURE_BYTES or not beside.is_file():
        raise UsageError(
            f"{file.path.name} is the signature of a certificate, which is examined together with it: {beside.name} is not "
            "there, or this is no signature."
        )
    certificate = read_verified_file(beside)
    coarse = certificate.format.startswith("rosetta-coarse-certificate/")
    return (_verify_coarse if coarse else _verify_certificate)(certificate, here)


_SIGNATURE_BYTES: Final = 64


def _verify_batch(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    if file.lock is Lock.PASSPHRASE:
        raise FileError(
            FileProblem.LOCKED,
            f"{file.path.name} is a batch that is sealed with the words on a reviewer's card, so nothing in it can be examined "
            "here. Anyone who has the words can check it against its certificate: rosetta review verify CERTIFICATE --batch FILE",
        )
    batch = open_batch(file.data, own_ages(here.home))
    manifest = batch.manifest
    facts = (
        ("review", manifest.review),
        ("items", f"{len(batch.items):,}"),
        ("organisation", manifest.organisation.name),
    )
    return ToldOfFile(facts, [Signer("organisation", manifest.signer)], [signature_check()])


def _verify_sealed(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:
    """Open a file that is sealed for keys with those of this computer, and verify what it is by its name."""
    name, ages = file.path.name.casefold(), own_ages(here.home)
    if name.endswith(BATCH_SUFFIX):
        return _verify_batch(file, here)
    if name.endswith(RATINGS_SUFFIX):
        ratings = open_ratings(file.data, ages)
        facts = (("events", f"{len(ratings.lines):,}"), ("batch", ratings.manifest.batch))
        rated = []
        for beside in here.among(lambda verified: verified.path.name.casefold().endswith(BATCH_SUFFIX)):
            right = open_batch(beside.data, ages).sha256 == ratings.manifest.batch_sha256
            words = f"they are ratings of {'this' if right else 'another'} batch"
            rated.append(CardCheck("batch", right, words))
        signer = [Signer("laptop", ratings.manifest.signer)]
        return ToldOfFile(facts, signer, [signature_check(), *rated])
    kind = "an export of a review" if name.endswith(EXPORT_SUFFIX) else "a file"
    how = "a passphrase" if file.lock is Lock.PASSPHRASE else counted(recipients_in(file.data), "key")
    raise FileError(
        FileProblem.LOCKED,
        f"{file.path.name} is {kind} that is sealed for {how}: who signed what is in it can be seen by anyone who opens it.",
    )


def own_ages(home: Path) -> list[AgeIdentity]:
    """Return what opens files that are sealed for this computer; keys are read and none made."""
    there = [role for role in Role if any(key_file.exists() for key_file in key_files(home, role))]
    return [Identity.load(home, role).age for role in there]


def _verify_laptop(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    card = read_laptop_card(file.data)
    signer = [Signer("laptop", card.public.signing_key)]
    return ToldOfFile((("laptop", card.name),), signer, [signature_check()])


def _verify_statement(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    statement = read_statement(file.data)
    facts = (("says", statement.says), ("laptop", statement.laptop[:16]))
    return ToldOfFile(facts, [Signer("witness", statement.witness)], [signature_check()])


# ---- Records after a verdict ----


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


def _verify_profile_statement(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
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
    VerifiableKind("certificate", "the certificate of a verdict", _verify_certificate, formats(Certificate)),
    VerifiableKind("coarse-certificate", "the coarse certificate of a verdict on secret entries", _verify_coarse, formats(CoarseCertificate)),
    VerifiableKind("batch", "a batch of a review", _verify_batch, formats(BatchManifest), is_archive_called(BATCH_SUFFIX)),
    VerifiableKind("laptop", "the card of a laptop", _verify_laptop, ("rosetta-laptop/1",)),
    VerifiableKind("witness", "the statement of a witness", _verify_statement, formats(Statement)),
    VerifiableKind("evidence", "the evidence of a certificate", _verify_evidence, fits=lambda file: is_archive_called(EVIDENCE_SUFFIX)(file) or file.members.keys() >= {"certificate.json", "certificate.sig", "events.jsonl"}),
    VerifiableKind("sealed", "a sealed file", _verify_sealed, fits=lambda file: file.lock is not None),
    VerifiableKind("certificate-signature", "the signature of a certificate", _verify_signature, fits=lambda file: file.path.name.endswith(SIGNATURE_SUFFIX)),
    VerifiableKind("submission", "a method that was handed in", _verify_submission, formats(SubmissionManifest), is_archive_called(BUNDLE_SUFFIX)),
    VerifiableKind("ownership", "a record of who owns a method", _verify_ownership, formats(OwnershipRecord)),
    VerifiableKind("profile", "the profile of an organisation", _verify_profile, formats(SignedProfile)),
    VerifiableKind("statement", "a statement of an organisation", _verify_profile_statement, formats(SignedProfileStatement)),
)  # fmt: skip
