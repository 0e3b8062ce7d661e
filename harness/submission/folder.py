"""A submission as its maker writes it: a folder with submission.toml, card.json, README.md, and code/ or data/ and wheels/."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from corpora.files.toml_text import parse_toml
from harness.core.failures import UsageError
from harness.core.problems import first_problem
from harness.core.user_file import read_bytes, read_text
from harness.core.version import VERSION
from harness.sealed.keys import Identity
from harness.sealed.strict_records import Short, StrictRecord
from harness.submission.bundle import RefusedBundle, pack_submission
from harness.submission.carried_card import carried_card
from harness.submission.manifest import (
    AcceptedTerms,
    CostReport,
    DevelopmentUse,
    Lane,
    Name,
    SubmissionManifest,
)
from harness.submission.members import (
    CARD,
    MOST_BYTES,
    README,
    SHEET,
    MemberKind,
    in_folder,
    member_problems,
)

_MOST_TERMS: Final = 2**20
_MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"
_LEFT_OUT: Final = ("__pycache__",)
"""Folders that tools make and nobody hands in."""


class SubmissionSheet(StrictRecord):
    """What ``submission.toml`` says."""

    name: Name
    release: Short = "1"
    submitter: Name
    licence: Name
    method: Lane
    costs: CostReport
    development: Annotated[tuple[DevelopmentUse, ...], Field(min_length=1, max_length=50)]


def read_sheet(folder: Path) -> SubmissionSheet:
    """Read ``submission.toml``; raises UsageError that names file, field and fix."""
    path = folder / SHEET
    if not folder.is_dir():
        raise UsageError(f"{folder}: no folder. Name that of the method, with {SHEET} in it; `rosetta submission demo` writes one.")  # fmt: skip
    text, _ = read_text(path, "what a submission says of itself", 2**20)
    try:
        stated = parse_toml(text)
    except ValueError as error:
        raise UsageError(f"{path}: not valid TOML: {error}. Correct it.") from None
    try:
        return SubmissionSheet.model_validate(_tuples(stated))
    except ValidationError as error:
        problem = first_problem(error, text)
        raise UsageError(f"{path}: {problem} docs/submissions.md shows one.") from None


def _tuples(read: Mapping[str, object]) -> dict[str, object]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in read.items()
    }


def read_members(folder: Path) -> dict[str, bytes]:
    """Read what of a folder goes into the bundle; raises RefusedBundle that names what may not."""
    try:
        found_members = [
            found_member
            for found_member in in_folder(folder)
            if found_member.path != SHEET and not _made(found_member.path)
        ]
    except OSError as error:
        raise UsageError(f"{folder} cannot be read ({error.strerror}). Name a folder.") from None
    if problems := member_problems(found_members):
        raise RefusedBundle(problems, "This cannot be packed")
    return {
        found_member.path: read_bytes(
            folder / found_member.path, "a part of a submission", MOST_BYTES
        )
        for found_member in found_members
        if found_member.kind is MemberKind.FILE
    }


def _made(path: str) -> bool:
    return any(part in _LEFT_OUT for part in path.split("/"))


def accepted(terms: Path, by: str, now: datetime) -> AcceptedTerms:
    """Return that somebody agreed to the terms in a file, which are known by their bytes."""
    return AcceptedTerms(sha256=terms_sha256(terms), by=by, when=now.strftime(_MOMENT))


def terms_sha256(terms: Path) -> str:
    """Return the SHA-256 of a file of terms; raises UsageError where it cannot be read."""
    return hashlib.sha256(read_bytes(terms, "the terms", _MOST_TERMS)).hexdigest()


def pack_folder(
    folder: Path, identity: Identity, card: bytes | None = None, terms: Path | None = None
) -> bytes:
    """Return the signed bundle of a folder; ``card``: a run card in place of the folder's own.

    ``terms``: the organisation's, which the submitter accepts with it. Raises UsageError and RefusedBundle in words.
    """
    sheet, members = read_sheet(folder), read_members(folder)
    if card is not None:
        members[CARD] = card
    if lacking := [name for name in (CARD, README) if name not in members]:
        raise RefusedBundle([f"{name}: missing." for name in lacking], "This cannot be packed")
    stated = carried_card(members[CARD])
    now = datetime.now(UTC)
    manifest = SubmissionManifest(
        **dict(sheet),
        source_language=stated.dataset.source_language or "und",
        target_language=stated.dataset.target_language or "und",
        terms=None if terms is None else accepted(terms, sheet.submitter, now),
        rosetta=VERSION,
        packed=now.strftime(_MOMENT),
        by=identity.public.signing_key,
        members={},
    )
    return pack_submission(manifest, members, identity)
