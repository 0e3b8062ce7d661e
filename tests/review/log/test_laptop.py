"""The laptop's file: whose it is, who has it open, what it keeps; what was taken back is found nowhere in it."""

import json
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.core.failures import StoreError, UsageError
from harness.core.storage import StorageProblem
from harness.sealed.chain import check_chain
from review.log.event import Event, erase, events_sha256, read_event
from review.log.fold import fold
from review.log.laptop import FILE_NAME, LAPTOP, MIGRATIONS, Draft, Laptop, StoredBatch
from review.log.merge import export_events, merge
from review.log.own_file import FILE_NAME as PRESENCE
from review.log.payloads import Export, Scope
from review.log.table import NotSaved, create_event_table, insert_event, read_events
from review.rating import Rating
from tests.harness.sealed.refusals import refuses
from tests.review.log.material import (
    ANN,
    BATCH,
    BEN,
    ITEMS,
    OTHER_BATCH,
    WALL,
    Device,
    comment,
    kept_draft,
    lines,
    rate,
    suggest,
    withdraw,
)
from tests.review.thorough import first

GIST = Rating.GIST


def file_of(folder: Path) -> Path:
    return folder / FILE_NAME


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_the_file_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with Laptop.open(folder) as laptop:
        laptop.append(rate(0, GIST))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        FILE_NAME: 0o600,
        PRESENCE: 0o600,
    }


def test_what_is_acknowledged_is_on_the_disk(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "temp_store")
        read = [laptop.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
        assert read == ["delete", 3, 1, 1, 2]
        event = laptop.append(rate(0, GIST))
        with closing(sqlite3.connect(file_of(tmp_path))) as other:
            assert other.execute("SELECT id FROM event").fetchall() == [(event.id,)]


@pytest.mark.parametrize("how", ["copied", "restored", "moved"])
def test_a_copied_or_restored_file_begins_a_chain_of_its_own(tmp_path: Path, how: str) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    with Laptop.open(home) as laptop:
        first = laptop.append(rate(0, GIST))
    away.mkdir()
    shutil.copy(file_of(home), file_of(away))
    if how == "restored":
        file_of(away).replace(file_of(home))  # as backup programs do it
    if how == "moved":
        file_of(home).replace(file_of(away))
    with Laptop.open(home if how == "restored" else away) as laptop:
        assert laptop.device != first.device
        second = laptop.append(rate(1, GIST))
        assert (second.seq, second.prev, second.lamport) == (0, "", 2)
        report = check_chain(laptop.events())
        assert (report.whole, [chain.forked for chain in report.chains]) == (True, [(), ()])
    with Laptop.open(home if how == "restored" else away) as laptop:
        assert laptop.device == second.device


@pytest.mark.parametrize("ours", [True, False])
def test_file_of_a_newer_version_or_another_program_is_left(tmp_path: Path, ours: bool) -> None:
    if ours:
        Laptop.open(tmp_path).close()
    change = f"PRAGMA user_version = {LAPTOP.version + 1}" if ours else "CREATE TABLE event (id)"
    with closing(sqlite3.connect(file_of(tmp_path))) as connection:
        connection.execute(change)
    before = file_of(tmp_path).read_bytes()
    caught = refuses(StoreError if ours else NotSaved, "", Laptop.open, tmp_path)
    assert getattr(caught, "problem", None) is (None if ours else StorageProblem.NOT_OURS)
    assert file_of(tmp_path).read_bytes() == before


def test_opening_cut_short_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [step.__name__[:5] for step in MIGRATIONS] == [f"_m{number:03}" for number in range(1, LAPTOP.version + 1)]

    def cut(path: Path) -> str:
        raise OSError(5, "cut")

    monkeypatch.setattr("review.log.laptop.fingerprint", cut)
    refuses(NotSaved, "", Laptop.open, tmp_path)
    with closing(sqlite3.connect(file_of(tmp_path))) as connection:
        assert connection.execute("SELECT * FROM sqlite_master").fetchall() == []
    monkeypatch.undo()
    with Laptop.open(tmp_path) as laptop:
        laptop.append(rate(0, GIST))


@pytest.mark.parametrize(("before", "after"), [
    ({"reviewer": "YBKCTGFM", "person": "ab" * 16}, ("YB", "ab" * 16)),
    ({"reviewer": "YBKCTGFM"}, ("YB", "YBKCTGFM")),  # of version 1: events name that person so
    ({"reviewer": "", "person": ""}, ("", "")), ({}, (None, None)),
])  # fmt: skip
def test_only_the_beginning_of_a_code_of_before_stays(
    tmp_path: Path, before: dict[str, str], after: tuple[str | None, str | None]
) -> None:
    Laptop.open(tmp_path).close()
    with closing(sqlite3.connect(file_of(tmp_path))) as connection, connection:
        connection.executemany("INSERT INTO setting VALUES (?, ?)", before.items())
        connection.execute("ALTER TABLE draft DROP COLUMN sealed")
        connection.execute("DROP TABLE words_key")
        connection.execute("PRAGMA user_version = 2")
    for _ in range(2):
        with Laptop.open(tmp_path) as laptop:
            assert (laptop.setting("reviewer"), laptop.setting("person")) == after
    if after[1] != "YBKCTGFM":
        assert b"YBKCTGFM" not in file_of(tmp_path).read_bytes()


def test_threads_write_one_chain(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop, ThreadPoolExecutor(4) as pool:
        events = list(pool.map(lambda n: laptop.append(rate(n % 6, GIST)), range(16)))
        assert sorted(event.seq for event in events) == list(range(16))
        assert check_chain(laptop.events()).whole


def manifest(batch: str, title: str = "t") -> bytes:
    return json.dumps({"batch": batch, "title": title}).encode()


def test_batches_are_kept_as_they_came(tmp_path: Path) -> None:
    sealed = bytes(range(256)) * 40
    with Laptop.open(tmp_path) as laptop:
        assert laptop.batches() == ()
        assert laptop.add_batch(manifest(BATCH), sealed, True)
        assert laptop.add_batch(manifest(OTHER_BATCH), b"", False)
        assert not laptop.add_batch(manifest(BATCH), sealed, True)
        refuses(UsageError, "Another batch", laptop.add_batch, manifest(BATCH, "other"), sealed, True)
        for content in (b"", b"[]", b"{}", b'{"batch": 1}', b'{"batch": "../x"}', b"[" * 9999, b"\xff"):  # fmt: skip
            refuses(UsageError, "names no batch", laptop.add_batch, content, b"", False)
    with Laptop.open(tmp_path) as laptop:
        first = StoredBatch(BATCH, manifest(BATCH), sealed, secret=True)
        second = StoredBatch(OTHER_BATCH, manifest(OTHER_BATCH), b"", secret=False)
        assert laptop.batches() == (first, second)
        assert laptop.batch(OTHER_BATCH) == second
        refuses(UsageError, "no batch", laptop.batch, "0" * 16)


def test_drafts_and_settings_last(tmp_path: Path) -> None:
    key = (BATCH, ANN, "0" * 16, "comment")
    with Laptop.open(tmp_path) as laptop:
        assert (kept_draft(laptop, *key), laptop.setting("language")) == (None, None)
        for text in ("n", "ni", "niwâpamâw ᐊᑎᒼ\n"):
            laptop.save_drafts(*key[:2], [Draft(*key[2:], text)])
        laptop.save_drafts(*key[:2], [Draft(key[2], "suggestion", "other")])
        laptop.set_setting("language", "en")
        laptop.set_setting("language", "fr")
    with Laptop.open(tmp_path) as laptop:
        assert (kept_draft(laptop, *key), laptop.setting("language")) == ("niwâpamâw ᐊᑎᒼ\n", "fr")
        laptop.save_drafts(*key[:2], [Draft(*key[2:], None)])
        laptop.set_setting("language", None)
        assert (kept_draft(laptop, *key), laptop.setting("language")) == (None, None)
        assert kept_draft(laptop, *key[:3], "suggestion") == "other"
        for text in ("x" * 4001, "\ud800"):  # that no event could hold
            refuses(UsageError, "4,000", laptop.save_drafts, *key[:2], [Draft(*key[2:], text)])


def test_nothing_is_acknowledged_that_a_withdrawal_reaches(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        laptop.append(withdraw(Scope.COMMENTS))
        refuses(UsageError, "withdrew", laptop.append, comment(0, "x"))
        laptop.append(rate(0, GIST))
        laptop.append(withdraw(Scope.BATCH))
        refuses(UsageError, "withdrew", laptop.append, rate(0, GIST))
        laptop.append(withdraw(Scope.BATCH))
        laptop.append(rate(0, GIST, batch=OTHER_BATCH))
        laptop.append(rate(0, GIST, reviewer=BEN))
        laptop.append(Export(wall=WALL, batch=BATCH, events=4, head="c" * 64))
        assert [event.seq for event in laptop.events()] == list(range(7))


def test_an_export_has_every_head_and_its_own_batch_only(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        for number in range(3):
            laptop.append(rate(number, GIST))
            laptop.append(comment(number, "secret of the other", batch=OTHER_BATCH))
        laptop.append(withdraw(Scope.BATCH, OTHER_BATCH, BEN))
        laptop.append(withdraw(Scope.EVERYTHING, OTHER_BATCH, BEN))
        laptop.append(withdraw(Scope.COMMENTS, None, BEN))
        exported = export_events(laptop, BATCH)
        other = export_events(laptop, OTHER_BATCH)
        everything = list(laptop.events())
    assert [event.payload is None for event in exported] == [False, True] * 3 + [True, False, False]
    assert b"secret" not in b"".join(lines(exported))
    assert [read_event(line) for line in lines(exported)] == exported
    first = merge([], lines(exported))
    assert (first.chains.whole, first.chains.chains[0].last) == (True, 8)
    second = merge(first.added, lines(other))
    both = merge([], [*lines(other), *lines(exported)])
    known = {event.id: event for event in (*first.added, *second.added)}
    assert [known[event.id] for event in everything] == everything
    assert {event.id: event for event in both.added} == known


_OPEN = (
    "import sys; from pathlib import Path; from review.log.laptop import Laptop;"
    "laptop = Laptop.open(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
)
"""A program that opens the file and does nothing with it."""


@pytest.mark.parametrize("end", first(1, [signal.SIGKILL, signal.SIGTERM]))
def test_idle_program_is_seen_until_it_ends(tmp_path: Path, end: signal.Signals) -> None:
    pipe, command = subprocess.PIPE, [sys.executable, "-c", _OPEN, str(tmp_path)]
    with Laptop.open(tmp_path, busy_seconds=0.05) as laptop:
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as program:
            assert program.stdout is not None
            assert program.stdout.readline() == "open\n"
            refused = refuses(NotSaved, "", laptop.close_alone)
            assert refused.problem is StorageProblem.BUSY
            laptop.set_setting("still", "open")
            program.send_signal(end)
        laptop.close_alone().close()


def test_nobody_comes_in_while_one_is_alone(tmp_path: Path) -> None:
    one, other = (Laptop.open(tmp_path, busy_seconds=0.05) for _ in range(2))
    for laptop in (one, other):  # two that want to be alone hinder each other
        refuses(NotSaved, "", laptop.close_alone)
    one.close()
    presence = other.close_alone()
    refused = refuses(NotSaved, "", Laptop.open, tmp_path, busy_seconds=0.05)
    assert refused.problem is StorageProblem.BUSY
    presence.close()
    Laptop.open(tmp_path).close()


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
    with closing(sqlite3.connect(tmp_path / "office.sqlite", isolation_level=None)) as connection:
        create_event_table(connection)
        yield connection


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
