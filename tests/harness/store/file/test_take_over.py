"""A store that an older version wrote is sealed when it is opened, wholly, wherever that is stopped."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.core.failures import KeyStoreError, StoreError
from harness.store.corpora.entries import read_entries
from harness.store.file import database, take_over
from harness.store.file.database import SCHEMA_VERSION, open_store
from harness.store.file.sealing import DIGEST_KEY, forget_keys
from harness.store.file.trouble import worded
from tests.harness.evaluation import query
from tests.harness.store.file.written_before import CANARY, lost, readable, written_before
from tests.review.thorough import times


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("old") / "data" / "rosetta.sqlite"
    written_before(path)
    return path


@pytest.fixture
def old(made: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 50)
    forget_keys()
    shutil.copytree(made.parent, store_path.parent)
    yield store_path
    forget_keys()


def version(path: Path) -> int:
    """Return the number of a store without opening it as the program does."""
    with closing(sqlite3.connect(path)) as raw:
        return int(raw.execute("PRAGMA user_version").fetchone()[0])


def test_open_texts_are_sealed(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = old.read_bytes()
    assert content.count(f"{CANARY} gone".encode()) > 0  # in free pages
    assert version(old) == 12
    capsys.readouterr()
    assert lost(old) == []
    said = capsys.readouterr().err
    assert "left texts of secret entries open. They are sealed now (7 entries)." in said
    assert readable(old.parent) == []
    assert CANARY not in said
    assert query(old, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert (
        query(old, "PRAGMA freelist_count") == query(old, "SELECT count(*) FROM replies") == [(0,)]
    )
    assert query(old, "SELECT count(*) FROM findings") == [(0,)]
    assert query(old, "SELECT count(*) FROM row_words") == [(0,)]
    open_ones = (
        "SELECT s.body FROM entries e JOIN texts s ON s.id = e.source WHERE e.sealed IS NULL"
    )
    assert query(old, open_ones) == [(f"open {n}",) for n in range(1, 12, 2)]
    tags = "SELECT DISTINCT provenance, register, rest FROM entries WHERE sealed IS NOT NULL AND corpus = 1"
    assert query(old, tags) == [(None, "formal", '{"context": "label"}')]
    assert (old.parent / DIGEST_KEY).read_bytes().startswith(b"age-encryption.org/v1")
    before = old.read_bytes()
    open_store(old).close()
    assert capsys.readouterr().err == ""
    assert old.read_bytes() == before


@pytest.mark.costly("kills processes")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_killed_take_over_loses_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tests.harness.store.file.written_before", tmp_path, str(times(4, 120))],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[4],
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["lost"], told["readable"]) == ([], [])
    assert told["kills"] >= times(5, 200)


def test_store_read_by_another_is_finished_later(old: Path) -> None:
    with closing(sqlite3.connect(old, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM runs").fetchone()
        with pytest.raises(StoreError, match=r"Close the other Rosetta"):
            open_store(old)
        other.execute("COMMIT")
    assert version(old) == 12
    assert lost(old) == []
    assert readable(old.parent) == []


class _Usage(NamedTuple):
    free: int


def test_disk_without_room_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: _Usage(1_000_000))
    with pytest.raises(StoreError, match=r"free 2\d MB or more on it, then try again"):
        open_store(old)
    monkeypatch.undo()
    assert version(old) == 12
    assert lost(old) == []


def test_disk_that_fills_up_is_told(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sqlite3.connect

    def small(*given: object, **named: object) -> sqlite3.Connection:
        connection = real(*given, **named)  # type: ignore[call-overload]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", small)
    monkeypatch.setattr(take_over, "sweep_texts", _fills)
    with pytest.raises(StoreError, match=r"the disk is full. Free \d+ MB or more"):
        open_store(old)
    monkeypatch.undo()
    assert lost(old) == []
    assert readable(old.parent) == []


def _fills(connection: sqlite3.Connection) -> int:
    connection.execute("CREATE TABLE filler AS SELECT randomblob(900000) AS filler")
    return 0


def test_without_the_key_nothing_is_sealed_or_lost(old: Path) -> None:
    (old.parent / "computer.key").write_text("damaged")
    with pytest.raises(KeyStoreError, match="keys of this computer cannot be read"):
        open_store(old)
    (old.parent / "computer.key").unlink()
    assert lost(old) == []


def test_read_only_old_store_is_read_with_a_warning(
    old: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(database, "cannot_be_written", lambda _: True)
    before = old.read_bytes()
    capsys.readouterr()
    for _ in range(2):
        with closing(open_store(old)) as store:
            assert read_entries(store, 1)[0].source == f"{CANARY} 0"
    said = capsys.readouterr().err
    assert said.startswith(f"warning: {old} holds texts of secret entries that lie open")
    assert said.count("warning") == 1
    assert CANARY not in said
    assert old.read_bytes() == before


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
def test_damage_stays_and_the_rest_is_taken_over(old: Path, damage: str) -> None:
    with closing(sqlite3.connect(old)) as raw:
        raw.execute(damage)
        raw.commit()
    with pytest.raises(StoreError, match="damaged"), closing(open_store(old)), worded(old):
        assert lost(old) == []
    assert query(old, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert readable(old.parent) == []
