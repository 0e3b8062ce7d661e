"""What leaves of a verdict on secret entries: a coarse certificate, counted in the release ledger.

The certificate itself, and the evidence with every single rating, stay in the office. Both leave only by a command that
says so (``rosetta review export --inside``), and no exchange folder takes them.
"""

from __future__ import annotations

from pathlib import Path

from harness.core.failures import HarnessError
from harness.release.budget import History
from harness.release.certified import (
    CertificateAnswer,
    Written,
    certificate_question,
    last_certificate,
    tell_certificate,
)
from harness.release.confirmation import ACTIVATE, why_unconfirmed
from harness.release.ledger import FOLDER, LEDGER, ReleaseLedger, own_ledger
from harness.release.records import CertificateTold, Confirmation, InLedger
from harness.sealed.keys import Identity
from harness.sealed.signature import Signed
from review.office.store.store import IssuedCertificate, Office, Review
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.certify import read_verdict
from review.verdict.certificate.coarse import (
    CoarseCertificate,
    coarse_of,
    read_coarse,
    same_numbers,
)
from review.verdict.certificate.evidence import EvidenceFile


def tell(office: Office, made: EvidenceFile, identity: Identity) -> Signed:
    """Return the coarse certificate of one that was just issued; NotReleased in words where nothing may be told."""
    exact = read_certificate(made.certificate, "the certificate")
    ledger = _ledger(office)
    reading = read_verdict(made.evidence, exact.run.run_id)
    counted = {who: reading.panel.ratings.get(who, {}) for who in reading.verdict.numbers.reviewers}
    asked = certificate_question(
        exact.run.run_id, exact.run.dataset_id, counted, reading.panel.strata, ledger.digest
    )

    def make(answer: CertificateAnswer, place: InLedger, confirmation: Confirmation) -> Written:
        coarse_certificate = coarse_of(
            exact,
            [tag for _, tag in answer.parts],
            issued=answer.issued,
            supersedes=answer.supersedes,
            answer=answer.number,
            of=answer.of,
            place=place,
            confirmation=confirmation,
        )
        return coarse_certificate.as_bytes().decode(), identity.sign(
            coarse_certificate.as_bytes()
        ).hex()

    def same(told: CertificateTold) -> bool:
        return same_numbers(_read(told), exact)

    return _signed(tell_certificate(ledger, asked, make, same))


def told_of(office: Office, run_id: str) -> Signed | None:
    """Return the coarse certificate of a run that was released last; None where none was."""
    certificate_told = last_certificate(_ledger(office).read(), run_id)
    return None if certificate_told is None else _signed(certificate_told)


def require_confirmed(run_id: str, home: Path) -> None:
    """Raise HarnessError if by this computer's ledger no claim may rest on a run over secret entries; it says what to do."""
    there = (home / FOLDER / LEDGER).is_file()
    if why := why_unconfirmed(own_ledger(home).read() if there else History(), run_id):
        raise HarnessError(f"Nothing is claimed by run {run_id[:8]}: it is not confirmed, because {why}. {ACTIVATE}")  # fmt: skip


def told_instead(office: Office, issued: IssuedCertificate) -> Signed | None:
    """Return the coarse certificate that says of a run what one that stays inside says; None where it was not told."""
    signed = told_of(office, issued.run_id)
    exact = read_certificate(issued.certificate, "the certificate")
    if signed is None or not same_numbers(read_coarse(signed.content, "it"), exact):
        return None
    return signed


def exact_of(office: Office, review: Review, coarse: CoarseCertificate) -> Signed | None:
    """Return the certificate that stayed inside, of which a coarse one is; None where this office has not issued it."""
    for certificate in office.certificates(review):
        signed = Signed(certificate.certificate, certificate.signature)
        if signed.sha256 == coarse.exact:
            return signed
    return None


def _ledger(office: Office) -> ReleaseLedger:
    return own_ledger(office.path.parent)


def _signed(told: CertificateTold) -> Signed:
    return Signed(told.certificate.encode(), bytes.fromhex(told.signature))


def _read(told: CertificateTold) -> CoarseCertificate:
    return read_coarse(told.certificate.encode(), "the certificate in the ledger")
