"""The corpora of the store: what counts as the same one, its entries in any order, examined without its file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.checks.requirements import requirements, statistics
from corpora.files.decode import Original
from corpora.formats.load import load
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from harness.consent.given import consent_standing
from harness.consent.standing import NOTHING
from harness.store.corpora.entries import insert_corpus, read_dataset, read_entries, save_corpus
from harness.store.corpora.examination import examine, examine_stored
from harness.store.corpora.listing import (
    MOST_VALUES,
    corpus_positions,
    facet_counts,
    hold_in_memory,
    list_corpora,
    read_stored,
    stored_name,
)
from harness.store.file.database import open_store
from tests.corpora.making import entry, json_file
from tests.review.thorough import examples
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
    assert found["aa" * 32].number == whole
    assert found["aa" * 32].dataset.id == DATASET.id
    assert (found["bb" * 32].partial, found["bb" * 32].entries) == (True, 3)


def test_entries_without_a_value_are_sorted_last() -> None:
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


@examples(15, 100)
@given(st.lists(st.tuples(tags, tags, st.one_of(st.none(), st.integers(1, 5))), max_size=12))
def test_facets_count_what_is_found(rows: list[tuple[str | None, str | None, int | None]]) -> None:
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


def test_opened_corpus_is_in_no_file(tmp_path: Path) -> None:
    many = (Entry(id=n, source="s", reference="r", provenance=f"p{n}") for n in range(200))
    store, number = held(*many)
    assert len(facet_counts(store, number)["provenance"]) == MOST_VALUES
    store.close()
    corpus = load(json_file(tmp_path, [entry(1, source="only here")]))
    store, number = hold_in_memory(corpus)
    assert store.execute("PRAGMA database_list").fetchone()[2] == ""
    assert corpus_positions(store, number, search="only here") == [0]
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
    assert found.problems == corpus.warnings
    assert found.lines == (1, 1, 1, 1)
    assert found.flagged == {1, 2, 3}
    assert [len(found.of_entry(place)) for place in range(4)] == [0, 2, 1, 1]
    assert found.statistics == statistics(corpus)
    assert list(found.requirements) == requirements(
        corpus, consent_standing(corpus.dataset, NOTHING)
    )


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
        Original.CHANGED,
        Original.GONE,
        Original.UNKNOWN,
    ]
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
    assert found.problems == corpus.warnings
    assert found.lines == (2, 3)


def test_corpus_named_by_its_hash_warns_the_same(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, FAULTY))
    path, _ = stored(tmp_path, corpus)
    with closing(open_store(path)) as store:
        again = read_stored(store, stored_name(corpus), {})
    assert [each.message for each in again.warnings] == [each.message for each in corpus.warnings]
    assert again.warnings
