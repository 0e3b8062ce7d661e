"""Reading a review's verdict and issuing its certificate; every new look at the numbers is written down."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from review.files.keys import Identity
from review.log.event import events_sha256
from review.log.payloads import Look
from review.office.store import Office, Review, utc_now
from review.verdict.certificate import Certificate, Issuer, Reading, certify, read_verdict
from review.verdict.evidence import Evidence, gather, looked_at
from review.verdict.verdict import Outcome


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate with what belongs to it."""

    certificate: Certificate
    signature: bytes
    """Ed25519 over ``certificate.as_bytes()``, 64 bytes."""
    evidence: Evidence


def review_evidence(office: Office, review: Review, own_key: str) -> Evidence:
    """Gather the evidence of a review; ``own_key`` is the organisation's public key."""
    devices = office.devices() | dict.fromkeys(office.own_devices, own_key)
    return gather(review.policy, review.key, office.events(review), office.first_device, devices)


def look(office: Office, review: Review, run_id: str, own_key: str) -> Reading:
    """Read the verdict on one run, as the look that this is.

    A look at ratings that changed since the last one is a new look, and asks for more (docs/gate.md); one at
    the same ratings is not. Too few ratings show no numbers, so that is no look at all.
    """
    known = seen(office, review, run_id, own_key)
    if known is not None:
        return known
    events = review_evidence(office, review, own_key).events
    ratings, batch = events_sha256(looked_at(events, review.manifests)), review.key.batches[0]
    office.append(review, Look(wall=utc_now(), batch=batch, run_id=run_id, events_sha256=ratings))
    return read_verdict(review_evidence(office, review, own_key), run_id)


def seen(office: Office, review: Review, run_id: str, own_key: str) -> Reading | None:
    """Read the verdict on one run where that is no new look; None where it would be one."""
    evidence = review_evidence(office, review, own_key)
    reading = read_verdict(evidence, run_id)
    if reading.verdict.outcome is Outcome.INSUFFICIENT:
        return reading
    ratings = events_sha256(looked_at(evidence.events, review.manifests))
    return reading if _is_known(evidence, run_id, ratings) else None


def _is_known(evidence: Evidence, run_id: str, seen: str) -> bool:
    own = evidence.own_devices
    return any(
        isinstance(event.payload, Look)
        and event.device in own
        and (event.payload.run_id, event.payload.events_sha256) == (run_id, seen)
        for event in evidence.events
    )


def issue(
    office: Office, review: Review, run_id: str, identity: Identity, issued: str | None = None
) -> Issued:
    """Certify the verdict on one run, sign it and keep it; HarnessError where there is nothing to certify."""
    own_key = identity.public.signing_key
    look(office, review, run_id, own_key)
    evidence = review_evidence(office, review, own_key)
    issuer = Issuer(name=review.manifest.organisation.name, signing_key=own_key)
    certificate = certify(
        evidence, run_id, issuer, issued or utc_now(), _last(office, review, run_id)
    )
    signature = identity.sign(certificate.as_bytes())
    office.add_certificate(review, run_id, certificate.as_bytes(), signature)
    return Issued(certificate, signature, evidence)


def _last(office: Office, review: Review, run_id: str) -> str | None:
    """Give the hash of the certificate of this run that the next one supersedes."""
    before = [each for each in office.certificates(review) if each.run_id == run_id]
    return sha256(before[-1].certificate).hexdigest() if before else None
