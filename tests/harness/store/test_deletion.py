"""A deleted run is nowhere, comes back whole, or takes its texts, notes, tags, certificates and findings along."""

import itertools
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.core.failures import RunState, StoreError, UsageError
from harness.run.beginning import resume_method
from harness.run.events import Control
from harness.run.following import Follower
from harness.run.running import execute_run
from harness.store import attachments, deletion
from harness.store.corpora.listing import list_corpora
from harness.store.deletion import KEPT_SECONDS, bring_back, delete_run, erase, purge, trash
from harness.store.live_runs import alone
from harness.store.replies import StoredFindings
from harness.store.run_list import list_runs
from harness.store.runs import find_open_run, find_run, find_trashed, read_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live
from rosetta_tui.session.recorded import recorded
from tests.harness.card import factory
from tests.harness.evaluation import CHEAP as PLAN
from tests.harness.evaluation import Heard, begun, chat_plan, corpus, corpus_of, kept, query, run_corpus
from tests.harness.run.made import constant
from tests.harness.scripted import Scripted
from tests.harness.sealed.refusals import refuses
from tests.harness.store.stored_rows import make_run
from tests.review.thorough import examples

OWN = "own own own own own own own own"
DANGLING = """
    WITH held (id) AS (
        SELECT source FROM entries UNION SELECT reference FROM entries UNION
        SELECT output FROM results UNION SELECT head FROM replies UNION
        SELECT tail FROM replies UNION SELECT body FROM replies
    )
    SELECT id FROM held WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM texts)
"""


def delete(path: Path, name: str) -> None:
    with closing(open_store(path)) as connection:
        delete_run(connection, find_run(connection, name).id)


def everything(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.iterdir() if each.is_file())


def test_requests_and_replies_of_a_run_go_with_it(endpoint: Scripted, store_path: Path) -> None:
    run_corpus(store_path, corpus(4), chat_plan(endpoint.url))
    stays = kept(store_path).run.run_id
    run_corpus(store_path, corpus(3, source=OWN, reference="r"), chat_plan(endpoint.url))
    assert OWN.upper().encode() in everything(store_path)
    delete(store_path, "last")
    rest = everything(store_path)
    assert OWN.encode() not in rest
    assert OWN.upper().encode() not in rest
    outputs = [each.output for each in kept(store_path, stays).results]
    assert outputs == [f"ENTRY NUMBER {n}" for n in range(4)]
    assert query(store_path, "SELECT count(*) FROM replies") == [(4,)]
    assert query(store_path, "PRAGMA integrity_check") == [("ok",)]
    assert query(store_path, "PRAGMA foreign_key_check") == []
    assert query(store_path, DANGLING) == []


def test_a_reply_that_another_run_was_given_too_stays(endpoint: Scripted, store_path: Path) -> None:
    for _ in range(2):
        run_corpus(store_path, corpus(4), chat_plan(endpoint.url))
    delete(store_path, "last")
    run_corpus(store_path, corpus(4), chat_plan(endpoint.url))
    assert len(endpoint.asked) == 4
    delete(store_path, "last")
    delete(store_path, "last")
    tables = ("runs", "results", "entries", "corpora", "texts", "replies", "stretches")
    assert [query(store_path, f"SELECT count(*) FROM {name}") for name in tables] == [[(0,)]] * 7


def steps_of_deleting(path: Path, size: int) -> int:
    """Count SQLite's own steps, in hundreds, for deleting a run beside a four times larger one."""
    run_corpus(path, corpus(4 * size), PLAN)
    own = [Entry(id=n, source=f"{OWN} {n}", reference=f"{n} {OWN}") for n in range(size)]
    run_corpus(path, corpus_of(own), PLAN)
    steps = itertools.count()
    with closing(open_store(path)) as connection:
        number = find_run(connection, "last").id
        connection.set_progress_handler(lambda: next(steps) < 0, 100)
        delete_run(connection, number)
    return next(steps)


@pytest.mark.thorough
def test_deleting_takes_time_linear_in_the_store(tmp_path: Path) -> None:
    small = steps_of_deleting(tmp_path / "small" / "rosetta.sqlite", 100)
    large = steps_of_deleting(tmp_path / "large" / "rosetta.sqlite", 400)
    assert large / small < 8, "four times the entries must not take sixteen times the steps"


def away(path: Path) -> int:
    """Store a run and put it away long ago."""
    run_corpus(path, corpus(2), PLAN)
    with closing(open_store(path)) as connection:
        number = find_run(connection, "last").id
        trash(connection, number)
        connection.execute("UPDATE runs SET put_away = 1")
    return number


def test_run_brought_back_survives_purge(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = away(store_path)
    real = deletion.delete_run
    with closing(open_store(store_path)) as mine, closing(open_store(store_path)) as other:

        def between(*args: Any, **wishes: Any) -> bool:
            bring_back(other, number)
            return real(*args, **wishes)

        monkeypatch.setattr(deletion, "delete_run", between)
        assert purge(mine) == 0
        assert find_run(other, "last").id == number


def test_held_run_is_purged_the_next_time(store_path: Path) -> None:
    away(store_path)
    with closing(open_store(store_path)) as connection:
        run_id = query(store_path, "SELECT run_id FROM runs")[0][0]
        with alone(store_path, run_id):
            assert purge(connection) == 0
        assert purge(connection) == 1
    assert query(store_path, "SELECT count(*) FROM runs") == [(0,)]


TABLES = ("runs", "results", "entries", "corpora", "texts", "stretches", "notes", "tags")


@pytest.fixture
def number(finished: Path) -> int:
    """The store's number of a finished run, the only one."""
    return kept(finished).run.id


def stored(path: Path) -> list[object]:
    return [query(path, f"SELECT * FROM {name} ORDER BY 1") for name in TABLES]


def test_no_reader_finds_a_deleted_run(store_path: Path) -> None:
    number, _ = begun(store_path, corpus(3), PLAN)
    run_id = kept(store_path).run.run_id
    with closing(open_store(store_path)) as store:
        trash(store, number)
        for reader, *told in (
            (find_run, store, run_id[:6]), (find_run, store, "last"), (read_run, store, number),
            (find_open_run, store), (Follower, store_path, run_id), (recorded, store, run_id),
        ):  # fmt: skip
            refuses((UsageError, StoreError), r"deleted|no run|No run", reader, *told)
        assert list_runs(store) == []
        assert [each.runs for each in list_corpora(store)] in ([], [()])


def test_run_comes_back_as_it_was(store_path: Path, number: int) -> None:
    before = stored(store_path)
    with closing(open_store(store_path)) as store:
        trash(store, number)
        assert list_runs(store, deleted=True)[0].trashed == pytest.approx(time.time(), abs=60)
        assert find_trashed(store, "last").id == number
        bring_back(store, number)
    assert stored(store_path) == before


def test_only_overdue_runs_are_erased(store_path: Path, number: int) -> None:
    run_corpus(store_path, corpus(3, source="another text"), PLAN)
    with closing(open_store(store_path)) as store:
        for run in list_runs(store):
            trash(store, run.number)
        assert purge(store) == 0
        long_ago = time.time() - KEPT_SECONDS - 1
        store.execute("UPDATE runs SET put_away = ? WHERE id <> ?", (long_ago, number))
        assert purge(store) == 1
        assert [run.number for run in list_runs(store, deleted=True)] == [number]
        assert query(store_path, "SELECT count(*) FROM texts WHERE body = 'another text'") == [(0,)]
        bring_back(store, number)
        assert purge(store, older_than=0) == 0


def test_an_erased_run_cannot_come_back(store_path: Path, number: int) -> None:
    with closing(open_store(store_path)) as store:
        run = read_run(store, number)
        trash(store, number)
        erase(store, run)
        refuses(StoreError, "erased", bring_back, store, number)
        refuses(UsageError, "brought back", find_trashed, store, "last")


def test_a_run_at_work_is_left_alone(store_path: Path, number: int) -> None:
    with closing(open_store(store_path)) as store:
        run = read_run(store, number)
        with alone(store_path, run.run_id):  # a process has the run before its first heartbeat
            refuses(UsageError, "under way", trash, store, number)
            refuses(UsageError, "under way", erase, store, run)
        set_live(store, number, RunState.RUNNING, Live(at=time.time()))
        refuses(UsageError, "under way", trash, store, number)
        assert len(list_runs(store)) == 1


def test_run_deleted_before_it_goes_on_does_not(store_path: Path) -> None:
    number, _ = begun(store_path, corpus(3), PLAN)
    with closing(open_store(store_path)) as store:
        method = resume_method(store, read_run(store, number))
        trash(store, number)
    heard = Heard()
    refuses(StoreError, "deleted", execute_run, store_path, number, method, heard, Control())
    assert query(store_path, "SELECT count(*) FROM results") == [(0,)]


def test_lock_of_an_erased_run_goes_with_it(store_path: Path) -> None:
    def locks() -> list[str]:
        return sorted(each.name for each in (store_path.parent / "locks").glob("*-*.lock"))

    run_corpus(store_path, corpus(3), PLAN)
    with closing(open_store(store_path)) as store:
        number, first = kept(store_path).run.id, kept(store_path).run.run_id
        run_corpus(store_path, corpus(3), PLAN)
        second = find_run(store, "last")
        assert locks() == sorted([f"{first}.lock", f"{second.run_id}.lock"])
        erase(store, second)
        assert locks() == [f"{first}.lock"]
        trash(store, number)
        assert locks() == [f"{first}.lock"]
        purge(store, older_than=-1)
        assert locks() == []


@pytest.fixture
def run(connection: sqlite3.Connection) -> int:
    return make_run(connection, [Entry(id=1, source="a", reference="b")])


def test_words_are_listed_with_their_run(connection: sqlite3.Connection, run: int) -> None:
    other = make_run(connection, [Entry(id=1, source="a", reference="b")], run_id="2222-b")
    attachments.change_words(connection, run, note="  ᓂᐚᐸᒫᐤ\nsecond \ud800 ")
    attachments.change_words(connection, run, add=["b", "a", "a"])
    listed = {each.number: each for each in list_runs(connection)}
    assert (listed[run].note, listed[run].tags) == ("ᓂᐚᐸᒫᐤ\nsecond \ufffd", ("a", "b"))
    assert (listed[other].note, listed[other].tags) == ("", ())
    delete_run(connection, run)
    assert attachments.tags_by_run(connection) == {}
    assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)


def test_tags_are_added_and_taken_away(connection: sqlite3.Connection, run: int) -> None:
    assert attachments.change_words(connection, run, add=["one", "two"]) == ("one", "two")
    assert attachments.change_words(connection, run, add=["three"], remove=["one", "none"]) == ("three", "two")
    assert attachments.change_words(connection, run, remove=["two", "three"]) == ()
    attachments.change_words(connection, run, note="x")
    attachments.change_words(connection, run, note=" ")
    assert attachments.note_of(connection, run) == ""
    attachments.change_words(connection, run, add=["kept"])
    for tag in ("", "  ", "#", "two words", "a,b", "a\tb", "a\x00", "x" * 41):
        refuses(UsageError, "one word", attachments.change_words, connection, run, add=["good", tag])
    with pytest.raises(UsageError, match=str(attachments.MOST_TAGS)):
        attachments.change_words(connection, run, add=[str(n) for n in range(attachments.MOST_TAGS)])
    assert attachments.tags_of(connection, run) == ("kept",)
    refuses(UsageError, "Shorten", attachments.change_words, connection, run, note="x" * (attachments.MOST_NOTE + 1))
    attachments.change_words(connection, run, note="x" * attachments.MOST_NOTE)


@examples(50, 500)
@given(st.text(max_size=60))
def test_a_tag_is_tidy_once_and_for_all(text: str) -> None:
    try:
        tag = attachments.tidy_tag(text)
    except UsageError:
        return
    assert 0 < len(tag) <= attachments.MOST_TAG
    assert tag.split() == [tag]
    assert attachments.tidy_tag(f" ##{tag} ") == tag


def test_note_and_tags_change_together(connection: sqlite3.Connection, run: int) -> None:
    assert attachments.change_words(connection, run, note="one", add=["a", "b"]) == ("a", "b")
    with pytest.raises(UsageError, match="A tag is one word"):
        attachments.change_words(connection, run, note="two", add=["x" * (attachments.MOST_TAG + 1)])
    with pytest.raises(UsageError, match=f"at most {attachments.MOST_TAGS} tags"):
        attachments.change_words(connection, run, note="two", add=[str(n) for n in range(attachments.MOST_TAGS)])
    assert (attachments.note_of(connection, run), attachments.tags_of(connection, run)) == ("one", ("a", "b"))
    assert attachments.change_words(connection, run, remove=["a"]) == ("b",)
    assert attachments.change_words(connection, run, note="") == ("b",)
    assert (attachments.note_of(connection, run), attachments.tags_of(connection, run)) == ("", ("b",))
    trash(connection, run)
    for each in (run, 999):
        refuses(StoreError, "was deleted meanwhile", attachments.change_words, connection, each, note="words")
        refuses(StoreError, "was deleted meanwhile", attachments.change_words, connection, each, add=["a"])
    bring_back(connection, run)
    assert (attachments.note_of(connection, run), attachments.tags_of(connection, run)) == ("", ("b",))


ONE = attachments.Attached(b'{"one":1}', b"s" * 64, "aa" * 32)
TWO = attachments.Attached(b'{"two":2}', b"t" * 64, "bb" * 32)


def test_certificates_are_kept_once_with_their_run(store_path: Path) -> None:
    with closing(open_store(store_path)) as connection:
        number = factory.add_run(connection)
        for each in (ONE, TWO, ONE):
            attachments.attach_certificate(connection, number, each)
        assert attachments.attached_to(connection, number) == (ONE, TWO)
        assert attachments.attached_to(connection, number + 1) == ()
        assert attachments.attached_by_run(connection) == {number: (ONE, TWO)}
        assert list_runs(connection)[0].certificates == (ONE, TWO)
        assert [attachments.detach_certificates(connection, number) for _ in "12"] == [2, 0]
        assert list_runs(connection)[0].certificates == ()
        attachments.attach_certificate(connection, number, ONE)
        connection.execute("UPDATE certificates SET certificate = 'text'")
        assert attachments.attached_to(connection, number) == (), "of a wrong type"
        delete_run(connection, number)
        assert attachments.attached_by_run(connection) == {}
    everything = b"".join(f.read_bytes() for f in store_path.parent.iterdir() if f.is_file())
    assert ONE.certificate not in everything


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
