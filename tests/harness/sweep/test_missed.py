"""Entries that every run of a sweep misses: which, of which difficulty, and secret ones as a number alone."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from harness.store.sweeps import find_sweep
from harness.sweep import missed as missed_module
from harness.sweep.missed import MissedTier
from harness.sweep.record import sweep_record, with_missed
from rosetta_tui.report.sweep import missed_lines, sweep_lines
from tests.harness.sweep.made import MadeCell, made_misses, made_sweep


def found_in(store: sqlite3.Connection):  # type: ignore[no-untyped-def]
    return with_missed(store, sweep_record(store, find_sweep(store, "last")))


def test_missed_entries_are_those_that_no_complete_run_solves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    made_misses(path)
    with closing(open_store(path)) as store:
        record = found_in(store)
        found = record.missed
        assert (found.runs, found.entries, found.missed, found.secret, found.below) == (
            3,
            5,
            3,
            1,
            0.3,
        )
        ids = [each.entry_id for each in found.listed]
        assert ids == [3, 5, 1], "the worst first; ids count from 1"
        assert [each.best_composite for each in found.listed] == [0.0, 0.28, 0.29]
        assert [each.best_run[-12:] for each in found.listed][1:] == [
            "0000001-made",
            "0000002-made",
        ]
        assert found.by_difficulty == (
            MissedTier(difficulty=1, missed=1, entries=3), MissedTier(difficulty=5, missed=2, entries=2),
        )  # fmt: skip
        lines = [*missed_lines(found)]
        assert lines[:2] == [
            "Missed by all 3 complete runs (failed or composite < 0.30): 3 of 5 entries, and 1 secret entry",
            "  by difficulty   1: 1 of 3 · 5: 2 of 2 (all)",
        ]
        assert lines[3].startswith("  5 · difficulty 5 · best 0.28 · ")
        assert lines[0] in [*sweep_lines(record, 100)]
        secret = store.execute("SELECT t.body FROM entries e JOIN texts t ON t.id = e.source WHERE position = 5").fetchone()[0]  # fmt: skip
        assert secret not in json.dumps(record.model_dump(mode="json"))
        monkeypatch.setattr(missed_module, "MOST_LISTED", 1)
        assert [*missed_lines(found_in(store).missed)][-1] == "  and 2 more"
        store.execute("UPDATE runs SET opening = json_set(opening, '$.scoring.task', 'chat', '$.scoring.metrics', json('[]'))")  # fmt: skip
        assert found_in(store).missed is None, "answers of a chat are neither right nor wrong"


def test_one_run_alone_misses_nothing_for_all(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    made_sweep(path, {"model": ("a",)}, [MadeCell({"model": "a"}, 0.2)])
    with closing(open_store(path)) as store:
        assert found_in(store).missed is None
