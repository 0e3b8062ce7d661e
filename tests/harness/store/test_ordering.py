"""What lists of runs rest on: columns kept in memory, names told apart, and which run is under way."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.decode import Original
from corpora.formats.columns import Columns
from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from harness.core.failures import ErrorClass, StoreError, UsageError
from harness.core.run_state import RunState
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store import distinctions as module
from harness.store.corpora.entries import find_corpus
from harness.store.corpora.examination import examine_stored
from harness.store.corpora.listing import read_stored, stored_name
from harness.store.distinctions import distinctions
from harness.store.file.database import open_store, opened
from harness.store.file.openings import Live
from harness.store.ordering import FILTERS, SORTS, Cancelled, Ordering, stored_places
from harness.store.run_list import list_runs
from harness.store.runs import SILENT_SECONDS, Run, forget_failed, seal_run, under_way
from rosetta_tui.request.draft_of_run import draft_of
from rosetta_tui.runs.table import RunRows, run_cells
from rosetta_tui.show.run_facts import run_line
from tests.harness.evaluation import corpus, kept, run_corpus
from tests.harness.ranked import play, ranked_corpus
from tests.harness.run.breaking_plan import CHEAP as PLAN
from tests.harness.store.stored_rows import add, in_memory, make_run, result
from tests.review.thorough import examples

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
        add(
            connection,
            run,
            result(place, ENTRIES[place], output, headline=value, error_class=failed),
        )
    elif act == "forget":
        forget_failed(connection, run)
    elif act == "seal":
        sealed = connection.execute("SELECT run_card FROM runs WHERE id = ?", (run,)).fetchone()[0]
        if sealed is None:  # the end of a run may change every score
            connection.execute("UPDATE results SET headline = ? WHERE run = ?", (value, run))
            seal_run(connection, run, "{}", COLUMNS)


@examples(20, 100)
@given(STEPS, st.sampled_from(SORTS), st.sampled_from(FILTERS), st.booleans())
def test_kept_order_is_that_of_a_fresh_look(
    steps: list[tuple[str, int, float]], sort: str, narrow: str, descending: bool
) -> None:
    with in_memory() as connection:
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
    entries = [Entry(id=n, source=f"source {n}", reference=f"reference {n}") for n in range(2_500)]
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


def test_runs_of_two_files_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(6)
    one = play(path, corpus, 6, "small")
    with opened(path) as store:
        [alone] = list_runs(store)
    assert alone.distinction == ""
    play(path, corpus, 3, "small")
    play(path, corpus, 3, "large")
    read: list[str | None] = []
    real = module.setup_facts

    def noted(*each: Any) -> Any:
        read.append(each[1])
        return real(*each)

    with opened(path) as store:
        found = list_runs(store)
        monkeypatch.setattr(module, "setup_facts", noted)
        [asked] = list_runs(store, run_id=one)
        monkeypatch.setattr(module, "setup_facts", lambda *_: {}["a fault"])
    words = [run_cells(run)[5].text for run in found]
    assert words == [
        "replay · large · made",
        "small-3-6.jsonl · replay · small · made",
        "small-6-6.jsonl · replay · small · made",
    ]
    assert [run_line(run)[3] for run in found] == words
    assert (asked.distinction, len(read)) == ("small-6-6.jsonl", 2), "another model needs no look"
    assert RunRows([alone]).key(0) != RunRows([found[2]]).key(0), "a drawn row changes"
    with pytest.raises(KeyError, match="a fault"), opened(path) as store:
        list_runs(store)  # a fault of the program is no damage of the store


def test_the_first_fact_that_parts_is_told() -> None:
    names = ["chat", "chat", "chat", "other"]
    facts = [("", "0", "x"), ("", "0.7", "y"), ("", "0.7", "z"), ("f", "0", "x")]
    assert distinctions(names, facts) == ["0", "0.7 · y", "0.7 · z", ""]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("run") / "rosetta.sqlite"
    run_corpus(path, corpus(2), PLAN)
    return kept(path).run


def test_state_and_heartbeat_tell_whether_under_way(run: Run) -> None:
    for state, age, expected in (
        (RunState.RUNNING, 0.0, True),
        (RunState.PAUSED, SILENT_SECONDS - 2, True),
        (RunState.DRAINING, 0.0, True),
        (RunState.RUNNING, SILENT_SECONDS + 1, False),
        (RunState.PAUSED, 3600.0, False),
        (RunState.RUNNING, -3600.0, False),
        (RunState.RUNNING, None, False),
        (RunState.STOPPED, 0.0, False),
        (RunState.COMPLETE, 0.0, False),
    ):
        live = None if age is None else Live(at=time.time() - age)
        assert under_way(replace(run, state=state, live=live)) is expected, (state, age)


PAIR = {"source_language": "en", "target_language": "mi"}


def reading(folder: Path, column: str) -> Corpus:
    path = folder / "two.tsv"
    path.write_text("id\ten\tplain\tformal\n1\tHello\tKia ora\tTēnā koe\n")
    return load(path, dataset=PAIR, columns=Columns("en", column))


@pytest.fixture
def corpora(tmp_path: Path, store_path: Path) -> dict[str, Corpus]:
    found = {column: reading(tmp_path, column) for column in ("plain", "formal")}
    plan = Plan(method="copy-source", options=MethodOptions.model_validate(PAIR))
    for each in found.values():
        run_corpus(store_path, each, plan)
    return found


def test_each_is_found_by_its_columns(corpora: dict[str, Corpus], store_path: Path) -> None:
    assert corpora["plain"].sha256 == corpora["formal"].sha256
    name = stored_name(corpora["plain"])
    envelope = {**PAIR, "id": "two"}
    with closing(open_store(store_path)) as connection:
        for column, reference in (("plain", "Kia ora"), ("formal", "Tēnā koe")):
            said = {"source": "en", "reference": column}
            corpus = read_stored(connection, name, envelope, said)
            assert [each.reference for each in corpus.entries] == [reference]
        with pytest.raises(UsageError, match="columns of the one that is meant"):
            read_stored(connection, name, {})


def test_draft_of_a_run_knows_its_columns(corpora: dict[str, Corpus], store_path: Path) -> None:
    with closing(open_store(store_path)) as connection:
        draft = draft_of(kept(store_path).run, connection)
        assert (draft.get("source_column"), draft.get("reference_column")) == ("en", "formal")
        corpus = corpora["formal"]
        number = find_corpus(connection, corpus)
        assert number is not None
        examined = examine_stored(connection, number, corpus.sha256, corpus.files)
    assert examined.original is Original.UNCHANGED
    assert examined.lines == (2,)
    assert [each.reference for each in draft.corpus(store_path).entries] == ["Tēnā koe"]
