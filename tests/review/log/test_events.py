"""The form of an event, taking events in, and their table, which only grows, whoever opens the file."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.failures import StoreError
from harness.sealed.chain import check_chain
from review.log.event import FIRST, ClockFault, Event, EventError, make_event, read_event
from review.log.merge import MergeReport, Remark, merge
from review.log.payloads import AnyPayload, Kind, Scope
from review.log.table import append_event, create_event_table, insert_event, read_events
from review.rating import Rating
from tests.harness.sealed.refusals import refuses
from tests.review.log.material import (
    ANN,
    BATCH,
    BEN,
    ITEMS,
    OTHER_BATCH,
    Device,
    chain,
    comment,
    lines,
    one_of_each,
    rate,
    withdraw,
)
from tests.review.thorough import examples

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
GIST = Rating.GIST


def counts(report: MergeReport) -> tuple[int, int, int, int]:
    return len(report.added), report.already_here, len(report.set_aside), len(report.damaged)


def rated(count: int, **place: str) -> Device:
    device = Device("a" * 16)
    for number in range(count):
        device.say(rate(number % 6, GIST, **place))
    return device


def test_new_events_come_in_once() -> None:
    events = rated(20).events
    shuffled = Random(1).sample(lines(events), 20)
    first = merge([], shuffled + shuffled[:5], now=NOW)
    assert counts(first) == (20, 5, 0, 0)
    assert first.chains.whole
    assert counts(merge(first.added, shuffled, now=NOW)) == (0, 20, 0, 0)
    erased = [event.erased() for event in events]  # content comes to what was known without
    first = merge([], erased, now=NOW)
    assert first.added == tuple(erased)
    second = merge(first.added, lines(events), now=NOW)
    assert second.added == tuple(events)
    assert counts(merge(second.added, erased, now=NOW)) == (0, 20, 0, 0)


def test_a_bad_line_never_stops_the_rest() -> None:
    good = lines(rated(6).events)
    good[1] = good[1].replace(b"gist", b"reject")
    good[3] = b"{}"
    good.insert(5, b"\xff\x00")
    report = merge([], good, now=NOW)
    assert counts(report) == (4, 0, 0, 3)
    assert [remark.line for remark in report.damaged] == [2, 4, 6]
    assert report.damaged[0].said.startswith("was changed after it was written")
    assert "gist" not in repr(report.damaged)
    [broken] = report.chains.chains
    assert (broken.missing, broken.last, broken.whole) == (2, 5, False)


def test_refused_event_is_set_aside_and_keeps_its_place() -> None:
    events = rated(6).events

    def unknown_item(event: Event) -> str | None:
        return "names an unknown item" if event.payload.item == ITEMS[3] else None

    report = merge([], lines(events), now=NOW, objection=unknown_item)
    assert counts(report) == (5, 0, 1, 0)
    assert report.set_aside == (Remark(4, "names an unknown item"),)
    assert report.heads == (events[3].erased(),)
    assert report.chains.whole
    later = merge(report.to_keep, lines(events), now=NOW)
    assert later.added == (events[3],)
    assert counts(merge([*report.to_keep, *later.added], lines(events), now=NOW, objection=unknown_item)) == (0, 5, 1, 0)  # fmt: skip


def test_nobody_adds_to_a_chain_that_is_closed_to_them() -> None:
    mine, theirs = rated(2), chain(rate(0, GIST), name="b" * 16)
    forged = [event.erased() for event in rated(5, reviewer=BEN).events]
    incoming = lines([*forged, *mine.events, *theirs])
    report = merge(mine.events, incoming, now=NOW, closed={"a" * 16: "is another laptop's"})
    assert report.to_keep == tuple(theirs)
    assert [(remark.line, remark.said) for remark in report.set_aside] == [
        (line, "is another laptop's") for line in range(1, 6)
    ]
    assert (report.already_here, report.chains.whole) == (2, True)
    assert not any(chain.forked for chain in report.chains.chains)


@pytest.mark.parametrize(("seq", "prev"), [(0, "a" * 64), (1, FIRST), (1, "a" * 63)])
def test_only_the_first_event_names_none_before_it(seq: int, prev: str) -> None:
    event = make_event(rate(0, GIST), device="a" * 16, seq=seq, lamport=1, prev=prev, salt=bytes(16))
    refuses(EventError, "does not name the event before it", read_event, event.line())


@pytest.mark.parametrize("field", ["seq", "lamport"])
def test_place_or_time_beyond_bounds_is_refused(field: str) -> None:
    [event] = chain(rate(0, GIST))
    numbers: dict[str, Any] = {"seq": 1, "lamport": 1, field: 2**32}
    far = Event(event.device, **numbers, prev="e" * 64, kind=event.kind, commit=event.commit, payload=None, salt=None)
    report = merge([], lines([far, event]), now=NOW)
    assert report.added == (event,)
    assert report.damaged == (Remark(1, "has a place or a time that no laptop comes to"),)


@pytest.mark.parametrize("withdrawal_known", [True, False])
def test_what_was_taken_back_comes_in_without_content(withdrawal_known: bool) -> None:
    device = rated(4)
    device.say(comment(0, "private words"))
    device.say(rate(0, GIST, reviewer=BEN))
    taken = device.say(withdraw(Scope.EVERYTHING, None, ANN))
    known = [taken] if withdrawal_known else []
    incoming = device.events[:-1] if withdrawal_known else device.events
    report = merge(known, lines(incoming), now=NOW)
    assert {event.id for event in report.added if event.payload is None} == {event.id for event in device.events[:5]}
    assert report.chains.whole
    again = merge([*known, *report.added], lines(incoming), now=NOW)
    assert counts(again) == (0, len(incoming), 0, 0)


def test_a_copied_laptop_is_noticed_and_both_copies_are_kept() -> None:
    mine = rated(3)
    twin = mine.copy()
    mine.say(rate(3, GIST))
    for _ in range(2):
        twin.say(rate(3, Rating.REJECT))
    report = merge(mine.events, lines(twin.events), now=NOW)
    assert len(report.added) == 2
    [found] = report.chains.chains
    assert (found.events, found.last, found.forked, found.whole) == (6, 4, (3,), True)
    [alone] = merge([], lines(mine.events), now=NOW).chains.chains
    assert not alone.forked


def test_chains_that_were_cut_or_patched() -> None:
    events = rated(10).events
    other = chain(*[event.payload for event in events if event.payload], name="b" * 16)
    assert check_chain(events + other).whole
    assert check_chain([event.erased() for event in reversed(events)]).whole
    assert check_chain(events[:4]).whole
    [cut] = check_chain(events[:3] + events[5:]).chains
    assert (cut.missing, cut.broken, cut.head) == (2, (), events[-1].id)
    patched = rated(4)
    stranger = Device("a" * 16, seed=9)
    for _ in range(6):
        stranger.say(rate(0, Rating.REJECT))
    [mended] = check_chain(patched.events + stranger.events[4:]).chains
    assert (mended.missing, mended.broken) == (0, (4,))
    stopped = make_event(
        rate(0, GIST), device="a" * 16, seq=10, lamport=events[-1].lamport, prev=events[-1].id, salt=bytes(16)
    )  # fmt: skip
    [late] = check_chain([*events, stopped]).chains
    assert (late.missing, late.broken) == (0, (10,))
    far = Event("a" * 16, 2**39, 5, "e" * 64, events[0].kind, "c" * 64, None, None)
    [hostile] = check_chain([*events, far]).chains
    assert hostile.missing == 2**39 - 10


def at(*times: datetime | str) -> list[Event]:
    walls = [each if isinstance(each, str) else f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in times]
    return chain(*[rate(0, GIST, wall=wall) for wall in walls])


MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


CLOCKS: list[tuple[tuple[datetime | str, ...], dict[ClockFault, int]]] = [
    ((NOW - DAY, NOW - HOUR), {}),
    ((NOW + 23 * HOUR,), {}),
    ((NOW - 29 * DAY, NOW), {}),
    ((NOW + 11 * DAY,), {ClockFault.AHEAD: 11 * 86_400}),
    ((NOW - 32 * DAY, NOW), {ClockFault.BEHIND: 2 * 86_400}),
    ((NOW, NOW - 4 * MINUTE, NOW), {}),
    ((NOW - 3 * HOUR, NOW - 6 * HOUR, NOW), {ClockFault.BACKWARDS: 3 * 3600}),
    (("9999-99-99T99:99:99Z", NOW), {ClockFault.NO_TIME: 0}),
    (("2026-02-30T00:00:00Z",), {ClockFault.NO_TIME: 0}),
    (("0000-00-00T00:00:00Z", NOW + 2 * DAY), {ClockFault.NO_TIME: 0, ClockFault.AHEAD: 2 * 86_400}),
]  # fmt: skip


def test_clocks_that_cannot_be_right_are_told() -> None:
    for times, faults in CLOCKS:
        report = merge([], lines(at(*times)), now=NOW, since=NOW - 30 * DAY)
        assert {clock.fault: clock.seconds for clock in report.clocks} == faults, times
        assert all("laptop aaaaaaaaaaaaaaaa" in clock.said for clock in report.clocks)
    words = [
        merge([], at(*times), now=NOW, since=NOW - 30 * DAY).clocks[0].said
        for times in ((NOW + 11 * DAY,), (NOW, NOW - HOUR), (NOW, NOW - 7 * MINUTE))
    ]
    assert [text.removeprefix("The clock of laptop aaaaaaaaaaaaaaaa ") for text in words] == [
        "is 11 days ahead.",
        "was set back by 1 hour between two events.",
        "was set back by 7 minutes between two events.",
    ]


GOLDEN_LINE = (
    '{"head":{"commit":"d44a5fd8707d9eeee9a166b372822144c4017b44ee60e69926e61e9c7dbd44e1",'
    '"device":"00112233445566ff","kind":"comment","lamport":7,"prev":"","seq":0,"v":1},'
    '"payload":{"batch":"bbbbbbbbbbbbbbb1","item":"0000000000000002","kind":"comment",'
    '"reviewer":"ANN0000A","text":"Pas d’accord: ᐊᑎᒼ","wall":"2026-03-01T10:00:00Z"},'
    '"salt":"000102030405060708090a0b0c0d0e0f"}'
)
GOLDEN_ID = "83478200b4f9f6c4c6eca63a2fec5b6d7c634e2f361a67f02272e0394289abaf"


def test_bytes_of_an_event_are_pinned() -> None:
    """Line and id were made with ``printf`` and ``sha256sum``, apart from this program."""
    event = make_event(
        comment(2, "Pas d’accord: ᐊᑎᒼ"),
        device="00112233445566ff", seq=0, lamport=7, prev=FIRST, salt=bytes(range(16)),
    )  # fmt: skip
    assert (event.id, event.line().decode()) == (GOLDEN_ID, GOLDEN_LINE)


def test_every_event_comes_back_with_the_hashes_of_the_documents() -> None:
    assert {payload.kind for payload in one_of_each()} == set(Kind)
    for event in chain(*one_of_each()):
        erased = event.erased()
        assert (read_event(event.line()), read_event(erased.line())) == (event, erased)
        written = json.loads(event.line())
        plain: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
        content = json.dumps(written["payload"], **plain).encode()
        commit = hashlib.sha256(bytes.fromhex(written["salt"]) + content).hexdigest()
        head = json.dumps(written["head"], **plain).encode()
        assert written["head"]["commit"] == commit
        assert event.id == erased.id == hashlib.sha256(head).hexdigest()


def other(value: Any) -> list[Any]:
    """Return values near a value, some of another type."""
    if isinstance(value, bool):
        return [not value, None, int(value)]
    if isinstance(value, int):
        return [value + 1, value - 1, float(value) + 0.5, str(value), -1, 2**50]
    if isinstance(value, str):
        changed = value[:-1] + ("0" if value[-1:] != "0" else "1")
        return [changed, value + " ", "", None, value.upper() + "é", 1]
    if isinstance(value, list):
        return [value[:-1], [*value, "spelling"], None]
    return ["spelling", 1, {}]


@pytest.mark.parametrize("payload", one_of_each(), ids=lambda payload: str(payload.kind))
def test_no_field_of_an_event_can_be_changed(payload: AnyPayload) -> None:
    [event] = chain(payload)
    written = json.loads(event.line())
    content = written["payload"]
    assert content.keys() == type(payload).model_fields.keys()
    forged = [{**content, name: near} for name, value in content.items() for near in other(value)]
    fewer = [{key: kept for key, kept in content.items() if key != name} for name in content]
    for each in (*forged, *fewer, {**content, "more": 1}):
        refuses(EventError, "", read_event, canonical_bytes({**written, "payload": each}))
    refuses(EventError, "", read_event, canonical_bytes({**written, "salt": "f" * 32}))


def test_a_changed_head_is_another_event_or_none() -> None:
    [event] = chain(rate(0, Rating.GIST))
    written = json.loads(event.line())
    for name, value in written["head"].items():
        for instead in other(value):
            if instead == value:
                continue
            forged = canonical_bytes({**written, "head": {**written["head"], name: instead}})
            try:
                assert read_event(forged).id != event.id
            except EventError:
                continue


def test_only_the_one_written_form_is_read() -> None:
    line = chain(comment(0, "é"))[0].line()
    assert b'"v":1' in line
    for changed in (
        line.replace(b":", b": ", 1), line + b"\n", b"[" * 60_000, b" " * 70_000 + line, b"",
        *(line.replace(b'"v":1', each) for each in (b'"v":1,"v":1', b'"v":true', b'"v":1.0', b'"v":NaN')),
        line.replace(b'"seq":0', b'"seq":' + b"9" * 5000),
        *(line.replace("é".encode(), each) for each in (b"\\u00e9", b"\\ud800", b"\xe9")),
    ):  # fmt: skip
        refuses(EventError, "", read_event, changed)
    with pytest.raises(ValidationError):  # a time is written in plain digits
        comment(0, "x", wall="٢٠٢٦-03-01T10:00:00Z")


@given(st.binary(max_size=300))
def test_bytes_from_anywhere_are_refused_in_words(line: bytes) -> None:
    refuses(EventError, r"^(is|has) ", read_event, line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@examples(50, 200)
@given(st.sampled_from(["head", "payload", "salt"]), st.text(max_size=8) | st.none(), JSON)
def test_values_from_anywhere_are_refused_in_words(part: str, name: str | None, value: Any) -> None:
    [event] = chain(rate(0, Rating.GIST))
    written = json.loads(event.line())
    if name is None or part == "salt":
        written[part] = value
    else:
        written[part][name] = value
    line = json.dumps(written).encode()
    with suppress(EventError):
        assert read_event(line).line() == line


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
    refuses(EventError, r"^Event 1 of the store ", list, read_events(table))


def test_old_sqlite_is_refused(table: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    refuses(StoreError, r"SQLite 3\.37 or newer", create_event_table, table)
