"""An organisation's desk: everything that its screens do with reviews, runs and files.

Every call opens what it needs and closes it, so it may be made in any thread; all of them wait for the disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.failures import UsageError
from harness.sealed.found_files import FoundFile
from harness.sealed.keys import Identity, Role, opening_identities
from harness.store.file.database import opened
from review.log.payloads import Adjudicate
from review.log.table import saying
from review.office.intake.file_report import FileReport
from review.office.intake.importing import enrol_laptop, import_files
from review.office.making.second_look import cases_of
from review.office.results.certifying import attach, look, look_at_ratings, review_evidence
from review.office.results.results import refuse_withdrawn
from review.office.store.arrivals import free_name
from review.office.store.database import FILE
from review.office.store.store import IssuedCertificate, Office, utc_now
from review.verdict.certificate.certificate import ReviewStatus
from review.verdict.certificate.certify import EvidenceReading, read_verdict
from review.verdict.certificate.evidence import EvidenceFile
from review.verdict.gate.adjudication import Case, Grounds, decisions
from rosetta_tui.review.organiser import export_files
from rosetta_tui.review.organiser.export_files import (
    ExportFiles,
    file_name,
    issue_files,
    require_told,
    taken_names,
    write_certificate,
)

if TYPE_CHECKING:
    import sqlite3


@dataclass(slots=True)
class OrganiserService:
    """Where an installation keeps its reviews and its runs."""

    folder: Path
    """The data folder."""
    runs: Path
    """The store of runs."""
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
            looked = look(office, reviewed, run_id, review_evidence(office, reviewed, own_key))
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

    def import_files(
        self, files: Sequence[FoundFile], recovery: Path | None = None
    ) -> Iterator[FileReport]:
        """Import files, one after the other; each is on the disk when its report comes."""
        identities = opening_identities(self.folder, recovery)
        with self.office() as office:
            yield from import_files(office, identities, files)

    def export(
        self,
        review: str,
        what: str,
        run_id: str = "",
        *,
        name: str | None = None,
        language: str | None = None,
    ) -> ExportFiles:
        """Gather what is handed on: ``sealed``, ``csv``, ``comments``, ``mtme``, ``inside`` or ``page``.

        ``name`` is that of the table, the review's own where None; ``language`` is that of the page, likewise.
        """
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
