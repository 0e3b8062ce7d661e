"""Whatever is the matter with a store is said in words: damage as damage, a fault as that; a killed reader's copy goes."""

import errno
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.problems import CorpusError
from harness.card.rows import load_card
from harness.core.failures import HarnessError, StoreError, UsageError
from harness.core.storage import StorageProblem, error_name, storable, storage_problem, words_for
from harness.sealed.stick import stick_error
from harness.setup.plan import Plan
from harness.store import results, run_list
from harness.store.attachments import change_words
from harness.store.corpora.entries import read_entries
from harness.store.corpora.listing import list_corpora
from harness.store.mixed_setups import asked_with, parts_of, tried_before, tries_before
from harness.store.results import read_attempts, read_results
from harness.store.run_list import PARTS, list_runs
from harness.store.runs import find_run, find_trashed, read_run
from harness.store.sqlite import database
from harness.store.sqlite.copies import PREFIX, erase_left_copies
from harness.store.sqlite.database import mark_of, open_store, opened
from harness.store.sqlite.openings import Floor, RunOpening, damaged, set_plan
from harness.store.sqlite.trouble import in_words
from review.log.table import not_saved
from review.session.words.troubles import SAVING, STICKS
from rosetta_tui.app.display import say_lacking
from rosetta_tui.commands import rosetta
from scoring.statistics.intervals import DIMENSIONS
from tests.desktop.trouble.causes import mounted
from tests.harness.evaluation import CHEAP as PLAN
from tests.harness.evaluation import chat_plan, corpus, query, run_corpus
from tests.harness.scripted import error, serving, translated
from tests.harness.sealed.refusals import refuses
from tests.harness.store.sqlite.damaged import damage
from tests.review.thorough import examples, times
from tests.tui.scenes import sealed


def look(path: Path) -> str:
    def use() -> None:
        with opened(path) as store:
            list_runs(store)
            store.execute("UPDATE runs SET state = state")

    error = refuses(StoreError, "", use)
    assert str(path) in str(error)
    assert isinstance(error.__cause__, sqlite3.Error | None)
    return str(error)


def test_damaged_store_is_said_to_be(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("ALTER TABLE tags RENAME TO labels")
        assert "not in the form" in look(path)
        raw.execute("ALTER TABLE labels RENAME TO tags")
    damage(path)
    assert "damaged" in look(path)


def test_held_store_is_said_to_be(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 50)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "another program has held it" in look(path)
    with opened(path) as store:
        assert len(list_runs(store)) == 2


def test_a_full_disk_is_said_to_be(path: Path) -> None:
    def fill() -> None:
        with opened(path) as store:
            pages = store.execute("PRAGMA page_count").fetchone()[0]
            store.execute(f"PRAGMA max_page_count = {pages}")
            store.execute("INSERT INTO texts (digest, body) VALUES (1, ?)", ("x" * 1_000_000,))

    refuses(StoreError, r"disk is full\. Free \d+ MB .*safe", fill)


@pytest.mark.parametrize("journal", ["none", "with its index", "alone"])
def test_store_on_a_full_disk_is_read(
    tmp_path: Path, path: Path, journal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of the disk is full, the folder of temporary files as well, as on a computer with one disk."""
    small = tmp_path / "small"
    small.mkdir()
    mounted(small, 2048)
    try:
        copied = small / "rosetta.sqlite"
        copied.write_bytes(path.read_bytes())
        if journal != "none":
            subprocess.run([sys.executable, "-c", CUT_OFF, copied], check=True)
        if journal == "alone":
            copied.with_name("rosetta.sqlite-shm").unlink()
        monkeypatch.setenv("TMPDIR", str(small))
        with suppress(OSError), (small / "rest").open("wb", buffering=0) as rest:
            while True:
                rest.write(b"x" * 4096)
        with opened(copied) as store:
            assert len(list_runs(store)) == 2
            assert store.execute("SELECT count(*) FROM tags").fetchone()[0] == (journal != "none")
            with pytest.raises(sqlite3.Error) as refused:
                store.execute("INSERT INTO texts (digest, body) VALUES (1, ?)", ("x" * 1_000_000,))
        assert "Free 20 MB or more" in str(in_words(refused.value, copied))
        with pytest.raises(StoreError, match="Free 20 MB or more"), opened(small / "new.sqlite"):
            pass
    finally:
        subprocess.run(["umount", "--lazy", str(small)], check=True)


CUT_OFF = """
import os, sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("PRAGMA journal_mode = WAL")
store.execute("INSERT INTO tags SELECT min(id), 'in the journal' FROM runs")
os._exit(0)
"""


def test_other_failures_pass_through(path: Path) -> None:
    with pytest.raises(UsageError, match="mine"), opened(path):
        raise UsageError("mine")
    said = in_words(sqlite3.ProgrammingError("a text of the store"), Path("x"))
    assert isinstance(said, HarnessError)
    assert "a text" not in str(said)
    with opened(path) as store:
        pass
    refuses(sqlite3.ProgrammingError, "", store.execute, "SELECT 1")
    open_store(path).close()


def _opening(name: str, value: Any) -> str:
    return f"UPDATE runs SET opening = json_set(opening, '$.{name}', json('{json.dumps(value)}'))"


SPOILT: list[tuple[str, Callable[[sqlite3.Connection], object]]] = [
    ("UPDATE runs SET plan = '{'", list_corpora),
    ("UPDATE corpora SET dataset = '{\"id\": 3}'", list_corpora),
    ("UPDATE corpora SET dataset = CAST(x'ff' AS TEXT)", list_corpora),
    ("UPDATE runs SET positions = x'789c00'", list_runs),
    ("UPDATE results SET trace = x'c1'", lambda store: read_attempts(store, 1, 0)),
    ("UPDATE results SET error_class = 'none'", lambda store: list(read_results(store, 1))),
    ("UPDATE entries SET rest = '{'", lambda store: read_entries(store, 1)),
    ("UPDATE runs SET setup = '{'", list_runs),
    (_opening("parts", [{"setup": {}, "positions": []}]), lambda s: parts_of(read_run(s, 1))),
    (_opening("asked_with", {"x": 1}), lambda store: asked_with(read_run(store, 1))),
    (_opening("retry_of", {"tried": [1]}), lambda store: tried_before(read_run(store, 1))),
    (_opening("tried", [1]), lambda store: tries_before(read_run(store, 1))),
    ("UPDATE runs SET plan = '{\"scoring\": 3}'", lambda store: say_lacking(store, "last")),
    ("UPDATE results SET statistics = x'c1' WHERE position = 1", lambda store: load_card(store, 1)),
]


def test_unreadable_stored_value_is_damage(path: Path) -> None:
    content = path.read_bytes()
    for spoil, reading in SPOILT:
        words = "score the outputs again" if "statistics" in spoil else "a store: it is damaged"
        with closing(open_store(path)) as store:
            store.execute(spoil)
        with pytest.raises(StoreError, match=words), opened(path) as store:
            reading(store)
        path.write_bytes(content)


def test_fault_of_the_program_is_no_damage_of_the_store(path: Path) -> None:
    for fault in (lambda: int("a fault"), "\udcff".encode, lambda: json.loads("{")):
        with pytest.raises(ValueError, match=r"."), opened(path):
            fault()
    for find in (find_run, find_trashed):
        with opened(path) as store, pytest.raises(UsageError, match="'x\\\\udcff'"):
            find(store, "x\udcff")


def test_files_may_have_names_that_are_no_utf_8(store_path: Path) -> None:
    file = Path("/folder\udcff/corpus.tsv")
    run_corpus(store_path, replace(corpus(3), files=(file,)), PLAN)
    with opened(store_path) as store:
        assert list_corpora(store)[0].files == (file,)
        run = find_run(store, "last")
        assert Plan.model_validate(run.plan).corpus_files == (file,)
        set_plan(store, run.id, run.plan, run.opening)
        assert read_run(store, run.id) == run


def test_lone_surrogates_are_replaced() -> None:
    for text, kept in (
        ("a\ud800b", "a\ufffdb"), ("\udfff\ud800", "\ufffd\ufffd"), ("", ""),
        ("\ud83e\udded", "\U0001f9ed"), ("\ud83e\ud83e\udded", "\ufffd\U0001f9ed"),
    ):  # fmt: skip
        assert storable(text) == kept


@examples(50, 500)
@given(st.text())
def test_what_a_file_can_hold_stays_as_it_is(text: str) -> None:
    assert storable(text) == text


@examples(50, 500)
@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_everything_is_storable_as_json_reads_it(text: str) -> None:
    kept = storable(text)
    assert kept.encode() == storable(kept).encode()
    assert kept == storable(json.loads(json.dumps(text)))


def test_writing_changes_the_mark_and_reading_does_not(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    sealed(path).close()
    assert mark_of(path) != mark_of(path)  # written just now: who knows
    for file in path.parent.glob(f"{path.name}*"):  # an hour ago
        seen = file.stat()
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns - 3600 * 10**9))
    before = mark_of(path)
    with closing(open_store(path)) as store:
        assert list_runs(store)
    assert mark_of(path) == before
    path.rename(tmp_path / "away")
    assert mark_of(path) != before
    (tmp_path / "away").rename(path)
    with closing(open_store(path)) as other, closing(open_store(path)) as store:
        list_runs(other)
        change_words(store, find_run(store, "last").id, note="a word")
        assert mark_of(path) != before  # in the log beside the store
    assert mark_of(path) != before  # in the store itself


def test_a_brief_list_is_the_list_without_breakdowns(tmp_path: Path) -> None:
    assert set(PARTS) == set(DIMENSIONS)
    made = sealed(tmp_path / "s.sqlite")
    (text,) = made.store.execute("SELECT run_card FROM runs").fetchone()
    card = json.loads(text)
    card["scores"] |= {f"by_{name}": {"easy": {"chrf_plus_plus": 50.0}} for name in PARTS}
    made.store.execute("UPDATE runs SET run_card = ?", (json.dumps(card),))
    [full] = list_runs(made.store)
    [brief] = list_runs(made.store, brief=True)
    assert full.card == card
    assert brief.card == json.loads(text)
    made.close()


COMMANDS = (
    ("runs", "list"), ("runs", "list", "--json"), ("runs", "show", "last"),
    ("runs", "verify", "last"),
    ("runs", "export", "last", "--form", "csv", "-o", "OUT", "--overwrite"),
    ("compare", "last", "FIRST"), ("leaderboard", "--json"),
)  # fmt: skip
"""What reads a store; OUT and FIRST are a file and the first run."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with replies, tries and failures, in one file."""
    path = tmp_path_factory.mktemp("whole") / "rosetta.sqlite"
    with serving() as endpoint:
        for model in ("mock", "other"):
            endpoint.answer = lambda asked: error(500) if "number 3" in asked.source else translated(asked)
            run_corpus(path, corpus(8), chat_plan(endpoint.url, model=model))
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    return Path(shutil.copy(made, tmp_path))


def first_run(path: Path) -> str:
    with closing(sqlite3.connect(path)) as store:
        return str(store.execute("SELECT run_id FROM runs ORDER BY id").fetchone()[0])


def said(command: Sequence[str], home: Path, first: str) -> BaseException | None:
    """Return what a command raised; None where it printed."""
    given = {"OUT": str(home / "out.csv"), "FIRST": first}
    done = CliRunner().invoke(rosetta, [given.get(each, each) for each in command])
    return None if isinstance(done.exception, SystemExit) else done.exception


def test_whole_store_is_not_damaged(path: Path) -> None:
    with opened(path) as store:
        assert not damaged(store)
    first = first_run(path)
    assert [said(command, path.parent, first) for command in COMMANDS] == [None] * len(COMMANDS)
    told = {"name": "empty", "composite": 1.0, "chrf": 2.0, "more": 3}  # as another version tells
    opening = RunOpening.read(json.dumps({"floors": [told]}))
    assert opening.floors == (Floor("empty", 1.0, 2.0),)


@pytest.mark.parametrize("seed", range(times(6, 400)))
def test_changed_bytes_are_read_or_told_as_damage(made: Path, path: Path, seed: int) -> None:
    chance, first = random.Random(seed), first_run(path)
    content = bytearray(made.read_bytes())
    used = [place for place, byte in enumerate(content) if byte]
    for _ in range(chance.choice((1, 3, 9, 30))):
        content[chance.choice(used)] = chance.randrange(256)
    path.write_bytes(content)
    for beside in path.parent.glob("rosetta.sqlite-*"):
        beside.unlink()
    for command in COMMANDS:
        raised = said(command, path.parent, first)
        assert raised is None or isinstance(raised, HarnessError | CorpusError), (command, raised)


DAMAGES = {
    "a text instead of a number": "UPDATE results SET headline = 'much'",
    "a number instead of a text": "UPDATE runs SET model_slug = x'00'",
    "no number where one must be": "UPDATE results SET spent_usd = 'none'",
    "a text that is gone": "DELETE FROM texts WHERE id = (SELECT output FROM results LIMIT 1)",
    "no text": "UPDATE texts SET body = CAST(x'ff00ff' AS TEXT)",
    "an opening of another shape": "UPDATE runs SET opening = '{\"floors\": 3}'",
    "a card without scores": "UPDATE runs SET run_card = json_remove(run_card, '$.scores')",
    "statistics of texts": "UPDATE results SET statistics = x'91a161'",
    "a trace of another shape": "UPDATE results SET trace = x'01'",
    "facts of another shape": "UPDATE replies SET facts = x'01'",
}


def test_each_kind_of_damage_is_found(path: Path) -> None:
    content = path.read_bytes()
    for name, change in DAMAGES.items():
        with closing(open_store(path)) as store:
            store.execute("PRAGMA foreign_keys = OFF")
            store.execute(change)
            assert damaged(store), name
        path.write_bytes(content)
    query(path, DAMAGES["an opening of another shape"])
    with pytest.raises(StoreError, match="it is damaged"), opened(path):
        raise TypeError("unforeseen")


@pytest.mark.parametrize(("module", "reader"), [(results, "_result"), (run_list, "_of_cards")])
def test_fault_of_the_program_goes_up_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, reader: str
) -> None:
    for kind in (TypeError, AttributeError, KeyError, ValueError):
        fault = kind("a fault")

        def faulty(*_: object, fault: Exception = fault, **_named: object) -> None:
            raise fault

        monkeypatch.setattr(module, reader, faulty)
        with pytest.raises(kind) as raised, opened(path) as store:
            _ = list_runs(store), list(read_results(store, 1))
        assert raised.value is fault


READER = """
import sys
from pathlib import Path
from harness.store.sqlite.copies import copied
print(copied(Path(sys.argv[1]), Path(sys.argv[1] + "-wal")), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setenv("TMPDIR", str(found))
    return found


@pytest.fixture
def reader(folder: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    store = tmp_path / "rosetta.sqlite"
    for each in (store, Path(f"{store}-wal")):
        each.write_bytes(b"what it holds")
    command = [sys.executable, "-P", "-c", READER, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_copy_of_a_killed_reader_is_erased(reader: subprocess.Popen[str], folder: Path) -> None:
    assert reader.stdout is not None
    copy = Path(reader.stdout.readline().strip())
    erase_left_copies()
    assert copy.read_bytes() == b"what it holds", "its reader lives"
    reader.kill()
    reader.wait()
    assert copy.exists()
    erase_left_copies()
    assert list(folder.iterdir()) == []


def test_ending_reader_erases_its_copy(reader: subprocess.Popen[str], folder: Path) -> None:
    assert reader.stdout is not None
    assert reader.stdout.readline()
    reader.communicate("")
    assert list(folder.iterdir()) == []


def test_copies_of_others_are_not_erased(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    for each in (mine, folder / f"{PREFIX}open", folder / f"{PREFIX}bare", folder / "other"):
        each.mkdir(mode=0o700)
        (each / "kept").touch()
    for each in (mine, folder / f"{PREFIX}open", folder / "other"):
        (each / "held").touch()
        (each / "ready").touch()
    new = folder / f"{PREFIX}new"  # whose maker has made the lock's file and not locked it yet
    new.mkdir(mode=0o700)
    (new / "held").touch()
    (folder / f"{PREFIX}open").chmod(0o755)
    (folder / f"{PREFIX}link").symlink_to(mine)
    linked = folder / f"{PREFIX}linked"
    linked.mkdir(mode=0o700)
    (linked / "held").symlink_to(mine / "held")
    (linked / "ready").touch()
    (folder / f"{PREFIX}file").touch()
    before = sorted(tmp_path.rglob("*"))
    erase_left_copies()
    assert sorted(tmp_path.rglob("*")) == before


def test_old_copies_are_erased_an_hour_later(folder: Path) -> None:
    left = folder / f"{PREFIX}earlier"
    left.mkdir(mode=0o700)
    (left / "held").touch()
    os.utime(left, (0, 0))
    erase_left_copies()
    assert list(folder.iterdir()) == []


ROOT = Path(__file__).parents[4]
PACKAGES = ("corpora", "scoring", "harness", "review", "rosetta_tui")
TABLE = "harness/core/storage.py"


def said_by_sqlite(name: str) -> sqlite3.Error:
    error = sqlite3.OperationalError("a text of the store")
    error.sqlite_errorname = name
    error.sqlite_errorcode = getattr(sqlite3, name)
    return error


def test_codes_of_sqlite_and_the_system_are_one_problem(tmp_path: Path) -> None:
    problems = StorageProblem
    for name, problem in (
        ("SQLITE_FULL", problems.DISK_FULL), ("SQLITE_READONLY", problems.READ_ONLY),
        ("SQLITE_READONLY_DIRECTORY", problems.READ_ONLY), ("SQLITE_READONLY_DBMOVED", problems.GONE),
        ("SQLITE_BUSY_SNAPSHOT", problems.BUSY), ("SQLITE_LOCKED_SHAREDCACHE", problems.BUSY),
        ("SQLITE_PROTOCOL", problems.BUSY), ("SQLITE_CORRUPT_INDEX", problems.DAMAGED),
        ("SQLITE_IOERR_SHORT_READ", problems.DAMAGED), ("SQLITE_NOTADB", problems.NOT_OURS),
        ("SQLITE_CANTOPEN_ISDIR", problems.NOT_OPENED), ("SQLITE_IOERR_FSYNC", problems.DISK_FAILS),
        ("SQLITE_ERROR", problems.OTHER_FORM), ("SQLITE_MISUSE", problems.OTHER),
    ):  # fmt: skip
        assert storage_problem(said_by_sqlite(name)) is problem, name
    for number, problem in (
        (errno.ENOSPC, problems.DISK_FULL), (errno.EDQUOT, problems.DISK_FULL),
        (errno.EFBIG, problems.DISK_FULL), (errno.EROFS, problems.READ_ONLY),
        (errno.EACCES, problems.READ_ONLY), (errno.ENOENT, problems.GONE),
        (errno.ESTALE, problems.GONE), (errno.EIO, problems.DISK_FAILS), (errno.ENOLCK, problems.NO_LOCKS),
        (errno.EINVAL, problems.OTHER),
    ):  # fmt: skip
        error = OSError(number, "words of the system")
        assert storage_problem(error) is problem, number
        assert error_name(error) == errno.errorcode[number]
    told = stick_error(tmp_path, OSError(errno.ENOSPC, "No space left on device"))
    assert told.problem is problems.DISK_FULL
    assert "too little room" in str(told)


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
        refuses(KeyError, "", words_for, {}, problem)
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
        r"errno\.(ENOSPC|EDQUOT|EROFS|EACCES|EIO|ESTALE|ENOLCK)\b"
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
