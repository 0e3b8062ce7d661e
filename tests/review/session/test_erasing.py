"""What nobody else has yet, against a plain model of the session; and deleting everything, of which no byte is left."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from keyring.backends.fail import Keyring as NoKeyring

from harness.core.failures import KeyStoreError
from harness.core.storage import StorageProblem
from harness.sealed.keys import Identity, Role
from harness.sealed.stick import StickError
from review.files.batch import write_batch
from review.files.ratings import open_ratings
from review.log.event import Event
from review.log.fold import Person, fold
from review.log.laptop import FILE_NAME, Laptop
from review.log.own_file import FileLock
from review.log.payloads import Kind, Scope
from review.log.table import NotSaved
from review.rating import CannotJudge, Rating
from review.session.view import Phase, TextField
from review.session.waiting import (
    BEGUN,
    StoredReviews,
    erase_everything,
    finish_erasing,
    hand_over_all,
    kept,
    open_laptop,
    why_not_erased,
)
from review.session.words.catalogue import Words
from review.session.words.troubles import trouble
from tests import keyring_in_memory
from tests.harness.sealed.refusals import refuses
from tests.keyring_in_memory import MemoryKeyring
from tests.review.session.scenes import CODE, CUSTODIANS, Sitting, batch_of, item_of, items_of
from tests.review.thorough import examples, times

OURS = b"organisation's own"


@pytest.fixture(autouse=True)
def ring() -> Iterator[MemoryKeyring]:
    with keyring_in_memory.memory_keyring() as ring:
        yield ring


@pytest.fixture
def person(tmp_path: Path) -> Sitting:
    """A laptop on which much was said."""
    person = Sitting(tmp_path / "home")
    batch = person.batch
    person.laptop.add_batch(batch.manifest_bytes, write_batch(batch), secret=False)
    person.laptop.set_setting("reviewer", CODE)
    person.session.save_text(person.see(), TextField.COMMENT, "my secret comment")
    person.rate()
    person.session.keep_draft(person.see(), TextField.SUGGESTION, "a half-typed wording")
    return person


def every_byte(folder: Path) -> bytes:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return b"\n".join(path.name.encode() + b"\n" + path.read_bytes() for path in paths)


def traces(person: Sitting) -> list[bytes]:
    texts = [text.encode() for item in person.batch.items for text in (item.source, item.candidate)]
    said = [b"my secret comment", b"a half-typed wording", CODE.encode(), b'"rate"']
    return [*texts, *said, person.laptop.device.encode(), person.batch.manifest.batch.encode()]


@pytest.mark.parametrize("in_keyring", [True, False])
def test_erasing_leaves_nothing(person: Sitting, ring: MemoryKeyring, in_keyring: bool) -> None:
    if not in_keyring:
        keyring.set_keyring(NoKeyring())
    person.session.export(stick := person.folder.parent)
    assert bool(ring.kept) is in_keyring
    assert not [each for each in traces(person) if each not in every_byte(person.folder)]
    (linked := stick / "the same bytes of the disk").hardlink_to(person.folder / FILE_NAME)
    assert linked.stat().st_size
    assert erase_everything(person.laptop) == ()
    assert linked.read_bytes() == b"", "overwritten before it is deleted"
    assert not person.folder.exists()
    assert not ring.kept
    assert {path.suffix for path in stick.iterdir()} == {"", ".rosetta-ratings"}


def test_what_others_keep_in_the_folder_stays(person: Sitting, ring: MemoryKeyring) -> None:
    folder = person.folder
    organisation = Identity.load(folder, Role.ORGANISATION)
    Identity.load(folder, Role.LAPTOP)
    others = [folder / "rosetta.sqlite", folder / "office.sqlite", folder / "review-words" / "crk"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(OURS)
    assert erase_everything(person.laptop) == ()
    assert [path.read_bytes() for path in others] == [OURS] * 3
    assert (Identity.load(folder, Role.ORGANISATION), len(ring.kept)) == (organisation, 1)
    left = {path.name for path in folder.iterdir()}
    assert left == {"rosetta.sqlite", "office.sqlite", "review-words", "organisation.keyring", "locks"}
    assert not [each for each in traces(person) if each in every_byte(folder)]


def test_another_window_prevents_it_and_nothing_is_changed(person: Sitting) -> None:
    before = every_byte(person.folder)
    other = Laptop.open(person.folder)
    refused = refuses(NotSaved, "", erase_everything, person.laptop)
    assert refused.problem is StorageProblem.BUSY
    assert "another window" in why_not_erased(Words.load("en"), refused).said
    assert every_byte(person.folder) == before
    person.rate()
    other.close()
    assert erase_everything(person.laptop) == ()


class Stubborn(MemoryKeyring):
    def delete_password(self, service: str, username: str) -> None:
        raise RuntimeError("locked")


def test_what_the_keyring_keeps_is_deleted_at_the_next_start(person: Sitting) -> None:
    keyring.set_keyring(stubborn := Stubborn())
    Identity.load(person.folder, Role.LAPTOP)
    (told,) = erase_everything(person.laptop)
    assert (told.name, told.in_keyring) == ("rosetta-review", True)
    assert not [each for each in traces(person) if each in every_byte(person.folder)]
    kinder = MemoryKeyring()
    kinder.kept = stubborn.kept
    keyring.set_keyring(kinder)
    assert finish_erasing(person.folder) == ()
    assert not kinder.kept
    assert not person.folder.exists()


def test_deletion_never_reaches_what_came_after(person: Sitting) -> None:
    keyring.set_keyring(Stubborn())
    Identity.load(person.folder, Role.LAPTOP)
    assert erase_everything(person.laptop)
    with Laptop.open(person.folder) as laptop:
        laptop.set_setting("reviewer", CODE)
    assert finish_erasing(person.folder) == ()
    assert not (person.folder / BEGUN).exists()
    with Laptop.open(person.folder) as laptop:
        assert laptop.setting("reviewer") == CODE


def test_a_file_that_was_moved_away_is_told(person: Sitting) -> None:
    (person.folder / FILE_NAME).rename(person.folder.parent / "moved")
    (told,) = erase_everything(person.laptop)
    assert told.name.endswith(FILE_NAME)
    assert "moved" in told.detail


@pytest.fixture
def as_another() -> Iterator[None]:
    """Be somebody who may not look into the folders of this test."""
    if sys.platform == "win32" or os.geteuid() != 0:
        pytest.skip("only the system's administrator can give rights up and take them back")
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_who_may_not_look_there_deletes_nothing(person: Sitting, as_another: None) -> None:
    for begin in (finish_erasing, open_laptop):
        refused = refuses(NotSaved, "", begin, person.folder)
        assert refused.problem is StorageProblem.READ_ONLY
    refuses(NotSaved, "", erase_everything, person.laptop)
    os.seteuid(0)
    person.rate()


def test_what_may_not_be_looked_at_any_more_is_told_by_name(
    person: Sitting, as_another: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(laptop: Laptop) -> FileLock:
        os.seteuid(0)
        presence = close_alone(laptop)
        os.seteuid(65534)
        return presence

    close_alone = Laptop.close_alone
    monkeypatch.setattr(Laptop, "close_alone", closed)
    told = erase_everything(person.laptop)
    assert str(person.folder / FILE_NAME) in {each.name for each in told}


_ERASE = """
import os, signal, sys
from pathlib import Path
from review.log.laptop import Laptop
from review.session import waiting
calls = 0
def dying(act):
    def acts(*arguments, **wishes):
        global calls
        calls += 1
        if calls == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*arguments, **wishes)
    return acts
Path.unlink, Path.rmdir, os.fsync = dying(Path.unlink), dying(Path.rmdir), dying(os.fsync)
waiting.erase_everything(Laptop.open(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("step", range(1, 22, times(11, 1)))
def test_deletion_killed_at_any_step_is_finished_at_next_start(person: Sitting, step: int) -> None:
    keyring.set_keyring(NoKeyring())
    Identity.load(person.folder, Role.LAPTOP)
    person.laptop.close()
    program = [sys.executable, "-c", _ERASE, str(person.folder), str(step)]
    assert subprocess.run(program, check=False).returncode == -signal.SIGKILL
    open_laptop(person.folder).close()
    assert not [each for each in traces(person) if each in every_byte(person.folder)]
    assert not (person.folder / "laptop.key").exists()


def test_where_nothing_was_begun_nothing_is_finished(person: Sitting) -> None:
    before = every_byte(person.folder)
    assert finish_erasing(person.folder) == ()
    assert finish_erasing(person.folder / "nowhere") == ()
    assert every_byte(person.folder) == before


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    sitting = Sitting(tmp_path / "home")
    sitting.laptop.add_batch(sitting.batch.manifest_bytes, b"sealed", secret=False)
    return sitting


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    folder = tmp_path / "stick"
    folder.mkdir()
    return folder


def waiting(sitting: Sitting) -> tuple[int, bool]:
    found = kept(sitting.laptop)
    return found.waiting, found.taken_back


def test_sentence_waits_once_however_much_was_said_of_it(sitting: Sitting, stick: Path) -> None:
    assert kept(sitting.laptop) == StoredReviews(batches=1)
    first = sitting.see()
    sitting.session.save_text(first, TextField.COMMENT, "so")
    sitting.session.flag_harm(first, harmful=True)
    sitting.rate()
    sitting.rate()
    assert kept(sitting.laptop) == StoredReviews(1, 2, 2, reviewers={sitting.batch.manifest.batch: CODE})
    sitting.see()
    sitting.session.undo()
    assert waiting(sitting) == (1, False)
    sitting.session.export(stick)
    assert kept(sitting.laptop) == StoredReviews(1, 1)
    sitting.see()  # what is changed after handing in waits again
    sitting.session.undo()
    assert waiting(sitting) == (1, False)
    sitting.rate(Rating.REJECT)
    assert waiting(sitting) == (1, False)
    sitting.session.export(stick)
    assert waiting(sitting) == (0, False)


def test_withdrawal_is_told_where_it_was_handed_over(sitting: Sitting, stick: Path) -> None:
    sitting.rate()
    sitting.session.withdraw(Scope.COMMENTS)
    assert waiting(sitting) == (1, False)
    sitting.session.export(stick)
    sitting.session.withdraw(Scope.EVERYTHING)
    assert waiting(sitting) == (0, True)
    (file,) = hand_over_all(sitting.laptop, stick)
    assert b'"kind":"withdraw"' in b"".join(open_ratings(file.path.read_bytes(), CUSTODIANS).lines)
    assert kept(sitting.laptop) == StoredReviews(1)


def test_everything_is_handed_over_without_opening_a_review(sitting: Sitting, stick: Path) -> None:
    sitting.rate()
    refuses(StickError, "", hand_over_all, sitting.laptop, stick / "gone")
    assert waiting(sitting) == (1, False)
    (file,) = hand_over_all(sitting.laptop, stick)
    opened = open_ratings(file.path.read_bytes(), CUSTODIANS)
    assert opened.phrase(earlier=True) == file.phrase
    assert opened.manifest.batch_sha256 == sitting.batch.sha256
    assert b'"rating":"gist"' in b"".join(opened.lines)
    assert hand_over_all(sitting.laptop, stick) == []


def test_keys_without_room_are_told(sitting: Sitting, stick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    sitting.rate(Rating.GIST)
    monkeypatch.setattr("harness.sealed.keys.write_private", full)
    caught = refuses(KeyStoreError, "", sitting.session.export, stick)
    said = trouble(Words.load("en"), caught)
    assert "disk is full" in said.said
    assert "No space left on device" in said.detail


def press(sitting: Sitting, decisions: list[tuple[str, str]], key: str) -> None:
    """Press a key as a person would: on what is painted, after a moment; ``decisions`` are those that stand."""
    session = sitting.session
    if move := {"R": sitting.restart, "E": session.go_on, "n": session.go_to_unrated}.get(key):
        move()
        return
    item = sitting.see() if session.view.item else None
    if key == "u":
        session.undo()
        if decisions:
            assert item_of(session.view).id == decisions.pop()[0]
    elif item is not None:
        if key == "0":
            session.cannot_judge(item, CannotJudge.UNSAID)
        elif key == "s":
            session.skip(item)
        else:
            session.rate(item, list(Rating)[int(key) - 1])
        decisions.append((item, key))


@examples(15, 400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(st.sampled_from("123412340ssuuunnRE"), max_size=40))
def test_any_keys_give_what_a_plain_model_says(keys: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sitting, decisions = Sitting(Path(folder), batch_of(items_of(5))), list[tuple[str, str]]()
        judged: dict[str, str] = {}
        for key in keys:
            press(sitting, decisions, key)
            view, judged = sitting.session.view, {i: said for i, said in decisions if said != "s"}
            assert (view.done, view.can_undo) == (len(judged), bool(decisions))
            assert (view.phase is Phase.END) <= (view.done + view.skipped == view.total)
            assert view.item is None or view.item.id not in judged
        sitting.restart()  # from the disk alone
        state = fold(sitting.laptop.events()).reviewers[sitting.batch.manifest.batch, CODE]
        said = {
            item: "0" if each.rating is None else str(each.rating.rank + 1) for item, each in state.judgements.items()
        }
        assert said == judged
        assert state.consented
        sitting.laptop.close()


def test_key_folds_only_its_own_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sitting = Sitting(tmp_path, batch_of(items_of(12)))
    for _ in range(6):
        sitting.rate()
    folded: list[Kind] = []
    add = Person.add

    def noted(person: Person, event: Event) -> None:
        folded.append(event.kind)
        add(person, event)

    monkeypatch.setattr(Person, "add", noted)
    monkeypatch.setattr(sitting.laptop, "events", lambda *_: pytest.fail("the log is read again"))
    sitting.rate()
    sitting.session.skip(sitting.see())
    sitting.session.keep_draft(sitting.see(), TextField.COMMENT, "so")
    sitting.rate()
    sitting.see()
    sitting.session.undo()
    assert folded == [Kind.RATE, Kind.SKIP, Kind.COMMENT, Kind.RATE, Kind.COMMENT, Kind.UNDO]
