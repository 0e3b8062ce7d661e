"""What people write about secret sentences lies sealed; files of earlier versions are read and taken over."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.core.canonical import canonical_bytes
from harness.core.failures import KeyStoreError, StoreError
from harness.sealed.chain import check_chain
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.sealing import read_age_identities
from harness.store.sqlite.sealing import forget_keys
from review.files.batch import Batch, open_batch
from review.files.manifests import BATCH_FORMAT, RATINGS_FORMAT, BatchManifest
from review.files.ratings import open_ratings, sign_ratings
from review.log.event import EventError, read_event
from review.log.laptop import FILE_NAME, Draft, Laptop
from review.log.merge import export_events
from review.log.payloads import Adjudicate, Comment, Kind, Scope, Suggest, Translate, Withdraw
from review.log.sealed_words import SHUT
from review.office.intake.importing import import_bytes
from review.office.intake.speaking import FileOutcome, speaking
from review.office.results.certifying import review_evidence
from review.office.results.progress import progress
from review.office.store.arrivals import deliveries
from review.office.store.database import FILE
from review.office.store.store import Office
from review.session.waiting import kept
from review.verdict.certificate.certificate import CERTIFICATE_FORMAT
from review.verdict.certificate.evidence import read_evidence_file
from review.verdict.certificate.verifying import verify
from tests.harness.sealed.refusals import refuses
from tests.harness.store.sqlite.written_before import CANARY
from tests.review.office import made
from tests.review.office.secret_entries import secret_desk
from tests.review.open_words import HIDDEN, everything, laptop_of, older, raw, readable, secret_batch, told_before
from tests.review.thorough import times
from tests.review.verdict.certified import asked_alone

BATCH, OTHER, ANN, ITEM = "5e" * 8, "0b" * 8, "ANN0000A", "1" * 16
ABOUT = {"wall": made.WALL, "reviewer": ANN, "batch": BATCH, "item": ITEM}


@pytest.fixture(autouse=True)
def no_keys() -> Iterator[None]:
    forget_keys()
    yield
    forget_keys()


def forget(folder: Path) -> None:
    for each in folder.glob("*.key"):
        each.unlink()
    forget_keys()


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return older(tmp_path / "data")


# files of before


def test_files_of_before_are_sealed_and_tell_the_same(before: Path) -> None:
    office, laptop = told_before(before / FILE), told_before(before / FILE_NAME)
    assert set(readable(before)) == {FILE, FILE_NAME}
    hidden = secret_batch(before / FILE)
    for _ in range(2):
        told, events, drafts = everything(before)
        assert events == laptop
        assert {e.id: e for e in office if e.payload is not None}.items() <= {
            e.id: e for e in told if e.payload is not None
        }.items()
        assert sorted(filter(None, drafts)) == [f"{HIDDEN} draft 0", f"{CANARY} plain draft 0"]
        assert readable(before) == []
        forget_keys()
    for name in (FILE, FILE_NAME):
        stored = raw(before / name, "SELECT payload FROM event WHERE batch = ?", hidden)
        assert any('"sealed":["text"]' in payload for (payload,) in stored)


@pytest.mark.parametrize("name", [FILE, FILE_NAME])
def test_what_is_open_keeps_its_bytes(before: Path, name: str) -> None:
    hidden = secret_batch(before / name)
    query = (
        f"SELECT rowid, * FROM event WHERE batch IS NOT '{hidden}' OR kind NOT IN ('comment', 'suggest', 'adjudicate')"
    )
    heads = "SELECT rowid, id, device, seq, lamport, prev, kind, commitment, batch, reviewer FROM event"
    rules = "SELECT sql FROM sqlite_master WHERE tbl_name = 'event' ORDER BY sql"
    was = [raw(before / name, each) for each in (query, heads, rules)]
    assert sum(f"{CANARY} plain" in str(row) for row in was[0]) >= 3
    everything(before)
    assert [raw(before / name, each) for each in (query, heads, rules)] == was


@pytest.mark.costly("kills processes while they take files over")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_process_killed_at_any_step_loses_nothing(tmp_path: Path) -> None:
    count = times(2, 120)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tests.review.open_words", tmp_path, str(count)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["lost"], told["readable"]) == ([], [])
    assert told["kills"] >= count * 3 // 2


@pytest.mark.parametrize("damage", [
    'UPDATE event SET payload = replace(payload, \'"text":"\', \'"text":7,"more":"\')',
    "UPDATE event SET payload = substr(payload, 1, length(payload) - 3)",
    "UPDATE event SET salt = x'00'",
])  # fmt: skip
def test_what_was_damaged_is_sealed_and_damaged_still(before: Path, damage: str) -> None:
    with closing(sqlite3.connect(before / FILE_NAME)) as connection:
        connection.execute("DROP TRIGGER event_is_never_changed")
        connection.execute(f"{damage} WHERE kind IN ('comment', 'suggest') AND payload IS NOT NULL")
        connection.execute("CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event WHEN 0 BEGIN SELECT 1; END")
        connection.commit()
    refuses(EventError, r"Event \d+ of the store", laptop_of, before)
    assert FILE_NAME not in readable(before)


def test_without_the_key_nothing_is_taken_over_and_nothing_lost(before: Path) -> None:
    for name, opens in (("laptop", Laptop.open), ("computer", Office.open)):
        key, was = before / f"{name}.key", (before / f"{name}.key").read_text()
        key.write_text("damaged")
        forget_keys()
        refuses(KeyStoreError, f"keys of this {name} cannot be read", opens, before)
        key.write_text(was)
        forget_keys()
    everything(before)
    assert readable(before) == []


# on another computer, and without keys


def test_office_without_its_keys_tells_how_much_and_no_word(before: Path) -> None:
    own = Identity.load(before, Role.ORGANISATION).public.signing_key
    with Office.open(before) as office:
        review = office.review("hidden")
        was = progress(office, review), deliveries(office, review), speaking(office, review)
        texts = {e.id for e in office.events(review) if CANARY in str(e.payload)}
    forget(before)
    with Office.open(before) as office:
        review = office.review("hidden")
        now = progress(office, review), deliveries(office, review), speaking(office, review)
        assert now == was
        shut = {e.id for e in office.events(review, shut=True) if e.shut}
        assert shut == texts
        assert texts
        for read in (
            lambda: office.state(review),
            lambda: office.events(review),
            lambda: review_evidence(office, review, own),
        ):
            refuses(StoreError, r"sealed, and no key .* put back the keys", read)
        state = office.state_of_any(review).reviewers.values()
        assert {text for each in state for text in each.comments.values()} == {SHUT}
        assert office.state(office.review("plain")).reviewers
    assert not list(before.glob("computer.*"))


def test_what_is_written_elsewhere_opens_where_the_keys_are(before: Path) -> None:
    batch = secret_batch(before / FILE)
    keys = {each: each.read_text() for each in before.glob("*.key")}
    with Office.open(before):
        pass
    forget(before)
    with Office.open(before) as office:
        review = office.review("hidden")
        item = next(iter(review.key.orders.values()))[0]
        note = Adjudicate(wall=made.WALL, batch=batch, item=item, harmful=None, note="kept")
        office.append(review, note)
        [said] = [e for e in office.events(review, shut=True) if e.payload == note]
        assert not said.shut
        refuses(StoreError, "sealed", office.state, review)
    (before / "organisation.key").write_text(keys[before / "organisation.key"])
    forget_keys()
    with Office.open(before) as office:
        assert said in office.events(office.review("hidden"))


def test_named_key_opens_words_of_a_lost_computer_for_good(tmp_path: Path) -> None:
    desk = secret_desk(tmp_path / "office", reviewers=2, items=12)
    person = made.Person(tmp_path / "laptop", desk.batch, desk.codes[0])
    person.laptop.append(Comment(**person.place, item=person.order[0], text=f"{CANARY} said"))
    data = person.handed_over()
    made.take_vouched(desk.office, desk.identity, data)
    desk.office.close()
    (tmp_path / "office" / "computer.key").unlink()
    forget_keys()
    for known in (False, True):
        with Office.open(tmp_path / "office") as office:
            review = office.review("last")
            if not known:
                refuses(StoreError, "again with the recovery key", office.events, review)
                assert import_bytes(office, [desk.identity.age], data, "again").added == 0
            assert f"{CANARY} said" in str([e.payload for e in office.events(review)])
            assert len(office.connection.execute("SELECT * FROM words_key").fetchall()) == 1
        forget_keys()


def test_laptop_without_its_key_hands_no_word_over(before: Path) -> None:
    batch = secret_batch(before / FILE_NAME)
    with Laptop.open(before) as laptop:
        was = kept(laptop)
        [other] = {each.id for each in laptop.batches()} - {batch}
        plain = export_events(laptop, other)
    (before / "laptop.key").unlink()
    with Laptop.open(before) as laptop:
        assert (kept(laptop), export_events(laptop, other)) == (was, plain)
        refuses(StoreError, r"sealed, and no key available", export_events, laptop, batch)
        who = next(e.payload.reviewer for e in laptop.events(batch) if e.kind is Kind.CONSENT)
        refuses(StoreError, "sealed, and no key available", laptop.drafts, batch, who)
        laptop.append(Withdraw(wall=made.WALL, reviewer=who, batch=None, scope=Scope.EVERYTHING))
        events = list(laptop.events())
        assert check_chain(events).whole
        assert not [e for e in events if getattr(e.payload, "reviewer", "") == who and e.kind is not Kind.WITHDRAW]
        assert laptop.drafts(batch, who) == ()
    assert not (before / "laptop.key").exists()


def test_a_damaged_key_of_one_review_stops_no_other(before: Path) -> None:
    with Office.open(before) as office:
        [(sealed,)] = office.connection.execute("SELECT sealed FROM words_key").fetchall()
        changed = sealed[:-1] + bytes([sealed[-1] ^ 1])
        office.connection.execute("UPDATE words_key SET sealed = ?", (changed,))
        office.connection.execute("UPDATE sealed_texts SET content = content")
    with Office.open(before) as office:
        assert office.state(office.review("plain")).reviewers
        refuses(StoreError, r"key of what people wrote .* is damaged", office.state, office.review("hidden"))
        office.connection.execute("DELETE FROM words_key")
        refuses(StoreError, "not in its file any more", office.events, office.review("hidden"))


# what is written now


def laptop_with_words(folder: Path) -> Laptop:
    laptop = Laptop.open(folder)
    for batch, secret in ((BATCH, True), (OTHER, False)):
        laptop.add_batch(json.dumps({"batch": batch}).encode(), b"", secret)
        about = {**ABOUT, "batch": batch}
        judged = {"position": 0, "active_ms": 1, "face": "lines", "version": "0"}
        laptop.record(
            [
                Comment(**about, text=f"{CANARY} a"),
                Suggest(**about, text=f"{CANARY} b"),
                Translate(**about, **judged, text=f"{CANARY} c"),
            ],
            (batch, ANN),
            [Draft(ITEM, "comment", f"{CANARY} d"), Draft(ITEM, "suggestion", "")],
        )
    return laptop


def test_only_what_is_written_in_a_secret_review_is_sealed(tmp_path: Path) -> None:
    with laptop_with_words(tmp_path) as laptop:
        texts = [getattr(e.payload, "text", None) for e in laptop.events(BATCH)]
        assert texts == [f"{CANARY} {each}" for each in "abc"]
        assert [each.text for each in laptop.drafts(BATCH, ANN)] == [f"{CANARY} d", ""]
        assert laptop.count_drafts() == 2
        assert [each.shut for each in laptop.events()] == [False] * 6
        laptop.append(Comment(**ABOUT, text=""))
    for batch, count in ((BATCH, 0), (OTHER, 3)):
        query = "SELECT payload, length(salt) FROM event WHERE batch = ?"
        rows = raw(tmp_path / FILE_NAME, query, batch)
        assert sum(CANARY in payload for payload, _ in rows) == count
        assert sum(length != 16 for _, length in rows) == 3 - count
    drafts = raw(tmp_path / FILE_NAME, "SELECT batch, text FROM draft ORDER BY text")
    assert [each for each in drafts if each[1]] == [(OTHER, f"{CANARY} d")]
    (tmp_path / "laptop.key").unlink()
    with Laptop.open(tmp_path) as laptop:  # what is shut is never written out
        shut = next(laptop.events(BATCH))
        refuses(StoreError, "sealed", shut.line)
        assert shut.erased().line()
        refuses(StoreError, "sealed", laptop.require_open, [shut])


@pytest.mark.parametrize(("change", "said"), [
    ("salt = substr(salt, 1, length(salt) - 1)", "was changed after it was sealed"),
    ("salt = (SELECT salt FROM event WHERE rowid = 2)", "moved from another place"),
    ("payload = replace(payload, '1111', '2222')", "content does not match its head"),
    ("payload = replace(payload, '\"sealed\":[\"text\"],', '')", "has no salt"),
])  # fmt: skip
def test_a_changed_byte_is_found(tmp_path: Path, change: str, said: str) -> None:
    laptop_with_words(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.execute("DROP TRIGGER event_is_never_changed")
        connection.execute(f"UPDATE event SET {change} WHERE rowid = 1")
        connection.commit()
    with Laptop.open(tmp_path) as laptop, pytest.raises(EventError, match=said):
        list(laptop.events())


def test_files_come_in_sealed_and_go_when_taken_back(tmp_path: Path) -> None:
    desk = secret_desk(tmp_path / "office", reviewers=2, items=12)
    people = [made.Person(tmp_path / f"laptop{n}", desk.batch, code) for n, code in enumerate(desk.codes)]
    words = {each.code: f"{CANARY} {each.code}" for each in people}
    for person in people:
        person.rate(made.random_ratings(3, 1))
        said = Comment(**person.place, item=person.order[0], text=words[person.code])
        person.laptop.append(said)
    files = [each.handed_over() for each in people]
    for data in (*files, files[0]):
        made.take_vouched(desk.office, desk.identity, data)

    def comments() -> list[str]:
        events = desk.office.events(desk.review)
        assert check_chain(events).whole
        return sorted(e.payload.text for e in events if isinstance(e.payload, Comment))

    assert comments() == sorted(words.values())
    rows = raw(tmp_path / "office" / FILE, "SELECT * FROM event")
    again = made.take_vouched(desk.office, desk.identity, files[1])
    assert (again.added, raw(tmp_path / "office" / FILE, "SELECT * FROM event")) == (0, rows)
    assert CANARY.encode() not in (tmp_path / "office" / FILE).read_bytes()
    people[0].withdraw(Scope.COMMENTS)
    made.take_vouched(desk.office, desk.identity, people[0].handed_over())
    assert comments() == [words[people[1].code]]
    events = export_events(people[1].laptop, desk.batch.manifest.batch)
    assert words[people[1].code].encode() in sign_ratings(events, desk.batch, people[1].identity)


def test_keyring_is_unasked_in_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    files: list[sqlite3.Connection] = []
    load, connect = Identity.load, sqlite3.connect

    def loading(folder: Path, role: Role) -> Identity:
        with suppress(sqlite3.ProgrammingError):  # closed since
            asked.append(files[-1].in_transaction)
        return load(folder, role)

    def connecting(path: Path, **named: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = connect(path, **named)
        files.extend([opened] if path.name in {FILE, FILE_NAME} else [])
        return opened

    monkeypatch.setattr(Identity, "load", loading)
    monkeypatch.setattr(sqlite3, "connect", connecting)
    folder = older(tmp_path / "older")
    Office.open(folder).close()
    Laptop.open(folder).close()
    load(tmp_path / "office", Role.ORGANISATION)
    desk = secret_desk(tmp_path / "office", reviewers=2, items=12)
    laptop = laptop_with_words(tmp_path / "laptop")
    laptop.save_drafts(BATCH, ANN, [Draft(ITEM, "comment", "x")])
    item = next(iter(desk.review.key.orders.values()))[0]
    batch = desk.batch.manifest.batch
    note = Adjudicate(wall=made.WALL, batch=batch, item=item, harmful=None, note="x")
    desk.office.append(desk.review, note)
    assert len(asked) >= 5
    assert not any(asked)


FILES = Path(__file__).parent / "golden_1"
CERTIFICATE = (FILES / "golden.certificate.json").read_bytes()
SIGNATURE = (FILES / "golden.certificate.sig").read_bytes()
IDENTITIES = read_age_identities(FILES / "organisation.key")


def golden_batch() -> Batch:
    return open_batch((FILES / "golden.rosetta-batch").read_bytes())


def test_a_batch_is_read_and_written_again_as_it_was() -> None:
    batch = golden_batch()
    assert batch.manifest.format == "rosetta-batch/1" != BATCH_FORMAT
    assert canonical_bytes(batch.manifest.model_dump(mode="json")) == batch.manifest_bytes
    assert (len(batch.items), len(batch.manifest.orders)) == (17, 3)
    assert batch.organisation_phrase == key_phrase(batch.manifest.signer, earlier=True)


@pytest.mark.parametrize("number", range(3))
def test_ratings_are_opened(number: int) -> None:
    opened = open_ratings((FILES / f"laptop-{number}.rosetta-ratings").read_bytes(), IDENTITIES)
    assert opened.manifest.format == "rosetta-ratings/1" != RATINGS_FORMAT
    assert opened.manifest.batch_sha256 == golden_batch().sha256
    last = [read_event(line) for line in opened.lines][-1]
    assert (opened.manifest.head, opened.manifest.events) == (last.id, 18)
    assert canonical_bytes(opened.manifest.model_dump(mode="json")) == opened.signed.content


def test_an_office_goes_on_with_its_reviews(tmp_path: Path) -> None:
    shutil.copy(FILES / "reviews.sqlite", tmp_path)
    with Office.open(tmp_path) as office:
        review = office.review("golden")
        for number in range(3):
            data = (FILES / f"laptop-{number}.rosetta-ratings").read_bytes()
            report = import_bytes(office, IDENTITIES, data, "again")
            assert (report.outcome, report.added, report.already_here) == (FileOutcome.TAKEN, 0, 18)
            opened = open_ratings(data, IDENTITIES)
            words = (opened.phrase(earlier=True), opened.laptop_phrase(earlier=True))
            assert (report.phrase, report.laptop_phrase) == words
        assert review.changed == ()
        fewer = dict(list(review.key.orders.items())[1:])
        for orders in (fewer, {who: order[1:] for who, order in review.key.orders.items()}):
            key = review.key.model_copy(update={"orders": orders})
            [said] = replace(review, key=key).changed
            assert said.startswith("the people who were asked")
        signer = review.manifest.organisation.signing_key
        done = verify(CERTIFICATE, SIGNATURE, review_evidence(office, review, signer))
        assert not done.broken, done.checks


def test_a_certificate_holds_by_its_evidence_to_both_programs() -> None:
    path = FILES / "golden.rosetta-evidence"
    file = read_evidence_file(path)
    assert (file.certificate, file.signature) == (CERTIFICATE, SIGNATURE)
    done = verify(file.certificate, file.signature, file.evidence)
    assert done.certificate.format == "rosetta-certificate/1" != CERTIFICATE_FORMAT
    assert done.certificate.as_bytes() == CERTIFICATE
    assert not done.broken, done.checks
    code, said = asked_alone(path, done.certificate.organisation.signing_key)
    assert (code, "Holds: discuss" in said) == (0, True)


def test_a_later_field_has_no_place_in_an_earlier_version() -> None:
    raw = golden_batch().manifest.model_dump(mode="json")
    assert set(BatchManifest.model_fields) >= set(raw)
    for name in set(BatchManifest.model_fields) - set(raw):
        refuses(ValidationError, "", BatchManifest.model_validate, raw | {name: "a" * 64})
