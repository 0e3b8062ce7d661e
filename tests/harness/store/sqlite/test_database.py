"""Opening the store: new, newer, foreign, protected, by several at once, without locks; an older one is read and sealed."""

import errno
import gzip
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlite_utils import Database

from harness.card.checking.verify_card import verify_card
from harness.card.rows import load_card
from harness.core.failures import KeyStoreError, RunState, StoreError, UsageError
from harness.doctor.data import data as examine_data
from harness.doctor.finding import Health
from harness.store.attachments import change_words
from harness.store.corpora.entries import read_entries, shown_entries
from harness.store.deletion import HoldsSecrets, bring_back, trash
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.sqlite import copies, database, take_over
from harness.store.sqlite.copies import Locks, examine_locks
from harness.store.sqlite.database import SCHEMA_VERSION, default_path, is_read_only, open_store, opened
from harness.store.sqlite.migrations import migrations
from harness.store.sqlite.sealing import DIGEST_KEY, forget_keys
from harness.store.sqlite.trouble import worded
from tests.harness.evaluation import kept, query
from tests.harness.process import spawn
from tests.harness.scripted import Scripted, completion, json_answer
from tests.harness.sealed.refusals import refuses
from tests.harness.store.sqlite.locked_stick import CORPUS, called, made, stick
from tests.harness.store.sqlite.written_before import CANARY, lost, readable, written_before
from tests.review.thorough import times


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_store_belongs_to_its_owner_alone(store_path: Path) -> None:
    with closing(open_store(store_path)) as connection:
        connection.execute("INSERT INTO texts (digest, body) VALUES (1, 'x')")
        assert mode(store_path.parent) == 0o700
        files = {path.name: mode(path) for path in store_path.parent.iterdir() if path.is_file()}
    assert set(files) >= {"rosetta.sqlite", "rosetta.sqlite-wal", "rosetta.sqlite-shm"}
    assert set(files.values()) == {0o600}
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
    with closing(open_store(store_path)) as store:
        assert {name: store.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted} == wanted


def test_each_migration_is_applied_once(store_path: Path) -> None:
    for _ in range(3):
        with closing(open_store(store_path)) as connection:
            applied = connection.execute("SELECT name FROM _sqlite_migrations").fetchall()
            version = connection.execute("PRAGMA user_version").fetchone()[0]
    names = [row[0] for row in applied]
    assert version == SCHEMA_VERSION == len(names) == len(set(names))
    assert all(re.fullmatch(rf"m{number:03}_\w+", name) for number, name in enumerate(names, 1))
    assert migrations.name == "rosetta"
    indexes = {row[0] for row in query(store_path, "SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert indexes >= {"idx_composite", "idx_leaderboard", "idx_model", "idx_fingerprint"}


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE TABLE _sqlite_migrations (id); PRAGMA user_version = 999", r"newer version.*Nothing"),
        ("CREATE TABLE recipes (name)", "another program"),
    ],
)
def test_foreign_or_newer_store_is_left_as_it_is(tmp_path: Path, sql: str, words: str) -> None:
    path = tmp_path / "rosetta.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql.replace("999", str(SCHEMA_VERSION + 1)))
    before = path.read_bytes()
    refuses(StoreError, words, open_store, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["rosetta.sqlite"]


def test_what_cannot_be_a_store_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, file = tmp_path / "rosetta.sqlite", tmp_path / "file"
    for content in (b"no database at all" * 99, b"SQLite format 3\x00" + b"\xff" * 5000):
        path.write_bytes(content)
        refuses(StoreError, re.escape(str(path)) + r" cannot be used as a store", open_store, path)
        assert path.read_bytes() == content
    file.write_text("in the way")
    refuses(StoreError, r"cannot be written.*ROSETTA_HOME", open_store, file / "rosetta.sqlite")
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    assert default_path() == tmp_path / "elsewhere" / "rosetta.sqlite"
    for name in (b"/x\xff", b"/\xc3/x", b"/x/\xe9t\xe9"):
        monkeypatch.setenv("ROSETTA_HOME", os.fsdecode(name))
        refuses(UsageError, r"b'/\S+', is no UTF-8. Name another folder in ROSETTA_HOME", default_path)


OPEN = """
import sys
from contextlib import closing
from pathlib import Path
from harness.store.sqlite.database import open_store
sys.stdin.readline()
with closing(open_store(Path(sys.argv[1]))) as connection:
    print(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
"""
PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


@pytest.mark.thorough
def test_several_processes_make_the_store_at_once(store_path: Path) -> None:
    """Two terminals on a fresh machine."""
    command = [sys.executable, "-c", OPEN, str(store_path)]
    starts = [subprocess.Popen(command, text=True, **PIPES) for _ in range(4)]
    for process in starts:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=600) for process in starts]
    assert [out.strip() for out, _ in said] == ["0"] * 4, said


@pytest.mark.thorough
def test_two_runs_write_at_once(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: json_answer(completion(asked.source.upper()), seconds=0.01)
    writers = [spawn("begin", store_path, endpoint.url, size) for size in (300, 301)]
    said = [writer.communicate(timeout=600) for writer in writers]
    assert [out.strip() for out, _ in said] == [RunState.COMPLETE] * 2, said
    ids = [row[0] for row in query(store_path, "SELECT run_id FROM runs")]
    sizes = sorted(len(kept(store_path, run_id).results) for run_id in ids)
    assert sizes == [300, 301]
    assert query(store_path, "PRAGMA integrity_check") == [("ok",)]


__all__ = ["made", "stick"]


def test_locked_stick_is_listed_shown_and_exported(stick: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in stick.iterdir()}
    card = tmp_path / "card.json"
    last, first = (run.run_id for run in listed(stick))
    for words, said in (
        (("runs", "list"), "constant"),
        (("runs", "show", "last"), "chrF++"),
        (("runs", "show", "last", "--json"), "noted last"),
        (("runs", "export", "last", "-o", str(card)), ""),
        (("runs", "verify", "last"), ""),
        (("compare", last, first), "chrF++"),
        (("leaderboard",), "constant"),
        (("watch", "last", "--plain"), "8"),
    ):
        done = called(*words)
        assert done.exit_code == 0, (words, done.output, done.exception)
        assert said in done.output
    assert card.exists()
    assert {path.name: path.read_bytes() for path in stick.iterdir()} == before


def listed(stick: Path) -> list:  # type: ignore[type-arg]
    with opened(stick / "rosetta.sqlite") as store:
        assert is_read_only(store)
        return list_runs(store)


def test_locked_stick_refuses_to_write(stick: Path) -> None:
    for words in (
        ("runs", "note", "last", "x"),
        ("runs", "delete", "last", "--yes"),
        ("run", CORPUS, "--method", "copy-source", "--plain"),
    ):
        done = called(*words)
        assert done.exit_code != 0
        assert isinstance(done.exception, StoreError), (words, done.output)
        assert "it can only be read here, so nothing was changed" in str(done.exception)
    assert [run.note for run in listed(stick)] == ["noted last", ""]


OLD = Path(__file__).with_name("version-5.sqlite.gz")
"""Made by the version before notes and tags: a copy of three entries, one of them secret, and a constant."""


@pytest.fixture
def old(store_path: Path) -> Path:
    store_path.parent.mkdir(mode=0o700)
    store_path.write_bytes(gzip.decompress(OLD.read_bytes()))
    return store_path


TEXTS_OF_ENTRIES = """
    SELECT e.corpus, e.position, s.body, r.body FROM entries e JOIN texts s ON s.id = e.source
    JOIN texts r ON r.id = e.reference ORDER BY 1, 2
"""
TEXTS_OF_RESULTS = """
    SELECT r.run, r.position, t.body FROM results r LEFT JOIN texts t ON t.id = r.output ORDER BY 1, 2
"""


def test_old_store_is_read_whole(old: Path) -> None:
    with closing(sqlite3.connect(old)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (5,)
        entries = raw.execute(TEXTS_OF_ENTRIES).fetchall()
        outputs = raw.execute(TEXTS_OF_RESULTS).fetchall()
        stretches = raw.execute("SELECT * FROM stretches ORDER BY 1").fetchall()
        heads = raw.execute("SELECT run_id, run_card, plan, opening FROM runs").fetchall()
    with closing(open_store(old)) as store:
        runs = list_runs(store)
        assert [run.method for run in runs] == ["constant", "copy-source"]
        told = [(run.note, run.tags, run.retry_of, run.trashed) for run in runs]
        assert told == [("", (), "", None)] * 2
        cards = [json.dumps(load_card(store, run.number).as_json()).encode() for run in runs]
        assert verify_card(cards[0]).ok
        assert verify_card(cards[1], store).ok
        again = shown_entries(store, 1)
        texts = [(1, place, each.source, each.reference) for place, each in again.items()]
        assert texts == [row for row in entries if row[0] == 1]
        rows = [(run.number, each.position, each.output)
                for run in reversed(runs) for each in read_results(store, run.number)]  # fmt: skip
        assert sorted(rows) == outputs
        open_run, secret = runs
        change_words(store, open_run.number, add=["old"])
        trash(store, open_run.number)
        assert [run.run_id for run in list_runs(store)] == [secret.run_id]
        bring_back(store, open_run.number)
        assert list_runs(store)[0].tags == ("old",)
        refuses(HoldsSecrets, "", trash, store, secret.number)
    assert query(old, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert query(old, "SELECT * FROM stretches ORDER BY 1") == stretches
    [hidden] = [each.source for each in again.values() if each.secret]
    assert hidden.encode() not in old.read_bytes()
    assert query(old, "SELECT run_id, run_card, plan, opening FROM runs") == heads
    sealed = [json.loads(card) for _, card, *_ in heads if card]
    stated = [(card["scores"]["composite"], card["scores"]["ter"], card["dataset"]["id"]) for card in sealed]
    assert query(old, "SELECT composite_score, ter, dataset_id FROM run_scores ORDER BY run") == stated
    assert stated
    assert query(old, "PRAGMA integrity_check") == [("ok",)]


def test_fresh_store_has_the_schema_of_every_migration(tmp_path: Path) -> None:
    def tables(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
        schema = "SELECT type, name, sql FROM sqlite_master ORDER BY rowid"
        steps = "SELECT id, migration_set, name FROM _sqlite_migrations ORDER BY id"
        return connection.execute(schema).fetchall() + connection.execute(steps).fetchall()

    with closing(sqlite3.connect(tmp_path / "migrated")) as migrated:
        migrations.apply(Database(migrated))
        with closing(open_store(tmp_path / "fresh")) as fresh:
            assert tables(fresh) == tables(migrated)


OTHER_FORMS = [
    ("ALTER TABLE certificates DROP COLUMN suspended", "certificates has no column suspended"),
    ("ALTER TABLE results RENAME COLUMN chrf TO f", "results has no column chrf.*1 column more"),
    ("DROP TABLE makers", "the table makers is missing"),
    ("DROP INDEX results_run_position", "the index results_run_position is missing"),
    ("ALTER TABLE runs ADD COLUMN owner TEXT", "runs has 1 column more"),
    ("UPDATE _sqlite_migrations SET name = 'm099_x' WHERE id = 5", "does not know"),
    ("DELETE FROM _sqlite_migrations WHERE id = 2", "without one that comes before"),
]  # fmt: skip
"""What makes a store of version 5 one that no released version made, and what is said of it."""


@pytest.mark.parametrize(("change", "words"), OTHER_FORMS)
def test_store_in_another_form_is_not_upgraded(old: Path, change: str, words: str) -> None:
    with closing(sqlite3.connect(old)) as raw:
        raw.executescript(change)
    content = old.read_bytes()
    refuses(StoreError, rf"{words}.*Nothing was changed", open_store, old)
    assert old.read_bytes() == content
    assert [each.name for each in old.parent.iterdir() if each.is_file()] == [old.name]
    [finding] = [each for each in examine_data(old.parent) if each.name == "store"]
    assert finding.health is Health.BROKEN
    assert re.search(words, finding.words)


def test_failed_upgrade_keeps_a_copy(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = old.with_name("rosetta.version-5.sqlite")
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "apply", lambda db: db.execute("DELETE FROM stretches"))
        refuses(StoreError, rf"table notes is missing.*{re.escape(str(copy))} is the", open_store, old)
    assert mode(copy) == 0o600
    held = "SELECT count(*) FROM stretches"
    with closing(sqlite3.connect(copy)) as original:
        assert original.execute(held).fetchone()[0] > 0
    [finding] = [each for each in examine_data(old.parent) if each.name == "copy"]
    assert str(copy) in finding.words
    shutil.copy(copy, old)
    with closing(open_store(old)) as store:
        assert store.execute(held).fetchone()[0] > 0
    assert not copy.exists()


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("before") / "data" / "rosetta.sqlite"
    written_before(path)
    return path


@pytest.fixture
def before(older: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 50)
    forget_keys()
    shutil.copytree(older.parent, store_path.parent)
    yield store_path
    forget_keys()


def version(path: Path) -> int:
    """Return the number of a store without opening it as the program does."""
    with closing(sqlite3.connect(path)) as raw:
        return int(raw.execute("PRAGMA user_version").fetchone()[0])


def test_open_texts_are_sealed(before: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = before.read_bytes()
    assert content.count(f"{CANARY} gone".encode()) > 0  # in free pages
    assert version(before) == 12
    capsys.readouterr()
    assert lost(before) == []
    said = capsys.readouterr().err
    assert "left texts of secret entries open. They are sealed now (7 entries)." in said
    assert readable(before.parent) == []
    assert CANARY not in said
    assert query(before, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert query(before, "PRAGMA freelist_count") == [(0,)]
    for table in ("replies", "findings", "row_words"):
        assert query(before, f"SELECT count(*) FROM {table}") == [(0,)]
    open_ones = "SELECT s.body FROM entries e JOIN texts s ON s.id = source WHERE e.sealed IS NULL"
    assert query(before, open_ones) == [(f"open {n}",) for n in range(1, 12, 2)]
    tags = "SELECT DISTINCT provenance, register, rest FROM entries WHERE sealed IS NOT NULL AND corpus = 1"
    assert query(before, tags) == [(None, "formal", '{"context": "label"}')]
    assert (before.parent / DIGEST_KEY).read_bytes().startswith(b"age-encryption.org/v1")
    content = before.read_bytes()
    open_store(before).close()
    assert capsys.readouterr().err == ""
    assert before.read_bytes() == content


@pytest.mark.costly("kills processes")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_killed_take_over_loses_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tests.harness.store.sqlite.written_before", tmp_path, str(times(2, 120))],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[4],
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["lost"], told["readable"]) == ([], [])
    assert told["kills"] >= times(2, 200)


def test_store_read_by_another_is_finished_later(before: Path) -> None:
    with closing(sqlite3.connect(before, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM runs").fetchone()
        refuses(StoreError, r"Close the other Rosetta", open_store, before)
        other.execute("COMMIT")
    assert version(before) == 12
    assert lost(before) == []
    assert readable(before.parent) == []


def test_disk_without_room_changes_nothing(before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_000))
    refuses(StoreError, r"free 2\d MB or more on it, then try again", open_store, before)
    monkeypatch.undo()
    assert version(before) == 12
    assert lost(before) == []


def test_disk_that_fills_up_is_read(before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sqlite3.connect

    def small(*given: object, **named: object) -> sqlite3.Connection:
        connection = real(*given, **named)  # type: ignore[call-overload]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", small)
    filling = "CREATE TABLE filler AS SELECT randomblob(900000) AS filler"
    monkeypatch.setattr(take_over, "sweep_texts", lambda store: store.execute(filling).rowcount)
    with closing(open_store(before)) as store:
        assert is_read_only(store)
        assert len(read_entries(store, 1)) == 12
    monkeypatch.undo()
    assert lost(before) == []
    assert readable(before.parent) == []


def test_without_the_key_nothing_is_sealed_or_lost(before: Path) -> None:
    (before.parent / "computer.key").write_text("damaged")
    refuses(KeyStoreError, "keys of this computer cannot be read", open_store, before)
    (before.parent / "computer.key").unlink()
    assert lost(before) == []


def test_read_only_old_store_is_read_with_a_warning(
    before: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(database, "cannot_be_written", lambda _: True)
    content = before.read_bytes()
    capsys.readouterr()
    for _ in range(2):
        with closing(open_store(before)) as store:
            assert shown_entries(store, 1)[0].source == f"{CANARY} 0"
    said = capsys.readouterr().err
    assert said.startswith(f"warning: {before} holds texts of secret entries that are open")
    assert said.count("warning") == 1
    assert CANARY not in said
    assert before.read_bytes() == content


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entries SET rest = '{' WHERE position = 0",
        "UPDATE entries SET source = 9999 WHERE position = 0",
        "UPDATE texts SET body = CAST(x'ff00ff' AS TEXT) WHERE id = (SELECT source FROM entries WHERE position = 0)",
        "UPDATE results SET trace = x'ff' WHERE position = 0",
        "UPDATE results SET output = 9999 WHERE position = 4",
        "UPDATE annotations SET value = x'c1'",
    ],
)
def test_damage_stays_and_the_rest_is_taken_over(before: Path, damage: str) -> None:
    with closing(sqlite3.connect(before)) as raw:
        raw.execute(damage)
        raw.commit()
    with pytest.raises(StoreError, match="damaged"), closing(open_store(before)), worded(before):
        assert lost(before) == []
    assert query(before, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert readable(before.parent) == []


STORAGE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int answer(const char *name, int file, int command, void *lock) {
    if ((command == F_SETLK || command == F_SETLKW) && ((struct flock *)lock)->l_type != F_UNLCK) {
        errno = ERROR;
        return ERROR ? -1 : 0;
    }
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, name);
    return real(file, command, lock);
}
#define PASS(NAME) int NAME(int file, int command, ...) { va_list more; va_start(more, command); \\
    void *lock = va_arg(more, void *); va_end(more); return answer(#NAME, file, command, lock); }
PASS(fcntl)
PASS(fcntl64)
"""
"""A library that stands between a program and the system; ERROR: what every lock fails with, 0: none does."""

USE = """
import json, sys
from pathlib import Path
from harness.core.failures import StoreError
from harness.doctor.data import data
from harness.store.sqlite.database import open_store
path = Path(sys.argv[1])
try:
    said = open_store(path).close() or ""
except StoreError as error:
    said = str(error)
print(json.dumps([said, {each.name: [each.health, each.words] for each in data(path.parent)}]))
"""


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.parametrize(
    ("error", "refusal", "finding"),
    [
        (errno.ENOLCK, "locks do not work in its folder", "locks do not work in"),
        (0, "", "two programs can lock one file"),
    ],
)
def test_storage_without_working_locks_is_named(tmp_path: Path, error: int, refusal: str, finding: str) -> None:
    source, library = tmp_path / "storage.c", tmp_path / "storage.so"
    source.write_text(STORAGE)
    build = ["cc", "-shared", "-fPIC", f"-DERROR={error}", "-o", str(library), str(source), "-ldl"]
    subprocess.run(build, check=True, capture_output=True)
    path = tmp_path / "data" / "rosetta.sqlite"
    open_store(path).close()
    done = subprocess.run(
        [sys.executable, "-P", "-c", USE, path],
        env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    said, findings = json.loads(done.stdout)
    assert refusal in said
    assert bool(said) == bool(refusal)
    assert findings["locks"][0] == "broken"
    assert finding in findings["locks"][1]
    assert refusal in findings["store"][1]
    assert [each.name for each in path.parent.glob(".locks-*")] == []


def test_locks_of_a_disk_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert examine_locks(tmp_path) is Locks.WORK
    assert examine_locks(tmp_path / "nowhere") is Locks.UNKNOWN
    monkeypatch.setattr(copies, "SECOND_PROCESS", "sys.exit(1)")
    assert examine_locks(tmp_path) is Locks.UNKNOWN
    assert [*tmp_path.iterdir()] == []
