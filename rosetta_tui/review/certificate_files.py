"""A certificate in all its forms, as files with one name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from review.verdict.evidence_file import EvidenceFile


def file_name(review: str, run_id: str) -> str:
    """Give the name that the files of a certificate share, without their endings."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', review).strip('-') or 'review'}-{run_id[:8]}"


def taken_names(folder: Path, name: str) -> list[str]:
    """Give the files of this name that are there: to be asked before a certificate is issued."""
    return sorted(path.name for path in folder.glob(f"{name}.*")) if folder.is_dir() else []


def write_certificate(presented: EvidenceFile, folder: Path, name: str) -> Sequence[Path]:
    """Write a certificate in its forms, its signature and its evidence; what bears their names is replaced."""
    from harness.card.exporting import write_file
    from review.office.presenting import CERTIFICATE_SUFFIX, SIGNATURE_SUFFIX
    from review.verdict.certificate import read_certificate
    from review.verdict.certificate_html import certificate_html
    from review.verdict.certificate_text import certificate_text
    from review.verdict.evidence_file import EVIDENCE_SUFFIX, pack_evidence
    from rosetta_tui.review.out_folder import make_folder

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
        write_file(paths[suffix], content, overwrite=True)
    return list(paths.values())
