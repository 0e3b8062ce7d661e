"""A certificate in all its forms, as files with one name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.failures import UsageError
from rosetta_tui.review.organiser.handing.out_folder import make_folder

if TYPE_CHECKING:
    from review.office.store.store import Office, Review
    from review.sealed.keys import Identity
    from review.verdict.certificate.evidence_file import EvidenceFile


def file_name(review: str, run_id: str) -> str:
    """Return the name that the files of a certificate share, without their endings."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', review).strip('-') or 'review'}-{run_id[:8]}"


def taken_names(folder: Path, name: str) -> list[str]:
    """Return the files of this name that are there: to be asked before a certificate is issued."""
    return sorted(path.name for path in folder.glob(f"{name}.*")) if folder.is_dir() else []


def issue_files(
    office: Office,
    review: Review,
    runs: Sequence[str],
    identity: Identity,
    folder: Path,
    *,
    overwrite: bool = False,
) -> Iterator[tuple[EvidenceFile, Sequence[Path]]]:
    """Issue a certificate for each of some runs, and write its files; what is refused leaves nothing behind.

    HarnessError where one of the runs has too few ratings, UsageError where files of that name are there.
    """
    from review.office.making.second_look import require_flags_decided
    from review.office.results.certifying import issue, review_evidence
    from review.verdict.certificate.certify import read_verdict, require_enough

    require_flags_decided(office, review)
    evidence = review_evidence(office, review, identity.public.signing_key)
    for run in runs:
        require_enough(read_verdict(evidence, run))
        taken = taken_names(folder, file_name(review.name, run))
        if taken and not overwrite:
            raise UsageError(
                f"{taken[0]} is there already. Choose another folder; on the command line -o names it, "
                "and --overwrite replaces what is there."
            )
    make_folder(folder)
    for run in runs:
        made = issue(office, review, run, evidence, identity)
        evidence = made.evidence
        yield made, write_certificate(made, folder, file_name(review.name, run))


def write_certificate(presented: EvidenceFile, folder: Path, name: str) -> Sequence[Path]:
    """Write a certificate in its forms, its signature and its evidence, for everybody to read; what bears their names is replaced."""
    from harness.core.written_files import PUBLISHED, write_file
    from review.office.results.presenting import CERTIFICATE_SUFFIX, SIGNATURE_SUFFIX
    from review.verdict.certificate.certificate import read_certificate
    from review.verdict.certificate.certificate_html import certificate_html
    from review.verdict.certificate.certificate_text import certificate_text
    from review.verdict.certificate.evidence_file import EVIDENCE_SUFFIX, pack_evidence

    certificate = read_certificate(presented.certificate, "the certificate")
    files = {
        CERTIFICATE_SUFFIX: presented.certificate,
        SIGNATURE_SUFFIX: presented.signature,
        ".certificate.txt": certificate_text(certificate).encode(),
        ".certificate.html": certificate_html(certificate).encode(),
        EVIDENCE_SUFFIX: pack_evidence(
            presented.certificate, presented.signature, presented.evidence
        ),
    }
    make_folder(folder)
    paths = {suffix: folder / f"{name}{suffix}" for suffix in files}
    for suffix, content in files.items():
        write_file(paths[suffix], content, overwrite=True, mode=PUBLISHED)
    return list(paths.values())
