"""Recomputing a certificate: its signature, what it rests on, its verdict byte for byte, and what a community kept itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from pydantic import ValidationError

from harness.card.checking.verdict import CardDifference, member
from harness.core.failures import HarnessError, UsageError
from harness.sealed.keys import Signed, key_phrase, says_key
from harness.sealed.keys import verify as signed_by
from harness.sealed.phrase import says
from review.files.batch import Batch
from review.log.event import events_sha256
from review.verdict.certificate.certificate import Certificate, Issuer, read_certificate, statements
from review.verdict.certificate.certify import as_certified, certified_again, read_verdict
from review.verdict.certificate.coarse import CoarseCertificate, over_secret, read_coarse, wrong_numbers
from review.verdict.certificate.evidence import EARLIER_PROGRAMS, Evidence, own_program_sha256
from review.verdict.certificate.signed import (
    LESS_THAN_BOUND,
    Attested,
    CertificateCheck,
    check_batches,
    check_contents,
    check_laptops,
    check_looks,
)
from review.verdict.gate.key import of_batch
from review.verdict.gate.panel import not_shown
from review.verdict.gate.verdict import GateOutcome


def check_kept_batch(evidence: Evidence, stated: Certificate, kept: Batch) -> CertificateCheck:
    """Compare policy, answer key and people of the evidence with a batch that somebody kept since it went out."""
    batch, key = kept.manifest.batch, evidence.key
    signer = stated.organisation.signing_key
    if stated.batches.get(batch) != kept.sha256 or key.batch_sha256.get(batch) != kept.sha256:
        return CertificateCheck("your batch", False, "the certificate does not rest on the batch that you kept")
    if stated.version == 1 and kept.manifest.version != 1:
        return CertificateCheck("your batch", False, LESS_THAN_BOUND)
    named = {kept.manifest.place(who): order for who, order in key.orders.items()}
    wrong = list(of_batch(key, evidence.policy_sha256, kept.signed, kept.manifest, batch, signer))
    if any(named.get(place) != order for place, order in kept.manifest.orders.items()):
        wrong.append("the people whom it asks, or their items, are not those of the evidence")
    if wrong:
        return CertificateCheck("your batch", False, "; ".join(wrong))
    more = "" if kept.manifest.version != 1 else ", though not to the answer key: it is of version 1"
    words = f"the certificate rests on the batch that you kept, which commits to its policy{more}"
    return CertificateCheck("your batch", True, words)


def check_hand_over(attested: Attested, part: Evidence, words: str) -> CertificateCheck:
    """Return whether what a laptop submitted when it showed six words is part of what was certified."""
    name = f"hand-over {words}"
    overs = [over for over in attested.hand_overs if says(words, over.signed.sha256)]
    if not overs and not attested.hand_overs:
        reason = "the evidence is of an earlier version, which kept no hand-overs"
        return CertificateCheck(name, None, reason, earlier=True)
    if not overs and any(says_key(words, key) for key in part.devices.values()):
        reason = "these are the words of a laptop, by which it is enrolled; each hand-over shows its own six"
        return CertificateCheck(name, False, reason)
    if not overs:
        reason = (
            "NOT in the evidence. It was left out, or never imported, or the words were written down otherwise: "
            "ask the organisation"
        )
        return CertificateCheck(name, False, reason)
    own = {device for over in overs for device in attested.own(over)}
    tips = {tip for over in overs for device in own for tip in over.tips.get(device, ())}
    if not tips or not tips <= {event.id for event in part.events}:
        return CertificateCheck(name, False, "came too late: not all of it is in what was certified")
    all_in = f"all {overs[0].manifest.events:,} events of it are in what was certified"
    return CertificateCheck(name, True, all_in)


# Stands for a member that one of two values lacks; nothing of JSON is equal to it
_ABSENT = ("absent",)

_ISSUE_ANEW = "issue the certificate again: rosetta review gate --issue"


@dataclass(frozen=True, slots=True)
class Verification:
    """What came out of verifying a certificate."""

    certificate: Certificate
    checks: tuple[CertificateCheck, ...]
    # Every stated value that is not what the evidence gives
    differences: tuple[CardDifference, ...] = ()
    # Contents that were there when it was issued: without them the numbers of that day cannot be
    # computed again
    missing: int = 0
    # The verdict without them; None where none is missing, or nobody took any back
    without: GateOutcome | None = None
    # Words of hand-overs that somebody kept, held against it. The verdict does not hang on them.
    kept: tuple[CertificateCheck, ...] = ()
    # Items that a laptop could not show, by the evidence → whether somebody rated it. No share
    # counts what nobody rated.
    not_shown: Mapping[str, bool] = field(default_factory=dict)

    @property
    def every(self) -> tuple[CertificateCheck, ...]:
        return (*self.checks, *self.kept)

    @property
    def holds(self) -> bool:
        """True where nothing of the certificate itself was found wrong."""
        return not any(check.ok is False for check in self.checks)

    @property
    def ok(self) -> bool:
        """True where the verdict and its numbers were computed again, and all holds that files of their version can show."""
        return all(check.ok or check.earlier for check in self.every)

    @property
    def unshown(self) -> tuple[CertificateCheck, ...]:
        """Return what could not be checked because the files are of an earlier version."""
        return tuple(check for check in self.every if check.earlier)

    @property
    def broken(self) -> bool:
        """True where something that was checked does not hold; what was taken back breaks nothing."""
        return any(check.ok is False for check in self.every)

    @property
    def words(self) -> str:
        """The result in a few sentences."""
        if not self.holds:
            return "This certificate does not hold."
        if self.missing:
            words = (
                "Signature, log and chains are those that were certified, but the numbers of that day cannot be computed "
                f"again: {self.checks[-1].words}. Without these the verdict is {self.without}. Please {_ISSUE_ANEW}."
            )
        elif self.unshown:
            unshown = "; ".join(f"{check.name}: {check.words}" for check in self.unshown)
            words = (
                "The verdict was computed again, byte for byte. Its files are of an earlier version, which does not show "
                f"all: {unshown}."
            )
        else:
            what = "Everything" if self.ok else "The certificate itself"
            words = f"{what} holds: the verdict was computed again, byte for byte."
        if wrong := ", ".join(check.name for check in self.kept if check.ok is False):
            words += (
                f" What you kept does not agree with it ({wrong}): compare it once more, letter by letter, then ask the "
                "organisation."
            )
        return words


def verify(
    certificate: bytes,
    signature: bytes,
    evidence: Evidence,
    program: bytes | None = None,
    batches: Sequence[Batch] = (),
    phrases: Sequence[str] = (),
    coarse: Signed | None = None,
) -> Verification:
    """Verify a certificate against its evidence, which may hold later events too.

    ``program`` is the second verifier that lay in the evidence file. ``batches`` are files that the community kept,
    ``phrases`` the six words of hand-overs that speakers wrote down, ``coarse`` the certificate that left in its place.
    Raises UsageError where the bytes are no certificate.
    """
    stated = read_certificate(certificate, "the certificate")
    evidence = as_certified(evidence, stated)
    part = evidence.up_to(stated.log.tips)
    logged = events_sha256(event.id for event in part.events) == stated.log.sha256
    log = (
        f"the {len(part.events):,} events that were certified"
        if logged
        else f"not the {stated.log.events:,} events that were certified: some are missing"
    )
    checks = [
        _signature("signature", stated.organisation, Signed(certificate, signature), "this certificate"),
        _same("policy", stated.policy.sha256, evidence.policy_sha256),
        _same("answer key", stated.key_sha256, evidence.key_sha256),
        _same("devices", stated.log.devices_sha256, part.devices_sha256),
        CertificateCheck("log", logged, log),
        _chains(stated, part),
        *check_signed(stated, evidence, part),
        *_programs(stated, program),
        *(check_kept_batch(evidence, stated, batch) for batch in batches),
        *what_it_tells(stated, evidence, coarse),
    ]
    kept = tuple(check_hand_over(Attested(evidence), part, phrase) for phrase in phrases)
    unseen = not_shown(part.state, part.key, stated.run.run_id)
    return replace(_verdict(stated, checks, evidence, part), kept=kept, not_shown=unseen)


def _verdict(stated: Certificate, checks: list[CertificateCheck], evidence: Evidence, part: Evidence) -> Verification:
    """Compute the verdict again where everything that it rests on holds."""
    if any(check.ok is False for check in checks):
        left = CertificateCheck("verdict", None, "not computed: it would rest on something else")
        return Verification(stated, (*checks, left))
    missing = part.withheld - stated.log.withheld
    try:
        if missing > 0:
            return _with_contents_missing(stated, checks, evidence, part, missing)
        expected = certified_again(part, stated)
        wrong = tuple(_differ(stated.model_dump(mode="json"), expected.model_dump(mode="json"), "$"))
        same = stated.as_bytes() == expected.as_bytes()
        words = "computed again, byte for byte" if same else f"{len(wrong):,} wrong, first: {wrong[0]}"
        return Verification(stated, (*checks, CertificateCheck("verdict", same, words)), wrong)
    except (HarnessError, ValidationError, ArithmeticError) as error:  # a key that fits no review
        words = str(error) if isinstance(error, HarnessError) else "the answer key gives no verdict"
        return Verification(stated, (*checks, CertificateCheck("verdict", False, words)))


def what_it_tells(stated: Certificate, evidence: Evidence, coarse: Signed | None) -> Iterator[CertificateCheck]:
    """Return what an exact certificate over secret entries reveals, and check the coarse one that left in its place."""
    if over_secret(stated, evidence):
        numbers = stated.verdict.numbers
        shares = f"{len(numbers.strata)} difficulties, and the own share of each of {len(numbers.reviewers)} people"
        words = (
            f"it is exact, and its entries are secret: shares to six places of {numbers.items} items, of {shares}. Its evidence "
            "has every single rating. Both are to stay inside; what leaves is a coarse certificate"
        )
        yield CertificateCheck("what it tells", True, words)
    if coarse is None:
        return
    try:
        coarse_certificate = read_coarse(coarse.content, "the coarse certificate")
    except UsageError as error:
        yield CertificateCheck("coarse certificate", False, str(error))
        return
    yield coarse_signature(coarse_certificate, coarse)
    wrong = wrong_numbers(coarse_certificate, stated)
    words = "what left in its place follows from it, number by number"
    yield CertificateCheck("coarse numbers", not wrong, "; ".join(wrong) or words)


def verify_outside(coarse: Signed, name: str) -> tuple[CoarseCertificate, list[CertificateCheck]]:
    """Check a coarse certificate without what it follows from: its form and its signature; UsageError where it is none."""
    coarse_certificate = read_coarse(coarse.content, name)
    left = CertificateCheck("coarse numbers", None, coarse_certificate.checks)
    return coarse_certificate, [coarse_signature(coarse_certificate, coarse), left]


def coarse_signature(told: CoarseCertificate, coarse: Signed) -> CertificateCheck:
    """Return whether the organisation that a coarse certificate names signed it."""
    return _signature("coarse signature", told.organisation, coarse, "it")


def _signature(name: str, issuer: Issuer, signed: Signed, what: str) -> CertificateCheck:
    key = issuer.signing_key
    if signed_by(key, signed.content, signed.signature):
        return CertificateCheck(name, True, f"of {issuer.name}, key {key}")
    return CertificateCheck(name, False, f"key {key} did not sign {what}: it was changed")


def _same(name: str, stated: str, found: str) -> CertificateCheck:
    if stated == found:
        return CertificateCheck(name, True, "the one that was certified")
    return CertificateCheck(name, False, f"not the one that was certified (SHA-256 {stated[:16]}…)")


def _chains(stated: Certificate, part: Evidence) -> CertificateCheck:
    if part.gaps() != stated.log.gaps:
        return CertificateCheck("chains", False, "an event does not follow on the one before it")
    if unknown := [d for d in {event.device for event in part.events} if d not in part.devices]:
        words = "written by a laptop that the organisation does not know"
        return CertificateCheck("chains", False, f"{len(unknown)} of them {words}")
    whole = "whole" if not stated.log.gaps else f"with {stated.log.gaps:,} gaps, as certified"
    return CertificateCheck("chains", True, f"{whole}; every content matches its head")


def _programs(stated: Certificate, program: bytes | None) -> Iterator[CertificateCheck]:
    """Compare the second verifier of the file, and the one that the certificate names, with ours.

    It would be run by anyone who doubts the file.
    """
    unknown = "that was never given out, as far as this version knows: do not run it. Install the newest version, or take the program from its makers"
    if program is not None:
        digest = sha256(program).hexdigest()
        words = f"rosetta_verify.py in the file (SHA-256 {digest[:16]}…) is one {unknown}"
        if ours := digest == own_program_sha256():
            words = "the one that is installed here"
        elif earlier := EARLIER_PROGRAMS.get(digest):
            words = f"an earlier one, {earlier}"
        yield CertificateCheck("second verifier", ours or digest in EARLIER_PROGRAMS, words)
    named = stated.verifier_sha256
    if named is not None and named != own_program_sha256() and named not in EARLIER_PROGRAMS:
        words = f"the certificate names a second verifier (SHA-256 {named[:16]}…) {unknown}"
        yield CertificateCheck("second verifier", False, words)


def check_signed(stated: Certificate, evidence: Evidence, part: Evidence) -> list[CertificateCheck]:
    """Compare the evidence with what others signed; what was missing when it was issued was taken back by then."""
    attested = Attested(evidence)
    taken = part if part.withheld == stated.log.withheld else evidence
    try:
        return [
            check_batches(attested, stated),
            check_laptops(attested, part),
            check_contents(attested, part, taken),
            check_looks(stated, part),
            *_witnesses(stated, part),
        ]
    except HarnessError as error:
        return [CertificateCheck("signed files", False, str(error))]


def _witnesses(stated: Certificate, part: Evidence) -> Iterator[CertificateCheck]:
    """Return who saw which laptops; nobody need have, and no file shows that a laptop is not the organisation's own."""
    if stated.witnesses is None:
        return
    signed = [statement for _, statement in statements(part, stated.organisation.signing_key)]
    keys = "; ".join(sorted({key_phrase(statement.witness) for statement in signed}))
    seen, wrote = len({statement.laptop for statement in signed}), stated.witnesses.laptops
    words = f"a second person saw {seen} of {wrote} laptops: ask those whose keys have these six words: {keys}"
    if not signed:
        words = f"nobody signed for having seen one of the {wrote} laptops: that they are speakers' is the organisation's word"
    yield CertificateCheck("witnesses", True, words)


def _with_contents_missing(
    stated: Certificate, checks: list[CertificateCheck], evidence: Evidence, part: Evidence, missing: int
) -> Verification:
    """Return how many contents are missing and how many people took theirs back.

    Whose a content was is gone with it: nobody can prove that just those people's are missing, so this
    certificate is not proven again.
    """
    people = {who for who, _ in evidence.taken_back - part.taken_back}
    contents = f"{missing:,} content{'s are' if missing > 1 else ' is'} missing"
    if not people:
        words = f"{contents}, and nobody has taken any back since"
        left = CertificateCheck("contents", False, words)
        return Verification(stated, (*checks, left), missing=missing)
    words = f"{contents}; {len(people)} {'people' if len(people) > 1 else 'person'} took theirs back since"
    # of what was certified; later ratings stay unseen
    without = read_verdict(part, stated.run.run_id).verdict.outcome
    left = CertificateCheck("verdict", None, words)
    return Verification(stated, (*checks, left), missing=missing, without=without)


def _differ(found: Any, expected: Any, path: str) -> Iterator[CardDifference]:
    """Yield every place where two JSON values are not the same; a missing member is one too."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in sorted({*found, *expected}):
            pair = (found.get(name, _ABSENT), expected.get(name, _ABSENT))
            yield from _differ(*pair, member(path, name))
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from _differ(one, other, f"{path}[{place}]")
    elif type(found) is not type(expected) or found != expected:
        yield CardDifference(path, expected, found)
