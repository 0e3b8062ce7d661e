"""A person's words beside a run: kept as given, bounded, and gone with the run."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.core.failures import StoreError, UsageError
from harness.store.deletion import bring_back, delete_run, trash
from harness.store.notes import (
    MOST_NOTE,
    MOST_TAG,
    MOST_TAGS,
    change_tags,
    change_words,
    note_of,
    set_note,
    set_tags,
    tags_by_run,
    tags_of,
    tidy_tag,
)
from harness.store.runs import list_runs
from tests.harness.store.stored_rows import make_run


@pytest.fixture
def run(connection: sqlite3.Connection) -> int:
    return make_run(connection, [Entry(id=1, source="a", reference="b")])


def test_words_are_listed_with_their_run(connection: sqlite3.Connection, run: int) -> None:
    other = make_run(connection, [Entry(id=1, source="a", reference="b")], run_id="2222-b")
    set_note(connection, run, "  ᓂᐚᐸᒫᐤ\nsecond \ud800 ")
    set_tags(connection, run, ["b", "a", "a"])
    listed = {each.number: each for each in list_runs(connection)}
    assert (listed[run].note, listed[run].tags) == ("ᓂᐚᐸᒫᐤ\nsecond \ufffd", ("a", "b"))
    assert (listed[other].note, listed[other].tags) == ("", ())
    delete_run(connection, run)
    assert tags_by_run(connection) == {}
    assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)


def test_tags_are_added_and_taken_away(connection: sqlite3.Connection, run: int) -> None:
    assert change_tags(connection, run, add=["one", "two"]) == ("one", "two")
    assert change_tags(connection, run, add=["three"], remove=["one", "none"]) == ("three", "two")
    assert set_tags(connection, run, []) == ()
    set_note(connection, run, "x")
    set_note(connection, run, " ")
    assert note_of(connection, run) == ""


@pytest.mark.parametrize("tag", ["", "  ", "#", "two words", "a,b", "a\tb", "a\x00", "x" * 41])
def test_what_is_no_tag_is_refused_and_nothing_changes(
    connection: sqlite3.Connection, run: int, tag: str
) -> None:
    set_tags(connection, run, ["kept"])
    with pytest.raises(UsageError, match="one word"):
        set_tags(connection, run, ["good", tag])
    assert tags_of(connection, run) == ("kept",)


def test_there_are_bounds(connection: sqlite3.Connection, run: int) -> None:
    set_tags(connection, run, ["kept"])
    with pytest.raises(UsageError, match=str(MOST_TAGS)):
        change_tags(connection, run, add=[str(n) for n in range(MOST_TAGS)])
    assert tags_of(connection, run) == ("kept",)
    with pytest.raises(UsageError, match="Shorten"):
        set_note(connection, run, "x" * (MOST_NOTE + 1))


@given(st.text(max_size=60))
def test_a_tag_is_tidy_once_and_for_all(text: str) -> None:
    try:
        tag = tidy_tag(text)
    except UsageError:
        return
    assert 0 < len(tag) <= MOST_TAG
    assert tag.split() == [tag]
    assert tidy_tag(f" ##{tag} ") == tag


def test_note_and_tags_are_changed_together_or_not_at_all(
    connection: sqlite3.Connection, run: int
) -> None:
    assert change_words(connection, run, note="one", add=["a", "b"]) == ("a", "b")
    with pytest.raises(UsageError, match="A tag is one word"):
        change_words(connection, run, note="two", add=["x" * (MOST_TAG + 1)])
    with pytest.raises(UsageError, match=f"at most {MOST_TAGS} tags"):
        change_words(connection, run, note="two", add=[str(n) for n in range(MOST_TAGS)])
    assert (note_of(connection, run), tags_of(connection, run)) == ("one", ("a", "b"))
    assert change_words(connection, run, remove=["a"]) == ("b",)
    assert change_words(connection, run, note="") == ("b",)
    assert (note_of(connection, run), tags_of(connection, run)) == ("", ("b",))


def test_nothing_is_written_beside_a_run_that_is_gone(
    connection: sqlite3.Connection, run: int
) -> None:
    trash(connection, run)
    for each in (run, 999):
        with pytest.raises(StoreError, match="was deleted meanwhile"):
            set_note(connection, each, "words")
        with pytest.raises(StoreError, match="was deleted meanwhile"):
            set_tags(connection, each, ["a"])
    bring_back(connection, run)
    assert (note_of(connection, run), tags_of(connection, run)) == ("", ())
