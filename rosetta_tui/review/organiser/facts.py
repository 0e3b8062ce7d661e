"""What the organiser's screens show of reviews, read in one go and then independent of any file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.store.notes import Attached
from harness.store.run_list import RunSummary, list_runs
from review.files.manifests import BatchItem
from review.office.intake.speaking import Assignments, speaking
from review.office.making.second_look import cases_of
from review.office.results.certifying import (
    looks_of,
    newest_certificate,
    review_evidence,
    seen,
    unseen_runs,
)
from review.office.results.progress import ReviewProgress, WaitingLaptop, progress, waiting
from review.office.results.results import withdrawn_words
from review.office.store.arrivals import Delivery, deliveries
from review.office.store.store import IssuedCertificate, Office, Review
from review.verdict.certificate.certificate import ReviewStatus, read_certificate, standing
from review.verdict.certificate.certify import EvidenceReading
from review.verdict.certificate.evidence import Evidence
from review.verdict.certificate.verifying import Verification, verify
from review.verdict.gate.adjudication import Case
from review.verdict.panel.key import KeyRun
from rosetta_tui.review.organiser.words.gate import advice, has_numbers, settling_words
from rosetta_tui.show.run_facts import setup_words

if TYPE_CHECKING:
    from rosetta_tui.review.organiser.desk import OrganiserService

GONE = "a run no longer in the list of runs"


@dataclass(frozen=True, slots=True)
class CertifiedVerdict:
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
    verdicts: Sequence[CertifiedVerdict | None]
    """Run by run; None where no certificate was issued."""
    second_look: bool = False
    """Whether it asks once more about what split the panel of another."""
    agreement: bool = False
    """Whether it asks second speakers about translations of a corpus in the making."""
    withdrawn: str = ""
    """What was taken back of what it is about, in words; empty where nothing was."""

    @property
    def asks(self) -> str:
        """Return what it asks for: the runs that are judged, or what else a review without runs is."""
        return ", ".join(self.runs) or (
            "a second look"
            if self.second_look
            else "looks over translations"
            if self.agreement
            else "collects translations"
        )


@dataclass(frozen=True)
class RunNow:
    """One run under review."""

    key: KeyRun
    words: str
    """Method, model and condition."""
    looks: int
    """Looks at its numbers, over all its reviews."""
    opened: bool
    """Whether the verdict was read and the newest certificate verified, which takes a moment."""
    reading: EvidenceReading | None
    """The verdict; None where reading it would be a new look."""
    settling: str
    """What would settle an open verdict; empty where nothing is open, or no number may be shown."""
    advice: Sequence[str]
    """Private advice about ratings that look hurried, and test translations that were called harmful."""
    certificates: Sequence[IssuedCertificate]
    """Oldest first."""
    verification: Verification | None
    """Of the newest certificate; None where there is none."""
    attached: Sequence[Attached]
    """Certificates beside the run."""
    standing: ReviewStatus | None
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
    speaking: Assignments
    waiting: Sequence[WaitingLaptop]
    cases: Sequence[Case]
    """With counts of ratings, so they are shown where ``unseen`` is empty."""
    unseen: Mapping[str, int]
    """Runs of which reading the ratings would be a new look, each with its number."""
    texts: Mapping[str, BatchItem]
    """Of the cases. In a secret review they are shown while deciding and nowhere else; those from a vault are not here."""
    secret: bool
    runs: Sequence[RunNow]
    withdrawn: str = ""
    """What was taken back of what it is about, in words; then there are no cases and no verdict here."""

    @property
    def most_looked(self) -> RunNow:
        """The run that was examined most often, of those of which a look would be new."""
        return max((run for run in self.runs if run.key.run_id in self.unseen), key=_looks)


def _looks(run: RunNow) -> int:
    return run.looks


def read_reviews(desk: OrganiserService) -> list[ReviewLine]:
    """Read the list of reviews, newest first; StoreError in words."""
    if not desk.has_office:
        return []
    summaries = _summaries(desk)
    with desk.office() as office:
        return [
            ReviewLine(
                progress(office, review),
                [_words(summaries.get(run.run_id)) for run in review.key.runs],
                _verdicts(office, review),
                review.is_second_look,
                review.is_agreement,
                withdrawn_words(review),
            )
            for review in office.reviews()
        ]


def read_review(desk: OrganiserService, name: str, opened: str | None = None) -> ReviewNow:
    """Read one review, and of the run ``opened`` verdict and certificate; none of it is a new look at numbers."""
    summaries = _summaries(desk)
    with desk.office() as office:
        review = office.review(name)
        state = office.state_of_any(review)
        withdrawn = withdrawn_words(review)
        hidden = withdrawn or review.is_second_look
        cases = [] if hidden else cases_of(office, review, state)
        certificates, looks = office.certificates(review), looks_of(office, review)
        runs = [
            _run(run, summaries.get(run.run_id), looks[run.run_id].total, certificates)
            for run in review.key.runs
        ]
        return ReviewNow(
            review=review,
            progress=progress(office, review),
            deliveries=deliveries(office, review),
            speaking=speaking(office, review),
            waiting=waiting(office),
            cases=cases,
            unseen=unseen_runs(office, review),
            texts=_texts(review, cases),
            secret=review.secret,
            runs=[
                _opened(desk, office, review, run)
                if run.key.run_id == opened and not withdrawn
                else run
                for run in runs
            ],
            withdrawn=withdrawn,
        )


def _texts(review: Review, cases: Sequence[Case]) -> dict[str, BatchItem]:
    """Return the sentences of cases; none where they are from a vault, which no screen opens."""
    return {} if review.vault_runs else {case.item: review.texts[case.item] for case in cases}


def _run(
    run: KeyRun,
    summary: RunSummary | None,
    looks: int,
    certificates: Sequence[IssuedCertificate],
) -> RunNow:
    attached = () if summary is None else summary.certificates
    return RunNow(
        key=run,
        words=_words(summary),
        looks=looks,
        opened=False,
        reading=None,
        settling="",
        advice=(),
        certificates=[
            certificate for certificate in certificates if certificate.run_id == run.run_id
        ],
        verification=None,
        attached=attached,
        standing=standing(attached, run.run_id, run.run_card_hash),
    )


def _opened(desk: OrganiserService, office: Office, review: Review, run: RunNow) -> RunNow:
    evidence = review_evidence(office, review, desk.identity().public.signing_key)
    reading = seen(evidence, run.key.run_id)
    shown = reading if reading is not None and has_numbers(reading) else None
    return replace(
        run,
        opened=True,
        reading=reading,
        settling="" if shown is None else settling_words(shown),
        advice=() if reading is None else list(advice(review, reading)),
        verification=_verified(run.newest, evidence),
    )


def _verified(issued: IssuedCertificate | None, evidence: Evidence) -> Verification | None:
    return None if issued is None else verify(issued.certificate, issued.signature, evidence)


def _verdicts(office: Office, review: Review) -> list[CertifiedVerdict | None]:
    certified_verdicts: list[CertifiedVerdict | None] = []
    for run in review.key.runs:
        issued = newest_certificate(office, review, run.run_id)
        if issued is None:
            certified_verdicts.append(None)
        else:
            outcome = read_certificate(issued.certificate, "the certificate").outcome
            certified_verdicts.append(CertifiedVerdict(outcome, issued.recompute))
    return certified_verdicts


def _summaries(desk: OrganiserService) -> dict[str, RunSummary]:
    with desk.store() as store:
        return {run.run_id: run for run in list_runs(store)}


def _words(summary: RunSummary | None) -> str:
    return GONE if summary is None else setup_words(summary)
