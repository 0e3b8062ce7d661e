"""An organisation's desk: everything that its screens do with reviews, runs and files.

Every call opens what it needs and closes it, so it may be made in any thread; all of them wait for the disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.core.failures import UsageError
from harness.sealed.carried_files import FoundFile
from harness.sealed.keys import Identity, Role, opening_identities
from harness.store.attachments import Attached
from harness.store.run_list import RunSummary, list_runs
from harness.store.sqlite.database import opened
from review.files.manifests import BatchItem
from review.log.payloads import Adjudicate
from review.log.table import saying
from review.office.intake.importing import enrol_laptop, import_files
from review.office.intake.speaking import Assignments, FileReport, speaking
from review.office.making.second_look import cases_of
from review.office.results.certifying import (
    attach,
    look_at_ratings,
    looks_of,
    newest_certificate,
    record_look,
    review_evidence,
    seen,
    unseen_runs,
)
from review.office.results.progress import ReviewProgress, WaitingLaptop, progress, waiting
from review.office.results.results import refuse_withdrawn, withdrawn_words
from review.office.store.arrivals import Delivery, deliveries, free_name
from review.office.store.database import FILE
from review.office.store.store import IssuedCertificate, Office, Review, utc_now
from review.verdict.certificate.certificate import ReviewStatus, read_certificate, standing
from review.verdict.certificate.certify import EvidenceReading, read_verdict
from review.verdict.certificate.evidence import EvidenceFile
from review.verdict.certificate.verifying import Verification, verify
from review.verdict.gate.adjudication import Case, Grounds, decisions
from review.verdict.gate.key import KeyRun
from rosetta_tui.review.organiser import export_files
from rosetta_tui.review.organiser.export_files import (
    ExportFiles,
    file_name,
    issue_files,
    require_told,
    taken_names,
    write_certificate,
)
from rosetta_tui.review.organiser.words.gate import advice, has_numbers, settling_words
from rosetta_tui.show.run_facts import setup_words


@dataclass(slots=True)
class OrganiserService:
    """Where an installation keeps its reviews and its runs."""

    folder: Path  # the data folder
    runs: Path  # the store of runs
    reports: list[FileReport] = field(default_factory=list)
    """What the last import of this sitting reported; damaged lines are kept nowhere else."""

    @property
    def has_office(self) -> bool:
        """Return whether a review was ever made here; looking for reviews must not make this an organisation."""
        return (self.folder / FILE).exists()

    @contextmanager
    def office(self) -> Iterator[Office]:
        """Open the office; whatever goes wrong with its file within is said in words."""
        with saying(self.folder / FILE), Office.open(self.folder) as office:
            yield office

    def store(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open the store of runs."""
        return opened(self.runs)

    def identity(self) -> Identity:
        """Return the organisation's own keys."""
        return Identity.load(self.folder, Role.ORGANISATION)

    def look(self, review: str, run_id: str) -> EvidenceReading:
        """Read the numbers of a run; a look at new ratings is written down."""
        own_key = self.identity().public.signing_key
        with self.office() as office:
            reviewed = office.review(review)
            looked = record_look(office, reviewed, run_id, review_evidence(office, reviewed, own_key))
            return read_verdict(looked, run_id)

    def look_at_ratings(self, review: str) -> None:
        """Write down that the ratings of every run of a review are examined."""
        with self.office() as office:
            look_at_ratings(office, office.review(review))

    def issue(self, review: str, run_id: str, folder: Path) -> Sequence[Path]:
        """Issue a certificate and write it in all its forms; UsageError where such files are there."""
        with self.office() as office:
            reviewed, identity = office.review(review), self.identity()
            evidence = review_evidence(office, reviewed, identity.public.signing_key)
            [(_, paths)] = issue_files(office, reviewed, [run_id], evidence, identity, folder)
        return paths

    def write_again(self, review: str, issued: IssuedCertificate, folder: Path) -> Sequence[Path]:
        """Write a certificate that was issued before; UsageError where such files are there."""
        name = file_name(review, issued.run_id)
        if taken := taken_names(folder, name):
            raise UsageError(f"{taken[0]} is there already. Choose another folder.")
        presented = self._presented(review, issued)
        with self.office() as office:
            refuse_withdrawn(reviewed := office.review(review))
            coarse = require_told(office, reviewed, issued)
        presented = replace(presented, coarse=coarse)
        return write_certificate(presented, folder, name)

    def attach(self, review: str, issued: IssuedCertificate) -> ReviewStatus:
        """Attach a certificate to its run, after verifying it; gives what counts for the run now."""
        presented = self._presented(review, issued)
        with self.store() as store:
            return attach(store, presented, self.identity().public.signing_key)

    def _presented(self, review: str, issued: IssuedCertificate) -> EvidenceFile:
        own_key = self.identity().public.signing_key
        with self.office() as office:
            evidence = review_evidence(office, office.review(review), own_key)
        return EvidenceFile(issued.certificate, issued.signature, evidence)

    def decide(self, review: str, case: Case, harmful: bool, why: Grounds | None = None) -> Case:
        """Decide about an item; saying the same again takes the decision back, and UsageError where nobody flagged it.

        A decision that takes none back needs grounds.

        It is on the disk when this returns; gives the item as it is then.
        """
        return self._append(review, case, decisions(case, harmful, "", utc_now(), why))

    def note(self, review: str, case: Case, note: str) -> Case:
        """Store a note about an item; what was decided stays."""
        return self._append(review, case, decisions(case, None, note, utc_now()))

    def _append(self, review: str, case: Case, said: Sequence[Adjudicate]) -> Case:
        with self.office() as office:
            reviewed = office.review(review)
            for adjudicate in said:
                office.append(reviewed, adjudicate)
            now = cases_of(office, reviewed, office.state(reviewed))
        return next((case_now for case_now in now if case_now.item == case.item), case)

    def enrol(self, signing_key: str, name: str | None = None) -> Sequence[FileReport]:
        """Vouch for a laptop, and take in what of it was set aside."""
        identities = [self.identity().age]
        with self.office() as office:
            chosen = name or free_name(office)
            return enrol_laptop(office, signing_key, chosen, None, identities)

    def import_files(self, files: Sequence[FoundFile], recovery: Path | None = None) -> Iterator[FileReport]:
        """Import files, one after the other; each is on the disk when its report comes."""
        identities = opening_identities(self.folder, recovery)
        with self.office() as office:
            yield from import_files(office, identities, files)

    def export(
        self, review: str, what: str, run_id: str = "", *, name: str | None = None, language: str | None = None
    ) -> ExportFiles:
        """Gather ``sealed``, ``csv`` (table ``name``), ``comments``, ``mtme``, ``inside`` or ``page`` (in ``language``)."""
        with self.office() as office, self.store() as store:
            reviewed = office.review(review)
            match what:
                case "csv" | "comments":
                    comments = what == "comments"
                    file = name or f"{reviewed.name}-ratings.csv"
                    return export_files.table(office, reviewed, file, comments=comments)
                case "mtme":
                    return export_files.layout(office, reviewed, store)
                case "inside":
                    return export_files.inside(office, reviewed, self.identity().public.signing_key)
            words = export_files.page_words(reviewed, language, self.folder)
            if what == "page":
                file = f"{reviewed.name}-{run_id[:8]}-page.html"
                return export_files.page(office, reviewed, run_id, file, words)
            return export_files.sealed(office, reviewed, store, self.identity(), words)


# ---- What the organiser's screens show of reviews, read in one go and then independent of any
# file.

GONE = "a run no longer in the list of runs"


@dataclass(frozen=True, slots=True)
class CertifiedVerdict:
    outcome: str
    recompute: bool  # something that it rests on was taken back since


@dataclass(frozen=True, slots=True)
class ReviewLine:
    progress: ReviewProgress
    runs: Sequence[str]  # method, model and condition of each
    verdicts: Sequence[CertifiedVerdict | None]  # run by run; None where no certificate was issued
    second_look: bool = False  # whether it asks once more about what split the panel of another
    agreement: bool = False  # whether second speakers are asked about a corpus in the making
    withdrawn: str = ""  # what was taken back of what it is about, or empty

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
    key: KeyRun
    words: str  # method, model and condition
    looks: int  # looks at its numbers, over all its reviews
    opened: bool  # whether the verdict was read and the newest certificate verified
    reading: EvidenceReading | None  # the verdict; None where reading it would be a new look
    settling: str  # what would settle an open verdict, or empty
    advice: Sequence[str]  # private: hurried ratings, test translations called harmful
    certificates: Sequence[IssuedCertificate]  # oldest first
    verification: Verification | None  # of the newest certificate; None where there is none
    attached: Sequence[Attached]  # certificates beside the run
    standing: ReviewStatus | None  # what they let be claimed of it

    @property
    def newest(self) -> IssuedCertificate | None:
        return self.certificates[-1] if self.certificates else None


@dataclass(frozen=True)
class ReviewNow:
    """One review with all that its sections show."""

    review: Review
    progress: ReviewProgress
    deliveries: Sequence[Delivery]
    speaking: Assignments
    waiting: Sequence[WaitingLaptop]
    cases: Sequence[Case]  # with counts of ratings, so they are shown where `unseen` is empty
    unseen: Mapping[str, int]  # runs of which reading ratings is a new look → its number
    texts: Mapping[str, BatchItem]
    """Of the cases. In a secret review they are shown while deciding and nowhere else; those from a vault are not here."""
    secret: bool
    runs: Sequence[RunNow]
    withdrawn: str = ""
    """What was taken back of what it is about, in words; then there are no cases and no verdict here."""

    @property
    def most_looked(self) -> RunNow:
        """The run that was examined most often, of those of which a look would be new."""
        return max((r for r in self.runs if r.key.run_id in self.unseen), key=lambda run: run.looks)


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
                list(_verdicts(office, review)),
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
        runs = [_run(run, summaries.get(run.run_id), looks[run.run_id].total, certificates) for run in review.key.runs]
        # Sentences of cases; none where they are from a vault, which no screen opens.
        texts = {} if review.vault_runs else {case.item: review.texts[case.item] for case in cases}
        return ReviewNow(
            review=review,
            progress=progress(office, review),
            deliveries=deliveries(office, review),
            speaking=speaking(office, review),
            waiting=waiting(office),
            cases=cases,
            unseen=unseen_runs(office, review),
            texts=texts,
            secret=review.secret,
            runs=[
                _opened(desk, office, review, run) if run.key.run_id == opened and not withdrawn else run
                for run in runs
            ],
            withdrawn=withdrawn,
        )


def _run(run: KeyRun, summary: RunSummary | None, looks: int, certificates: Sequence[IssuedCertificate]) -> RunNow:
    attached = () if summary is None else summary.certificates
    return RunNow(
        key=run,
        words=_words(summary),
        looks=looks,
        opened=False,
        reading=None,
        settling="",
        advice=(),
        certificates=[own for own in certificates if own.run_id == run.run_id],
        verification=None,
        attached=attached,
        standing=standing(attached, run.run_id, run.run_card_hash),
    )


def _opened(desk: OrganiserService, office: Office, review: Review, run: RunNow) -> RunNow:
    evidence = review_evidence(office, review, desk.identity().public.signing_key)
    reading = seen(evidence, run.key.run_id)
    shown = reading if reading is not None and has_numbers(reading) else None
    verified = None if run.newest is None else verify(run.newest.certificate, run.newest.signature, evidence)
    return replace(
        run,
        opened=True,
        reading=reading,
        settling="" if shown is None else settling_words(shown),
        advice=() if reading is None else list(advice(review, reading)),
        verification=verified,
    )


def _verdicts(office: Office, review: Review) -> Iterator[CertifiedVerdict | None]:
    for run in review.key.runs:
        if (issued := newest_certificate(office, review, run.run_id)) is None:
            yield None
        else:
            outcome = read_certificate(issued.certificate, "the certificate").outcome
            yield CertifiedVerdict(outcome, issued.recompute)


def _summaries(desk: OrganiserService) -> dict[str, RunSummary]:
    with desk.store() as store:
        return {run.run_id: run for run in list_runs(store)}


def _words(summary: RunSummary | None) -> str:
    return GONE if summary is None else setup_words(summary)
