"""From laptops to a certificate, and what a withdrawal leaves of it."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from harness.core.failures import UsageError
from harness.store.file.database import open_store
from review.log.payloads import Adjudicate, Scope
from review.office.intake.file_report import FileOutcome
from review.office.intake.quarantine import withdraw
from review.office.results.certifying import issue, look, review_evidence
from review.office.results.progress import progress
from review.office.results.results import of_runs, page_of
from review.office.store.store import Office
from review.rating import Rating
from review.session.words.catalogue import Words
from review.verdict.certificate.certify import read_verdict
from review.verdict.certificate.evidence import Evidence
from review.verdict.certificate.evidence_file import EvidenceFile, pack_evidence, unpack_evidence
from review.verdict.certificate.verifying import Verification, verify
from review.verdict.panel.panel import ControlKind
from review.verdict.stand_alone import rosetta_verify
from tests.review.office.made import WALL, Desk, Person, desk, take_vouched
from tests.review.verdict.certified import certificate_of


def rated(made: Desk, folder: Path, seed: int = 2) -> list[Person]:
    """Let everybody rate everything on a laptop of their own, and take the files in."""
    rng, people = Random(seed), []
    for number, code in enumerate(made.codes):
        person = Person(folder / f"laptop{number}", made.batch, code)
        person.rate(_rating(made, item, rng) for item in person.order)
        arrive(made, person)
        people.append(person)
    return people


def _rating(made: Desk, item: str, rng: Random) -> Rating:
    if made.review.key.items[item].control is ControlKind.BAD:
        return Rating.REJECT
    return rng.choice([Rating.EXCELLENT] * 9 + [Rating.ACCEPTABLE] * 4 + [Rating.GIST])


def arrive(made: Desk, person: Person) -> None:
    report = take_vouched(made.office, made.identity, person.handed_over())
    assert report.outcome is FileOutcome.TAKEN, report


def gathered(made: Desk, office: Office | None = None) -> Evidence:
    own_key = made.identity.public.signing_key
    return review_evidence(office or made.office, made.review, own_key)


def certified(made: Desk, office: Office | None = None) -> EvidenceFile:
    """Issue a certificate of the review's run from what is there now."""
    run, evidence = made.review.key.runs[0].run_id, gathered(made, office)
    return issue(office or made.office, made.review, run, evidence, made.identity)


def checked(office: Office, made: Desk, issued: EvidenceFile) -> Verification:
    return verify(issued.certificate, issued.signature, gathered(made, office))


@pytest.mark.thorough
def test_from_laptops_to_a_certificate_and_a_withdrawal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = desk(tmp_path / "home", items=50)
    people = rated(made, tmp_path)
    run = made.review.key.runs[0].run_id
    reading = read_verdict(look(made.office, made.review, run, gathered(made)), run)
    issued = certified(made)
    certificate = certificate_of(issued)
    assert certificate.outcome == reading.verdict.outcome == "go"
    assert certificate.log.gaps == 0
    assert certificate.verdict["look"] == 1
    assert checked(made.office, made, issued).ok
    assert page_of(made.office, made.review, run, Words.load("en")) is not None

    path = tmp_path / "x.rosetta-evidence"
    packed = pack_evidence(issued.certificate, issued.signature, issued.evidence)
    path.write_bytes(packed)
    file = unpack_evidence(packed)
    assert verify(file.certificate, file.signature, file.evidence).ok
    texts = [text.candidate.encode() for text in made.review.texts.values()]
    assert not [text for text in texts if len(text) > 8 and text in packed]
    assert rosetta_verify._main([str(path), made.identity.public.signing_key]) == 0
    assert "Holds: go" in capsys.readouterr().out

    withdraw(made.office, made.review, made.codes[0], Scope.BATCH, [made.identity.age])
    done = checked(made.office, made, issued)
    assert not done.ok
    assert [check.name for check in done.checks if not check.ok] == ["verdict"]
    assert done.missing > 60
    assert "1 person took theirs back since" in done.words
    [kept] = made.office.certificates(made.review)
    assert kept.recompute
    with pytest.raises(UsageError, match="Issue it anew"):
        page_of(made.office, made.review, run, Words.load("en"))
    with closing(open_store(made.folder / "rosetta.sqlite")) as store:
        own_key = made.identity.public.signing_key
        [gone] = of_runs(made.office, made.review, store, own_key, Words.load("en")).values()
    assert (gone.page, gone.evidence is None) == (None, False)
    assert progress(made.office, made.review).recompute == 1
    anew = certified(made)
    now = progress(made.office, made.review)
    assert (now.certificates, now.recompute) == (2, 0)
    assert certificate_of(anew).supersedes == certificate.sha256
    assert certificate_of(anew).panel.reviewers == 4
    page = page_of(made.office, made.review, run, Words.load("en"))
    assert page is not None
    assert 'class="card"' not in page
    assert checked(made.office, made, anew).ok

    arrive(made, people[0])  # an old stick comes once more: what was taken back stays away
    assert checked(made.office, made, anew).ok
    assert [c.name for c in checked(made.office, made, issued).checks if not c.ok] == ["verdict"]


@pytest.mark.thorough
def test_an_office_that_was_restored_keeps_its_decisions_looks_and_certificates(
    tmp_path: Path,
) -> None:
    made = desk(tmp_path / "home")
    rated(made, tmp_path)
    run = made.review.key.runs[0].run_id
    issued = certified(made)
    item = next(item for item, known in made.review.key.items.items() if known.control is None)
    batch = made.batch.manifest.batch
    decided = Adjudicate(wall=WALL, batch=batch, item=item, harmful=True, note="")
    made.office.append(made.review, decided)
    before = gathered(made).state
    made.office.close()
    with Office.open(shutil.copytree(made.folder, tmp_path / "restored")) as office:
        assert office.device != office.first_device
        assert checked(office, made, issued).ok
        state = gathered(made, office).state
        assert (state.looks, state.adjudications) == (before.looks, before.adjudications)
        assert state.adjudications[item].harmful
        look(office, made.review, run, gathered(made, office))
        anew = certified(made, office)
        assert checked(office, made, anew).ok
        assert [certificate_of(each).outcome for each in (issued, anew)] == ["go", "discuss"]
        assert checked(office, made, issued).ok
        packed = pack_evidence(anew.certificate, anew.signature, anew.evidence)
    path = tmp_path / "y.rosetta-evidence"
    path.write_bytes(packed)
    assert rosetta_verify._main([str(path), made.identity.public.signing_key]) == 0
