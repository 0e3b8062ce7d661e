"""The corpora of the store, and the entries of one in any order."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.formats.load import load
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from harness.store.corpora.entries import insert_corpus, save_corpus
from harness.store.corpora.listing import (
    MOST_VALUES,
    corpus_positions,
    facet_counts,
    hold_in_memory,
    list_corpora,
)
from harness.store.file.database import open_store
from tests.corpora.making import entry, json_file
from tests.tui.scenes import DATASET, RUN_ID, scene


def corpus_of(*entries: Entry, sha256: str = "aa" * 32) -> Corpus:
    return Corpus(DATASET, entries, sha256, Form.SPECIFICATION)


def held(*entries: Entry) -> tuple[sqlite3.Connection, int]:
    return hold_in_memory(corpus_of(*entries))


def test_a_corpus_knows_its_runs_segments_and_file(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=2)
    made.store.execute(
        "UPDATE runs SET plan = json_object('corpus_files', json_array('/a/b.json', '/a/c'))"
    )
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


def test_readings_of_one_file_are_one_line_and_the_fullest_stands_for_it(tmp_path: Path) -> None:
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
    assert found["aa" * 32].number == whole
    assert found["aa" * 32].dataset.id == DATASET.id
    assert (found["bb" * 32].partial, found["bb" * 32].entries) == (True, 3)


def test_entries_are_sorted_with_those_without_a_value_last() -> None:
    store, number = held(
        Entry(id=7, source="b", reference="x", difficulty=3),
        Entry(id="a", source="ccc", reference="w"),
        Entry(id=3, source="a", reference="y", difficulty=1, segment=Segment.DIAGNOSTIC),
    )
    assert corpus_positions(store, number) == [0, 1, 2]
    assert corpus_positions(store, number, sort="source") == [2, 0, 1]
    assert corpus_positions(store, number, sort="source", descending=True) == [1, 0, 2]
    assert corpus_positions(store, number, sort="difficulty") == [2, 0, 1]
    assert corpus_positions(store, number, sort="difficulty", descending=True) == [0, 2, 1]
    assert corpus_positions(store, number, sort="length", descending=True) == [1, 0, 2]
    assert corpus_positions(store, number, sort="segment") == [2, 0, 1]
    store.close()


def test_entries_are_narrowed_and_searched() -> None:
    store, number = held(
        Entry(id=1, source="Straße", reference="ᓂᐚᐸᒫᐤ", provenance="textbook"),
        Entry(id=2, source="100% [/x]", reference="_", provenance="elicited"),
        Entry(id=3, source="strasse", reference="r"),
    )
    positions = corpus_positions
    assert positions(store, number, only={"provenance": "textbook"}) == [0]
    assert positions(store, number, only={"provenance": None}) == [2]
    assert positions(store, number, only={"provenance": "textbook", "register": "x"}) == []
    assert positions(store, number, search="STRASSE") == [0, 2]
    assert positions(store, number, search="ᐚᐸ") == [0]
    assert positions(store, number, search="%") == [1]
    assert positions(store, number, search="3") == [2]
    assert positions(store, number, search="\ud800") == []
    assert positions(store, number, sort="source", descending=True, places={0, 1}) == [0, 1]
    with pytest.raises(KeyError):
        positions(store, number, only={"1 OR 1": 1})
    with pytest.raises(KeyError):
        positions(store, number, sort="1")
    store.close()


tags = st.one_of(st.none(), st.sampled_from(["a", "b", "[/foo]", "x' OR 1 --"]))


@settings(max_examples=25)
@given(st.lists(st.tuples(tags, tags, st.one_of(st.none(), st.integers(1, 5))), max_size=12))
def test_every_facet_counts_what_narrowing_by_it_finds(
    rows: list[tuple[str | None, str | None, int | None]],
) -> None:
    store, number = held(
        *(
            Entry(id=n, source="s", reference="r", provenance=p, register=g, difficulty=d)
            for n, (p, g, d) in enumerate(rows)
        )
    )
    for tag, values in facet_counts(store, number).items():
        assert sum(count for _, count in values) == len(rows)
        for value, count in values:
            assert len(corpus_positions(store, number, only={tag: value})) == count
    store.close()


def test_a_tag_on_every_entry_does_not_flood_the_filter() -> None:
    store, number = held(
        *(Entry(id=n, source="s", reference="r", provenance=f"p{n}") for n in range(200))
    )
    assert len(facet_counts(store, number)["provenance"]) == MOST_VALUES
    store.close()


def test_an_opened_corpus_is_in_no_file(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, [entry(1, source="only here")]))
    store, number = hold_in_memory(corpus)
    assert store.execute("PRAGMA database_list").fetchone()[2] == ""
    assert corpus_positions(store, number, search="only here") == [0]
    assert list_corpora(store)[0].sha256 == corpus.sha256
    store.close()
