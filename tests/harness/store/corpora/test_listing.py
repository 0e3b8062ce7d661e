"""Lists of corpora and runs: what counts as the same, any order kept in memory, names told apart, what is under way."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.checks.requirements import requirements, statistics
from corpora.files.decode import Original
from corpora.formats.columns import Columns
from corpora.formats.load import load
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from harness.consent.given import consent_standing
from harness.consent.withdrawals_in_force import NOTHING
from harness.core.failures import ErrorClass, RunState, StoreError, UsageError
from harness.core.query import Cancelled, QueryTerm, parse
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store import run_list as module
from harness.store.corpora.entries import find_corpus, insert_corpus, read_dataset, read_entries, save_corpus
from harness.store.corpora.listing import (
    examine,
    examine_stored,
    hold_in_memory,
    list_corpora,
    read_stored,
    stored_name,
)
from harness.store.live_runs import begin_stretch
from harness.store.ordering import MOST_WORDS, Ordering, stored_places
from harness.store.run_list import distinctions, list_runs
from harness.store.runs import SILENT_SECONDS, Run, forget_failed, seal_run, under_way
from harness.store.sqlite.database import open_store, opened
from harness.store.sqlite.openings import Live
from rosetta_tui.request.draft_of_run import draft_of
from rosetta_tui.runs.table import RunRows, run_cells
from rosetta_tui.show.run_facts import run_line
from tests.corpora.making import entry, json_file
from tests.harness.evaluation import CHEAP as PLAN
from tests.harness.evaluation import corpus, kept, run_corpus
from tests.harness.ranked import play, ranked_corpus
from tests.harness.sealed.refusals import refuses
from tests.harness.store.stored_rows import add, in_memory, make_run, result
from tests.review.thorough import examples
from tests.tui.scenes import DATASET, RUN_ID, scene


def corpus_of(*entries: Entry, sha256: str = "aa" * 32) -> Corpus:
    return Corpus(DATASET, entries, sha256, Form.SPECIFICATION)


def held(*entries: Entry) -> tuple[sqlite3.Connection, int]:
    return hold_in_memory(corpus_of(*entries))


def test_a_corpus_knows_its_runs_segments_and_file(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=2)
    files = "json_object('corpus_files', json_array('/a/b.json', '/a/c'))"
    made.store.execute(f"UPDATE runs SET plan = {files}")
    (found,) = list_corpora(made.store)
    assert found.runs == (RUN_ID,)
    assert found.last_used == 1_700_000_000.0
    assert (found.entries, found.segments) == (10, {"development": 10})
    assert found.files == (Path("/a/b.json"), Path("/a/c"))
    assert not found.partial
    assert list_corpora(made.store, "0" * 64) == []
    assert list_corpora(made.store, found.sha256) == [found]
    made.store.execute("UPDATE runs SET put_away = 1.0")
    assert list_corpora(made.store)[0].runs == ()
    made.close()


def test_readings_of_one_file_are_one_line(tmp_path: Path) -> None:
    entries = [Entry(id=n, source=f"s{n}", reference="r") for n in range(3)]
    with closing(open_store(tmp_path / "s.sqlite")) as store:
        card = Dataset(id="card", language_pair="A→B", source_language="a", target_language="b")
        store.execute("BEGIN")
        insert_corpus(store, "aa" * 32, card, entries[:2], partial=True)
        whole = save_corpus(store, corpus_of(*entries[:1]))
        insert_corpus(store, "aa" * 32, card, entries, partial=True)
        insert_corpus(store, "bb" * 32, card, entries, partial=True)
        store.execute("COMMIT")
        found = {each.sha256: each for each in list_corpora(store)}
    assert (found["aa" * 32].number, found["aa" * 32].dataset.id) == (whole, DATASET.id)
    assert (found["bb" * 32].partial, found["bb" * 32].entries) == (True, 3)


def positions(store: sqlite3.Connection, number: int, where: str = "", **order: Any) -> list[int]:
    return [int(place) for place in Ordering(corpus=number).positions(store, where=parse(where), **order)]


def test_entries_without_a_value_are_sorted_last() -> None:
    store, number = held(
        Entry(id=7, source="b", reference="x", difficulty=3),
        Entry(id="a", source="ccc", reference="w"),
        Entry(id=3, source="a", reference="y", difficulty=1, segment=Segment.DIAGNOSTIC),
    )
    assert positions(store, number) == [0, 1, 2]
    assert positions(store, number, sort="source") == [2, 0, 1]
    assert positions(store, number, sort="source", descending=True) == [1, 0, 2]
    assert positions(store, number, sort="difficulty") == [2, 0, 1]
    assert positions(store, number, sort="difficulty", descending=True) == [0, 2, 1]
    assert positions(store, number, sort="len", descending=True) == [1, 0, 2]
    assert positions(store, number, sort="segment") == [2, 0, 1]
    store.close()


def test_entries_are_narrowed_and_searched() -> None:
    store, number = held(
        Entry(id=1, source="Straße", reference="ᓂᐚᐸᒫᐤ", provenance="textbook"),
        Entry(id=2, source="100% [/x]", reference="_", provenance="elicited"),
        Entry(id=3, source="strasse", reference="r", variety="woods"),
    )
    for where, found in {
        "provenance:Textbook": [0], "provenance:none": [2], "provenance:textbook register:x": [], "STRASSE": [0, 2],
        "ᐚᐸ": [1 - 1], "%": [1], "3": [2], "\ud800": [], "variety:woods": [2], "-variety:woods len<7": [0],
        "source:strasse -reference:r": [0], "id:3": [2],
    }.items():  # fmt: skip
        assert positions(store, number, where) == found, where
    assert positions(store, number, "-id:3", sort="source", descending=True) == [0, 1]
    refuses(KeyError, "", positions, store, number, sort="1")
    store.close()


tags = st.one_of(st.none(), st.sampled_from(["a", "b", "[/foo]", "x' OR 1 --", "none?", 'q"\\']))


@examples(15, 100)
@given(st.lists(st.tuples(tags, tags, st.one_of(st.none(), st.integers(1, 5))), max_size=12))
def test_offered_words_find_their_entries(rows: list[tuple[str | None, str | None, int | None]]) -> None:
    given = (
        Entry(id=n, source="s", reference="r", provenance=p, register=g, difficulty=d)
        for n, (p, g, d) in enumerate(rows)
    )
    store, number = held(*given)
    ordering = Ordering(corpus=number)
    ordering.prepare(store)
    for place, tag in enumerate(("provenance", "register")):
        own = [row[place] for row in rows]
        assert {*ordering.fields[tag].values} == {*own} - {None}
        for word in {*own}:
            where = parse(str(QueryTerm(tag, ":", str(word or "none"))))
            assert len(ordering.positions(store, where=where)) == own.count(word)
    store.close()


def test_opened_corpus_is_in_no_file(tmp_path: Path) -> None:
    many = (Entry(id=n, source="s", reference="r", provenance=f"p{n}") for n in range(201))
    store, number = held(*many)
    ordering = Ordering(corpus=number)
    ordering.prepare(store)
    assert len(ordering.fields["provenance"].values) == MOST_WORDS
    store.close()
    corpus = load(json_file(tmp_path, [entry(1, source="only here")]))
    store, number = hold_in_memory(corpus)
    assert store.execute("PRAGMA database_list").fetchone()[2] == ""
    assert positions(store, number, '"only here"') == [0]
    assert list_corpora(store)[0].sha256 == corpus.sha256
    store.close()


def _corpus(**envelope: str) -> Corpus:
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    entries = (
        Entry(id=1, source="Hello!", reference="Saluton!", register="conversational", mood="glad"),
        Entry(id="1b", source="Yes.", reference="Jes.", variants=("Ja.",)),
    )
    return Corpus(Dataset(**{"id": "greetings", **pair, **envelope}), entries, "ab" * 32, Form.TSV)


def test_same_corpus_is_stored_once(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
        numbers = {save_corpus(store, _corpus()) for _ in range(3)}
        [first] = numbers
        assert tuple(read_entries(store, first).values()) == _corpus().entries
        for field in ("id", "target_language", "source_language", "version"):
            other = _corpus(**{field: "crk"})  # the same file under another envelope
            number = save_corpus(store, other)
            assert number not in numbers, field
            numbers.add(number)
            assert read_dataset(store, number) == other.dataset
        assert read_dataset(store, first) == _corpus().dataset


FAULTY = [
    entry(1, source="a", reference="b", segment="held_out"),
    entry(2, source="a", reference="b", register="Formal ", segment="held_out"),
    entry(3, source="x\u202e", reference="â"),
    entry(4, source="y", reference="a\u0302"),
]


def stored(folder: Path, corpus: Corpus) -> tuple[Path, int]:
    path = folder / "s.sqlite"
    with closing(open_store(path)) as store:
        store.execute("BEGIN")
        number = save_corpus(store, corpus)
        store.execute("COMMIT")
    return path, number


def test_stored_corpus_with_its_file_has_its_findings(tmp_path: Path) -> None:
    file = json_file(tmp_path, FAULTY)
    corpus = load(file)
    assert len(corpus.warnings) == 4
    path, number = stored(tmp_path, corpus)
    with closing(open_store(path)) as store:
        found = examine_stored(store, number, corpus.sha256, corpus.files)
    assert found == examine(corpus)
    assert (found.problems, found.lines) == (corpus.warnings, (1, 1, 1, 1))
    assert found.flagged == {1, 2, 3}
    assert [len(found.of_entry(place)) for place in range(4)] == [0, 2, 1, 1]
    assert found.statistics == statistics(corpus)
    consent = consent_standing(corpus.dataset, NOTHING)
    assert list(found.requirements) == requirements(corpus, consent)


def test_stored_corpus_without_its_file_has_no_lines(tmp_path: Path) -> None:
    file = json_file(tmp_path, FAULTY)
    corpus = load(file)
    path, number = stored(tmp_path, corpus)
    file.write_text("another", "utf-8")
    with closing(open_store(path)) as store:
        changed = examine_stored(store, number, corpus.sha256, corpus.files)
        file.unlink()
        gone = examine_stored(store, number, corpus.sha256, corpus.files)
        unknown = examine_stored(store, number, corpus.sha256, ())
    assert [each.original for each in (changed, gone, unknown)] == [
        Original.CHANGED, Original.GONE, Original.UNKNOWN,
    ]  # fmt: skip
    for found in (changed, gone, unknown):
        assert found.lines == ()
        told = [(each.message, each.mend, each.places) for each in found.problems]
        assert told == [(each.message, each.mend, each.places) for each in corpus.warnings]
        assert found.statistics == statistics(corpus)
        assert all(each.line is None for each in found.problems)


def test_file_is_read_again_with_its_languages(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("source,reference\nx,y\nx,y\n", "utf-8")
    corpus = load(file, dataset={"source_language": "en", "target_language": "eo"})
    path, number = stored(tmp_path, corpus)
    with closing(open_store(path)) as store:
        found = examine_stored(store, number, corpus.sha256, corpus.files)
    assert found.original is Original.UNCHANGED
    assert (found.problems, found.lines) == (corpus.warnings, (2, 3))


def test_corpus_named_by_its_hash_warns_the_same(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, FAULTY))
    path, _ = stored(tmp_path, corpus)
    with closing(open_store(path)) as store:
        again = read_stored(store, stored_name(corpus), {})
    assert [each.message for each in again.warnings] == [each.message for each in corpus.warnings]
    assert again.warnings


SIZE = 12
ENTRIES = [Entry(id=n, source=f"s{n * 7 % 5}", reference="r") for n in range(SIZE)]
ACTS = st.sampled_from(["add", "fail", "forget", "rescore", "seal"])
VALUES = st.sampled_from([0.0, 0.5, 1.0])
STEPS = st.lists(st.tuples(ACTS, st.integers(0, SIZE - 1), VALUES), max_size=14)


def step(connection: sqlite3.Connection, run: int, act: str, place: int, value: float) -> None:
    sql = "SELECT count(*) FROM results WHERE run = ? AND position = ?"
    known = connection.execute(sql, (run, place)).fetchone()[0]
    if act in {"add", "fail"} and not known:
        failed = ErrorClass.SERVER if act == "fail" else None
        output = None if failed else f"o{place % 3}"
        row = result(place, ENTRIES[place], output, headline=value, error_class=failed)
        add(connection, run, row)
    elif act == "forget":
        forget_failed(connection, run)
        begin_stretch(connection, run)
    elif act == "seal":
        sealed = connection.execute("SELECT run_card FROM runs WHERE id = ?", (run,)).fetchone()[0]
        if sealed is None:  # the end of a run may change every score
            connection.execute("UPDATE results SET headline = ? WHERE run = ?", (value, run))
            seal_run(connection, run, "{}")


@examples(20, 100)
@given(
    STEPS, st.sampled_from(["position", *Ordering(1).fields]),
    st.sampled_from(["", "state:failed", "-state:waiting", "chrf<50", "error:server"]), st.booleans(),
)  # fmt: skip
def test_kept_order_is_fresh(steps: list[tuple[str, int, float]], sort: str, narrow: str, descending: bool) -> None:
    with in_memory() as connection:
        run = make_run(connection, ENTRIES)
        kept = Ordering(run)
        for act, place, value in steps:
            step(connection, run, act, place, value)
            for search in ("", "o1", "output:o2"):
                told: dict[str, Any] = {"sort": sort, "where": parse(f"{narrow} {search}"), "descending": descending}
                found, fresh = kept.positions(connection, **told), Ordering(run).positions(connection, **told)
                assert found.tolist() == fresh.tolist()


def test_rows_that_take_the_place_of_others_are_seen(connection: sqlite3.Connection) -> None:
    """SQLite gives the number of a row that is gone to the next one."""
    run = make_run(connection, ENTRIES)
    kept = Ordering(run)
    add(connection, run, result(0, ENTRIES[0]))
    add(connection, run, result(1, ENTRIES[1], None, error_class=ErrorClass.SERVER))
    assert kept.positions(connection, where=parse("state:failed")).tolist() == [1]
    forget_failed(connection, run)
    begin_stretch(connection, run)
    assert kept.positions(connection, where=parse("state:failed")).tolist() == []
    add(connection, run, result(1, ENTRIES[1]))
    assert kept.positions(connection, where=parse("state:done")).tolist() == [0, 1]


def test_a_search_nobody_waits_for_ends(connection: sqlite3.Connection) -> None:
    entries = [Entry(id=n, source=f"source {n}", reference=f"reference {n}") for n in range(2_500)]
    run = make_run(connection, entries)
    asked: list[bool] = []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) > 2

    kept = Ordering(run)
    refuses(Cancelled, "", kept.positions, connection, where=parse("9"), cancelled=cancelled)
    assert len(asked) == 3
    assert len(kept.positions(connection, where=parse('"source 9"'))) == 111
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_stored_places_are_read_from_indexes_alone(connection: sqlite3.Connection) -> None:
    run = make_run(connection, ENTRIES)
    add(connection, run, result(3, ENTRIES[3]), result(1, ENTRIES[1], None, error_class=ErrorClass.SERVER))
    done, failed = stored_places(connection, run)
    assert (done.tolist(), failed.tolist()) == ([1, 3], [1])
    sql = "SELECT position FROM results INDEXED BY results_run_position WHERE run = 1"
    plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    assert "COVERING INDEX" in plan[0][3]
    refuses(StoreError, "deleted", Ordering(7).positions, connection)


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
        assert under_way(run._replace(state=state, live=live)) is expected, (state, age)


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
        refuses(UsageError, "columns of the one that is meant", read_stored, connection, name, {})


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
