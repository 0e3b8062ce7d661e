"""The office's file, and the way from laptops to a certificate and a withdrawal."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from harness.core.failures import StoreError, UsageError
from harness.sealed.keys import Identity, Role
from harness.store.file.database import open_store
from harness.store.file.sealing import forget_keys
from review.files.manifests import BatchItem
from review.log.payloads import Adjudicate, OrganiserLook, Scope
from review.log.table import NotSaved
from review.office.intake import importing
from review.office.intake.file_report import FileOutcome
from review.office.intake.importing import enrol_laptop, import_bytes, import_files
from review.office.intake.quarantine import withdraw
from review.office.results.certifying import issue, look, review_evidence
from review.office.results.progress import progress
from review.office.results.results import of_runs, page_of
from review.office.store.database import FILE
from review.office.store.store import Office
from review.rating import Rating
from review.session.words.catalogue import Words
from review.verdict.certificate.certify import read_verdict
from review.verdict.certificate.evidence import (
    Evidence,
    EvidenceFile,
    pack_evidence,
    unpack_evidence,
)
from review.verdict.certificate.verifying import Verification, verify
from review.verdict.gate.policy import proposed
from review.verdict.panel.key import ControlKind
from tests.review.office import made as office_made
from tests.review.office.made import (
    WALL,
    Desk,
    Person,
    desk,
    random_ratings,
    take_vouched,
    vouch_for,
)
from tests.review.office.secret_entries import secret_entries
from tests.review.verdict.alone import asked_alone
from tests.review.verdict.certified import certificate_of

NOW = datetime.now(UTC)


@pytest.mark.parametrize("version", [0, 9], ids=["unversioned", "versioned"])
def test_file_of_another_program_or_a_newer_one_stays(tmp_path: Path, version: int) -> None:
    path = tmp_path / FILE
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE note (text TEXT)")
        other.execute(f"PRAGMA user_version = {version}")
        other.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"is the file of another program.*Move it away"):
        Office.open(tmp_path)
    assert path.read_bytes() == before
    path.unlink()
    Office.open(tmp_path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer"):
        Office.open(tmp_path)


def test_a_file_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    made = desk(tmp_path / "home", reviewers=2, items=20)
    with made.office as office:
        office.enrol("a" * 64, "blue")
        for table in (
            "unclean", "signed", "witness", "person", "sealed_texts", "unsealed", "words_key",
            "vault_texts",
        ):  # fmt: skip
            office.connection.execute(f"DROP TABLE {table}")
        for column in (
            "laptop.instead_of", "quarantine.phrase", "laptop.removed", "laptop.reason",
            "batch.signature", "item.around",
        ):  # fmt: skip
            table, _, name = column.partition(".")
            office.connection.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
        office.connection.execute("PRAGMA user_version = 1")
    with Office.open(made.folder) as office:
        assert [(each.name, each.instead_of) for each in office.laptops()] == [("blue", None)]
        assert not office.unclean
        assert not office.quarantine()


def test_a_file_that_could_not_be_kept_waits_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = desk(tmp_path / "home", reviewers=2, items=20)
    data = Person(tmp_path / "laptop", made.batch, made.codes[0]).handed_over()
    with made.office as office:
        waits = import_bytes(office, [made.identity.age], data, "x")
        assert waits.outcome is FileOutcome.SET_ASIDE
        with monkeypatch.context() as broken:
            broken.setattr(importing, "note_arrival", _full)
            with pytest.raises(NotSaved, match="full"):
                enrol_laptop(office, waits.signing_key, "blue", None, [made.identity.age])
        assert [each.content for each in office.quarantine()] == [data]
        assert not office.imports()
        [report] = enrol_laptop(office, waits.signing_key, "blue", None, [made.identity.age])
        assert report.outcome is FileOutcome.TAKEN


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class _Full:
    """A connection whose disk has no room for a second copy of the file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        if statement == "VACUUM":
            raise sqlite3.OperationalError("database or disk is full")
        return self._connection.execute(statement, *values)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)


@pytest.mark.parametrize("at_the_office", [False, True], ids=["import", "office"])
def test_a_full_disk_stops_no_withdrawal(tmp_path: Path, at_the_office: bool) -> None:
    made = desk(tmp_path / "home", reviewers=3, items=30)
    someone = Person(tmp_path / "laptop", made.batch, made.codes[0])
    someone.rate(random_ratings(20, 1))
    take_vouched(made.office, made.identity, someone.handed_over(), now=NOW)
    salts = [each.salt for each in someone.laptop.events() if each.salt]
    whole = made.office.connection
    made.office.connection = _Full(whole)  # type: ignore[assignment]
    own = [made.identity.age]
    if at_the_office:
        assert withdraw(made.office, made.review, someone.code, Scope.BATCH, own).unclean
    else:
        someone.withdraw()
        data = someone.handed_over()
        report = import_bytes(made.office, own, data, "x", now=NOW)
        assert (report.withdrawn, report.unclean) == ([made.card(someone)], True)
    assert made.office.unclean
    content = (made.folder / FILE).read_bytes()
    assert not any(salt in content for salt in salts)  # overwritten already
    whole.close()
    with Office.open(made.folder) as office:
        assert not office.unclean
        assert office.connection.execute("PRAGMA freelist_count").fetchone()[0] == 0


def test_a_file_that_another_program_holds_is_told_and_stays(tmp_path: Path) -> None:
    made = desk(tmp_path / "home", reviewers=2, items=20)
    someone = Person(tmp_path / "laptop", made.batch, made.codes[0])
    someone.rate(random_ratings(3, 1))
    file = tmp_path / "a.rosetta-ratings"
    file.write_bytes(someone.handed_over())
    vouch_for(made.office, made.identity, file.read_bytes())
    made.office.connection.execute("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(made.folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        [report] = import_files(made.office, [made.identity.age], [file], now=NOW)
        assert report.outcome is FileOutcome.REFUSED
        assert "another program uses the file. Close the other window" in report.why
    [report] = import_files(made.office, [made.identity.age], [file], now=NOW)
    assert (report.outcome, report.added) == (FileOutcome.TAKEN, 4)


def test_an_office_that_was_copied_goes_on_with_a_chain_of_its_own(tmp_path: Path) -> None:
    made = desk(tmp_path / "home", reviewers=2, items=20)
    batch = made.batch.manifest.batch
    look = OrganiserLook(wall=WALL, batch=batch, run_id="r", events_sha256="0" * 64)
    with made.office as first_office:
        first = first_office.append(made.review, look)
        copy = shutil.copytree(made.folder, tmp_path / "copy")
        with Office.open(copy) as office:
            review = office.review("demo")
            assert office.device != first_office.device
            second = office.append(review, look.model_copy(update={"events_sha256": "1" * 64}))
            assert (second.seq, second.device) == (0, office.device)
            assert second.lamport > first.lamport
            assert office.state(review).looks == {"r": 2}


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
def test_from_laptops_to_a_certificate_and_a_withdrawal(tmp_path: Path) -> None:
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
    code, said = asked_alone(path, made.identity.public.signing_key)
    assert (code, "Holds: go" in said) == (0, True)

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
    assert asked_alone(path, made.identity.public.signing_key)[0] == 0


# Sentences of a secret review lie sealed, and open on this computer only


@pytest.fixture
def no_keys() -> Iterator[None]:
    forget_keys()
    yield
    forget_keys()


def sealed(folder: Path) -> dict[str, BatchItem]:
    """Make a review of which half the sentences are secret; gives its items."""
    office_made.store_runs(folder, secret_entries())
    ready = office_made.made(
        office_made.draft(office_made.reviewed(folder), reviewers=2, items=20),
        Identity.make(Role.ORGANISATION),
    )
    with Office.open(folder) as office:
        office.create_review(ready.key, proposed()[1], ready.manifests, ready.texts, ready.codes)
    return {each.id: each for each in ready.texts}


def readable(folder: Path, items: dict[str, BatchItem]) -> list[str]:
    """Return the sentences that can be read in any file of the office."""
    data = b"".join(each.read_bytes() for each in folder.glob(f"{FILE}*"))
    said = {text for each in items.values() for text in (each.source, each.candidate)}
    return [text for text in said if text and text.encode() in data]


def texts(folder: Path) -> dict[str, BatchItem]:
    with Office.open(folder) as office:
        return dict(office.review("last").texts)


@pytest.mark.usefixtures("no_keys")
def test_a_secret_review_is_sealed_and_an_open_one_is_not(tmp_path: Path) -> None:
    items = sealed(tmp_path / "secret")
    assert readable(tmp_path / "secret", items) == []
    assert texts(tmp_path / "secret") == items
    with office_made.desk(tmp_path / "open", reviewers=2, items=20).office as office:
        assert readable(tmp_path / "open", dict(office.review("last").texts))


@pytest.mark.usefixtures("no_keys")
def test_a_file_from_before_is_sealed_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    items = sealed(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as raw:
        for table in ("sealed_texts", "unsealed", "words_key", "vault_texts"):
            raw.execute(f"DROP TABLE {table}")
        raw.executemany(
            "INSERT INTO item (item, review, source, candidate, around) VALUES (?, 1, ?, ?, ?)",
            [
                (each.id, each.source, each.candidate, each.around.model_dump_json() if each.around else "")
                for each in items.values()
            ],
        )  # fmt: skip
        raw.execute("PRAGMA user_version = 8")
        raw.commit()
    assert readable(tmp_path, items)
    assert texts(tmp_path) == items
    assert readable(tmp_path, items) == []
    assert texts(tmp_path) == items


@pytest.mark.usefixtures("no_keys")
def test_on_another_computer_they_do_not_open_and_all_else_is_there(tmp_path: Path) -> None:
    sealed(tmp_path)
    (tmp_path / "computer.key").unlink()
    forget_keys()
    with Office.open(tmp_path) as office:
        review = office.review("last")
        assert review.codes
        with pytest.raises(StoreError, match="no key of this computer opens them"):
            _ = review.texts
    assert not (tmp_path / "computer.key").exists()


@pytest.mark.usefixtures("no_keys")
def test_a_changed_byte_is_called_damage_and_not_a_lack_of_keys(tmp_path: Path) -> None:
    sealed(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as raw:
        [content] = raw.execute("SELECT content FROM sealed_texts").fetchone()
        changed = content[:-1] + bytes([content[-1] ^ 1])
        raw.execute("UPDATE sealed_texts SET content = ?", (changed,))
        raw.commit()
    with Office.open(tmp_path) as office, pytest.raises(StoreError, match="damaged"):
        _ = office.review("last").texts
