"""A look at the store's files tells whether it is worth reading; a list of runs without breakdowns is quick."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from harness.store.file.changes import mark_of
from harness.store.file.database import open_store
from harness.store.notes import set_note
from harness.store.runs import PARTS, find_run, list_runs
from scoring.statistics.breakdown import DIMENSIONS
from tests.tui.scenes import sealed


def age(path: Path) -> None:
    """Let the files be an hour old."""
    for file in path.parent.glob(f"{path.name}*"):
        seen = file.stat()
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns - 3600 * 10**9))


def test_reading_leaves_the_mark_and_writing_changes_it(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    sealed(path).close()
    assert mark_of(path) != mark_of(path)  # written just now: who knows
    age(path)
    before = mark_of(path)
    with closing(open_store(path)) as store:
        assert list_runs(store)
    assert mark_of(path) == before
    with closing(open_store(path)) as other, closing(open_store(path)) as store:
        list_runs(other)
        set_note(store, find_run(store, "last").id, "a word")
        assert mark_of(path) != before  # in the log beside the store
    assert mark_of(path) != before  # in the store itself


def test_another_file_in_the_place_of_the_store_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    sealed(path).close()
    age(path)
    before = mark_of(path)
    path.rename(tmp_path / "away")
    assert mark_of(path) != before


def test_a_brief_list_is_the_list_without_breakdowns(tmp_path: Path) -> None:
    assert set(PARTS) == set(DIMENSIONS)
    made = sealed(tmp_path / "s.sqlite")
    (text,) = made.store.execute("SELECT run_card FROM runs").fetchone()
    card = json.loads(text)
    card["scores"] |= {f"by_{name}": {"easy": {"chrf_plus_plus": 50.0}} for name in PARTS}
    _write(made.store, card)
    [full] = list_runs(made.store)
    [brief] = list_runs(made.store, brief=True)
    assert full.card == card
    assert brief.card == json.loads(text)
    made.close()


def _write(store: sqlite3.Connection, card: object) -> None:
    store.execute("UPDATE runs SET run_card = ?", (json.dumps(card),))
