"""Looking again at runs that were compared before: only what is new is read, and the numbers are the same."""

from __future__ import annotations

import errno
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.compare.comparing import compare_runs
from harness.compare.comparison import Comparison
from harness.compare.rows import RowReader
from harness.core.storage_problems import StorageProblem, error_name, storage_problem, words_for
from harness.method.options import MethodOptions
from harness.sealed.stick import stick_error
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.trouble import in_words
from harness.store.holding import begin_stretch
from harness.store.results import add_results, read_results
from harness.store.runs import find_run, forget_failed, read_run
from review.log.table import not_saved
from review.session.words.troubles import SAVING, STICKS
from tests.harness.evaluation import LANGUAGES, begun, corpus, run_corpus

PLAN = Plan(
    method="constant",
    options=MethodOptions(**LANGUAGES, text="x"),
    scoring=ScoringOptions(metrics=("chrf_plus_plus", "exact_match_rate")),
)
METRICS = ("chrf_plus_plus", "exact_match_rate")


@pytest.fixture
def runs(store_path: Path, connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the store's numbers of a finished run, and of one that is only begun."""
    run_corpus(store_path, corpus(40), PLAN)
    finished = find_run(connection, "last").id
    number, _ = begun(store_path, corpus(40), PLAN)
    return finished, number


def give(connection: sqlite3.Connection, runs: tuple[int, int], places: Sequence[int]) -> None:
    """Let the run that is under way finish some entries."""
    results = read_results(connection, runs[0], places)
    add_results(connection, runs[1], [(result, ()) for result in results])


def compared(
    connection: sqlite3.Connection, runs: tuple[int, int], earlier: Comparison | None = None
) -> Comparison:
    ids = [
        row[0]
        for number in runs
        for row in connection.execute("SELECT run_id FROM runs WHERE id = ?", (number,))
    ]
    return compare_runs(connection, ids, metrics=METRICS, draws=100, trials=100, earlier=earlier)


def numbers(found: Comparison) -> object:
    return (
        [dict(pair.by_metric) for pair in found.pairs],
        [dict(pair.running) for pair in found.pairs],
        found.entries.ids,
        found.entries.positions.tolist(),
    )


def test_entries_that_came_since_are_put_in_their_places(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, [30, 2, 17])
    first = compared(connection, runs)
    give(connection, runs, [1, 39, 18])
    again = compared(connection, runs, first)
    assert again.entries.positions.tolist() == [[1, 2, 17, 18, 30, 39]] * 2
    assert numbers(again) == numbers(compared(connection, runs))


def test_rows_that_were_read_are_not_read_again(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, range(20))
    first = compared(connection, runs)
    give(connection, runs, [25])
    again = compared(connection, runs, first)
    for old, new in zip(first.sides, again.sides, strict=True):
        known = {id(row) for row in old.rows.rows}
        assert [row.entry.position for row in new.rows.rows if id(row) not in known] == (
            [] if new.rows.sealed else [25]
        )


def test_failed_entries_that_are_asked_for_again_are_read_again(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, range(10))
    connection.execute(
        "UPDATE results SET error_class = 'timeout', error = 'late' WHERE run = ? AND position > 6",
        (runs[1],),
    )
    first = compared(connection, runs)
    assert sum(row.failed for row in first.sides[1].used) == 3
    forget_failed(connection, runs[1])
    assert len(compared(connection, runs, first).entries) == 7
    begin_stretch(connection, runs[1])
    give(connection, runs, [7, 8, 9, 10])
    again = compared(connection, runs, first)
    assert sum(row.failed for row in again.sides[1].used) == 0
    assert numbers(again) == numbers(compared(connection, runs))


def test_a_run_that_was_sealed_since_is_read_anew(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, range(40))
    first = compared(connection, runs)
    connection.execute(
        "UPDATE results SET statistics = (SELECT statistics FROM results WHERE run = ?1 AND position = 3)"
        " WHERE run = ?2",
        runs,
    )
    connection.execute("UPDATE runs SET run_card = '{}', state = 'complete' WHERE id = ?", runs[1:])
    again = compared(connection, runs, first)
    assert not again.running
    assert numbers(again) == numbers(compared(connection, runs))
    assert numbers(again) != numbers(first)


def test_runs_of_a_corpus_share_its_entries_and_only_their_own_are_read(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, range(5))
    whole, some = (read_run(connection, number) for number in runs)
    reader = RowReader(connection)
    few = reader.read(replace(some, positions=(3, 4)))
    assert set(few.corpus) == {3, 4}
    every = reader.read(whole)
    assert len(every.rows) == 40
    assert [row.entry for row in few.rows] == [every.corpus[3], every.corpus[4]]
    assert few.rows[0].entry is every.rows[3].entry


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
