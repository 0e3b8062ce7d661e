"""The one table of storage troubles: what each error is, and that every face has words for it."""

from __future__ import annotations

import errno
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.storage_problems import (
    StorageProblem,
    error_name,
    storage_problem,
    words_for,
)
from harness.store.file.trouble import in_words
from review.files.stick import stick_error
from review.log.saving import not_saved
from review.session.words.troubles import SAVING, STICKS

ROOT = Path(__file__).parents[2]
PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui")
TABLE = "harness/core/storage_problems.py"


def said_by_sqlite(name: str) -> sqlite3.Error:
    error = sqlite3.OperationalError("a text of the store")
    error.sqlite_errorname = name
    error.sqlite_errorcode = getattr(sqlite3, name)
    return error


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("SQLITE_FULL", StorageProblem.DISK_FULL),
        ("SQLITE_READONLY", StorageProblem.READ_ONLY),
        ("SQLITE_READONLY_DIRECTORY", StorageProblem.READ_ONLY),
        ("SQLITE_READONLY_DBMOVED", StorageProblem.GONE),
        ("SQLITE_BUSY_SNAPSHOT", StorageProblem.BUSY),
        ("SQLITE_LOCKED_SHAREDCACHE", StorageProblem.BUSY),
        ("SQLITE_PROTOCOL", StorageProblem.BUSY),
        ("SQLITE_CORRUPT_INDEX", StorageProblem.DAMAGED),
        ("SQLITE_IOERR_SHORT_READ", StorageProblem.DAMAGED),
        ("SQLITE_NOTADB", StorageProblem.NOT_OURS),
        ("SQLITE_CANTOPEN_ISDIR", StorageProblem.NOT_OPENED),
        ("SQLITE_IOERR_FSYNC", StorageProblem.DISK_FAILS),
        ("SQLITE_ERROR", StorageProblem.OTHER_FORM),
        ("SQLITE_MISUSE", StorageProblem.OTHER),
    ],
)
def test_a_result_code_of_sqlite_is_one_problem(name: str, problem: StorageProblem) -> None:
    assert storage_problem(said_by_sqlite(name)) is problem


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (errno.ENOSPC, StorageProblem.DISK_FULL),
        (errno.EDQUOT, StorageProblem.DISK_FULL),
        (errno.EFBIG, StorageProblem.DISK_FULL),
        (errno.EROFS, StorageProblem.READ_ONLY),
        (errno.EACCES, StorageProblem.READ_ONLY),
        (errno.ENOENT, StorageProblem.GONE),
        (errno.ESTALE, StorageProblem.GONE),
        (errno.EIO, StorageProblem.DISK_FAILS),
        (errno.EINVAL, StorageProblem.OTHER),
    ],
)
def test_a_number_of_the_system_is_one_problem(number: int, problem: StorageProblem) -> None:
    error = OSError(number, "words of the system")
    assert storage_problem(error) is problem
    assert error_name(error) == errno.errorcode[number]


def test_real_errors_of_sqlite_are_known(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"not a database at all" * 100)
    with closing(sqlite3.connect(other)) as store, pytest.raises(sqlite3.Error) as refused:
        store.execute("SELECT * FROM runs")
    assert storage_problem(refused.value) is StorageProblem.NOT_OURS
    with pytest.raises(sqlite3.Error) as refused:
        sqlite3.connect(tmp_path / "gone" / "x").close()
    assert storage_problem(refused.value) is StorageProblem.NOT_OPENED


@pytest.mark.parametrize("problem", StorageProblem)
def test_every_face_has_words_for_every_problem(problem: StorageProblem) -> None:
    for words in (SAVING, STICKS):
        assert words_for(words, problem) in words.values()
    with pytest.raises(KeyError):
        words_for({}, problem)


def test_the_wider_problem_lends_its_words() -> None:
    said = words_for(SAVING, StorageProblem.NOT_OPENED)
    assert said == SAVING[StorageProblem.READ_ONLY]
    assert words_for(SAVING, StorageProblem.TOO_LARGE) == SAVING[StorageProblem.OTHER]
    assert words_for(STICKS, StorageProblem.DISK_FAILS) == STICKS[StorageProblem.GONE]


SQLITE_NAMES = sorted(
    name
    for name in vars(sqlite3)
    if re.match("SQLITE_(FULL|READONLY|PERM|BUSY|CORRUPT|NOTADB|IOERR|ERROR|CANTOPEN|FORMAT)", name)
)


@pytest.mark.parametrize("name", SQLITE_NAMES)
def test_no_face_quotes_what_an_error_carries(name: str, tmp_path: Path) -> None:
    error = said_by_sqlite(name)
    for said in (str(in_words(error, tmp_path / "x")), str(not_saved(error, tmp_path / "x"))):
        assert "a text" not in said
        assert "{" not in said


def test_a_stick_says_what_the_table_says(tmp_path: Path) -> None:
    told = stick_error(tmp_path, OSError(errno.ENOSPC, "No space left on device"))
    assert told.problem is StorageProblem.DISK_FULL
    assert "not enough room" in str(told)


def test_codes_of_storage_stand_in_one_table() -> None:
    codes = re.compile(
        r"errno\.(ENOSPC|EDQUOT|EROFS|EACCES|EIO|ESTALE)\b"
        r"|SQLITE_(FULL|READONLY|PERM|BUSY|LOCKED|CORRUPT|NOTADB|IOERR|CANTOPEN)\b(?!\)`)"
    )
    faulty = [
        f"{name}: {found[0]}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if (name := path.relative_to(ROOT).as_posix()) != TABLE
        for line in path.read_text(encoding="utf-8").splitlines()
        if (found := codes.search(line)) and '"""' not in line
    ]
    assert faulty == []
