"""Looking again at runs that were compared before: only what is new is read, and the numbers are the same."""

from __future__ import annotations

import errno
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
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
from harness.store.file.database import open_store
from harness.store.file.trouble import in_words
from harness.store.holding import begin_stretch
from harness.store.results import add_results, read_results
from harness.store.runs import forget_failed, read_run
from review.log.table import not_saved
from review.session.words.troubles import SAVING, STICKS
from tests.harness.evaluation import LANGUAGES, begun, corpus, run_corpus

PLAN = Plan(
    method="constant",
    options=MethodOptions(**LANGUAGES, text="x"),
    scoring=ScoringOptions(metrics=("chrf_plus_plus", "exact_match_rate")),
)
METRICS = ("chrf_plus_plus", "exact_match_rate")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a finished run, and one that is only begun."""
    path = tmp_path_factory.mktemp("two") / "rosetta.sqlite"
    run_corpus(path, corpus(40), PLAN)
    begun(path, corpus(40), PLAN)
    return path


@pytest.fixture
def connection(two: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(Path(shutil.copy(two, tmp_path)))) as opened:
        yield opened


@pytest.fixture
def runs() -> tuple[int, int]:
    """Return the store's numbers of both."""
    return 1, 2


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


def test_new_entries_are_put_in_place(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, [30, 2, 17])
    first = compared(connection, runs)
    give(connection, runs, [1, 39, 18])
    again = compared(connection, runs, first)
    assert again.entries.positions.tolist() == [[1, 2, 17, 18, 30, 39]] * 2
    assert numbers(again) == numbers(compared(connection, runs))
    for old, new in zip(first.sides, again.sides, strict=True):
        known = {id(row) for row in old.rows.rows}
        read = [row.entry.position for row in new.rows.rows if id(row) not in known]
        assert sorted(read) == ([] if new.rows.sealed else [1, 18, 39])


def test_retried_entries_read_again(connection: sqlite3.Connection, runs: tuple[int, int]) -> None:
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


def test_run_sealed_since_is_reread(connection: sqlite3.Connection, runs: tuple[int, int]) -> None:
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


def test_runs_share_entries(connection: sqlite3.Connection, runs: tuple[int, int]) -> None:
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


def test_codes_of_sqlite_and_the_system_are_one_problem(tmp_path: Path) -> None:
    problems = StorageProblem
    for name, problem in (
        ("SQLITE_FULL", problems.DISK_FULL),
        ("SQLITE_READONLY", problems.READ_ONLY),
        ("SQLITE_READONLY_DIRECTORY", problems.READ_ONLY),
        ("SQLITE_READONLY_DBMOVED", problems.GONE),
        ("SQLITE_BUSY_SNAPSHOT", problems.BUSY),
        ("SQLITE_LOCKED_SHAREDCACHE", problems.BUSY),
        ("SQLITE_PROTOCOL", problems.BUSY),
        ("SQLITE_CORRUPT_INDEX", problems.DAMAGED),
        ("SQLITE_IOERR_SHORT_READ", problems.DAMAGED),
        ("SQLITE_NOTADB", problems.NOT_OURS),
        ("SQLITE_CANTOPEN_ISDIR", problems.NOT_OPENED),
        ("SQLITE_IOERR_FSYNC", problems.DISK_FAILS),
        ("SQLITE_ERROR", problems.OTHER_FORM),
        ("SQLITE_MISUSE", problems.OTHER),
    ):
        assert storage_problem(said_by_sqlite(name)) is problem, name
    for number, problem in (
        (errno.ENOSPC, problems.DISK_FULL),
        (errno.EDQUOT, problems.DISK_FULL),
        (errno.EFBIG, problems.DISK_FULL),
        (errno.EROFS, problems.READ_ONLY),
        (errno.EACCES, problems.READ_ONLY),
        (errno.ENOENT, problems.GONE),
        (errno.ESTALE, problems.GONE),
        (errno.EIO, problems.DISK_FAILS),
        (errno.EINVAL, problems.OTHER),
    ):
        error = OSError(number, "words of the system")
        assert storage_problem(error) is problem, number
        assert error_name(error) == errno.errorcode[number]
    told = stick_error(tmp_path, OSError(errno.ENOSPC, "No space left on device"))
    assert told.problem is problems.DISK_FULL
    assert "not enough room" in str(told)


def test_real_errors_of_sqlite_are_known(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"not a database at all" * 100)
    with closing(sqlite3.connect(other)) as store, pytest.raises(sqlite3.Error) as refused:
        store.execute("SELECT * FROM runs")
    assert storage_problem(refused.value) is StorageProblem.NOT_OURS
    with pytest.raises(sqlite3.Error) as refused:
        sqlite3.connect(tmp_path / "gone" / "x").close()
    assert storage_problem(refused.value) is StorageProblem.NOT_OPENED


def test_every_face_has_words_for_every_problem() -> None:
    for problem in StorageProblem:
        for words in (SAVING, STICKS):
            assert words_for(words, problem) in words.values()
        with pytest.raises(KeyError):
            words_for({}, problem)
    # the wider problem lends its words
    assert words_for(SAVING, StorageProblem.NOT_OPENED) == SAVING[StorageProblem.READ_ONLY]
    assert words_for(SAVING, StorageProblem.TOO_LARGE) == SAVING[StorageProblem.OTHER]
    assert words_for(STICKS, StorageProblem.DISK_FAILS) == STICKS[StorageProblem.GONE]


def test_no_face_quotes_what_an_error_carries(tmp_path: Path) -> None:
    kinds = "FULL|READONLY|PERM|BUSY|CORRUPT|NOTADB|IOERR|ERROR|CANTOPEN|FORMAT"
    names = [name for name in vars(sqlite3) if re.match(f"SQLITE_({kinds})", name)]
    assert len(names) > 50
    for name in names:
        error = said_by_sqlite(name)
        for said in (str(in_words(error, tmp_path / "x")), str(not_saved(error, tmp_path / "x"))):
            assert "a text" not in said
            assert "{" not in said


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
