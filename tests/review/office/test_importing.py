"""The office's file, and ratings that come back: in any order, any number of times, whole or not at all."""

import errno
import itertools
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import StoreError, UsageError
from harness.sealed.carried_files import FoundFile
from harness.sealed.chain import check_chain
from harness.store.sqlite.sealing import forget_keys
from review.files.manifests import BatchItem
from review.log.event import Event, read_event
from review.log.payloads import Comment, OrganiserLook, Scope
from review.log.table import NotSaved
from review.office.intake import importing
from review.office.intake.importing import enrol_laptop, find_ratings, import_bytes, import_files
from review.office.intake.quarantine import withdraw
from review.office.intake.speaking import FileOutcome
from review.office.results.progress import progress, waiting
from review.office.results.results import rated_items
from review.office.store.database import FILE
from review.office.store.store import Office
from rosetta_tui.review.organiser.words.plan import not_shown_words
from tests.growth import sqlite_steps
from tests.harness.sealed.refusals import refuses
from tests.review.office.laptops import NOW, events_of, hand_in, made, next_of, person, rating, take, take_file
from tests.review.office.made import WALL, Desk, Person, desk, random_ratings, take_vouched, vouch_for
from tests.review.office.secret_entries import secret_desk
from tests.review.thorough import times

__all__ = ["made"]


def ids(made: Desk) -> list[str]:
    return [event.id for event in made.office.events(made.review)]


def test_ratings_arrive(made: Desk) -> None:
    someone = person(made, 0, 10)
    report = hand_in(made, someone)
    assert (report.outcome, report.added, report.already_here) == (FileOutcome.TAKEN, 11, 0)
    assert [*report.aside, *report.clocks, bool(report.damaged)] == [False]
    shown = progress(made.office, made.review)
    [line] = [each for each in shown.reviewers if each.reviewer == made.card(someone)]
    assert (line.consented, line.rated, line.cannot_judge) == (True, 10, 0)
    assert (shown.done, shown.imports) == (10, 1)
    assert line.last_import


def test_every_order_and_any_repetition_gives_one_state(made: Desk) -> None:
    people = [person(made, place, 0) for place in range(3)]
    files = []
    for someone in people:
        someone.rate(random_ratings(6, 1))
        files.append(someone.handed_over())
        someone.rate(random_ratings(6, 2), start=6)
        files.append(someone.handed_over())
    people[2].withdraw(Scope.COMMENTS)
    files.append(people[2].handed_over())
    empty = shutil.copytree(made.folder, made.folder.parent / "empty")
    seen = []
    orders = list(itertools.permutations(range(len(files))))
    for number, order in enumerate(Random(1).sample(orders, times(2, 60))):
        folder = shutil.copytree(empty, made.folder.parent / f"order{number}")
        with Office.open(folder) as office:
            review = office.review("demo")
            for place in (*order, *order[::2], order[0]):
                take_vouched(office, made.identity, files[place], now=NOW)
            events = office.events(review)
            seen.append((office.state(review), [event.line() for event in events]))
    assert all(each == seen[0] for each in seen)
    assert len(seen[0][1]) == 3 * 13 + 1


def test_an_unknown_laptop_waits_for_somebody_to_vouch(made: Desk) -> None:
    someone = person(made, 0, 5)
    report = take_file(made, someone.handed_over(), enrol=False)
    assert report.outcome is FileOutcome.SET_ASIDE
    assert report.laptop_phrase == someone.identity.public.phrase
    assert not ids(made)
    someone.rate(random_ratings(5, 1), start=5)
    take_file(made, someone.handed_over(), enrol=False)
    [laptop] = waiting(made.office)
    assert (laptop.files, laptop.phrase) == (2, someone.identity.public.phrase)
    key = someone.identity.public.signing_key
    reports = enrol_laptop(made.office, key, "blue", None, [made.identity.age], NOW)
    assert [each.outcome for each in reports] == [FileOutcome.TAKEN] * 2
    assert not waiting(made.office)
    assert (len(ids(made)), [laptop.name for laptop in made.office.laptops()]) == (11, ["blue"])


def test_ratings_of_another_review_are_refused(made: Desk, tmp_path: Path) -> None:
    other = desk(tmp_path / "other", reviewers=2, items=20)
    with other.office:
        data = Person(tmp_path / "theirs", other.batch, other.codes[0]).handed_over()
        report = take_vouched(made.office, other.identity, data)
    assert report.outcome is FileOutcome.REFUSED
    assert "was not made here" in report.why


def test_a_withdrawal_erases_here_and_in_every_later_file(made: Desk) -> None:
    someone = person(made, 0, 4)
    text = "a secret thought about boats"
    said = someone.laptop.append(Comment(**someone.place, item=someone.order[0], text=text))
    early = someone.handed_over()
    take_file(made, early)
    made.office.add_certificate(made.review, "run", b"{}", b"s")
    assert said.salt is not None
    traces = [text.encode(), said.salt, canonical_bytes(said.payload.model_dump(mode="json"))]
    assert all(found(made.folder, trace) for trace in traces)
    someone.withdraw()
    report = hand_in(made, someone)
    assert (report.withdrawn, report.recompute) == ([made.card(someone)], 1)
    assert not any(found(made.folder, trace) for trace in traces)
    again = take_file(made, early)
    assert again.added == 0
    assert not any(found(made.folder, trace) for trace in traces)
    state = made.office.state(made.review)
    assert not any(person.judgements for person in state.reviewers.values())
    assert [each.recompute for each in made.office.certificates(made.review)] == [True]
    assert check_chain(made.office.events(made.review)).whole


@pytest.mark.parametrize("at_the_office", [False, True], ids=["laptop", "office"])
def test_taking_back_comments_alone_leaves_certificates(made: Desk, at_the_office: bool) -> None:
    someone, own = person(made, 0, 4), [made.identity.age]
    hand_in(made, someone)
    made.office.add_certificate(made.review, "run", b"{}", b"s")
    if at_the_office:
        done = withdraw(made.office, made.review, someone.code, Scope.COMMENTS, own)
        assert done.recompute == 0
    else:
        someone.withdraw(Scope.COMMENTS)
        report = hand_in(made, someone)
        assert (report.withdrawn, report.recompute) == ([made.card(someone)], 0)
    assert [each.recompute for each in made.office.certificates(made.review)] == [False]
    done = withdraw(made.office, made.review, someone.code, Scope.EVERYTHING, own)
    assert done.recompute == 1


def found(folder: Path, trace: bytes) -> bool:
    return any(trace in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_office_takes_back_for_a_person(made: Desk) -> None:
    first, second = person(made, 0, 4), person(made, 1, 12)
    data = first.handed_over()
    take_file(made, data)
    hand_in(made, second)
    done = withdraw(made.office, made.review, first.code, Scope.BATCH, [made.identity.age])
    assert done.erased == 5
    take_file(made, data)
    lines = {each.reviewer: each for each in progress(made.office, made.review).reviewers}
    assert lines[made.card(first)].done == 0
    assert lines[made.card(first)].withdrawn == {Scope.BATCH}
    assert lines[made.card(second)].done == 12
    assert {row.reviewer for row in rated_items(made.office, made.review)} == {second.code}
    refuses(UsageError, "no reviewer", withdraw, made.office, made.review, "00000000", Scope.BATCH, [made.identity.age])


def test_ratings_by_item_leave_controls_out(made: Desk) -> None:
    someone = person(made, 0, 0)
    someone.rate(random_ratings(len(someone.order), 3))
    hand_in(made, someone)
    rows = rated_items(made.office, made.review)
    key = made.review.key
    real = [item for item in someone.order if key.items[item].control is None]
    assert len(rows) == len(real) == 30
    assert {row.entry_id for row in rows} == {key.items[item].entry for item in real}
    assert {row.run_id for row in rows} == {key.runs[0].run_id}
    given = dict(zip(someone.order, random_ratings(len(someone.order), 3), strict=True))
    by_entry = {key.items[item].entry: given[item].rank for item in real}
    assert {row.entry_id: row.rating for row in rows} == by_entry


_KILLED = """
import sys
from pathlib import Path
from harness.sealed.sealing import AgeIdentity
from review.office.intake.importing import import_bytes
from review.office.store.store import Office

folder, data, secret = Path(sys.argv[1]), Path(sys.argv[2]).read_bytes(), sys.argv[3]
with Office.open(folder) as office:
    print("go", flush=True)
    import_bytes(office, [AgeIdentity.read(secret)], data, "x")
    print("done", flush=True)
"""


@pytest.mark.thorough
def test_an_import_that_is_killed_is_whole_or_not_there(made: Desk) -> None:
    someone = person(made, 0, 0)
    someone.rate(random_ratings(len(someone.order), 1))
    for _ in range(3):
        someone.rate(random_ratings(len(someone.order), 2))
    made.office.enrol(someone.identity.public.signing_key, "blue")
    made.office.close()
    file = made.folder.parent / "x.rosetta-ratings"
    file.write_bytes(someone.handed_over())
    whole = 1 + 4 * len(someone.order)
    seen = set()
    chance = Random(2)
    tries = times(4, 200)
    for number in range(tries):
        folder = shutil.copytree(made.folder, made.folder.parent / f"killed{number}")
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(folder), str(file), made.identity.age.secret], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(chance.uniform(0, 0.5))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        told_done = b"done" in process.communicate()[0]
        with Office.open(folder) as office:
            count = len(office.events(office.review("demo")))
            imports = len(office.imports())
        assert count in {0, whole}
        assert imports == (count > 0)
        assert count == whole or not told_done
        seen.add(count)
        shutil.rmtree(folder)
    assert seen if tries < 200 else seen == {0, whole}
    made.office = Office.open(made.folder)


def test_damaged_files_are_refused_in_words_and_stop_no_other(made: Desk, tmp_path: Path) -> None:
    good = person(made, 0, 2).handed_over()
    stick = tmp_path / "stick"
    (stick / "inside").mkdir(parents=True)
    (stick / "a.rosetta-ratings").write_bytes(good[: len(good) // 2])
    (stick / "b.rosetta-ratings").write_bytes(b"PK\x03\x04 no")
    (stick / "inside" / "c.rosetta-ratings").write_bytes(good)
    (stick / "note.txt").write_bytes(b"x")
    files = find_ratings([stick, stick / "gone.rosetta-ratings"]).files
    assert [file.path.name[0] for file in files] == ["a", "b", "c", "g"]
    vouch_for(made.office, made.identity, good)
    reports = list(import_files(made.office, [made.identity.age], files, now=NOW))
    refused = [report.outcome is FileOutcome.REFUSED for report in reports]
    assert refused == [bool(report.why) for report in reports] == [True, True, False, True]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_events_of_a_newer_version_refuse_their_file(made: Desk) -> None:
    someone = person(made, 0, 2)
    events = events_of(someone)
    rate = rating(someone, 2).model_copy(update={"face": "telephone"})
    report = take(made, someone.identity, [*events, next_of(events[-1], rate)])
    assert report.outcome is FileOutcome.REFUSED
    assert "1 of its 4 events were written by a newer version. Install the newest version here" in report.why
    assert not ids(made)
    changed = next_of(events[-1], rate)
    damaged = replace(changed, salt=bytes(15) + b"1")
    assert take(made, someone.identity, [*events, damaged]).why.startswith("x: what its laptop signed is not")


def test_what_a_laptop_could_not_show_is_named_by_its_entry(made: Desk) -> None:
    first, second = person(made, 0, 0), person(made, 1, 0)
    first.leave_out(3)
    for place in (3, 4):
        second.leave_out(second.order.index(first.order[place]))
    hand_in(made, first)
    hand_in(made, second)
    found = progress(made.office, made.review)
    both, one = (made.review.key.items[first.order[place]].entry for place in (3, 4))
    assert (found.not_shown, found.done) == ({both: 2, one: 1}, 3)
    (said,) = not_shown_words(found)
    assert said.startswith("NOT SHOWN: 2 sentences could not be shown on a laptop")
    assert f"(3 times in all): entries {both}, {one}." in said


def test_last_of_many_files_costs_as_the_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It depends on the file and its people; one that comes again asks for its own events alone."""
    many, read, files = desk(tmp_path / "office", reviewers=6, items=30), list[str](), []
    for place, code in enumerate(many.codes):
        someone = Person(tmp_path / f"laptop{place}", many.batch, code)
        someone.rate(random_ratings(12, place))
        files.append(someone.handed_over())
        vouch_for(many.office, many.identity, files[-1])

    def counted(line: bytes) -> Event:
        event = read_event(line)
        read.append(event.device)
        return event

    monkeypatch.setattr("review.log.table.read_event", counted)
    asked, steps = [], []
    for data in files:
        read.clear()
        with sqlite_steps(many.office.connection) as done:
            report = import_bytes(many.office, [many.identity.age], data, "x", now=NOW)
        assert report.added == 13
        asked.append(len(read))
        steps.append(done())
    assert asked == [13] * len(files)
    assert steps[-1] < 1.25 * steps[1]
    read.clear()
    report = import_bytes(many.office, [many.identity.age], files[3], "x", now=NOW)
    assert (report.added, report.already_here, len(read), len(set(read))) == (0, 13, 26, 1)


@pytest.mark.parametrize("version", [0, 9], ids=["unversioned", "versioned"])
def test_file_of_another_program_or_a_newer_one_stays(tmp_path: Path, version: int) -> None:
    path = tmp_path / FILE
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE note (text TEXT)")
        other.execute(f"PRAGMA user_version = {version}")
        other.commit()
    before = path.read_bytes()
    refuses(StoreError, r"is the file of another program.*Move it away", Office.open, tmp_path)
    assert path.read_bytes() == before
    path.unlink()
    Office.open(tmp_path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    refuses(StoreError, "newer", Office.open, tmp_path)


def test_file_that_could_not_be_kept_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = desk(tmp_path / "home", reviewers=2, items=20)
    data = Person(tmp_path / "laptop", made.batch, made.codes[0]).handed_over()
    with made.office as office:
        waits = import_bytes(office, [made.identity.age], data, "x")
        assert waits.outcome is FileOutcome.SET_ASIDE
        with monkeypatch.context() as broken:
            broken.setattr(importing, "note_arrival", _full)
            refuses(NotSaved, "full", enrol_laptop, office, waits.signing_key, "blue", None, [made.identity.age])
        assert [each.content for each in office.quarantine()] == [data]
        assert not office.imports()
        [report] = enrol_laptop(office, waits.signing_key, "blue", None, [made.identity.age])
        assert report.outcome is FileOutcome.TAKEN


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class _Full:
    """A connection whose disk has no room for a second copy of the file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        if statement == "VACUUM":
            raise sqlite3.OperationalError("database or disk is full")
        return self._connection.execute(statement, *values)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)


@pytest.mark.parametrize("at_the_office", [False, True], ids=["import", "office"])
def test_a_full_disk_stops_no_withdrawal(tmp_path: Path, at_the_office: bool) -> None:
    made = desk(tmp_path / "home", reviewers=3, items=30)
    someone = Person(tmp_path / "laptop", made.batch, made.codes[0])
    someone.rate(random_ratings(20, 1))
    take_vouched(made.office, made.identity, someone.handed_over(), now=NOW)
    salts = [each.salt for each in someone.laptop.events() if each.salt]
    whole = made.office.connection
    made.office.connection = _Full(whole)  # type: ignore[assignment]
    own = [made.identity.age]
    if at_the_office:
        assert withdraw(made.office, made.review, someone.code, Scope.BATCH, own).unclean
    else:
        someone.withdraw()
        data = someone.handed_over()
        report = import_bytes(made.office, own, data, "x", now=NOW)
        assert (report.withdrawn, report.unclean) == ([made.card(someone)], True)
    assert made.office.unclean
    content = (made.folder / FILE).read_bytes()
    assert not any(salt in content for salt in salts)  # overwritten already
    whole.close()
    with Office.open(made.folder) as office:
        assert not office.unclean
        assert office.connection.execute("PRAGMA freelist_count").fetchone()[0] == 0


def test_a_file_that_another_program_holds_is_told_and_stays(tmp_path: Path) -> None:
    made = desk(tmp_path / "home", reviewers=2, items=20)
    someone = Person(tmp_path / "laptop", made.batch, made.codes[0])
    someone.rate(random_ratings(3, 1))
    file = tmp_path / "a.rosetta-ratings"
    file.write_bytes(someone.handed_over())
    vouch_for(made.office, made.identity, file.read_bytes())
    made.office.connection.execute("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(made.folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        [report] = import_files(made.office, [made.identity.age], [FoundFile(file, 0, 0.0)], now=NOW)
        assert report.outcome is FileOutcome.REFUSED
        assert "another program uses the file. Close the other window" in report.why
    [report] = import_files(made.office, [made.identity.age], [FoundFile(file, 0, 0.0)], now=NOW)
    assert (report.outcome, report.added) == (FileOutcome.TAKEN, 4)


def test_an_office_that_was_copied_goes_on_with_a_chain_of_its_own(tmp_path: Path) -> None:
    made = desk(tmp_path / "home", reviewers=2, items=20)
    batch = made.batch.manifest.batch
    look = OrganiserLook(wall=WALL, batch=batch, run_id="r", events_sha256="0" * 64)
    with made.office as first_office:
        first = first_office.append(made.review, look)
        copy = shutil.copytree(made.folder, tmp_path / "copy")
        with Office.open(copy) as office:
            review = office.review("demo")
            assert office.device != first_office.device
            second = office.append(review, look.model_copy(update={"events_sha256": "1" * 64}))
            assert (second.seq, second.device) == (0, office.device)
            assert second.lamport > first.lamport
            assert office.state(review).looks == {"r": 2}


# Sentences of a secret review lie sealed, and open on this computer only


@pytest.fixture(autouse=True)
def no_keys() -> Iterator[None]:
    forget_keys()
    yield
    forget_keys()


def sealed(folder: Path) -> dict[str, BatchItem]:
    with (made := secret_desk(folder, reviewers=2, items=20)).office:
        return dict(made.review.texts)


def readable(folder: Path, items: dict[str, BatchItem]) -> list[str]:
    data = b"".join(each.read_bytes() for each in folder.glob(f"{FILE}*"))
    said = {text for each in items.values() for text in (each.source, each.candidate)}
    return [text for text in said if text and text.encode() in data]


def texts(folder: Path) -> dict[str, BatchItem]:
    with Office.open(folder) as office:
        return dict(office.review("last").texts)


def test_a_secret_review_is_sealed_and_an_open_one_is_not(tmp_path: Path) -> None:
    items = sealed(tmp_path / "secret")
    assert (readable(tmp_path / "secret", items), texts(tmp_path / "secret")) == ([], items)
    with desk(tmp_path / "open", reviewers=2, items=20).office as office:
        assert readable(tmp_path / "open", dict(office.review("last").texts))


def test_a_file_from_before_is_sealed_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    items = sealed(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as raw:
        for table in ("sealed_texts", "unsealed", "words_key", "vault_texts"):
            raw.execute(f"DROP TABLE {table}")
        raw.executemany(
            "INSERT INTO item (item, review, source, candidate, around) VALUES (?, 1, ?, ?, ?)",
            [
                (each.id, each.source, each.candidate, each.around.model_dump_json() if each.around else "")
                for each in items.values()
            ],
        )  # fmt: skip
        raw.execute("PRAGMA user_version = 8")
        raw.commit()
    assert readable(tmp_path, items)
    assert (texts(tmp_path), readable(tmp_path, items), texts(tmp_path)) == (items, [], items)


def test_on_another_computer_they_do_not_open_and_all_else_is_there(tmp_path: Path) -> None:
    sealed(tmp_path)
    (tmp_path / "computer.key").unlink()
    forget_keys()
    with Office.open(tmp_path) as office:
        review = office.review("last")
        assert review.codes
        with pytest.raises(StoreError, match="no key of this computer opens them"):
            _ = review.texts
    assert not (tmp_path / "computer.key").exists()


def test_a_changed_byte_is_called_damage_and_not_a_lack_of_keys(tmp_path: Path) -> None:
    sealed(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as raw:
        [content] = raw.execute("SELECT content FROM sealed_texts").fetchone()
        changed = content[:-1] + bytes([content[-1] ^ 1])
        raw.execute("UPDATE sealed_texts SET content = ?", (changed,))
        raw.commit()
    with Office.open(tmp_path) as office, pytest.raises(StoreError, match="damaged"):
        _ = office.review("last").texts
