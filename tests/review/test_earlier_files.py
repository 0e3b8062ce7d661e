"""Files of the first versions, kept as they were written, are read, verified and written again to the byte."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from harness.core.canonical import canonical_bytes
from harness.sealed.keys import key_phrase
from harness.sealed.sealing import read_age_identities
from review.files.batch import Batch, open_batch
from review.files.manifests import BATCH_FORMAT, RATINGS_FORMAT, BatchManifest
from review.files.ratings import open_ratings
from review.log.event import read_event
from review.office.intake.file_report import FileOutcome
from review.office.intake.importing import import_bytes
from review.office.results.certifying import review_evidence
from review.office.store.store import Office
from review.verdict.certificate.certificate import CERTIFICATE_FORMAT
from review.verdict.certificate.evidence import read_evidence_file
from review.verdict.certificate.verifying import verify
from tests.review.verdict.alone import asked_alone

FILES = Path(__file__).parent / "golden_1"
CERTIFICATE = (FILES / "golden.certificate.json").read_bytes()
SIGNATURE = (FILES / "golden.certificate.sig").read_bytes()
IDENTITIES = read_age_identities(FILES / "organisation.key")


def golden_batch() -> Batch:
    return open_batch((FILES / "golden.rosetta-batch").read_bytes())


def test_a_batch_is_read_and_written_again_as_it_was() -> None:
    batch = golden_batch()
    assert batch.manifest.format == "rosetta-batch/1" != BATCH_FORMAT
    assert canonical_bytes(batch.manifest.model_dump(mode="json")) == batch.manifest_bytes
    assert (len(batch.items), len(batch.manifest.orders)) == (17, 3)
    assert batch.organisation_phrase == key_phrase(batch.manifest.signer, earlier=True)


@pytest.mark.parametrize("number", range(3))
def test_ratings_are_opened(number: int) -> None:
    opened = open_ratings((FILES / f"laptop-{number}.rosetta-ratings").read_bytes(), IDENTITIES)
    assert opened.manifest.format == "rosetta-ratings/1" != RATINGS_FORMAT
    assert opened.manifest.batch_sha256 == golden_batch().sha256
    last = [read_event(line) for line in opened.lines][-1]
    assert (opened.manifest.head, opened.manifest.events) == (last.id, 18)
    assert canonical_bytes(opened.manifest.model_dump(mode="json")) == opened.signed.content


def test_an_office_goes_on_with_its_reviews(tmp_path: Path) -> None:
    shutil.copy(FILES / "reviews.sqlite", tmp_path)
    with Office.open(tmp_path) as office:
        review = office.review("golden")
        for number in range(3):
            data = (FILES / f"laptop-{number}.rosetta-ratings").read_bytes()
            report = import_bytes(office, IDENTITIES, data, "again")
            assert (report.outcome, report.added, report.already_here) == (FileOutcome.TAKEN, 0, 18)
            opened = open_ratings(data, IDENTITIES)
            words = (opened.phrase(earlier=True), opened.laptop_phrase(earlier=True))
            assert (report.phrase, report.laptop_phrase) == words
        assert review.changed == ()
        fewer = dict(list(review.key.orders.items())[1:])
        for orders in (fewer, {who: order[1:] for who, order in review.key.orders.items()}):
            key = review.key.model_copy(update={"orders": orders})
            [said] = replace(review, key=key).changed
            assert said.startswith("the people who were asked")
        signer = review.manifest.organisation.signing_key
        done = verify(CERTIFICATE, SIGNATURE, review_evidence(office, review, signer))
        assert not done.broken, done.checks


def test_a_certificate_holds_by_its_evidence_to_both_programs() -> None:
    path = FILES / "golden.rosetta-evidence"
    file = read_evidence_file(path)
    assert (file.certificate, file.signature) == (CERTIFICATE, SIGNATURE)
    done = verify(file.certificate, file.signature, file.evidence)
    assert done.certificate.format == "rosetta-certificate/1" != CERTIFICATE_FORMAT
    assert done.certificate.as_bytes() == CERTIFICATE
    assert not done.broken, done.checks
    code, said = asked_alone(path, done.certificate.organisation.signing_key)
    assert (code, "Holds: discuss" in said) == (0, True)


def test_a_later_field_has_no_place_in_an_earlier_version() -> None:
    raw = golden_batch().manifest.model_dump(mode="json")
    assert set(BatchManifest.model_fields) >= set(raw)
    for name in set(BatchManifest.model_fields) - set(raw):
        with pytest.raises(ValidationError):
            BatchManifest.model_validate(raw | {name: "a" * 64})
