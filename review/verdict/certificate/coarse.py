"""The coarse certificate: what leaves of a review of secret entries, in place of the certificate that stays inside.

It says the verdict, by which policy, and its numbers in steps as wide as the entries support; a difficulty of fewer than
five entries is not on it, nor one by which such a one could be found. Nothing on it is about a single item or person. Each
number follows from the exact certificate, whose SHA-256 it names: who has that one and its evidence computes it again,
others check form and signature alone, and it says so.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil, floor, log2
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from corpora.model.vocabularies import SECRET_SEGMENTS
from harness.card.withholding import LEAST, clean, expected_half, rounded
from harness.core.failures import UsageError
from harness.core.storage import usage_errors
from harness.release.ledger_records import Answers, Confirmation, InLedger
from harness.sealed.strict_records import Hex64, Id, Short, StrictRecord
from harness.vault.vault_records import Moment
from review.verdict.certificate.certificate import (
    MOST_BYTES,
    Certificate,
    CertifiedPolicy,
    IssuedRecord,
    Issuer,
    StatedVerdict,
    read_certificate,
)
from review.verdict.certificate.certificate_text import CertificatePage, share_words
from review.verdict.certificate.evidence import Evidence
from review.verdict.gate.verdict import OUTCOMES, Code, GateOutcome

COARSE_FORMAT: Final = "rosetta-coarse-certificate/1"

# What can be checked by whom; it is on each coarse certificate
CHECKS: Final = (
    "The numbers are in steps, for the entries are secret. Outside, its form and its signature can be checked, and nothing "
    "else. That the numbers follow from the ratings is checked by whoever keeps the evidence, inside."
)

# Findings that bear on the outcome, in their order, and how they are told, without a number; of
# all others nothing leaves
REASON_TEXTS: Final = {
    str(Code.HARM_OPEN): "Something was called harmful, and nobody has looked into it yet.",
    str(Code.HARM_UPHELD): "Something was found to be harmful.",
    str(Code.LEVEL_REACHED): "The lower bound reaches the level.",
    str(Code.LEVEL_MISSED): "The upper bound lies below the level.",
    str(Code.LEVEL_OPEN): "The level lies between the bounds.",
    str(Code.WEAK_STRATUM): "A difficulty is far below the level.",
    str(Code.VETO): "Too many translations are rejected by several people.",
    str(Code.LOW_REVIEWER): "Somebody finds far fewer translations acceptable than the level asks for.",
    str(Code.CONTROLS_FAILED): "Most people found spoilt translations acceptable.",
    str(Code.FLAGS_DECIDE): "Without people whose ratings show signs of haste the verdict would be another one.",
}  # fmt: skip

# A share, or the width of a step, as a decimal
Step = Annotated[str, Field(pattern=r"^[01](\.[0-9]{1,12})?$")]
# So many at least: a count, down to a multiple of five
Fives = Annotated[int, Field(ge=0, le=1_000_000, multiple_of=LEAST)]


class CoarseShare(StrictRecord):
    """A share of acceptable or better with its bounds, all in multiples of ``step``."""

    value: Step
    lower: Step
    upper: Step
    step: Step


class CoarseRun(StrictRecord):
    run_id: Short
    run_card_hash: Hex64
    dataset_id: Short
    language_pair: Short
    segments: dict[Short, Fives]  # Segment → reviewed entries, that many at least


class CoarsePanel(StrictRecord):
    reviewers: Fives  # People whose ratings count, that many at least; 0 says fewer than five
    community: bool  # Whether they are that many that the policy speaks of the community
    chosen: str  # How they were chosen, in the organisation's words


class CoarseVerdict(StrictRecord):
    outcome: GateOutcome
    level: Step  # Share that had to be shown
    confidence: Step  # Of each bound
    reasons: tuple[str, ...]  # Codes of the findings that bear on the outcome
    items: Fives  # Rated items, that many at least
    share: CoarseShare  # Of all items
    # Difficulty → its share, where enough of it was rated
    strata: dict[Annotated[str, Field(pattern=r"^[0-5]$")], CoarseShare]
    # Whether a difficulty is not there that would tell of fewer than five items
    strata_left_out: bool


class CoarseCertificate(IssuedRecord):
    """One verdict as it leaves."""

    format: Literal["rosetta-coarse-certificate/1"] = COARSE_FORMAT
    checks: Literal[
        "The numbers are in steps, for the entries are secret. Outside, its form and its signature can be checked, and nothing "
        "else. That the numbers follow from the ratings is checked by whoever keeps the evidence, inside."
    ] = CHECKS
    exact: Hex64  # SHA-256 of the certificate that stays inside
    issued: Moment
    supersedes: Hex64 | None  # SHA-256 of the coarse certificate of the same run before this one
    organisation: Issuer
    review: Short
    run: CoarseRun
    batches: dict[Id, Hex64]  # Batch → SHA-256 of its manifest
    policy: CertifiedPolicy
    panel: CoarsePanel
    verdict: CoarseVerdict
    answer: Answers  # Which certificate of the run it is that is told
    of: Answers  # How many are told of it
    place: InLedger  # Where the ledger has it
    # As the released card of the run states it: a go that is not confirmed lifts no card, and no
    # ownership rests on it
    confirmation: Confirmation

    @property
    def outcome(self) -> GateOutcome:
        return self.verdict.outcome

    def contradictions(self) -> Iterator[str]:
        """Yield what the form of each number alone does not refuse."""
        verdict = self.verdict
        for name, share in {"share": verdict.share, **verdict.strata}.items():
            value, lower, upper, step = map(Decimal, (share.value, share.lower, share.upper, share.step))
            if not step or any(one % step and one != 1 for one in (value, lower, upper)):
                yield f"{name} is not in its steps"
            elif not lower <= value <= upper <= 1:
                yield f"{name} does not lie between its bounds"
        if list(verdict.reasons) != [reason for reason in REASON_TEXTS if reason in verdict.reasons]:
            yield "its reasons are not those of a gate, in their order"
        if verdict.outcome is GateOutcome.INSUFFICIENT:
            yield "too few ratings are not certified"


def refuse_exact(data: bytes) -> None:
    """Raise UsageError for a certificate over secret entries that is not coarse: it does not leave, nor is it imported."""
    if is_coarse(data):
        read_coarse(data, "this certificate")
    elif over_secret(read_certificate(data, "this certificate")):
        raise UsageError(EXACT_STAYS)


EXACT_STAYS: Final = (
    "This certificate is exact, and its entries are secret: it and its evidence, which has every single rating, stay where they "
    "are. What leaves is the coarse certificate, as rosetta review gate --issue writes it."
)


def is_coarse(data: bytes) -> bool:
    """Return whether bytes say of themselves that they are a coarse certificate."""
    try:
        raw = json.loads(data[:MOST_BYTES])
    except (ValueError, RecursionError):
        return False
    return isinstance(raw, Mapping) and str(raw.get("format", "")).startswith("rosetta-coarse-certificate/")


def read_coarse(data: bytes, name: str) -> CoarseCertificate:
    """Read a coarse certificate from its bytes, its signature not examined; raises UsageError in words."""
    with usage_errors(name):
        coarse = CoarseCertificate.model_validate_json(data)
    coarse.require_canonical(data, name)
    if wrong := next(coarse.contradictions(), None):
        raise UsageError(f"{name} is of no form that is issued: {wrong}.")
    return coarse


def over_secret(certificate: Certificate, evidence: Evidence | None = None) -> bool:
    """Return whether a certificate is over secret entries: by its segments, or by a batch that says so."""
    if SECRET_SEGMENTS & {name for name, count in certificate.run.segments.items() if count}:
        return True
    signed = () if evidence is None else evidence.batches.values()
    return any(json.loads(signed.content).get("secret") is True for signed in signed)


def coarse_verdict(said: StatedVerdict, told: Collection[str]) -> CoarseVerdict:
    """Return a verdict, as a certificate has it, in steps and with the difficulties of ``told``."""
    numbers = said.numbers
    strata = {name: stratum for name, stratum in numbers.strata.items() if stratum.items}
    needed = {finding["stratum"] for finding in said.findings if finding["code"] == Code.WEAK_STRATUM}
    shown = {str(finding["code"]) for finding in said.findings} & REASON_TEXTS.keys()
    if needed and not needed & set(map(int, told)):
        shown.discard(Code.WEAK_STRATUM)
    return CoarseVerdict(
        outcome=said.outcome,
        level=_decimal(said.level),
        confidence=_decimal(said.confidence),
        reasons=tuple(reason for reason in REASON_TEXTS if reason in shown),
        items=fives(numbers.items),
        share=_share((numbers.share, numbers.lower, numbers.upper), numbers.items),
        strata={name: _share((strata[name].share,) * 3, strata[name].items) for name in sorted(told)},
        strata_left_out=bool(strata.keys() - set(told)),
    )


def fives(count: int) -> int:
    """Return a count down to a multiple of five."""
    return count - count % LEAST


def _share(bounds: Sequence[str | None], items: int) -> CoarseShare:
    value, lower, upper = (float(bound) for bound in bounds if bound is not None)
    steps = in_steps(value, lower, upper, items)
    parts = [_decimal(repr(part)) for part in steps]
    return CoarseShare(**dict(zip(CoarseShare.model_fields, parts, strict=True)))


def in_steps(value: float, lower: float, upper: float, items: int) -> tuple[float, float, float, float]:
    """Return a share of that many items with its bounds in steps no finer than these support, and the step.

    The bounds go outward, and at least a step from the share: one of exactly 0 or 1 reveals each item. So 0.83 of 60 (0.70–0.91)
    is released as 0.8 (0.6–1) in steps of 0.2, for its wider half is 0.13.
    """
    step = step_for(max(value - lower, upper - value, expected_half(items, (0.0, 1.0), value)))
    near = min(1.0, rounded(value, step))
    low = min(floor(lower / step + 1e-9) * step, near - step)
    high = max(ceil(upper / step - 1e-9) * step, near + step)
    return near, clean(max(0.0, low)), clean(min(1.0, high)), step


def step_for(half: float) -> float:
    """Return the smallest of 0.1, its halves and doubles that is not narrower than ``half``, which is above 0."""
    return clean(0.1 * 2.0 ** ceil(log2(half / 0.1) - 1e-9))


def _decimal(number: str) -> str:
    """Return a number as a decimal without zeros at its end."""
    return f"{Decimal(number).normalize():f}"


def coarse_of(exact: Certificate, told: Collection[str], **counted: Any) -> CoarseCertificate:
    """Write the coarse certificate of an exact one; ``counted`` is what the ledger says: issued, supersedes, answer, of, place, confirmation."""
    run = exact.run
    return CoarseCertificate(
        exact=exact.sha256,
        organisation=exact.organisation,
        review=exact.review,
        run=CoarseRun(
            run_id=run.run_id,
            run_card_hash=run.run_card_hash,
            dataset_id=run.dataset_id,
            language_pair=run.language_pair,
            segments={name: fives(count) for name, count in run.segments.items()},
        ),
        batches=exact.batches,
        policy=exact.policy,
        panel=CoarsePanel(
            reviewers=fives(exact.panel.reviewers),
            community=exact.verdict.community_panel,
            chosen=exact.panel.chosen,
        ),
        verdict=coarse_verdict(exact.verdict, told),
        **counted,
    )


def same_numbers(stated: CoarseCertificate, exact: Certificate) -> bool:
    """Return whether a coarse certificate says of its run what another exact one would say, whatever it was issued of."""
    return _again(stated, exact).model_copy(update={"exact": stated.exact}) == stated


def _again(stated: CoarseCertificate, exact: Certificate) -> CoarseCertificate:
    kept = stated.model_dump(include={"issued", "supersedes", "answer", "of", "confirmation"})
    strata = stated.verdict.strata.keys() & exact.verdict.numbers.strata.keys()
    return coarse_of(exact, strata, **kept, place=stated.place)


def wrong_numbers(stated: CoarseCertificate, exact: Certificate) -> list[str]:
    """Return what of a coarse certificate does not follow from the exact one; none where all does."""
    rated = {name: stratum.items for name, stratum in exact.verdict.numbers.strata.items() if stratum.items}
    wrong = [
        f"difficulty {name} has fewer than {LEAST} items"
        for name in stated.verdict.strata
        if rated.get(name, 0) < LEAST
    ]
    rest = sum(count for name, count in rated.items() if name not in stated.verdict.strata)
    if 0 < rest < LEAST and not wrong:
        wrong.append(f"the total less the difficulties that are shown is fewer than {LEAST} items")
    if not wrong and (again := _again(stated, exact)) != stated:
        mine, theirs = (certificate.model_dump(mode="json") for certificate in (again, stated))
        wrong += [f"field {name!r}" for name in mine if mine[name] != theirs[name]]
    return wrong


# ---- A coarse certificate as one page of text, and as one self-contained HTML page ----

CONFIRMATION = {
    "confirmed": "no scores over these sentences were released before the run's",
    "not_confirmed": "not confirmed: scores over these sentences were released before, or they are few",
}


def coarse_page(told: CoarseCertificate) -> CertificatePage:
    return CertificatePage(
        told.review,
        OUTCOMES[told.outcome],
        list(facts(told)),
        [(REASON_TEXTS[code], []) for code in told.verdict.reasons],
        list(seals(told)),
        told.checks,
    )


def facts(told: CoarseCertificate) -> Iterator[tuple[str, str]]:
    """Yield what a reader wants to know first, as name and value."""
    run, verdict = told.run, told.verdict
    segments = ", ".join(f"{at_least(n)} of {name}" for name, n in sorted(run.segments.items()))
    yield "run", run.run_id
    yield "corpus", f"{run.dataset_id}, {run.language_pair}, {segments}"
    yield "review", told.review
    yield "organisation", told.organisation.name
    yield "issued", told.issued
    yield "panel", f"{at_least(told.panel.reviewers)} people whose ratings count"
    yield "how chosen", told.panel.chosen or "not stated by the organisation"
    yield "items", f"{at_least(verdict.items)} rated"
    yield "share", f"{share(verdict.share)} acceptable or better"
    yield ("needed", f"a lower bound of {share_words(verdict.level)}, {share_words(verdict.confidence)} sure")
    for stratum, coarse_share in sorted(verdict.strata.items()):
        yield f"difficulty {stratum}", share(coarse_share)
    if verdict.strata_left_out:
        yield "left out", f"difficulties with fewer than {LEAST} items"
    yield "confirmation", CONFIRMATION[told.confirmation]
    yield "told", f"certificate {told.answer} of {told.of} for this run"


def seals(told: CoarseCertificate) -> Iterator[tuple[str, str]]:
    """Yield the hashes and keys, as name and value."""
    yield "certificate", told.sha256
    yield "signed with", told.organisation.signing_key
    yield "made of", f"{told.exact}, which stays inside"
    yield "run card", told.run.run_card_hash
    yield "policy", told.policy.sha256
    yield "policy status", told.policy.status
    for batch, manifest in sorted(told.batches.items()):
        yield f"batch {batch}", manifest
    if told.supersedes:
        yield "supersedes", told.supersedes
    yield "ledger", f"{told.place.ledger}, line {told.place.line}"


def share(each: CoarseShare) -> str:
    lower, upper = share_words(each.lower), share_words(each.upper)
    return f"about {share_words(each.value)} ({lower} to {upper}, in steps of {share_words(each.step)})"


def at_least(count: int) -> str:
    """Return a count that was rounded down to a multiple of five."""
    return f"{count:,} or more" if count else f"fewer than {LEAST}"
