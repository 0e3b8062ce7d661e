"""Who deletes a run wants its texts gone, and nobody else's."""

from __future__ import annotations

import itertools
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.store import deletion
from harness.store.deletion import bring_back, delete_run, purge, trash
from harness.store.file.database import open_store
from harness.store.holding import alone
from harness.store.runs import find_run
from tests.harness.evaluation import chat_plan, corpus, corpus_of, kept, query, run_corpus
from tests.harness.run.breaking_plan import CHEAP as PLAN
from tests.harness.scripted import Scripted

OWN = "own own own own own own own own"
DANGLING = """
    WITH held (id) AS (
        SELECT source FROM entries UNION SELECT reference FROM entries UNION
        SELECT output FROM results UNION SELECT head FROM replies UNION
        SELECT tail FROM replies UNION SELECT body FROM replies
    )
    SELECT id FROM held WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM texts)
"""


def delete(path: Path, name: str) -> None:
    with closing(open_store(path)) as connection:
        delete_run(connection, find_run(connection, name).id)


def everything(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.iterdir() if each.is_file())


def test_requests_and_replies_of_a_run_go_with_it(endpoint: Scripted, store_path: Path) -> None:
    run_corpus(store_path, corpus(4), chat_plan(endpoint.url))
    stays = kept(store_path).run.run_id
    run_corpus(store_path, corpus(3, source=OWN, reference="r"), chat_plan(endpoint.url))
    assert OWN.upper().encode() in everything(store_path)
    delete(store_path, "last")
    rest = everything(store_path)
    assert OWN.encode() not in rest
    assert OWN.upper().encode() not in rest
    assert [each.output for each in kept(store_path, stays).results] == [
        f"ENTRY NUMBER {n}" for n in range(4)
    ]
    assert query(store_path, "SELECT count(*) FROM replies") == [(4,)]
    assert query(store_path, "PRAGMA integrity_check") == [("ok",)]
    assert query(store_path, "PRAGMA foreign_key_check") == []
    assert query(store_path, DANGLING) == []


def test_a_reply_that_another_run_was_given_too_stays(endpoint: Scripted, store_path: Path) -> None:
    for _ in range(2):
        run_corpus(store_path, corpus(4), chat_plan(endpoint.url))
    delete(store_path, "last")
    run_corpus(store_path, corpus(4), chat_plan(endpoint.url))
    assert len(endpoint.asked) == 4
    delete(store_path, "last")
    delete(store_path, "last")
    tables = ("runs", "results", "entries", "corpora", "texts", "replies", "stretches")
    assert [query(store_path, f"SELECT count(*) FROM {name}") for name in tables] == [[(0,)]] * 7


def steps_of_deleting(path: Path, size: int) -> int:
    """Count SQLite's own steps, in hundreds, for deleting a run beside a four times larger one."""
    run_corpus(path, corpus(4 * size), PLAN)
    own = [
        Entry(id=n, source=f"{OWN} {n}", reference=f"{n} {OWN}", segment=None) for n in range(size)
    ]
    run_corpus(path, corpus_of(own), PLAN)
    steps = itertools.count()
    with closing(open_store(path)) as connection:
        number = find_run(connection, "last").id
        connection.set_progress_handler(lambda: next(steps) < 0, 100)
        delete_run(connection, number)
    return next(steps)


@pytest.mark.thorough
def test_deleting_takes_time_linear_in_the_store(tmp_path: Path) -> None:
    small = steps_of_deleting(tmp_path / "small" / "rosetta.sqlite", 100)
    large = steps_of_deleting(tmp_path / "large" / "rosetta.sqlite", 400)
    assert large / small < 8, "four times the entries must not take sixteen times the steps"


def away(path: Path) -> int:
    """Store a run and put it away long ago."""
    run_corpus(path, corpus(2), PLAN)
    with closing(open_store(path)) as connection:
        number = find_run(connection, "last").id
        trash(connection, number)
        connection.execute("UPDATE runs SET put_away = 1")
    return number


def test_run_brought_back_during_a_purge_stays(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = away(store_path)
    real = deletion.delete_run
    with closing(open_store(store_path)) as mine, closing(open_store(store_path)) as other:

        def between(*args: Any, **wishes: Any) -> bool:
            bring_back(other, number)
            return real(*args, **wishes)

        monkeypatch.setattr(deletion, "delete_run", between)
        assert purge(mine) == 0
        assert find_run(other, "last").id == number


def test_held_run_is_purged_the_next_time(store_path: Path) -> None:
    away(store_path)
    with closing(open_store(store_path)) as connection:
        run_id = query(store_path, "SELECT run_id FROM runs")[0][0]
        with alone(store_path, run_id):
            assert purge(connection) == 0
        assert purge(connection) == 1
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]
