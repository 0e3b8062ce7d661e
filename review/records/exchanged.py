"""The records and files that computers hand to each other by a stick, with who reads each."""

from __future__ import annotations

from typing import Final

from harness.core.failures import UsageError
from harness.exchange.manifest import FileKind
from harness.method.method_names import BUNDLE_SUFFIX
from harness.sealed.sealing import Lock, lock_of
from harness.sealed.stick import BATCH_SUFFIX, RATINGS_SUFFIX
from harness.sealed.strict_records import FileError, FileProblem
from harness.submission.bundle import parse_submission
from harness.submission.members import MOST_BYTES
from review.files.batch import open_batch
from review.files.identities import SUFFIX as LAPTOP_SUFFIX
from review.files.identities import WITNESS_SUFFIX, read_laptop_card, read_statement
from review.files.manifests import EXPORT_SUFFIX
from review.office.results.certifying import CERTIFICATE_SUFFIX, SIGNATURE_SUFFIX
from review.records import ownership, profile
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.coarse import EXACT_STAYS, over_secret, refuse_exact
from review.verdict.certificate.evidence import EVIDENCE_SUFFIX, unpack_evidence

# ---- The files of reviews, and submissions, that computers hand to each other by a stick, with
# who reads each as far as it goes without keys.


def check_batch(data: bytes) -> None:
    """Raise FileError for what is no batch; one that is sealed is examined by anyone who opens it."""
    if lock_of(data) is None:
        open_batch(data)


def check_sealed(data: bytes) -> None:
    """Raise FileError for what is not sealed for keys, as ratings and exports of a review always are."""
    if lock_of(data) is not Lock.KEYS:
        raise FileError(
            FileProblem.NOT_OURS,
            "This is not sealed for anybody's keys, so it is not what its name says. Take the file as Rosetta wrote it.",
        )


def check_evidence(data: bytes) -> None:
    """Raise UsageError for what is no evidence, and for evidence of secret entries, which stays inside."""
    evidence_file = unpack_evidence(data)
    if over_secret(read_certificate(evidence_file.certificate, "this certificate"), evidence_file.evidence):
        raise UsageError(EXACT_STAYS)


def check_signature(data: bytes) -> None:
    """Raise FileError for what is no signature of a certificate; whether it fits, verifying tells."""
    if len(data) != _SIGNATURE_BYTES:
        raise FileError(
            FileProblem.NOT_OURS, f"A certificate's signature has {_SIGNATURE_BYTES} bytes, and this has {len(data):,}."
        )


_SIGNATURE_BYTES: Final = 64
_SMALL: Final = 4096
_CERTIFICATE: Final = 4 * 2**20


KINDS: Final = (
    FileKind(BATCH_SUFFIX, "a batch to rate", check_batch, "rosetta review open FILE"),
    FileKind(RATINGS_SUFFIX, "ratings of a review", check_sealed, "rosetta review import FILE"),
    FileKind(EXPORT_SUFFIX, "what a review exported, sealed", check_sealed, "keep it; its recipients open it"),
    FileKind(LAPTOP_SUFFIX, "the card of a laptop", read_laptop_card, "rosetta review enrol FILE", _SMALL),
    FileKind(WITNESS_SUFFIX, "the statement of a witness", read_statement, "rosetta review enrol FILE", _SMALL),
    FileKind(CERTIFICATE_SUFFIX, "the certificate of a run", refuse_exact, "rosetta review attach FILE", _CERTIFICATE, SIGNATURE_SUFFIX),
    FileKind(SIGNATURE_SUFFIX, "the signature of a certificate", check_signature, "is next to its certificate", _SMALL),
    FileKind(EVIDENCE_SUFFIX, "the evidence of a certificate", check_evidence, "rosetta review verify FILE"),
    FileKind(BUNDLE_SUFFIX, "a submission", parse_submission, "rosetta submission check FILE", MOST_BYTES),
    FileKind(ownership.SUFFIX, "a record of ownership", ownership.read_ownership, "rosetta community take FILE", ownership.MOST_BYTES),
    FileKind(profile.SUFFIX, "the profile of an organisation", profile.read_profile, "rosetta verify FILE", profile.MOST_BYTES),
)  # fmt: skip
