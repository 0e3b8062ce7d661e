"""The office's file: whose it is, and what a full disk does to a withdrawal."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.core.failures import StoreError
from review.log.payloads import OrganiserLook, Scope
from review.log.saving import NotSaved
from review.office.intake import importing
from review.office.intake.file_report import FileOutcome
from review.office.intake.importing import enrol_laptop, import_bytes, import_files
from review.office.intake.quarantine import withdraw
from review.office.store.database import FILE
from review.office.store.store import Office
from tests.review.office.made import Person, desk, random_ratings, take_vouched, vouch_for

NOW = datetime.now(UTC)


@pytest.mark.parametrize("version", [0, 9], ids=["unversioned", "versioned"])
def test_the_file_of_another_program_stays_as_it_is(tmp_path: Path, version: int) -> None:
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


def test_a_file_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    made = desk(tmp_path / "home", reviewers=2, items=20)
    with made.office as office:
        office.enrol("a" * 64, "blue")
        office.connection.execute("DROP TABLE unclean")
        office.connection.execute("ALTER TABLE laptop DROP COLUMN instead_of")
        office.connection.execute("ALTER TABLE quarantine DROP COLUMN phrase")
        office.connection.execute("ALTER TABLE laptop DROP COLUMN removed")
        office.connection.execute("ALTER TABLE laptop DROP COLUMN reason")
        office.connection.execute("ALTER TABLE batch DROP COLUMN signature")
        office.connection.execute("DROP TABLE signed")
        office.connection.execute("DROP TABLE witness")
        office.connection.execute("DROP TABLE person")
        office.connection.execute("ALTER TABLE item DROP COLUMN around")
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
    if at_the_office:
        assert withdraw(
            made.office, made.review, someone.code, Scope.BATCH, [made.identity.age]
        ).unclean
    else:
        someone.withdraw()
        data = someone.handed_over()
        report = import_bytes(made.office, [made.identity.age], data, "x", now=NOW)
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
    look = OrganiserLook(
        wall="2026-01-01T00:00:00Z", batch=batch, run_id="r", events_sha256="0" * 64
    )
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
