"""The certificate: one page that says what a panel decided about a run, and on what that rests.

It is canonical JSON (RFC 8785), signed by the organisation over its bytes. Everything in it but the time
of issue follows from the evidence; it names no reviewer, not even by pseudonym.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from harness.card.canonical import canonical_bytes
from harness.failures import HarnessError, UsageError
from harness.problems import first_problem
from review.forms import Form, Since, VersionedForm, formats
from review.log.event import events_sha256
from review.log.payloads import Count, Hex64, Id, Short
from review.log.state import State
from review.log.voices import Voices
from review.rating import Relation
from review.verdict.agreement import MEASURES, Agreement, Measure, agreement
from review.verdict.asked import Became, what_became
from review.verdict.counted import counted
from review.verdict.evidence import Evidence
from review.verdict.evidence_file import own_program_sha256
from review.verdict.findings import Code
from review.verdict.gate import decide
from review.verdict.panel import Harm, Panel
from review.verdict.panels import panel_of, run_of
from review.verdict.places import six
from review.verdict.policy import GatePolicy, read_policy
from review.verdict.verdict import Outcome, Verdict
from review.verdict.witnesses import CertifiedWitnesses, certified_witnesses

CertificateFormat = Literal["rosetta-certificate/1", "rosetta-certificate/2"]
CERTIFICATE_FORMAT: Final[CertificateFormat] = "rosetta-certificate/2"
MOST_BYTES = 4 * 2**20
"""A certificate is a page; a larger file is something else."""

ISSUED = frozenset({Outcome.GO, Outcome.NO_GO, Outcome.DISCUSS})
"""Outcomes that are certified; too few ratings decide nothing that could be certified."""

COMMUNITY_VALIDATED = "community-validated"
"""The verification tier that reviewers give (benchmark-specification §9.4)."""


class Issuer(Form):
    """Who answers for the certificate."""

    name: Short
    signing_key: Hex64


class CertifiedRun(VersionedForm):
    """What was judged."""

    run_id: Short
    run_card_hash: Hex64
    dataset_id: Short
    language_pair: Short
    strata: dict[Annotated[str, Field(pattern=r"^[0-5]$")], Count]
    """Difficulty → entries of the run."""
    segments: dict[Short, Count]
    """Segment → reviewed entries."""
    looks: Annotated[Count, Since(2)] = 0
    """Looks at it in earlier reviews."""


class CertifiedPolicy(Form):
    """By which rule."""

    sha256: Hex64
    status: Short
    """Who set its numbers, in the policy's own words."""
    organisation: Short
    community_reviewers: Count
    """From how many reviewers on the policy speaks of the community."""


class CertifiedLog(Form):
    """The events that it rests on: hashes that hold whatever is erased later."""

    sha256: Hex64
    """Over the ids of all events (``log.event.events_sha256``)."""
    events: Count
    tips: tuple[Hex64, ...]
    """Ids of the last event of each chain; they fix the whole set."""
    gaps: Count
    """Events whose predecessor is missing: 0 where every chain is whole."""
    withheld: Count
    """Events that would bear on a number, but whose content was withdrawn, or is another review's."""
    withdrawals: Count
    """People who took their ratings back."""
    devices_sha256: Hex64
    """Of the list of devices that wrote them, with their keys."""


class CertifiedPanel(VersionedForm):
    """Who judged, in numbers."""

    invited: Count
    """People who were given items."""
    reviewers: Count
    """People whose ratings count: those who rated enough of what all were asked."""
    words: Short
    chosen: str
    """How they were chosen, in the organisation's words."""
    asked: Annotated[dict[Became, Count], Since(2)] = Field(default_factory=dict)
    """What became of those who were invited."""


class CertifiedLaptops(Form):
    """What the organisation said about laptops; whom it concerns is not told."""

    removed: tuple[Short, ...]
    """The organisation's reason for each laptop that is not heard, sorted."""
    replaced: Count
    """Laptops that came instead of another one: both count as one."""
    decided: Count
    """People in whose name several laptops speak, or one that the organisation does not name, where it has named those
    that count."""
    waiting: Count
    """People of whom several laptops speak without a word of the organisation: their ratings do not count."""


class CertifiedDecision(Form):
    """What the organisation decided about one item that somebody called harmful; which item is not told."""

    harmful: bool
    """True: upheld, False: cleared."""
    reason: Short
    """In the organisation's words; empty where none was recorded."""
    by: Short
    """Who decided; empty likewise."""


class CertifiedRelations(Form):
    """What the people whose ratings count say of themselves and the method, in numbers."""

    made: Count
    """Took part in making it."""
    knows: Count
    """Know who made it."""
    neither: Count
    not_asked: Count
    """Began before this was asked."""


class Certificate(VersionedForm):
    """One certified verdict."""

    format: CertificateFormat = CERTIFICATE_FORMAT
    issued: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    """UTC."""
    supersedes: Hex64 | None
    """SHA-256 of the certificate of the same run before this one."""
    organisation: Issuer
    review: Short
    run: CertifiedRun
    batches: dict[Id, Hex64]
    """Batch → SHA-256 of its manifest."""
    policy: CertifiedPolicy
    key_sha256: Hex64
    """Of the answer key."""
    log: CertifiedLog
    panel: CertifiedPanel
    laptops: Annotated[CertifiedLaptops | None, Since(2)] = None
    relations: Annotated[CertifiedRelations | None, Since(2)] = None
    """It changes no number; None in the first form."""
    harm: Annotated[tuple[CertifiedDecision, ...], Since(2)] = ()
    """Each decision about the run's items that were called harmful, upheld ones first."""
    verdict: dict[str, Any]
    """The outcome with all that it rests on (``without_names``)."""
    witnesses: Annotated[CertifiedWitnesses | None, Since(2)] = None
    """How many of the laptops a second person saw."""
    agreement: dict[str, Any]
    """How far the panel agrees, with intervals, decimals as strings."""
    verifier_sha256: Annotated[Hex64 | None, Since(2)] = None
    """Of the second verifier that was given out with it."""

    @property
    def outcome(self) -> Outcome:
        """What the gate said."""
        return Outcome(self.verdict["outcome"])

    def as_bytes(self) -> bytes:
        """Give the certificate's one byte form."""
        return canonical_bytes(self.model_dump(mode="json"))

    @property
    def sha256(self) -> str:
        """Hash of its bytes."""
        return sha256(self.as_bytes()).hexdigest()


@dataclass(frozen=True)
class Reading:
    """What the evidence says of one run today."""

    policy: GatePolicy
    panel: Panel
    verdict: Verdict
    relations: CertifiedRelations
    harm: tuple[CertifiedDecision, ...] = ()
    """What was decided about items that were called harmful."""

    @cached_property
    def agreement(self) -> Agreement:
        """How far the valid reviewers agree; its intervals take longer than the verdict."""
        return agreement(self.panel, self.verdict.numbers.reviewers)


def read_verdict(evidence: Evidence, run_id: str, look: int | None = None) -> Reading:
    """Decide about one run; ``look`` is the number of looks at it, those before the review too, unless it is given."""
    policy = read_policy(evidence.policy, "policy.toml")
    before = run_of(evidence.key, run_id).looks
    number = before + max(1, evidence.state.looks.get(run_id, 0)) if look is None else look
    panel = panel_of(evidence.state, evidence.key, run_id, number)
    verdict = decide(panel, policy)
    relations = certified_relations(evidence, verdict.numbers.reviewers)
    return Reading(policy, panel, verdict, relations, _harm(panel, evidence.state))


def certified_relations(evidence: Evidence, reviewers: Collection[str]) -> CertifiedRelations:
    """Count what these people say of themselves; of somebody's words in several batches the nearest counts."""
    order = list(Relation)
    said: dict[str, list[Relation]] = {who: [] for who in reviewers}
    for who, _, part in counted(evidence.state, evidence.key):
        if who in said and part.relation is not None:
            said[who].append(part.relation)
    nearest = Counter(min(each, key=order.index) for each in said.values() if each)
    counts = {str(each): nearest[each] for each in order}
    return CertifiedRelations(**counts, not_asked=len(said) - nearest.total())


def _harm(panel: Panel, state: State) -> tuple[CertifiedDecision, ...]:
    decided = (
        state.adjudications[item]
        for item, became in panel.harm.items()
        if became is not Harm.FLAGGED
    )
    told = [
        CertifiedDecision(harmful=bool(each.harmful), reason=each.reason, by=each.by)
        for each in decided
    ]
    return tuple(sorted(told, key=lambda each: (not each.harmful, each.reason, each.by)))


def require_enough(reading: Reading) -> None:
    """Raise HarnessError where too little was rated to certify anything."""
    if reading.verdict.outcome not in ISSUED:
        raise HarnessError(
            "No certificate was made: too little was rated for any verdict. "
            "`rosetta review gate` says what is missing."
        )


def certify(
    evidence: Evidence,
    run_id: str,
    issuer: Issuer,
    issued: str,
    supersedes: str | None = None,
) -> Certificate:
    """Write the certificate of a run; raises HarnessError where too little was rated to certify anything."""
    reading = read_verdict(evidence, run_id)
    require_enough(reading)
    verifier = own_program_sha256()
    return _certificate(
        evidence, run_id, reading, issuer, issued, supersedes, verifier_sha256=verifier
    )


def _certificate(
    evidence: Evidence,
    run_id: str,
    reading: Reading,
    issuer: Issuer,
    issued: str,
    supersedes: str | None,
    form: CertificateFormat = CERTIFICATE_FORMAT,
    verifier_sha256: str | None = None,
) -> Certificate:
    """Write the certificate, with what its form has."""
    first = form == "rosetta-certificate/1"
    return Certificate(
        format=form,
        issued=issued,
        supersedes=supersedes,
        organisation=issuer,
        review=evidence.key.review,
        run=_run(evidence, run_id),
        batches=evidence.key.batch_sha256,
        policy=CertifiedPolicy(
            sha256=evidence.policy_sha256,
            status=reading.policy.status,
            organisation=reading.policy.organisation,
            community_reviewers=reading.policy.enough.community_reviewers,
        ),
        key_sha256=evidence.key_sha256,
        log=_log(evidence),
        panel=_panel(evidence, reading.verdict, first=first),
        laptops=None if first else certified_laptops(evidence.voices),
        relations=None if first else reading.relations,
        harm=() if first else reading.harm,
        witnesses=None if first else certified_witnesses(evidence, issuer.signing_key),
        verdict=without_names(reading.verdict),
        agreement=agreement_json(_agreement(reading, form)),
        verifier_sha256=None if first else verifier_sha256,
    )


def _agreement(reading: Reading, form: CertificateFormat) -> Agreement:
    """Give the agreement as a form states it: the first one takes the chance term of AC2 from paired items alone."""
    if form != "rosetta-certificate/1":
        return reading.agreement
    return agreement(reading.panel, reading.verdict.numbers.reviewers, paired_chance=True)


def as_certified(evidence: Evidence, stated: Certificate) -> Evidence:
    """Give the evidence as it counted for a certificate of its form; the first one took the last word of any laptop.

    What witnesses said later is left out.
    """
    counted = () if stated.witnesses is None else stated.witnesses.statements
    return replace(
        evidence,
        weighs_laptops=stated.format != "rosetta-certificate/1",
        witnesses=tuple(e for e in evidence.witnesses if sha256(e).hexdigest() in counted),
    )


def certified_again(evidence: Evidence, stated: Certificate) -> Certificate:
    """Write from the evidence what a certificate should say; form, time, issuer and second verifier are taken from it."""
    evidence = as_certified(evidence, stated)
    reading = read_verdict(evidence, stated.run.run_id)
    return _certificate(
        evidence,
        stated.run.run_id,
        reading,
        stated.organisation,
        stated.issued,
        stated.supersedes,
        stated.format,
        stated.verifier_sha256,
    )


def read_certificate(data: bytes, name: str) -> Certificate:
    """Read a certificate from its bytes, its signature not looked at; raises UsageError in words."""
    if len(data) > MOST_BYTES:
        raise UsageError(f"{name} is too large for a certificate. Name the right file.")
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        raise UsageError(f"{name} is not a certificate: it is not JSON.") from None
    known = formats(Certificate)
    if not isinstance(raw, Mapping) or raw.get("format") not in known:
        raise UsageError(f"{name} is not a certificate of the form {' or '.join(known)}.")
    try:
        certificate = Certificate.model_validate_json(data)
        Outcome(certificate.verdict["outcome"])
    except ValidationError as error:
        raise UsageError(f"{name}: {first_problem(error)}") from error
    except (KeyError, ValueError):
        raise UsageError(f"{name}: field 'verdict.outcome' is none of the outcomes.") from None
    if certificate.as_bytes() != data:
        raise UsageError(f"{name} is not written in the one canonical form: it was changed.")
    return certificate


def without_names(verdict: Verdict) -> dict[str, Any]:
    """Give a verdict as JSON without pseudonyms: people's shares by size, findings about people without whose."""
    said = verdict.as_json()
    codes = list(Code)
    findings = [
        {name: fact for name, fact in finding.items() if name != "reviewer"}
        for finding in said["findings"]
    ]
    shares = sorted(said["numbers"]["reviewers"].values(), key=Decimal)
    return {
        **said,
        "numbers": {**said["numbers"], "reviewers": shares},
        "findings": sorted(findings, key=lambda f: (codes.index(f["code"]), canonical_bytes(f))),
    }


def agreement_json(measured: Agreement) -> dict[str, Any]:
    """Give agreement as whole numbers and decimal strings; leniency without names, by size."""
    leniency = [_measure(each) for each in measured.leniency.values()]
    return {
        "items": measured.items,
        "reviewers": measured.reviewers,
        **{name: _measure(getattr(measured, name)) for name in MEASURES},
        "leniency": sorted(leniency, key=canonical_bytes),
    }


def _measure(measure: Measure) -> dict[str, Any]:
    ends = measure.interval
    return {
        "value": None if measure.value is None else str(six(measure.value)),
        "why": None if measure.why is None else str(measure.why),
        "interval": None
        if ends is None
        else {
            "lower": str(six(ends.lower)),
            "upper": str(six(ends.upper)),
            "level": str(six(ends.level)),
            "draws": ends.draws,
            "seed": ends.seed,
            "method": ends.method,
        },
    }


def _run(evidence: Evidence, run_id: str) -> CertifiedRun:
    run = run_of(evidence.key, run_id)
    return CertifiedRun(
        run_id=run.run_id,
        run_card_hash=run.run_card_hash,
        dataset_id=run.dataset_id,
        language_pair=run.language_pair,
        strata={str(stratum): count for stratum, count in run.strata.items()},
        segments=run.segments,
        **({"looks": run.looks} if "looks" in run.model_fields_set else {}),
    )


def _log(evidence: Evidence) -> CertifiedLog:
    return CertifiedLog(
        sha256=events_sha256(event.id for event in evidence.events),
        events=len(evidence.events),
        tips=tuple(evidence.tips),
        gaps=evidence.gaps(),
        withheld=evidence.withheld,
        withdrawals=len({who for who, _ in evidence.taken_back}),
        devices_sha256=evidence.devices_sha256,
    )


def certified_laptops(voices: Voices) -> CertifiedLaptops:
    """Give what a certificate says of laptops: counts and the organisation's reasons, no person and no laptop."""
    return CertifiedLaptops(
        removed=tuple(sorted(voices.removed.values())),
        replaced=len(voices.replaced),
        decided=len(voices.decided),
        waiting=len(voices.waiting),
    )


def _panel(evidence: Evidence, verdict: Verdict, *, first: bool) -> CertifiedPanel:
    counted = verdict.numbers.reviewers
    count = len(counted)
    later = {} if first else {"asked": what_became(evidence, counted)}
    return CertifiedPanel(
        invited=len(evidence.key.orders),
        reviewers=count,
        words=f"panel of {count}",
        chosen=evidence.key.panel,
        **later,
    )
