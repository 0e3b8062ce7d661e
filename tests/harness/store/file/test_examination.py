"""Damage is told as damage, a fault of the program as that; a killed reader's copy is erased."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from corpora.files.problems import CorpusError
from harness.core.failures import HarnessError, StoreError
from harness.store import results, run_list
from harness.store.file.copies import PREFIX, erase_left_copies
from harness.store.file.database import open_store, opened
from harness.store.file.examination import damaged
from harness.store.file.openings import Floor, RunOpening
from harness.store.results import read_results
from harness.store.run_list import list_runs
from rosetta_tui.commands import rosetta
from tests.harness.evaluation import chat_plan, corpus, query, run_corpus
from tests.harness.scripted import error, serving, translated
from tests.review.thorough import times

COMMANDS = (
    ("runs", "list"),
    ("runs", "list", "--json"),
    ("runs", "show", "last"),
    ("runs", "verify", "last"),
    ("runs", "export", "last", "--form", "csv", "-o", "OUT", "--overwrite"),
    ("compare", "last", "FIRST"),
    ("leaderboard", "--json"),
)
"""What reads a store; OUT and FIRST are a file and the first run."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with replies, tries and failures, in one file."""
    path = tmp_path_factory.mktemp("whole") / "rosetta.sqlite"
    with serving() as endpoint:
        for model in ("mock", "other"):
            endpoint.answer = lambda asked: (
                error(500) if "number 3" in asked.source else translated(asked)
            )
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


SPOILT = {
    "a text in the place of a number": "UPDATE results SET headline = 'much'",
    "a number in the place of a text": "UPDATE runs SET model_slug = x'00'",
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
    for name, change in SPOILT.items():
        with closing(open_store(path)) as store:
            store.execute("PRAGMA foreign_keys = OFF")
            store.execute(change)
            assert damaged(store), name
        path.write_bytes(content)
    query(path, SPOILT["an opening of another shape"])
    with pytest.raises(StoreError, match="it is damaged"), opened(path):
        raise TypeError("unforeseen")


@pytest.mark.parametrize(("module", "reader"), [(results, "_result"), (run_list, "_summary")])
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
from harness.store.file.copies import copied
print(copied(Path(sys.argv[1]), Path(sys.argv[1] + "-wal")), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setenv("TMPDIR", str(found))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return found


@pytest.fixture
def reader(folder: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    store = tmp_path / "rosetta.sqlite"
    for each in (store, Path(f"{store}-wal")):
        each.write_bytes(b"what it holds")
    command = [sys.executable, "-P", "-c", READER, str(store)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
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
