"""Certifying: what evidence says of a run today, and the certificate that follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError
from review.log.event import Event, events_sha256
from review.log.merge import AssignedLaptops
from review.log.payloads import OrganiserLook
from review.rating import Relation
from review.verdict.certificate.certificate import (
    CERTIFICATE_FORMAT,
    ISSUED,
    Certificate,
    CertificateFormat,
    CertifiedAgreement,
    CertifiedDecision,
    CertifiedInterval,
    CertifiedLaptops,
    CertifiedLog,
    CertifiedLooks,
    CertifiedMeasure,
    CertifiedPanel,
    CertifiedPolicy,
    CertifiedRelations,
    CertifiedRun,
    Issuer,
    ReviewerStatus,
    StatedVerdict,
    certified_witnesses,
    what_became,
)
from review.verdict.certificate.evidence import Evidence, RunLooks, own_program_sha256
from review.verdict.gate.agreement import Agreement, AgreementMeasure, agreement
from review.verdict.gate.careless import AlikePair, alike_pairs
from review.verdict.gate.gate import decide_gate
from review.verdict.gate.key import counted
from review.verdict.gate.panel import Harm, Panel, panel_of, review_ratings, round6, run_of
from review.verdict.gate.policy import GatePolicy, read_policy
from review.verdict.gate.verdict import Code, GateVerdict, record_json


@dataclass(frozen=True)
class EvidenceReading:
    """What the evidence says of one run today."""

    policy: GatePolicy
    panel: Panel
    verdict: GateVerdict
    relations: CertifiedRelations
    looks: CertifiedLooks
    # Reviewer → item → rank 0–3, of all runs of the review, without controls
    ratings: Mapping[str, Mapping[str, int]]
    # What was decided about items that were called harmful
    harm: tuple[CertifiedDecision, ...] = ()

    @cached_property
    def alike(self) -> list[AlikePair]:
        """Pairs whose ratings agree far beyond the panel: for the organiser alone, on no certificate."""
        return alike_pairs(self.ratings)

    @cached_property
    def agreement(self) -> Agreement:
        """How far the valid reviewers agree; its intervals take longer than the verdict."""
        return agreement(self.panel, self.verdict.numbers.reviewers)


def read_verdict(evidence: Evidence, run_id: str, look: int | None = None) -> EvidenceReading:
    policy = read_policy(evidence.policy, "policy.toml")
    looks = evidence.looks(run_id)
    number = looks.total + (not looks.here) if look is None else look
    panel = panel_of(evidence.state, evidence.key, run_id, number)
    verdict = decide_gate(panel, policy)
    counted_people = verdict.numbers.reviewers
    relations = certified_relations(evidence, counted_people)
    where = certified_looks(evidence, run_id, looks, counted_people)
    ratings = review_ratings(evidence.state, evidence.key)
    decided = (evidence.state.adjudications[item] for item, became in panel.harm.items() if became is not Harm.FLAGGED)
    certified_decisions = [CertifiedDecision(harmful=bool(a.harmful), reason=a.reason, by=a.by) for a in decided]
    harm = tuple(sorted(certified_decisions, key=lambda decision: (not decision.harmful, decision.reason, decision.by)))
    return EvidenceReading(policy, panel, verdict, relations, where, ratings, harm)


def certified_looks(evidence: Evidence, run_id: str, looks: RunLooks, reviewers: Collection[str]) -> CertifiedLooks:
    """Return where a run was examined; ``reviewers`` are those whose ratings count."""
    became = what_became(evidence, reviewers)
    all_rated = not became[ReviewerStatus.TOO_FEW] and not became[ReviewerStatus.NOTHING]
    late = {evidence.ratings_sha256} if all_rated else set()
    others = dict.fromkeys(evidence.other_batches.get(run_id, ()), 0) | dict(looks.others)
    own = evidence.key.batches
    return CertifiedLooks(
        here=len(looks.here),
        early=len(looks.here - late),
        others={batch: others[batch] for batch in sorted(others) if batch not in own},
    )


def certified_relations(evidence: Evidence, reviewers: Collection[str]) -> CertifiedRelations:
    """Count what these people say of themselves; of somebody's words in several batches the nearest counts."""
    order = list(Relation)
    relations: dict[str, list[Relation]] = {who: [] for who in reviewers}
    for who, _, part in counted(evidence.state, evidence.key):
        if who in relations and part.relation is not None:
            relations[who].append(part.relation)
    nearest = Counter(min(near, key=order.index) for near in relations.values() if near)
    counts = {str(relation): nearest[relation] for relation in order}
    return CertifiedRelations(**counts, not_asked=len(relations) - nearest.total())


def require_enough(reading: EvidenceReading) -> None:
    if reading.verdict.outcome not in ISSUED:
        raise HarnessError(
            "No certificate was made: too little was rated for any verdict. `rosetta review gate` says what is missing."
        )


def certify(evidence: Evidence, run_id: str, issuer: Issuer, issued: str, supersedes: str | None = None) -> Certificate:
    """Write the certificate of a run; raises HarnessError where too little was rated to certify anything."""
    reading = read_verdict(evidence, run_id)
    require_enough(reading)
    verifier = own_program_sha256()
    return _certificate(evidence, run_id, reading, issuer, issued, supersedes, verifier_sha256=verifier)


def _certificate(
    evidence: Evidence,
    run_id: str,
    reading: EvidenceReading,
    issuer: Issuer,
    issued: str,
    supersedes: str | None,
    form: CertificateFormat = CERTIFICATE_FORMAT,
    verifier_sha256: str | None = None,
) -> Certificate:
    """Write the certificate, with what its form has; the first takes the chance term of AC2 from paired items alone."""
    first = form == "rosetta-certificate/1"
    counted = reading.verdict.numbers.reviewers
    agreed = agreement(reading.panel, counted, paired_chance=True) if first else reading.agreement
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
        log=CertifiedLog(
            sha256=events_sha256(event.id for event in evidence.events),
            events=len(evidence.events),
            tips=tuple(evidence.tips),
            gaps=evidence.gaps(),
            withheld=evidence.withheld,
            withdrawals=len({who for who, _ in evidence.taken_back}),
            devices_sha256=evidence.devices_sha256,
        ),
        panel=_panel(evidence, counted, first=first),
        laptops=None if first else certified_laptops(evidence.voices),
        relations=None if first else reading.relations,
        harm=() if first else reading.harm,
        looks=reading.looks if form == CERTIFICATE_FORMAT else None,
        witnesses=None if first else certified_witnesses(evidence, issuer.signing_key),
        verdict=without_names(reading.verdict),
        agreement=agreement_record(agreed),
        verifier_sha256=None if first else verifier_sha256,
    )


def as_certified(evidence: Evidence, stated: Certificate) -> Evidence:
    """Return the evidence as it counted for a certificate of its form.

    The first form took the last word of any laptop; the first two show no looks in other reviews. What witnesses said
    later is left out. Other batches are those that the certificate names.
    """
    counted = () if stated.witnesses is None else stated.witnesses.statements
    others = {} if stated.looks is None else {stated.run.run_id: tuple(stated.looks.others)}

    def as_shown(event: Event) -> Event:
        elsewhere = isinstance(event.payload, OrganiserLook) and event.payload.batch not in evidence.key.batches
        return event.erased() if elsewhere else event

    return replace(
        evidence,
        events=tuple(map(as_shown, evidence.events)) if stated.version in {1, 2} else evidence.events,
        weighs_laptops=stated.format != "rosetta-certificate/1",
        witnesses=tuple(e for e in evidence.witnesses if sha256(e).hexdigest() in counted),
        other_batches=others,
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


def without_names(verdict: GateVerdict) -> StatedVerdict:
    """Return a verdict without pseudonyms: people's shares by size, findings about people without whose."""
    codes, shares = list(Code), sorted(verdict.numbers.reviewers.values())
    findings = [{name: fact for name, fact in f.as_json().items() if name != "reviewer"} for f in verdict.findings]
    findings.sort(key=lambda facts: (codes.index(Code(str(facts["code"]))), canonical_bytes(facts)))
    numbers = {**record_json(verdict.numbers), "reviewers": list(map(str, shares))}
    return StatedVerdict.model_validate({**verdict.as_json(), "numbers": numbers, "findings": findings})


def agreement_record(measured: Agreement) -> CertifiedAgreement:
    """Return agreement as whole numbers and decimal strings; leniency without names, by size."""
    leniency = map(_measure, measured.leniency.values())
    return CertifiedAgreement(
        items=measured.items,
        reviewers=measured.reviewers,
        alpha=_measure(measured.alpha),
        ac2=_measure(measured.ac2),
        exact=_measure(measured.exact),
        within_one=_measure(measured.within_one),
        leniency=tuple(sorted(leniency, key=lambda measure: canonical_bytes(measure.model_dump()))),
    )


def _measure(measure: AgreementMeasure) -> CertifiedMeasure:
    ends = measure.interval
    return CertifiedMeasure(
        value=None if measure.value is None else str(round6(measure.value)),
        why=None if measure.why is None else str(measure.why),
        interval=None
        if ends is None
        else CertifiedInterval(
            lower=str(round6(ends.lower)),
            upper=str(round6(ends.upper)),
            level=str(round6(ends.level)),
            draws=ends.draws,
            seed=ends.seed,
            method=ends.method,
        ),
    )


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


def _panel(evidence: Evidence, counted: Collection[str], *, first: bool) -> CertifiedPanel:
    count, later = len(counted), {} if first else {"asked": what_became(evidence, counted)}
    return CertifiedPanel(
        invited=len(evidence.key.orders), reviewers=count, words=f"panel of {count}", chosen=evidence.key.panel, **later
    )


def certified_laptops(voices: AssignedLaptops) -> CertifiedLaptops:
    """Return what a certificate says of laptops: counts and the organisation's reasons, no person and no laptop."""
    return CertifiedLaptops(
        removed=tuple(sorted(voices.removed.values())),
        replaced=len(voices.replaced),
        decided=len(voices.decided),
        waiting=len(voices.waiting),
    )
