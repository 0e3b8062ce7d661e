"""Looking again at runs that were compared before: only what is new is read, and the numbers are the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.compare.comparing import compare_runs
from harness.compare.comparison import Comparison
from harness.compare.rows import RowReader
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.results import add_results, read_results
from harness.store.runs import find_run, forget_failed, read_run
from harness.store.stretches import begin_stretch
from tests.harness.evaluation import LANGUAGES, begun, corpus, run_corpus

PLAN = Plan(
    method="constant",
    options=MethodOptions(**LANGUAGES, text="x"),
    scoring=ScoringOptions(metrics=("chrf_plus_plus", "exact_match_rate")),
)
METRICS = ("chrf_plus_plus", "exact_match_rate")


@pytest.fixture
def runs(store_path: Path, connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the store's numbers of a finished run, and of one that is only begun."""
    run_corpus(store_path, corpus(40), PLAN)
    finished = find_run(connection, "last").id
    number, _ = begun(store_path, corpus(40), PLAN)
    return finished, number


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


def test_entries_that_came_since_are_put_in_their_places(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, [30, 2, 17])
    first = compared(connection, runs)
    give(connection, runs, [1, 39, 18])
    again = compared(connection, runs, first)
    assert again.entries.positions.tolist() == [[1, 2, 17, 18, 30, 39]] * 2
    assert numbers(again) == numbers(compared(connection, runs))


def test_rows_that_were_read_are_not_read_again(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, range(20))
    first = compared(connection, runs)
    give(connection, runs, [25])
    again = compared(connection, runs, first)
    for old, new in zip(first.sides, again.sides, strict=True):
        known = {id(row) for row in old.rows.rows}
        assert [row.entry.position for row in new.rows.rows if id(row) not in known] == (
            [] if new.rows.sealed else [25]
        )


def test_failed_entries_that_are_asked_for_again_are_read_again(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
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


def test_a_run_that_was_sealed_since_is_read_anew(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
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


def test_runs_of_a_corpus_share_its_entries_and_only_their_own_are_read(
    connection: sqlite3.Connection, runs: tuple[int, int]
) -> None:
    give(connection, runs, range(5))
    whole, some = (read_run(connection, number) for number in runs)
    reader = RowReader(connection)
    few = reader.read(replace(some, positions=(3, 4)))
    assert set(few.corpus) == {3, 4}
    every = reader.read(whole)
    assert len(every.rows) == 40
    assert [row.entry for row in few.rows] == [every.corpus[3], every.corpus[4]]
    assert few.rows[0].entry is every.rows[3].entry
