"""Verifying what a submitter hands in: the bundle's signature, the hash of each member, and that nothing is in it that may not be."""

from __future__ import annotations

from typing import Final

from harness.card.checking.verdict import CardCheck
from harness.method.shipped import BUNDLE_SUFFIX
from harness.sealed.strict_records import formats
from harness.submission.bundle import parse_submission
from harness.submission.manifest import SubmissionManifest
from review.verifying.kinds import (
    Signer,
    ToldOfFile,
    VerifiableKind,
    VerifiedAgainst,
    VerifiedFile,
    is_archive_called,
    signature_check,
)


def _verify_submission(file: VerifiedFile, here: VerifiedAgainst) -> ToldOfFile:  # noqa: ARG001
    """Verify a bundle; nothing of it is run."""
    submission = parse_submission(file.data)
    manifest = submission.manifest
    terms = (
        "not accepted"
        if manifest.terms is None
        else f"{manifest.terms.sha256}, by {manifest.terms.by}"
    )
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
)
