"""A person's words, certificates and findings beside a run: kept with it, and gone with it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlite_utils import Database

from corpora.model.entry import Entry
from harness.core.failures import StoreError, UsageError
from harness.store.deletion import bring_back, delete_run, trash
from harness.store.file.database import SCHEMA_VERSION, open_store
from harness.store.file.migrations import migrations
from harness.store.notes import (
    MOST_NOTE,
    MOST_TAG,
    MOST_TAGS,
    Attached,
    attach_certificate,
    attached_by_run,
    attached_to,
    change_tags,
    change_words,
    detach_certificates,
    note_of,
    set_note,
    tags_by_run,
    tags_of,
    tidy_tag,
)
from harness.store.replies import StoredFindings
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from tests.harness.card import factory
from tests.harness.evaluation import corpus, query, run_corpus
from tests.harness.run.constant_runs import constant
from tests.harness.store.stored_rows import make_run
from tests.review.thorough import examples


@pytest.fixture
def run(connection: sqlite3.Connection) -> int:
    return make_run(connection, [Entry(id=1, source="a", reference="b")])


def test_words_are_listed_with_their_run(connection: sqlite3.Connection, run: int) -> None:
    other = make_run(connection, [Entry(id=1, source="a", reference="b")], run_id="2222-b")
    set_note(connection, run, "  ᓂᐚᐸᒫᐤ\nsecond \ud800 ")
    change_tags(connection, run, ["b", "a", "a"])
    listed = {each.number: each for each in list_runs(connection)}
    assert (listed[run].note, listed[run].tags) == ("ᓂᐚᐸᒫᐤ\nsecond \ufffd", ("a", "b"))
    assert (listed[other].note, listed[other].tags) == ("", ())
    delete_run(connection, run)
    assert tags_by_run(connection) == {}
    assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)


def test_tags_are_added_and_taken_away(connection: sqlite3.Connection, run: int) -> None:
    assert change_tags(connection, run, add=["one", "two"]) == ("one", "two")
    assert change_tags(connection, run, add=["three"], remove=["one", "none"]) == ("three", "two")
    assert change_tags(connection, run, remove=["two", "three"]) == ()
    set_note(connection, run, "x")
    set_note(connection, run, " ")
    assert note_of(connection, run) == ""


def test_wrong_tag_is_refused_and_nothing_changes(connection: sqlite3.Connection, run: int) -> None:
    change_tags(connection, run, ["kept"])
    for tag in ("", "  ", "#", "two words", "a,b", "a\tb", "a\x00", "x" * 41):
        with pytest.raises(UsageError, match="one word"):
            change_tags(connection, run, ["good", tag])
    with pytest.raises(UsageError, match=str(MOST_TAGS)):
        change_tags(connection, run, add=[str(n) for n in range(MOST_TAGS)])
    assert tags_of(connection, run) == ("kept",)
    with pytest.raises(UsageError, match="Shorten"):
        set_note(connection, run, "x" * (MOST_NOTE + 1))
    set_note(connection, run, "x" * MOST_NOTE)


@examples(50, 500)
@given(st.text(max_size=60))
def test_a_tag_is_tidy_once_and_for_all(text: str) -> None:
    try:
        tag = tidy_tag(text)
    except UsageError:
        return
    assert 0 < len(tag) <= MOST_TAG
    assert tag.split() == [tag]
    assert tidy_tag(f" ##{tag} ") == tag


def test_note_and_tags_change_together(connection: sqlite3.Connection, run: int) -> None:
    assert change_words(connection, run, note="one", add=["a", "b"]) == ("a", "b")
    with pytest.raises(UsageError, match="A tag is one word"):
        change_words(connection, run, note="two", add=["x" * (MOST_TAG + 1)])
    with pytest.raises(UsageError, match=f"at most {MOST_TAGS} tags"):
        change_words(connection, run, note="two", add=[str(n) for n in range(MOST_TAGS)])
    assert (note_of(connection, run), tags_of(connection, run)) == ("one", ("a", "b"))
    assert change_words(connection, run, remove=["a"]) == ("b",)
    assert change_words(connection, run, note="") == ("b",)
    assert (note_of(connection, run), tags_of(connection, run)) == ("", ("b",))


def test_nothing_is_written_to_a_deleted_run(connection: sqlite3.Connection, run: int) -> None:
    trash(connection, run)
    for each in (run, 999):
        with pytest.raises(StoreError, match="was deleted meanwhile"):
            set_note(connection, each, "words")
        with pytest.raises(StoreError, match="was deleted meanwhile"):
            change_tags(connection, each, ["a"])
    bring_back(connection, run)
    assert (note_of(connection, run), tags_of(connection, run)) == ("", ())


ONE = Attached(b'{"one":1}', b"s" * 64, "aa" * 32)
TWO = Attached(b'{"two":2}', b"t" * 64, "bb" * 32)


def test_certificates_are_kept_once_with_their_run(store_path: Path) -> None:
    with closing(open_store(store_path)) as connection:
        number = factory.add_run(connection)
        for each in (ONE, TWO, ONE):
            attach_certificate(connection, number, each)
        assert attached_to(connection, number) == (ONE, TWO)
        assert attached_to(connection, number + 1) == ()
        assert attached_by_run(connection) == {number: (ONE, TWO)}
        assert list_runs(connection)[0].certificates == (ONE, TWO)
        assert [detach_certificates(connection, number) for _ in "12"] == [2, 0]
        assert list_runs(connection)[0].certificates == ()
        attach_certificate(connection, number, ONE)
        connection.execute("UPDATE certificates SET certificate = 'text'")
        assert attached_to(connection, number) == (), "of a wrong type"
        delete_run(connection, number)
        assert attached_by_run(connection) == {}
    everything = b"".join(f.read_bytes() for f in store_path.parent.iterdir() if f.is_file())
    assert ONE.certificate not in everything


def test_store_before_certificates_gets_the_table(store_path: Path) -> None:
    store_path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(store_path)) as connection:
        migrations.apply(Database(connection), stop_before="m005_certificates")
        connection.execute("PRAGMA user_version = 4")
        connection.commit()
    with closing(open_store(store_path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
        number = factory.add_run(connection)
        attach_certificate(connection, number, ONE)
        assert attached_to(connection, number) == (ONE,)


def test_findings_are_kept_by_their_maker(store_path: Path) -> None:
    memo = StoredFindings(store_path)
    memo.keep("analyser a", {"hundo": b"1", "kato": b"2"})
    memo.keep("analyser b", {"hundo": b"3"})
    assert memo.recall("analyser a", ["hundo", "birdo"]) == {"hundo": b"1"}
    assert memo.recall("analyser b") == {"hundo": b"3"}
    assert memo.recall("analyser c") == {}
    memo.keep("analyser b", {"hundo": b"4"})
    memo.keep("analyser b", {})
    assert memo.recall("analyser b") == {"hundo": b"4"}


@examples(6, 50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), st.binary(max_size=9), max_size=1200))
def test_any_words_are_kept(store_path: Path, found: dict[str, bytes]) -> None:
    memo = StoredFindings(store_path)
    memo.keep("all", found)
    clean = {key: value for key, value in found.items() if key.isprintable()}
    assert clean.items() <= memo.recall("all", list(found)).items()


def test_deleting_a_run_leaves_no_word_behind(store_path: Path) -> None:
    run_corpus(store_path, corpus(3), constant())
    StoredFindings(store_path).keep("analyser", {"sekretavorto": b"x"})
    with closing(open_store(store_path)) as connection:
        delete_run(connection, find_run(connection, "last").id)
    assert query(store_path, "SELECT * FROM findings") == []
    assert b"sekretavorto" not in store_path.read_bytes()
