"""Columns that are kept in memory stay true while the store changes under them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from corpora.model.entry import Entry
from harness.core.failures import ErrorClass, StoreError
from harness.store.file.migrations import migrations
from harness.store.ordering import FILTERS, SORTS, Cancelled, Ordering, stored_places
from harness.store.runs import forget_failed, seal_run
from tests.harness.store.stored_rows import add, make_run, result

SIZE = 12
ENTRIES = [Entry(id=n, source=f"s{n * 7 % 5}", reference="r") for n in range(SIZE)]
COLUMNS = dict.fromkeys(
    ("composite_score", "quality_tier", "chrf_plus_plus", "exact_match_rate", "fst_acceptance_rate",
     "corpus_bleu", "comet_score", "total_cost_usd", "cost_per_1k_tokens", "avg_latency_seconds"),
)  # fmt: skip

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "fail", "forget", "rescore", "seal"]),
        st.integers(0, SIZE - 1),
        st.sampled_from([0.0, 0.5, 1.0]),
    ),
    max_size=14,
)


def step(connection: sqlite3.Connection, run: int, act: str, place: int, value: float) -> None:
    known = connection.execute(
        "SELECT count(*) FROM results WHERE run = ? AND position = ?", (run, place)
    ).fetchone()[0]
    if act in {"add", "fail"} and not known:
        failed = ErrorClass.SERVER if act == "fail" else None
        output = None if failed else f"o{place % 3}"
        add(connection, run, result(place, ENTRIES[place], output, chrf=value, error_class=failed))
    elif act == "forget":
        forget_failed(connection, run)
    elif act == "seal":
        sealed = connection.execute("SELECT run_card FROM runs WHERE id = ?", (run,)).fetchone()[0]
        if sealed is None:  # the end of a run may change every score
            connection.execute("UPDATE results SET chrf = ? WHERE run = ?", (value, run))
            seal_run(connection, run, "{}", COLUMNS)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.sampled_from(SORTS), st.sampled_from(FILTERS), st.booleans())
def test_what_is_kept_is_what_a_fresh_look_gives(
    steps: list[tuple[str, int, float]], sort: str, narrow: str, descending: bool
) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrations.apply(Database(connection))
        run = make_run(connection, ENTRIES)
        kept = Ordering(run)
        for act, place, value in steps:
            step(connection, run, act, place, value)
            told = {"sort": sort, "narrow": narrow, "descending": descending, "search": "o"}
            for search in ("", "o1"):
                found = kept.positions(connection, **told | {"search": search})  # type: ignore[arg-type]
                fresh = Ordering(run).positions(connection, **told | {"search": search})  # type: ignore[arg-type]
                assert found.tolist() == fresh.tolist()


def test_rows_that_take_the_place_of_others_are_seen(connection: sqlite3.Connection) -> None:
    """SQLite gives the number of a row that is gone to the next one."""
    run = make_run(connection, ENTRIES)
    kept = Ordering(run)
    add(connection, run, result(0, ENTRIES[0]))
    add(connection, run, result(1, ENTRIES[1], None, error_class=ErrorClass.SERVER))
    assert kept.positions(connection, narrow="failed").tolist() == [1]
    forget_failed(connection, run)
    assert kept.positions(connection, narrow="failed").tolist() == []
    add(connection, run, result(1, ENTRIES[1]))
    assert kept.positions(connection, narrow="done").tolist() == [0, 1]


def test_a_search_nobody_waits_for_ends(connection: sqlite3.Connection) -> None:
    entries = [Entry(id=n, source=f"source {n}", reference=f"reference {n}") for n in range(3_000)]
    run = make_run(connection, entries)
    asked: list[bool] = []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) > 2

    kept = Ordering(run)
    with pytest.raises(Cancelled):
        kept.positions(connection, search="9", cancelled=cancelled)
    assert len(asked) == 3
    assert len(kept.positions(connection, search="source 9")) == 111
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_stored_places_are_read_from_indexes_alone(connection: sqlite3.Connection) -> None:
    run = make_run(connection, ENTRIES)
    add(connection, run, result(3, ENTRIES[3]), result(1, ENTRIES[1], None, error_class=ErrorClass.SERVER))  # fmt: skip
    done, failed = stored_places(connection, run)
    assert (done.tolist(), failed.tolist()) == ([1, 3], [1])
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT position FROM results INDEXED BY results_run_position WHERE run = 1"
    ).fetchall()
    assert "COVERING INDEX" in plan[0][3]


def test_a_run_that_is_gone_is_said_to_be(connection: sqlite3.Connection) -> None:
    with pytest.raises(StoreError, match="deleted"):
        Ordering(7).positions(connection)
