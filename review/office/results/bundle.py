"""Everything of a review for the governance organisation: one file, signed, and sealed for its recipients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from harness.card.canonical import canonical_bytes
from review.files.export_form import EXPORT_SUFFIX, ExportManifest
from review.files.signed_archive import pack_signed
from review.office.results.rating_rows import rating_rows, ratings_csv
from review.office.store.store import Office, Review
from review.sealed.keys import Identity
from review.sealed.sealing import seal
from review.sealed.signature import public_pem
from review.verdict.certificate.evidence import events_bytes

_README: Final = """\
{review}

Everything that this review consists of. It holds what people said, with their comments: please keep it
as you would keep their letters.

answer-key.json          which translation came from which run, and which were test translations
policy.toml              by which rule the verdict was found
events.jsonl             everything that reviewers and the organisation did, one event a line
ratings.csv              the ratings as a table, people as letters
run-N-card.json          the run card of the N-th run
run-N.rosetta-evidence   its certificate, with all that the verdict rests on and a program that checks it
run-N-page.html          the result in plain words

What of these is missing was not there: a certificate, for instance, that was not issued yet.
manifest.json names the SHA-256 of each, and is signed with this key:
{pem}
openssl pkeyutl -verify -rawin -pubin -inkey KEY.pem -in manifest.json -sigfile manifest.sig
"""


@dataclass(frozen=True)
class OfRun:
    """What there is about one run."""

    card: bytes | None = field(default=None, repr=False)
    """Its run card as exported: entries of secret segments without texts."""
    evidence: bytes | None = field(default=None, repr=False)
    """The evidence file of its newest certificate."""
    page: str | None = field(default=None, repr=False)
    """The page for the speakers."""


def bundle_name(review: Review) -> str:
    """Return the file's name."""
    return f"{review.name}{EXPORT_SUFFIX}"


def governance_bundle(
    office: Office,
    review: Review,
    of_runs: Mapping[str, OfRun],
    identity: Identity,
    created: str,
) -> bytes:
    """Return the sealed file; the review's own recipients can open it, each alone."""
    manifest = ExportManifest(
        review=review.name,
        created=created,
        runs=tuple(run.run_id for run in review.key.runs),
        signing_key=identity.public.signing_key,
        recipients=review.manifest.organisation.recipients,
        members={},
    )
    archive = pack_signed(manifest, _members(office, review, of_runs, identity), identity)
    return seal(archive, manifest.recipients)


def _members(
    office: Office, review: Review, of_runs: Mapping[str, OfRun], identity: Identity
) -> dict[str, bytes]:
    rows = rating_rows(review.key, office.state(review), free_text=True)
    pem = public_pem(identity.public.signing_key)
    members = {
        "README.txt": _README.format(review=review.name, pem=pem).encode(),
        "answer-key.json": canonical_bytes(review.key.model_dump(mode="json")),
        "policy.toml": review.policy,
        "events.jsonl": events_bytes(office.events(review)),
        "ratings.csv": ratings_csv(rows),
    }
    for number, run in enumerate(review.key.runs, start=1):
        of_run = of_runs.get(run.run_id, OfRun())
        page = None if of_run.page is None else of_run.page.encode()
        parts = {
            "-card.json": of_run.card,
            ".rosetta-evidence": of_run.evidence,
            "-page.html": page,
        }
        members.update(
            {f"run-{number}{end}": data for end, data in parts.items() if data is not None}
        )
    return members
