"""Finding what belongs to a certificate that somebody names: its signature, and evidence to check it with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.core.failures import UsageError
from review.office.results.certifying import review_evidence
from review.office.store.database import FILE
from review.office.store.store import Office
from review.verdict.certificate.certificate import MOST_BYTES, read_certificate
from review.verdict.certificate.evidence import Evidence
from review.verdict.certificate.evidence_file import (
    EVIDENCE_SUFFIX,
    EvidenceFile,
    read_evidence_file,
)

CERTIFICATE_SUFFIX = ".certificate.json"
SIGNATURE_SUFFIX = ".certificate.sig"


def present(path: Path, evidence: Path | None, folder: Path) -> EvidenceFile:
    """Return a certificate with signature and the evidence that counts most: the first of ``presented``."""
    return next(iter(presented(path, evidence, folder).values()))


def presented(path: Path, evidence: Path | None, folder: Path) -> dict[str, EvidenceFile]:
    """Return a certificate with each evidence that is there, by where it is: what is named is the only one.

    Else what the office in ``folder`` keeps, which knows what was withdrawn since, and then what lies beside the
    certificate. ``path`` is an evidence file or a certificate beside its signature. Raises UsageError where
    something is missing.
    """
    if path.name.endswith(EVIDENCE_SUFFIX):
        return {path.name: read_evidence_file(path)}
    certificate, signature = _read(path), _read(_beside(path, SIGNATURE_SUFFIX))
    beside = _beside(path, EVIDENCE_SUFFIX)
    if evidence is not None:
        found = {evidence.name: read_evidence_file(evidence)}
    else:
        kept = _of_office(certificate, path.name, folder)
        found = {} if kept is None else {"this machine's office": EvidenceFile(b"", b"", kept)}
        if beside.exists():
            found[beside.name] = read_evidence_file(beside)
    if not found:
        raise UsageError(
            f"There is no evidence for {path.name}: neither in this machine's office nor beside it. "
            f"Name the {EVIDENCE_SUFFIX} file with --evidence."
        )
    return {
        place: replace(each, certificate=certificate, signature=signature)
        for place, each in found.items()
    }


def _beside(path: Path, suffix: str) -> Path:
    name = path.name
    for ours in (CERTIFICATE_SUFFIX, ".certificate.txt", ".certificate.html", ".json"):
        name = name.removesuffix(ours)
    return path.with_name(name + suffix)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}. A certificate NAME{CERTIFICATE_SUFFIX} needs its signature "
            f"NAME{SIGNATURE_SUFFIX} beside it."
        ) from None


def _of_office(certificate: bytes, name: str, folder: Path) -> Evidence | None:
    stated = read_certificate(certificate, name)
    if not (folder / FILE).exists():
        return None
    with Office.open(folder) as office:
        for batch in stated.batches:
            review = office.review_of_batch(batch)
            if review is not None:
                signer = stated.organisation.signing_key
                return review_evidence(office, review, signer, even_if_changed=True)
    return None
