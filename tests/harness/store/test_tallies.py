"""Counts of stored and failed entries, by run."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from corpora.model.entry import Entry
from harness.core.failures import ErrorClass
from harness.store.distinctions import done_by_run, failures_by_run
from tests.harness.store.stored_rows import add, make_run, result

ENTRIES = [Entry(id=n, source=f"s{n}", reference="r") for n in range(4)]


@pytest.fixture
def two_runs(connection: sqlite3.Connection) -> list[int]:
    runs = [make_run(connection, ENTRIES, run_id) for run_id in ("11111111-a", "22222222-b")]
    rows = [result(place, ENTRIES[place]) for place in (0, 1)]
    lost = [
        result(2, ENTRIES[2], None, error_class=ErrorClass.TIMEOUT),
        result(3, ENTRIES[3], None, error_class=ErrorClass.TIMEOUT),
    ]
    add(connection, runs[0], *rows, *lost)
    add(connection, runs[1], rows[0], lost[0])
    return runs


def test_all_runs_are_counted_or_one_alone(
    connection: sqlite3.Connection, two_runs: list[int]
) -> None:
    first, second = two_runs
    assert done_by_run(connection) == {first: 4, second: 2}
    assert done_by_run(connection, first) == {first: 4}
    assert failures_by_run(connection) == {first: {"timeout": 2}, second: {"timeout": 1}}
    assert failures_by_run(connection, second) == {second: {"timeout": 1}}
    assert done_by_run(connection, 77) == failures_by_run(connection, 77) == {}
    for count in (done_by_run, failures_by_run):  # one run reads no row of another
        asked: list[str] = []
        connection.set_trace_callback(asked.append)
        count(connection, first)
        connection.set_trace_callback(None)
        (query,) = asked
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
        assert any("SEARCH" in step and "(run=?)" in step for step in plan), plan
        assert not any(step.startswith("SCAN") for step in plan), plan


@pytest.mark.parametrize(
    ("also", "heavy"),
    [
        ("rosetta_tui.commands.runs.list_", {"numpy", "pydantic", "ssl", "_hashlib"}),
        (
            "harness.card.checking.claimed, rosetta_tui.show.run_facts",
            {"numpy", "pydantic", "asyncio"},
        ),
    ],
    ids=["empty", "with runs"],
)
def test_listing_runs_loads_no_library_of_scoring(also: str, heavy: set[str]) -> None:
    code = (
        f"import sys, harness.store.file.database, harness.store.runs, {also}; "
        f"print(*{heavy!r} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
