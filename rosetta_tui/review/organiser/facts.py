"""What the organiser's screens show of reviews, read in one go and then independent of any file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rosetta_tui.run_facts import setup_words

if TYPE_CHECKING:
    from harness.store.certificates import Attached
    from harness.store.runs import RunSummary
    from review.files.batch_form import BatchItem
    from review.office.deliveries import Delivery
    from review.office.progress import ReviewProgress, Waiting
    from review.office.store import IssuedCertificate, Office, Review
    from review.verdict.adjudication import Case
    from review.verdict.attachment import Standing
    from review.verdict.certificate import Reading
    from review.verdict.evidence import Evidence
    from review.verdict.key import KeyRun
    from review.verdict.verifying import Verification
    from rosetta_tui.review.organiser.desk import Desk

GONE = "a run no longer in the list of runs"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the newest certificate of a run says."""

    outcome: str
    recompute: bool
    """Something that it rests on was taken back since."""


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """One review of the list."""

    progress: ReviewProgress
    runs: Sequence[str]
    """Method, model and condition of each."""
    verdicts: Sequence[Verdict | None]
    """Run by run; None where no certificate was issued."""


@dataclass(frozen=True)
class RunNow:
    """One run under review."""

    key: KeyRun
    words: str
    """Method, model and condition."""
    looks: int
    """Looks at its numbers that were written down."""
    reading: Reading | None
    """The verdict; None where reading it would be a new look."""
    certificates: Sequence[IssuedCertificate]
    """Oldest first."""
    verification: Verification | None
    """Of the newest certificate; None where there is none."""
    attached: Sequence[Attached]
    """Certificates beside the run."""
    standing: Standing | None
    """What they let be claimed of it."""

    @property
    def newest(self) -> IssuedCertificate | None:
        """The certificate that was issued last."""
        return self.certificates[-1] if self.certificates else None


@dataclass(frozen=True)
class ReviewNow:
    """One review with all that its sections show."""

    review: Review
    progress: ReviewProgress
    deliveries: Sequence[Delivery]
    waiting: Sequence[Waiting]
    cases: Sequence[Case]
    texts: Mapping[str, BatchItem]
    """Of the cases. In a secret review they are shown while deciding and nowhere else."""
    secret: bool
    runs: Sequence[RunNow]


def read_reviews(desk: Desk) -> list[ReviewLine]:
    """Read the list of reviews, newest first; StoreError in words."""
    from review.office.progress import progress

    if not desk.has_office:
        return []
    summaries = _summaries(desk)
    with desk.office() as office:
        return [
            ReviewLine(
                progress(office, review),
                [_words(run.run_id, summaries) for run in review.key.runs],
                _verdicts(office, review),
            )
            for review in office.reviews()
        ]


def read_review(desk: Desk, name: str) -> ReviewNow:
    """Read one review; nothing of it is a look at numbers that was not one before."""
    from review.office.deliveries import deliveries
    from review.office.progress import progress, waiting
    from review.office.rating_rows import secret
    from review.verdict.adjudication import queue

    summaries = _summaries(desk)
    with desk.office() as office:
        review = office.review(name)
        cases = queue(office.state(review), review.key)
        return ReviewNow(
            review=review,
            progress=progress(office, review),
            deliveries=deliveries(office, review),
            waiting=waiting(office),
            cases=cases,
            texts={case.item: review.texts[case.item] for case in cases},
            secret=review.manifest.secret or secret(review.key),
            runs=_runs(desk, office, review, summaries),
        )


def _runs(
    desk: Desk, office: Office, review: Review, summaries: Mapping[str, RunSummary]
) -> list[RunNow]:
    from review.office.certifying import review_evidence, seen

    own_key = desk.identity().public.signing_key
    evidence = review_evidence(office, review, own_key)
    certificates = office.certificates(review)
    looks = office.state(review).looks
    found = []
    for run in review.key.runs:
        issued = [each for each in certificates if each.run_id == run.run_id]
        summary = summaries.get(run.run_id)
        attached = () if summary is None else summary.certificates
        found.append(
            RunNow(
                key=run,
                words=_words(run.run_id, summaries),
                looks=looks.get(run.run_id, 0),
                reading=seen(office, review, run.run_id, own_key),
                certificates=issued,
                verification=_verified(issued, evidence),
                attached=attached,
                standing=_standing(run, attached),
            )
        )
    return found


def _verified(issued: Sequence[IssuedCertificate], evidence: Evidence) -> Verification | None:
    from review.verdict.verifying import verify

    return verify(issued[-1].certificate, issued[-1].signature, evidence) if issued else None


def _standing(run: KeyRun, attached: Sequence[Attached]) -> Standing | None:
    from review.verdict.attachment import standing

    return standing(attached, run.run_id, run.run_card_hash)


def _verdicts(office: Office, review: Review) -> list[Verdict | None]:
    from review.office.results import newest_certificate
    from review.verdict.certificate import read_certificate

    found: list[Verdict | None] = []
    for run in review.key.runs:
        issued = newest_certificate(office, review, run.run_id)
        if issued is None:
            found.append(None)
        else:
            said = read_certificate(issued.certificate, "the certificate").outcome
            found.append(Verdict(said, issued.recompute))
    return found


def _summaries(desk: Desk) -> dict[str, RunSummary]:
    from harness.store.runs import list_runs

    with desk.store() as store:
        return {run.run_id: run for run in list_runs(store)}


def _words(run_id: str, summaries: Mapping[str, RunSummary]) -> str:
    summary = summaries.get(run_id)
    return GONE if summary is None else setup_words(summary)
