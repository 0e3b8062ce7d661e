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
from tests.harness.store.file.damaged import damage, path
from tests.harness.store.put_away_plan import PLAN
from tests.tui.scenes import sealed

__all__ = ["path"]


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


def test_a_store_damaged_in_the_middle_is_said_to_be(path: Path) -> None:
    damage(path)
    assert "damaged" in look(path)


def test_a_store_that_is_held_is_said_to_be(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 50)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "another program has held it" in look(path)
    with opened(path) as store:
        assert len(list_runs(store)) == 1


def test_a_table_that_is_gone_is_said_to_be(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("DROP TABLE tags")
    assert "not in the form" in look(path)


def test_a_full_disk_is_said_to_be(path: Path) -> None:
    with pytest.raises(StoreError, match=r"disk is full\. Free \d+ MB .*safe"):
        fill(path)


def test_a_disk_without_room_for_the_file_beside_a_store_is_said_to_be_full(
    tmp_path: Path, path: Path
) -> None:
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


@pytest.mark.parametrize(
    ("spoil", "reading"),
    [
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
    ],
    ids=[
        "no-json", "shape", "no-text", "not-packed", "trace", "moment", "no-kind", "rest",
        "setup", "parts", "asked-with", "tried-before", "tried", "asked-for",
    ],
)  # fmt: skip
def test_a_stored_value_that_cannot_be_read_is_damage(
    path: Path, spoil: str, reading: Callable[[sqlite3.Connection], object]
) -> None:
    with closing(open_store(path)) as store:
        store.execute(spoil)
    with pytest.raises(StoreError, match="as a store: it is damaged"), opened(path) as store:
        reading(store)


@pytest.mark.parametrize(
    "fault",
    [lambda: int("a fault"), "\udcff".encode, lambda: json.loads("{")],
    ids=["number", "name", "json"],
)
def test_a_fault_of_the_program_is_no_damage_of_the_store(
    path: Path, fault: Callable[[], object]
) -> None:
    with pytest.raises(ValueError, match=r"."), opened(path):
        fault()


def test_a_name_that_is_no_utf_8_is_one_that_no_run_has(path: Path) -> None:
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


def test_damaged_statistics_are_said_with_the_mend(path: Path) -> None:
    with closing(open_store(path)) as store:
        store.execute("UPDATE results SET statistics = x'c1' WHERE position = 1")
    with pytest.raises(StoreError, match="score the outputs again"), opened(path) as store:
        load_card(store, 1)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udfff\ud800", "\ufffd\ufffd"),
        ("\ud83e\udded", "\U0001f9ed"),
        ("\ud83e\ud83e\udded", "\ufffd\U0001f9ed"),
        ("", ""),
    ],
)
def test_lone_surrogates_are_replaced_and_pairs_are_one_character(given: str, kept: str) -> None:
    assert storable(given) == kept


@given(st.text())
def test_what_a_file_can_hold_stays_as_it_is(text: str) -> None:
    assert storable(text) == text


@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_everything_can_be_stored_afterwards_and_reads_as_json_reads_it(text: str) -> None:
    kept = storable(text)
    assert kept.encode() == storable(kept).encode()
    assert kept == storable(json.loads(json.dumps(text)))


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
