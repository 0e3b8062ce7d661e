"""A review's verdict and its certificate: read, issued, found again, and attached to its run.

Every new look at the numbers is written down. A certificate that somebody names is found with its signature and the
evidence to check it with. Attached is only what verifies, by whom one trusts, about the very card that is there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from harness.card.model import HASH_FIELD, seal_form
from harness.card.rows import read_raw
from harness.consent.withdrawals_in_force import Withdrawn
from harness.core.failures import HarnessError, UsageError
from harness.sealed.archive import read_manifest
from harness.sealed.chain import ancestors
from harness.sealed.keys import Identity, Signed
from harness.store.attachments import Attached, attach_certificate, attached_to, suspend_certificates
from harness.store.runs import Run, find_run, read_card
from harness.store.sqlite.database import default_path, open_store, store_path
from review.files.manifests import RatingsManifest
from review.log.event import FIRST, Event, events_sha256
from review.log.payloads import OrganiserLook
from review.office.results.disclosure import exact_of, require_confirmed, told_elsewhere
from review.office.store.database import FILE
from review.office.store.store import IssuedCertificate, Office, Review, utc_now
from review.verdict.certificate.certificate import (
    MOST_BYTES,
    Certificate,
    Issuer,
    ReviewStatus,
    read_certificate,
    standing,
)
from review.verdict.certificate.certify import EvidenceReading, certify, read_verdict
from review.verdict.certificate.coarse import is_coarse, over_secret, read_coarse
from review.verdict.certificate.evidence import (
    EVIDENCE_SUFFIX,
    Evidence,
    EvidenceFile,
    RunLooks,
    gather,
    looked_at,
    read_evidence_file,
    run_looks,
)
from review.verdict.certificate.signed import HandedOver
from review.verdict.certificate.verifying import check_signed, verify
from review.verdict.gate.verdict import GateOutcome


def attach(
    connection: sqlite3.Connection, presented: EvidenceFile, trusted: str, *, earlier: bool = False
) -> ReviewStatus:
    """Attach a certificate to the run of the store that it names, and give what counts for the run now.

    ``trusted`` is the public key whose word is taken; ``earlier`` takes a go of an earlier form too, which
    cannot show all that holds its organisation to its word. A certificate that is not ``go`` is kept only where it
    takes away what an earlier one gave. Raises HarnessError in words where anything is wrong.
    """
    done = verify(presented.certificate, presented.signature, presented.evidence, coarse=presented.coarse)
    certificate = done.certificate
    if not done.ok:
        wrong = next((c for c in done.checks if c.ok is False), done.checks[-1])
        raise HarnessError(f"Not attached. {done.words} ({wrong.name}: {wrong.words})")
    if done.unshown and done.certificate.outcome is GateOutcome.GO and not earlier:
        raise HarnessError(
            f"Not attached. {done.words} Issue it again from a batch of now, or take it for what it shows: --earlier"
        )
    signer = done.certificate.organisation.signing_key
    if signer != trusted:
        raise UsageError(
            f"Not attached: it is signed with key {signer}, which nobody here has called trustworthy. Ask the "
            "organisation for its key by another way; if it is this one: --trust KEY"
        )
    run = _run(connection, certificate)
    home = store_path(connection).parent
    secret = over_secret(certificate, presented.evidence)
    if secret and certificate.outcome is GateOutcome.GO and not unchecked(presented, home):
        require_confirmed(run.run_id, home)
    before = standing(attached_to(connection, run.id), run.run_id, certificate.run.run_card_hash)
    if certificate.outcome is not GateOutcome.GO and before is None:
        raise HarnessError(
            f"The certificate says {certificate.outcome}: there is nothing that it could lift. "
            "Only a go is attached, or what takes an earlier go away."
        )
    attached = Attached(presented.certificate, presented.signature, trusted)
    attach_certificate(connection, run.id, attached)
    now = standing(attached_to(connection, run.id), run.run_id, certificate.run.run_card_hash)
    if now is None:  # another program changed the store meanwhile
        raise HarnessError("The store was changed meanwhile. Try again.")
    return now


def unchecked(presented: EvidenceFile, home: Path) -> bool:
    """Return whether only the signer of a coarse certificate says that its run is confirmed: the ledger here has nothing of it."""
    if presented.coarse is None:
        return False
    stated = read_coarse(presented.coarse.content, "it")
    return stated.confirmation == "confirmed" and told_elsewhere(stated.run.run_id, home)


def suspend_withdrawn(office: Office) -> int:
    """Suspend attached certificates where somebody took back what they rest on; return how many newly.

    The runs' store is next to the office's file. Anyone who issues and attaches again lifts it again.
    """
    path = office.path.with_name(default_path().name)
    if not path.exists():
        return 0
    rows = office.connection.execute("SELECT certificate FROM certificate WHERE recompute")
    hashes = [sha256(certificate).hexdigest() for (certificate,) in rows]
    with closing(open_store(path)) as connection:
        return suspend_certificates(connection, hashes)


def _run(connection: sqlite3.Connection, certificate: Certificate) -> Run:
    """Return the run that a certificate is about; its card must be there, whole, and the very same."""
    stated = certificate.run
    try:
        run = find_run(connection, stated.run_id)
    except Withdrawn:
        raise
    except UsageError:
        run = None
    if run is None or run.run_id != stated.run_id:
        raise UsageError(
            f"Not attached: it is about run {stated.run_id}, which is not in the list of runs. "
            "Import its card first: rosetta runs import"
        )
    raw = read_raw(connection, run.id)
    if raw.get(HASH_FIELD) != stated.run_card_hash:
        raise HarnessError(
            "Not attached: it is about another card of this run, with another seal. Attach it on a "
            "computer that has the card as it was reviewed."
        )
    if seal_form(raw) is None or "unverified" in (read_card(connection, run.id) or {}):
        raise HarnessError(
            "Not attached: the seal of the run's card is broken, so it is not what was reviewed. Attach it on "
            "a computer that has the card whole."
        )
    return run


def review_evidence(office: Office, review: Review, own_key: str, *, even_if_changed: bool = False) -> Evidence:
    """Gather the evidence of a review; ``own_key`` is the organisation's public key.

    HarnessError where policy, key or people were changed after the batches went out, unless it is to be verified,
    which says so itself.
    """
    if not even_if_changed:
        review.require_unchanged()
    devices = office.devices() | dict.fromkeys(office.own_devices, own_key)
    events = office.events(review)
    # Return what laptops signed for a review, and of what they signed for others the last that shows more. Taking back
    # everything may have come with the file of another review.
    every = office.signed({event.device for event in events})
    read = [HandedOver(signed, read_manifest(signed.content, RatingsManifest)) for signed in every]
    known = {event.id: event for event in events}
    own = [one for one in read if one.manifest.batch in review.manifests]
    fixed = ancestors(known, _tips(own))
    more = []
    for handed_over in reversed([signed for signed in read if signed not in own]):
        if not fixed.issuperset(news := ancestors(known, _tips([handed_over]))):
            fixed |= news
            more.append(handed_over)
    return gather(
        review.policy,
        review.key,
        events,
        office.first_device,
        devices,
        review.signed,
        [one.signed for one in (*own, *more)],
        office.statements({devices[e.device] for e in events if e.device in devices}),
        office.other_batches(review),
    )


def _tips(hand_overs: Iterable[HandedOver]) -> list[str]:
    return [tip for hand_over in hand_overs for tips in hand_over.tips.values() for tip in tips]


def seen(evidence: Evidence, run_id: str) -> EvidenceReading | None:
    """Read the verdict on one run where that is no new look; None where it would be one.

    A look at ratings that changed since the last one is a new look, and asks for more (docs/gate.md); one at
    the same ratings is not. Too few ratings show no numbers, so that is no look at all.
    """
    reading = read_verdict(evidence, run_id)
    known = reading.verdict.outcome is GateOutcome.INSUFFICIENT or (
        evidence.ratings_sha256 in evidence.looks(run_id).here
    )
    return reading if known else None


def record_look(office: Office, review: Review, run_id: str, evidence: Evidence) -> Evidence:
    """Write down that the numbers of a run are examined, where that is a new look; gives the evidence with it.

    The ratings that were examined stay those of ``evidence``, whatever was imported meanwhile.
    """
    if seen(evidence, run_id) is not None:
        return evidence
    event = _write_look(office, review, run_id, evidence.ratings_sha256)
    if event.prev in {*evidence.tips, FIRST}:
        return replace(evidence, events=(*evidence.events, event))
    # What the organisation wrote about other reviews in between is missing from this evidence.
    return review_evidence(office, review, evidence.devices[evidence.organisation_device])


def _write_look(office: Office, review: Review, run_id: str, ratings: str) -> Event:
    batch, now = review.key.batches[0], utc_now()
    payload = OrganiserLook(wall=now, batch=batch, run_id=run_id, events_sha256=ratings)
    return office.append(review, payload)


def unseen_runs(office: Office, review: Review) -> dict[str, int]:
    """Return the runs of which reading the ratings now would be a new look, each with that look's number.

    Empty where nothing is rated yet.
    """
    return _unseen(office, review)[0]


def _unseen(office: Office, review: Review) -> tuple[dict[str, int], str]:
    """Return the same, and the hash of the ratings that there are now."""
    rated = looked_at(office.events(review, shut=True), review.key.batches)
    ratings = events_sha256(rated)
    looks = looks_of(office, review)
    new = {run: look.total + 1 for run, look in looks.items() if rated and ratings not in look.here}
    return new, ratings


def looks_of(office: Office, review: Review) -> dict[str, RunLooks]:
    looks = office.own_looks()
    return {run.run_id: run_looks(looks, review.key, run.run_id) for run in review.key.runs}


def look_at_ratings(office: Office, review: Review) -> dict[str, int]:
    """Write down that the ratings themselves are read, of every run of a review; gives the new looks by number.

    To be called before ratings, or anything that tells how they lie, are shown or handed on. It counts where too
    little is rated for a verdict, too: anyone who reads the ratings need not wait for one.
    """
    new, ratings = _unseen(office, review)
    for run in new:
        _write_look(office, review, run, ratings)
    return new


def issue(
    office: Office, review: Review, run_id: str, evidence: Evidence, identity: Identity, issued: str | None = None
) -> EvidenceFile:
    """Certify the verdict on one run, sign it and keep it; HarnessError where there is nothing to certify."""
    looked = record_look(office, review, run_id, evidence)
    issuer = Issuer(name=review.manifest.organisation.name, signing_key=identity.public.signing_key)
    before = newest_certificate(office, review, run_id)
    supersedes = None if before is None else before.sha256
    made = certify(looked, run_id, issuer, issued or utc_now(), supersedes)
    # Refuse a certificate that nobody could verify, because what others signed does not bear
    # it.
    for check in check_signed(made, looked, looked):
        if check.ok is False:
            raise HarnessError(
                f"No certificate was made, for it would not hold: {check.name}: {check.words}. If laptops are meant, import "
                "their newest files again."
            )
    certificate = made.as_bytes()
    signature = identity.sign(certificate)
    office.add_certificate(review, run_id, certificate, signature)
    return EvidenceFile(certificate, signature, looked)


def newest_certificate(office: Office, review: Review, run_id: str) -> IssuedCertificate | None:
    """Return the last certificate that was issued for a run, None where there is none."""
    issued_certificates = [c for c in office.certificates(review) if c.run_id == run_id]
    return issued_certificates[-1] if issued_certificates else None


CERTIFICATE_SUFFIX = ".certificate.json"
SIGNATURE_SUFFIX = ".certificate.sig"


def present(path: Path, evidence: Path | None, folder: Path) -> EvidenceFile:
    """Return a certificate with signature and the evidence that counts most: the first of ``presented``."""
    return next(iter(presented(path, evidence, folder).values()))


def presented(path: Path, evidence: Path | None, folder: Path) -> dict[str, EvidenceFile]:
    """Return a certificate with each evidence that is there, by where it is: what is named is the only one.

    Else what the office in ``folder`` keeps, which knows what was withdrawn since, and then what is next to the
    certificate. ``path`` is an evidence file or a certificate beside its signature. Raises UsageError where
    something is missing.
    """
    if path.name.endswith(EVIDENCE_SUFFIX):
        return {path.name: read_evidence_file(path)}
    certificate, signature = read_signed_certificate(path)
    if is_coarse(certificate):
        coarse = Signed(certificate, signature)
        inside = _inside(certificate, path, evidence, folder)
        return {place: replace(file, coarse=coarse) for place, file in inside.items()}
    beside = _beside(path, EVIDENCE_SUFFIX)
    if evidence is not None:
        evidence_files = {evidence.name: read_evidence_file(evidence)}
    else:
        evidence_files = {}
        if (kept := _of_office(certificate, path.name, folder)) is not None:
            evidence_files["this machine's office"] = EvidenceFile(b"", b"", kept)
        if beside.exists():
            evidence_files[beside.name] = read_evidence_file(beside)
    if not evidence_files:
        raise UsageError(
            f"There is no evidence for {path.name}: neither in this machine's office nor next to it. "
            f"Name the {EVIDENCE_SUFFIX} file with --evidence."
        )
    return {
        place: replace(file, certificate=certificate, signature=signature) for place, file in evidence_files.items()
    }


def read_signed_certificate(path: Path) -> tuple[bytes, bytes]:
    """Return the bytes of a certificate and of its signature next to it; raises UsageError where one cannot be read."""
    return _read(path), _read(_beside(path, SIGNATURE_SUFFIX))


class NotInside(UsageError):  # noqa: N818  said of a certificate
    """What a coarse certificate is to follow from is not here; the message says who has it."""


def _inside(coarse: bytes, path: Path, evidence: Path | None, folder: Path) -> dict[str, EvidenceFile]:
    """Return the exact certificate that a coarse one was made of, with its evidence: out of a file, or of the office."""
    stated = read_coarse(coarse, path.name)
    if evidence is not None:
        evidence_file = read_evidence_file(evidence)
        if sha256(evidence_file.certificate).hexdigest() == stated.exact:
            return {evidence.name: evidence_file}
        raise UsageError(
            f"{evidence.name} is the evidence of another certificate than the one of which {path.name} was made "
            f"(SHA-256 {stated.exact[:16]}…). Name that one."
        )
    if (folder / FILE).exists():
        with Office.open(folder) as office:
            for review in filter(None, map(office.review_of_batch, stated.batches)):
                if (exact := exact_of(office, review, stated)) is not None:
                    signer = stated.organisation.signing_key
                    kept = review_evidence(office, review, signer, even_if_changed=True)
                    made = EvidenceFile(exact.content, exact.signature, kept)
                    return {"this machine's office": made}
    raise NotInside(
        f"{path.name} is coarse, for its entries are secret: what it follows from stays with {stated.organisation.name}. Here its form "
        "and signature can be checked (rosetta review verify), and nothing else."
    )


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
            f"NAME{SIGNATURE_SUFFIX} next to it."
        ) from None


def _of_office(certificate: bytes, name: str, folder: Path) -> Evidence | None:
    stated = read_certificate(certificate, name)
    if not (folder / FILE).exists():
        return None
    signer = stated.organisation.signing_key
    with Office.open(folder) as office:
        for review in filter(None, map(office.review_of_batch, stated.batches)):
            return review_evidence(office, review, signer, even_if_changed=True)
    return None
