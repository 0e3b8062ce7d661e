"""Verifying what comes of reviews: certificates, evidence, batches, ratings, cards of laptops, statements of witnesses."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from corpora.text.messages import counted
from harness.card.checking.verdict import CardCheck
from harness.consent.checks import Found, Verified, found
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role, Signed, key_files
from harness.sealed.keys import verify as signed_by
from harness.sealed.sealing import AgeIdentity, Lock, recipients_in
from harness.sealed.stick import BATCH_SUFFIX, RATINGS_SUFFIX
from harness.sealed.strict_records import FileError, FileProblem, formats
from harness.store.withdrawn import entry_ids_of_run, known_run, now_standing
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
from review.verdict.certificate.certificate import Certificate, read_certificate
from review.verdict.certificate.coarse import CoarseCertificate, read_coarse
from review.verdict.certificate.evidence import EVIDENCE_SUFFIX, Evidence, EvidenceFile, unpack_evidence
from review.verdict.certificate.signed import CertificateCheck
from review.verdict.certificate.verifying import coarse_signature, verify, verify_outside
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


KINDS: Final = (
    VerifiableKind("certificate", "the certificate of a verdict", _verify_certificate, formats(Certificate)),
    VerifiableKind("coarse-certificate", "the coarse certificate of a verdict on secret entries", _verify_coarse, formats(CoarseCertificate)),
    VerifiableKind("batch", "a batch of a review", _verify_batch, formats(BatchManifest), is_archive_called(BATCH_SUFFIX)),
    VerifiableKind("laptop", "the card of a laptop", _verify_laptop, ("rosetta-laptop/1",)),
    VerifiableKind("witness", "the statement of a witness", _verify_statement, formats(Statement)),
    VerifiableKind("evidence", "the evidence of a certificate", _verify_evidence, fits=lambda file: is_archive_called(EVIDENCE_SUFFIX)(file) or file.members.keys() >= {"certificate.json", "certificate.sig", "events.jsonl"}),
    VerifiableKind("sealed", "a sealed file", _verify_sealed, fits=lambda file: file.lock is not None),
    VerifiableKind("certificate-signature", "the signature of a certificate", _verify_signature, fits=lambda file: file.path.name.endswith(SIGNATURE_SUFFIX)),
)  # fmt: skip
