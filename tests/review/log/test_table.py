"""The table only grows, whoever opens the file; content goes and comes, heads stay."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from harness.core.failures import StoreError
from harness.sealed.chain import check_chain
from review.log.event import Event, EventError
from review.log.payloads import Scope
from review.log.table import append_event, create_event_table, insert_event, read_events
from review.rating import Rating
from tests.review.log.material import (
    BATCH,
    BEN,
    OTHER_BATCH,
    Device,
    chain,
    comment,
    one_of_each,
    rate,
    withdraw,
)

GIST = Rating.GIST


@pytest.fixture
def table() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_event_table(connection)
        yield connection


def put(table: sqlite3.Connection, events: list[Event]) -> list[bool]:
    return [insert_event(table, event) for event in events]


def test_every_kind_comes_back_byte_for_byte(table: sqlite3.Connection) -> None:
    events = [event for event in chain(*one_of_each()) if event.kind != "withdraw"]
    assert put(table, events) == [True] * len(events)
    assert [event.line() for event in read_events(table)] == [event.line() for event in events]
    assert put(table, events) == [False] * len(events)
    assert len(list(read_events(table))) == len(events)
    stored = "SELECT payload, reviewer, batch FROM event WHERE kind = 'comment'"
    [(payload, reviewer, batch)] = table.execute(stored)
    assert payload in next(e for e in events if e.kind == "comment").line().decode()
    assert (reviewer, batch) == ("ANN0000A", BATCH)


CHANGES = {
    "id": "replace(id, substr(id, 1, 1), 'x')", "device": "'0000000000000000'", "seq": "seq + 1",
    "lamport": "lamport + 1", "prev": "'x'", "kind": "'skip'", "commitment": "'x'",
    "rowid": "rowid + 100", "payload": "'{}'", "salt": "x'00'", "reviewer": "'BEN0000B'", "batch": "NULL",
}  # fmt: skip
STATEMENTS = [
    "DELETE FROM event",
    "DELETE FROM event WHERE payload IS NULL",
    *(f"UPDATE event SET {column} = {value}" for column, value in CHANGES.items()),
    "UPDATE event SET payload = NULL, salt = NULL",
    "UPDATE event SET payload = NULL, salt = NULL, batch = NULL, reviewer = NULL, seq = 9",
    "REPLACE INTO event SELECT * FROM event",
    "REPLACE INTO event SELECT id, device, seq, lamport, prev, kind, commitment, NULL, NULL, NULL, NULL FROM event",
    "INSERT OR REPLACE INTO event (rowid, id, device, seq, lamport, prev, kind, commitment)SELECT rowid, 'x' || substr(id, 2), device, seq, lamport, prev, kind, commitment FROM event",
    "INSERT INTO event (id, device, seq, lamport, prev, kind, commitment) VALUES ('short', 'a', 0, 0, '', 'rate', 'c')",
    "INSERT INTO event (id, device, seq, lamport, prev, kind, commitment) VALUES (hex(zeroblob(32)), 'a', 'one', 0, '', 'rate', 'c')",
]


@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_no_statement_changes_what_was_said(table: sqlite3.Connection, recursive: str) -> None:
    put(table, chain(rate(0, GIST), comment(0, "x")))
    before = table.execute("SELECT rowid, * FROM event").fetchall()
    table.execute(f"PRAGMA recursive_triggers = {recursive}")
    for statement in STATEMENTS:
        try:
            table.execute(statement)
        except sqlite3.DatabaseError:
            pass
        else:
            assert "payload IS NULL" in statement  # nothing to delete
        assert table.execute("SELECT rowid, * FROM event").fetchall() == before, statement


def test_content_comes_to_a_head_and_never_changes(table: sqlite3.Connection) -> None:
    events = chain(rate(0, GIST), comment(0, "x"))
    assert put(table, [event.erased() for event in events]) == [True, True]
    assert put(table, events) == [True, True]
    assert list(read_events(table)) == events
    assert put(table, [event.erased() for event in events]) == [False, False]
    assert list(read_events(table)) == events


def test_a_withdrawal_erases_what_is_there_and_what_comes(table: sqlite3.Connection) -> None:
    device = Device("a" * 16)
    ann = [device.say(rate(0, GIST)), device.say(comment(0, "x"))]
    others = [device.say(rate(0, GIST, reviewer=BEN)), device.say(rate(0, GIST, batch=OTHER_BATCH))]
    taken = device.say(withdraw(Scope.BATCH))
    late = [device.say(comment(1, "y"))]
    put(table, [*ann, *others, taken, *late])
    erased = {event.id for event in read_events(table) if event.payload is None}
    assert erased == {event.id for event in [*ann, *late]}
    assert put(table, [*ann, *late]) == [False] * 3
    assert {event.id for event in read_events(table) if event.payload is None} == erased
    assert check_chain(read_events(table)).whole
    row = table.execute("SELECT count(salt), count(batch), count(reviewer) FROM event").fetchone()
    assert row == (3, 3, 3)


def test_only_words_are_erased_where_only_words_were_taken_back(table: sqlite3.Connection) -> None:
    put(table, chain(rate(0, GIST), comment(0, "x"), withdraw(Scope.COMMENTS, None)))
    assert [event.payload is None for event in read_events(table)] == [False, True, False]


def test_events_of_some_batches_with_all_that_they_need(table: sqlite3.Connection) -> None:
    events = chain(
        rate(0, GIST), rate(0, GIST, batch=OTHER_BATCH), comment(0, "x", reviewer=BEN),
        withdraw(Scope.COMMENTS, OTHER_BATCH, BEN),
    )  # fmt: skip
    put(table, [events[0], events[1], events[2].erased(), events[3]])
    for batches, seqs in (([BATCH], [0, 2, 3]), ([], [2, 3]), ([BATCH, OTHER_BATCH], [0, 1, 2, 3])):
        assert [event.seq for event in read_events(table, batches)] == seqs


def test_an_appended_event_knows_all_that_came_before(table: sqlite3.Connection) -> None:
    put(table, chain(*[rate(0, GIST)] * 5, name="b" * 16))
    first = append_event(table, "a" * 16, rate(0, GIST))
    second = append_event(table, "a" * 16, rate(1, GIST))
    assert [(event.seq, event.lamport) for event in (first, second)] == [(0, 6), (1, 7)]
    assert (second.prev, first.salt != second.salt) == (first.id, True)
    assert check_chain(read_events(table)).whole


@pytest.mark.parametrize(
    "change",
    [
        "payload = replace(payload, 'gist', 'reject')", "salt = zeroblob(16)", "lamport = 99",
        "kind = 'skip'", "payload = 'null'", """device = '","seq":9,"x":"'""",
    ],
)  # fmt: skip
def test_row_changed_without_triggers_is_noticed(table: sqlite3.Connection, change: str) -> None:
    put(table, chain(rate(0, GIST)))
    table.execute("DROP TRIGGER event_is_never_changed")
    table.execute(f"UPDATE event SET {change}")
    with pytest.raises(EventError, match=r"^Event 1 of the store "):
        list(read_events(table))


def test_old_sqlite_is_refused(table: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StoreError, match=r"SQLite 3\.37 or newer"):
        create_event_table(table)
