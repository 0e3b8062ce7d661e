"""What a person took back is found nowhere, and everything that rests on the heads still holds."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.sealed.chain import check_chain
from review.log.event import Event, events_sha256
from review.log.fold import fold
from review.log.laptop import FILE_NAME, Draft, Laptop
from review.log.merge import export_events, merge
from review.log.own_file import FILE_NAME as PRESENCE
from review.log.payloads import Scope
from review.log.table import create_event_table, insert_event, read_events
from review.log.withdrawal import covered, erase, withdrawals
from review.rating import Rating
from tests.review.log.material import (
    ANN,
    BATCH,
    BEN,
    ITEMS,
    OTHER_BATCH,
    Device,
    comment,
    kept_draft,
    rate,
    suggest,
    withdraw,
)

GIST = Rating.GIST
DRAFT = "a draft that nobody else has seen"


def traces(event: Event) -> list[bytes]:
    """Return what would tell that a payload or its salt is still there."""
    assert event.salt is not None
    line = event.line()
    content = line[line.index(b'"payload":') + 10 : line.index(b',"salt":')]
    return [content, content[40:-40], event.salt, event.salt.hex().encode()]


def every_byte(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def say_much(laptop: Laptop) -> tuple[list[Event], list[Event]]:
    """Let two people say enough for many pages; gives what Ann said in the batch, and the rest."""
    anns, others = [], []
    for number in range(30):
        text = f"words of number {number:04} " * (1 + number * 5)  # up to overflow pages
        anns.append(laptop.append(rate(number % 6, GIST)))
        anns.append(laptop.append(comment(number % 6, "Ann " + text[:3900])))
        others.append(laptop.append(suggest(number % 6, "Ben " + text[:3900], reviewer=BEN)))
    others.append(laptop.append(comment(0, "Ann elsewhere", batch=OTHER_BATCH)))
    return anns, others


def test_no_byte_of_it_is_left_on_the_laptop(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        anns, others = say_much(laptop)
        laptop.save_drafts(BATCH, ANN, [Draft(ITEMS[0], "comment", DRAFT)])
        laptop.save_drafts(BATCH, BEN, [Draft(ITEMS[0], "comment", "Ben's draft")])
        before = events_sha256(event.id for event in laptop.events())
        found = every_byte(tmp_path)
        assert all(trace in found for event in anns for trace in traces(event)[1:3])
        laptop.append(withdraw(Scope.BATCH))
        open_file = every_byte(tmp_path)
        assert kept_draft(laptop, BATCH, ANN, ITEMS[0], "comment") is None
        assert kept_draft(laptop, BATCH, BEN, ITEMS[0], "comment") == "Ben's draft"
        report = check_chain(laptop.events())
        heads = list(laptop.events())[:-1]
        exported = export_events(laptop, BATCH)
    for content in (open_file, every_byte(tmp_path)):
        assert not [trace for event in anns for trace in traces(event) if trace in content]
        assert DRAFT.encode() not in content
        assert all(traces(event)[2] in content for event in others)
    assert {path.name for path in tmp_path.iterdir()} == {FILE_NAME, PRESENCE}
    assert report.whole
    assert events_sha256(event.id for event in heads) == before
    sent = b"\n".join(event.line() for event in exported)
    assert not [trace for event in anns for trace in traces(event) if trace in sent]
    assert b'"kind":"withdraw"' in sent


def test_only_words_leave_where_only_words_were_taken_back(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        anns, _ = say_much(laptop)
        laptop.append(withdraw(Scope.COMMENTS, None))
        person = fold(laptop.events()).reviewers[BATCH, ANN]
    content = every_byte(tmp_path)
    for event in anns:
        assert (traces(event)[2] in content) == (event.kind == "rate")
    assert b"Ann elsewhere" not in content
    assert (len(person.judgements), person.comments) == (6, {})


def test_cleaning_that_a_full_disk_prevents_is_made_up_for(tmp_path: Path) -> None:
    """Rewriting the file fails, as on a full disk; the bytes are overwritten nevertheless."""
    with Laptop.open(tmp_path) as laptop:
        anns, others = say_much(laptop)
        laptop.connection.execute("PRAGMA temp_store = FILE")
        laptop.connection.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK
        )  # fmt: skip  # VACUUM attaches the new file
        laptop.append(withdraw(Scope.BATCH))
        assert laptop.connection.execute("SELECT unclean FROM installation").fetchone() == (1,)
    large = (tmp_path / FILE_NAME).stat().st_size
    content = every_byte(tmp_path)
    assert not [trace for event in anns for trace in traces(event) if trace in content]
    with Laptop.open(tmp_path) as laptop:
        assert laptop.connection.execute("SELECT unclean FROM installation").fetchone() == (0,)
        assert {event.id for event in laptop.events() if event.payload} >= {e.id for e in others}
    assert (tmp_path / FILE_NAME).stat().st_size < large


class _Overwriting(sqlite3.Connection):
    """A connection that cannot be told to overwrite what is deleted, as where SQLite was built without that."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        off = "PRAGMA secure_delete = OFF"
        return super().execute(off if "secure_delete" in sql else sql, *values)


def test_file_is_rewritten_and_not_only_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "office.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, factory=_Overwriting)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        create_event_table(connection)
        with Laptop.open(tmp_path / "laptop") as laptop:
            anns, others = say_much(laptop)
            gone = laptop.append(withdraw(Scope.BATCH))
        for event in (*anns, *others, gone):
            insert_event(connection, event)
        said = [trace for event in anns for trace in traces(event)]
        assert any(trace in path.read_bytes() for trace in said)  # erased, and there still
        erase(connection)
        content = path.read_bytes()
        assert connection.execute("PRAGMA secure_delete").fetchone() == (0,)
    assert not [trace for trace in said if trace in content]
    assert all(traces(event)[2] in content for event in others)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """An organisation's store: the same table in a file of its own."""
    with closing(sqlite3.connect(tmp_path / "office.sqlite", isolation_level=None)) as connection:
        create_event_table(connection)
        yield connection


def test_old_stick_after_a_withdrawal(store: sqlite3.Connection, tmp_path: Path) -> None:
    device = Device("a" * 16)
    for number in range(40):
        device.say(comment(number % 6, f"words {number} " * 40))
    old_stick = [event.line() for event in device.events]
    device.say(withdraw(Scope.EVERYTHING, None))
    new_stick = [event.line() for event in device.events]

    def take(lines: list[bytes]) -> None:
        for event in merge(read_events(store), lines).to_keep:
            insert_event(store, event)

    take(old_stick)
    assert b"words 7 words 7" in every_byte(tmp_path)
    take(new_stick)
    assert erase(store) == 0  # the withdrawal erased them when it came
    take(old_stick)
    content = every_byte(tmp_path)
    for event in device.events[:-1]:
        assert not [trace for trace in traces(event) if trace in content]
    events = list(read_events(store))
    assert [event.id for event in events] == [event.id for event in device.events]
    assert (check_chain(events).whole, events[-1].payload is None) == (True, False)


def test_erasing_reaches_what_another_program_put_there(store: sqlite3.Connection) -> None:
    device = Device("a" * 16)
    taken = device.say(withdraw(Scope.BATCH))
    late = device.say(comment(0, "late words of Ann"))
    for event in (taken, late.erased()):
        insert_event(store, event)
    values = "payload = '{}', salt = x'00', batch = ?, reviewer = ?"
    store.execute(f"UPDATE event SET {values} WHERE seq = 1", (BATCH, ANN))
    store.execute("BEGIN")
    with pytest.raises(sqlite3.OperationalError):  # what cannot be done changes nothing
        erase(store)
    assert store.in_transaction
    store.rollback()
    assert (erase(store), erase(store)) == (1, 0)
    assert list(read_events(store)) == [taken, late.erased()]


def test_who_is_reached() -> None:
    device = Device("a" * 16)
    said = [
        device.say(make(0, word, reviewer=who, batch=batch))  # type: ignore[arg-type]
        for who in (ANN, BEN)
        for batch in (BATCH, OTHER_BATCH)
        for make, word in ((rate, GIST), (comment, "x"))
    ]
    scopes = [
        device.say(withdraw(Scope.COMMENTS, None, ANN)),
        device.say(withdraw(Scope.BATCH, OTHER_BATCH, BEN)),
    ]
    withdrawn = withdrawals(scopes)
    assert [covered(event, withdrawn) for event in said] == [
        False, True, False, True,
        False, False, True, True,
    ]  # fmt: skip
    assert not any(covered(event.erased(), withdrawn) for event in said)
    everything = withdrawals([*scopes, device.say(withdraw(Scope.EVERYTHING, None, ANN))])
    assert not any(covered(event, everything) for event in scopes)
    assert all(covered(event, everything) for event in said[:4])
