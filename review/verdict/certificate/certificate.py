"""The certificate: one page that says what a panel decided about a run, and on what that rests.

It is canonical JSON (RFC 8785), signed by the organisation over its bytes. Everything in it but the time
of issue follows from the evidence; it names no reviewer, not even by pseudonym. It says what became of everybody who
was asked, so that nobody is left out without a word, and of how many laptops somebody else saw who signed for it.

Of several beside a run the newest that holds speaks, and only ``go`` lifts a tier. Signature, key, run and outcome
are examined each time a run is shown, because a store can be edited; evidence and verdict are recomputed when a
certificate is attached.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Final, Literal

from pydantic import Field

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import usage_errors
from harness.sealed.keys import verify as signed_by
from harness.sealed.strict_records import (
    Count,
    FileError,
    Hex64,
    Id,
    Short,
    Since,
    StrictRecord,
    VersionedRecord,
    formats,
)
from harness.store.attachments import Attached
from review.files.identities import Statement, read_statement
from review.log.event import Event
from review.log.payloads import ANSWERS, Scope, Withdraw
from review.verdict.certificate.evidence import Evidence
from review.verdict.gate.agreement import MEASURES
from review.verdict.gate.panel import Harm
from review.verdict.gate.verdict import Fact, GateOutcome


class ReviewerStatus(StrEnum):
    """What became of a person; the first that holds, in this order."""

    COUNTED = "counted"  # Rated enough of what all were asked
    WITHDREW = "withdrew"  # Took everything back, or this review's, at a laptop
    WITHDREW_AT_THE_DESK = "withdrew_at_the_desk"  # The organisation did so in the person's name
    # Several laptops speak for this person, and the organisation has not said which
    WAITING = "waiting"
    NOT_HEARD = "not_heard"  # Spoke on laptops only that the organisation does not hear
    NO_CONSENT = "no_consent"  # Answered, and there is no agreement to the terms
    TOO_FEW = "too_few"  # Agreed, and rated too little to count
    NOTHING = "nothing"  # Nothing of this person was handed in


WORDS = {
    ReviewerStatus.COUNTED: "{} counted",
    ReviewerStatus.WITHDREW: "{} took theirs back",
    ReviewerStatus.WITHDREW_AT_THE_DESK: "{} taken back by the organisation in their name",
    ReviewerStatus.WAITING: "{} of whom several laptops speak, undecided",
    ReviewerStatus.NOT_HEARD: "{} on laptops that the organisation does not hear",
    ReviewerStatus.NO_CONSENT: "{} without agreement to the terms",
    ReviewerStatus.TOO_FEW: "{} rated too little to count",
    ReviewerStatus.NOTHING: "{} handed nothing in",
}


def what_became(evidence: Evidence, counted: Collection[str]) -> dict[str, int]:
    """Return how many of the people who were asked came to what, for one run; ``counted`` are its valid reviewers."""
    own, theirs = set[str](), set[str]()  # Taken back at the office's desk, and by themselves at a laptop
    places = {None, *evidence.key.batches}
    for event in evidence.events:
        payload = event.payload
        if not isinstance(payload, Withdraw) or payload.scope is Scope.COMMENTS:
            continue
        if (None if payload.scope is Scope.EVERYTHING else payload.batch) in places:
            (own if event.device in evidence.own_devices else theirs).add(payload.reviewer)
    batches = set(evidence.key.batches)
    spoke, heard = _spoke(evidence.events, batches), _spoke(evidence.counted, batches)
    waiting = {who for _, who in evidence.voices.waiting}
    agreed = {who for (_, who), reviewer in evidence.state.reviewers.items() if reviewer.consented}

    def of(who: str) -> ReviewerStatus:
        tests = {
            ReviewerStatus.COUNTED: who in counted,
            ReviewerStatus.WITHDREW: who in theirs,
            ReviewerStatus.WITHDREW_AT_THE_DESK: who in own,
            ReviewerStatus.WAITING: who in waiting,
            ReviewerStatus.NOT_HEARD: who in spoke - heard,
            ReviewerStatus.NO_CONSENT: who in spoke - agreed,
            ReviewerStatus.TOO_FEW: who in spoke,
        }
        return next((became for became, holds in tests.items() if holds), ReviewerStatus.NOTHING)

    counts = Counter(map(of, evidence.key.orders))
    return {str(reviewer_status): counts[reviewer_status] for reviewer_status in ReviewerStatus}


def _spoke(events: Iterable[Event], batches: Collection[str]) -> set[str]:
    """Return the people of whom there is an answer to one of the review's batches."""
    return {
        event.payload.reviewer  # type: ignore[union-attr]  # every kind of answer has one
        for event in events
        if event.kind in ANSWERS
        and not isinstance(event.payload, Withdraw)
        and getattr(event.payload, "batch", None) in batches
    }


class CertifiedWitnesses(StrictRecord):
    """What witnesses said, in numbers."""

    laptops: Count  # Laptops that wrote the log
    witnessed: Count  # Of these, laptops that a second person saw
    witnesses: Count  # Different keys that signed for it
    statements: tuple[Hex64, ...]  # SHA-256 of the statements that are counted, sorted


def certified_witnesses(evidence: Evidence, organisation: str) -> CertifiedWitnesses:
    """Count what witnesses said of the laptops that wrote some events; ``organisation`` is its signing key."""
    wrote = _laptops(evidence)
    statements_found = dict(statements(evidence, organisation))
    return CertifiedWitnesses(
        laptops=len(wrote),
        witnessed=len({statement.laptop for statement in statements_found.values()}),
        witnesses=len({statement.witness for statement in statements_found.values()}),
        statements=tuple(sorted(statements_found)),
    )


def statements(evidence: Evidence, organisation: str) -> Iterator[tuple[str, Statement]]:
    """Yield the SHA-256 of each statement that counts with what it says."""
    wrote = _laptops(evidence)
    for content in evidence.witnesses:
        try:
            statement = read_statement(content)
        except FileError:
            continue
        if statement.organisation == organisation and statement.laptop in wrote:
            yield sha256(content).hexdigest(), statement


def _laptops(evidence: Evidence) -> set[str | None]:
    theirs = {event.device for event in evidence.events} - evidence.own_devices
    return {evidence.devices.get(device) for device in theirs} - {None}


CertificateFormat = Literal["rosetta-certificate/1", "rosetta-certificate/2", "rosetta-certificate/3"]
CERTIFICATE_FORMAT: Final[CertificateFormat] = "rosetta-certificate/3"
MOST_BYTES = 4 * 2**20  # A certificate is a page; a larger file is something else

# Outcomes that are certified; too few ratings decide nothing that could be certified
ISSUED = frozenset({GateOutcome.GO, GateOutcome.NO_GO, GateOutcome.DISCUSS})

# The verification tier that reviewers give (benchmark-specification §9.4)
COMMUNITY_VALIDATED = "community-validated"


class Issuer(StrictRecord):
    """Who answers for the certificate."""

    name: Short
    signing_key: Hex64


class CertifiedRun(VersionedRecord):
    run_id: Short
    run_card_hash: Hex64
    dataset_id: Short
    language_pair: Short
    # Difficulty → entries of the run
    strata: dict[Annotated[str, Field(pattern=r"^[0-5]$")], Count]
    segments: dict[Short, Count]  # Segment → reviewed entries
    looks: Annotated[Count, Since(2)] = 0  # Looks at it in earlier reviews


class CertifiedPolicy(StrictRecord):
    """By which rule."""

    sha256: Hex64
    status: Short  # Who set its numbers, in the policy's own words
    organisation: Short
    community_reviewers: Count  # From how many reviewers on the policy speaks of the community


class CertifiedLog(StrictRecord):
    """The events that it rests on: hashes that hold whatever is erased later."""

    sha256: Hex64  # Over the ids of all events (`log.event.events_sha256`)
    events: Count
    tips: tuple[Hex64, ...]  # Ids of the last event of each chain; they fix the whole set
    gaps: Count  # Events whose predecessor is missing: 0 where every chain is whole
    # Events that would bear on a number, but whose content was withdrawn, or is another review's
    withheld: Count
    withdrawals: Count  # People who took their ratings back
    devices_sha256: Hex64  # Of the list of devices that wrote them, with their keys


class CertifiedPanel(VersionedRecord):
    """Who judged, in numbers."""

    invited: Count  # People who were given items
    reviewers: Count  # People whose ratings count: those who rated enough of what all were asked
    words: Short
    chosen: str  # How they were chosen, in the organisation's words
    # What became of those who were invited
    asked: Annotated[dict[ReviewerStatus, Count], Since(2)] = Field(default_factory=dict)


class CertifiedLaptops(StrictRecord):
    """What the organisation said about laptops; whom it concerns is not told."""

    # The organisation's reason for each laptop that is not heard, sorted
    removed: tuple[Short, ...]
    replaced: Count  # Laptops that came instead of another one: both count as one
    # People in whose name several laptops speak, or one that the organisation does not name, where
    # it has named those that count
    decided: Count
    # People of whom several laptops speak without a word of the organisation: their ratings do not
    # count
    waiting: Count


class CertifiedDecision(StrictRecord):
    """What the organisation decided about one item that somebody called harmful; which item is not told."""

    harmful: bool  # True: upheld, False: cleared
    reason: Short  # In the organisation's words; empty where none was recorded
    by: Short  # Who decided; empty likewise


class CertifiedRelations(StrictRecord):
    """What the people whose ratings count say of themselves and the method, in numbers."""

    made: Count  # Took part in making it
    knows: Count  # Know who made it
    neither: Count
    not_asked: Count  # Began before this was asked


class CertifiedLooks(StrictRecord):
    """Where the run was examined; the number of looks that counts is in the verdict."""

    here: Count  # Looks at the ratings of this review
    # Of these, looks before everybody who was asked had rated, or before the ratings changed again
    early: Count
    # Batch of another review of the run that the organisation knows → looks at its ratings
    others: dict[Id, Count]


Six = Annotated[str, Field(pattern=r"^-?[0-9]{1,40}\.[0-9]{6}$")]
"""A decimal of six places."""


class CertifiedStratum(StrictRecord):
    items: Count  # Rated items
    asked: Count
    weight: Six
    share: Six | None


class CertifiedRejections(StrictRecord):
    items: Count
    of: Count
    upper: Six


class CertifiedNumbers(StrictRecord):
    """What the panel adds up to (`gate.verdict.Numbers`)."""

    reviewers: tuple[Six, ...]  # Each valid reviewer's own share, by size
    items: Count
    strata: dict[str, CertifiedStratum]
    share: Six | None
    lower: Six | None
    upper: Six | None
    item_error: Six | None
    reviewer_error: Six | None
    effective_items: Six | None
    df: Six | None
    t: Six | None
    rejections: CertifiedRejections
    split: tuple[str, ...]
    alpha: Six | None
    within_one: Six | None


class StatedVerdict(StrictRecord):
    """The outcome with all that it rests on (`gate.verdict.GateVerdict`), without names."""

    outcome: GateOutcome
    numbers: CertifiedNumbers
    level: Six
    confidence: Six
    look: Count
    harm: dict[Harm, Count]
    findings: tuple[dict[str, Fact], ...]  # Code and facts of each
    community_panel: bool
    without_flagged: GateOutcome | None


class CertifiedInterval(StrictRecord):
    lower: Six
    upper: Six
    level: Six
    draws: Count
    seed: int | None
    method: str


class CertifiedMeasure(StrictRecord):
    value: Six | None
    why: str | None
    interval: CertifiedInterval | None


class CertifiedAgreement(StrictRecord):
    """How far the panel agrees (`gate.agreement.Agreement`), without names."""

    items: Count
    reviewers: Count
    alpha: CertifiedMeasure
    ac2: CertifiedMeasure
    exact: CertifiedMeasure
    within_one: CertifiedMeasure
    leniency: tuple[CertifiedMeasure, ...]

    def measures(self) -> dict[str, CertifiedMeasure]:
        """Return the measures of the whole panel, by name."""
        return {name: getattr(self, name) for name in MEASURES}


class IssuedRecord(StrictRecord):
    """A certificate, exact or coarse; its one byte form is canonical JSON."""

    def as_bytes(self) -> bytes:
        return canonical_bytes(self.model_dump(mode="json"))

    @property
    def sha256(self) -> str:
        return sha256(self.as_bytes()).hexdigest()

    def require_canonical(self, data: bytes, name: str) -> None:
        """Raise UsageError where these bytes are not that form."""
        if self.as_bytes() != data:
            raise UsageError(f"{name} is not written in the one canonical form: it was changed.")


class Certificate(IssuedRecord, VersionedRecord):
    """One certified verdict."""

    format: CertificateFormat = CERTIFICATE_FORMAT
    issued: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]  # UTC
    supersedes: Hex64 | None  # SHA-256 of the certificate of the same run before this one
    organisation: Issuer
    review: Short
    run: CertifiedRun
    batches: dict[Id, Hex64]  # Batch → SHA-256 of its manifest
    policy: CertifiedPolicy
    key_sha256: Hex64  # Of the answer key
    log: CertifiedLog
    panel: CertifiedPanel
    laptops: Annotated[CertifiedLaptops | None, Since(2)] = None
    # It changes no number; None in the first form
    relations: Annotated[CertifiedRelations | None, Since(2)] = None
    # Each decision about the run's items that were called harmful, upheld ones first
    harm: Annotated[tuple[CertifiedDecision, ...], Since(2)] = ()
    looks: Annotated[CertifiedLooks | None, Since(3)] = None
    verdict: StatedVerdict
    # How many of the laptops a second person saw
    witnesses: Annotated[CertifiedWitnesses | None, Since(2)] = None
    agreement: CertifiedAgreement
    # Of the second verifier that was given out with it
    verifier_sha256: Annotated[Hex64 | None, Since(2)] = None

    @property
    def outcome(self) -> GateOutcome:
        return self.verdict.outcome


def read_certificate(data: bytes, name: str) -> Certificate:
    """Read a certificate from its bytes, its signature not examined; raises UsageError in words."""
    if len(data) > MOST_BYTES:
        raise UsageError(f"{name} is too large for a certificate. Name the right file.")
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        raise UsageError(f"{name} is not a certificate: it is not JSON.") from None
    known = formats(Certificate)
    if not isinstance(raw, Mapping) or raw.get("format") not in known:
        raise UsageError(f"{name} is not a certificate of the form {' or '.join(known)}.")
    with usage_errors(name):
        certificate = Certificate.model_validate_json(data)
    certificate.require_canonical(data, name)
    return certificate


_GOLD = "gold_standard"  # The segment that the community keeps (benchmark-specification §9.4)


@dataclass(frozen=True, slots=True)
class ReviewStatus:
    """What people said of a run, by the newest certificate that holds."""

    certificate: Certificate
    # True where somebody took ratings back that it rests on: it gives nothing until issued again
    suspended: bool = False

    @property
    def passed(self) -> bool:
        """True where the gate said go and all ratings still stand: the claimable tier's cap is lifted."""
        return self.certificate.outcome is GateOutcome.GO and not self.suspended

    @property
    def verification_tier(self) -> str | None:
        """The tier of benchmark-specification §9.4 that the review gives, None where it gives none."""
        return COMMUNITY_VALIDATED if not self.why_not_community else None

    @property
    def why_not_community(self) -> str:
        """Why the run is not community-validated; empty where it is."""
        if self.suspended:
            return "somebody took ratings back since, so the certificate must be issued again"
        return why_not_community(self.certificate)


def standing(attached: Sequence[Attached], run_id: str, run_card_hash: str) -> ReviewStatus | None:
    """Return what people said of a run; None where no certificate next to it holds for this very card."""
    held: dict[str, ReviewStatus] = {}
    for beside in attached:
        if not signed_by(beside.signer, beside.certificate, beside.signature):
            continue
        try:
            certificate = read_certificate(beside.certificate, "the certificate")
        except UsageError:
            continue
        of_run = (certificate.run.run_id, certificate.run.run_card_hash) == (run_id, run_card_hash)
        if of_run and certificate.organisation.signing_key == beside.signer:
            held[beside.sha256] = ReviewStatus(certificate, beside.suspended)
    replaced = {status.certificate.supersedes for status in held.values()}
    newest = [status for name, status in held.items() if name not in replaced]

    def issued(status: ReviewStatus) -> tuple[str, bool, str]:
        """Order by time of issue; of two of one second the one that lifts nothing counts as the later."""
        return status.certificate.issued, status.certificate.outcome is not GateOutcome.GO, status.certificate.sha256

    return max(newest, key=issued, default=None)


def why_not_community(certificate: Certificate) -> str:
    """Return why a certificate does not make its run community-validated; empty where it does."""
    if certificate.outcome is not GateOutcome.GO:
        return "the gate did not say go"
    others = sorted(name for name, count in certificate.run.segments.items() if count and name != _GOLD)
    if others or not certificate.run.segments.get(_GOLD):
        return f"reviewed entries are of the segment {', '.join(others) or 'none'}, not {_GOLD}"
    needed = certificate.policy.community_reviewers
    if certificate.panel.reviewers < needed:
        return f"it was a panel of {certificate.panel.reviewers}, the policy asks for {needed}"
    return ""
