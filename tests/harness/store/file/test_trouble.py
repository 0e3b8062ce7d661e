"""Whatever is the matter with a store, or a text in it, is said in words; its files tell whether it changed."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.load import load_card
from harness.core.failures import HarnessError, StoreError, UsageError
from harness.core.storage_problems import storable
from harness.setup.plan import Plan
from harness.store.corpora.entries import read_entries
from harness.store.corpora.listing import list_corpora
from harness.store.file import database
from harness.store.file.database import mark_of, open_store, opened
from harness.store.file.openings import set_plan
from harness.store.file.trouble import in_words
from harness.store.mixed_setups import asked_with, parts_of, tried_before, tries_before
from harness.store.notes import set_note
from harness.store.results import moments, read_attempts, read_results
from harness.store.run_list import PARTS, list_runs
from harness.store.runs import find_run, find_trashed, read_run
from rosetta_tui.app.showing import say_lacking
from scoring.statistics.breakdown import DIMENSIONS
from tests.desktop.trouble.causes import mounted
from tests.harness.evaluation import corpus, run_corpus
from tests.harness.run.breaking_plan import CHEAP as PLAN
from tests.harness.store.file.damaged import damage, path, whole
from tests.review.thorough import examples
from tests.tui.scenes import sealed

__all__ = ["path", "whole"]


def use(path: Path) -> None:
    with opened(path) as store:
        list_runs(store)
        store.execute("UPDATE runs SET state = state")


def fill(path: Path) -> None:
    with opened(path) as store:
        pages = store.execute("PRAGMA page_count").fetchone()[0]
        store.execute(f"PRAGMA max_page_count = {pages}")
        store.execute("INSERT INTO texts (digest, body) VALUES (1, ?)", ("x" * 1_000_000,))


def look(path: Path) -> str:
    with pytest.raises(StoreError) as caught:
        use(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.Error | None)
    return str(caught.value)


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
        assert len(list_runs(store)) == 1


def test_a_full_disk_is_said_to_be(path: Path) -> None:
    with pytest.raises(StoreError, match=r"disk is full\. Free \d+ MB .*safe"):
        fill(path)


def test_disk_without_room_beside_a_store_is_full(tmp_path: Path, path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted(small, 2048)
    try:
        copied = small / "rosetta.sqlite"
        copied.write_bytes(path.read_bytes())
        with suppress(OSError), (small / "rest").open("wb", buffering=0) as rest:
            while True:
                rest.write(b"x" * 4096)
        for each in (copied, small / "folder" / "new.sqlite"):
            with pytest.raises(StoreError, match="Free 20 MB or more"), opened(each):
                pass
    finally:
        subprocess.run(["umount", "--lazy", str(small)], check=True)


def test_a_newer_store_stays_a_newer_store(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")
    assert "newer version" in look(path)


def test_other_failures_pass_through(path: Path) -> None:
    with pytest.raises(UsageError, match="mine"), opened(path):
        raise UsageError("mine")


def test_what_is_unknown_has_words_too() -> None:
    said = in_words(sqlite3.ProgrammingError("a text of the store"), Path("x"))
    assert isinstance(said, HarnessError)
    assert "a text" not in str(said)


def test_the_connection_is_closed(path: Path) -> None:
    with opened(path) as store:
        pass
    with pytest.raises(sqlite3.ProgrammingError):
        store.execute("SELECT 1")
    open_store(path).close()


def _opening(name: str, value: Any) -> str:
    return f"UPDATE runs SET opening = json_set(opening, '$.{name}', json('{json.dumps(value)}'))"


SPOILT: list[tuple[str, Callable[[sqlite3.Connection], object]]] = [
    ("UPDATE runs SET plan = '{'", list_corpora),
    ("UPDATE corpora SET dataset = '{\"id\": 3}'", list_corpora),
    ("UPDATE corpora SET dataset = CAST(x'ff' AS TEXT)", list_corpora),
    ("UPDATE runs SET positions = x'789c00'", list_runs),
    ("UPDATE results SET trace = x'c1'", lambda store: read_attempts(store, 1, 0)),
    ("UPDATE results SET trace = x'c1'", lambda store: moments(store, 1)),
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
        ("a\ud800b", "a\ufffdb"),
        ("\udfff\ud800", "\ufffd\ufffd"),
        ("\ud83e\udded", "\U0001f9ed"),
        ("\ud83e\ud83e\udded", "\ufffd\U0001f9ed"),
        ("", ""),
    ):
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


def age(path: Path) -> None:
    """Let the files be an hour old."""
    for file in path.parent.glob(f"{path.name}*"):
        seen = file.stat()
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns - 3600 * 10**9))


def test_writing_changes_the_mark_and_reading_does_not(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    sealed(path).close()
    assert mark_of(path) != mark_of(path)  # written just now: who knows
    age(path)
    before = mark_of(path)
    with closing(open_store(path)) as store:
        assert list_runs(store)
    assert mark_of(path) == before
    path.rename(tmp_path / "away")
    assert mark_of(path) != before
    (tmp_path / "away").rename(path)
    with closing(open_store(path)) as other, closing(open_store(path)) as store:
        list_runs(other)
        set_note(store, find_run(store, "last").id, "a word")
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
