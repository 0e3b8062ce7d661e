"""What nobody else has yet, counted as people would; and any keys, held against a plain model of the session."""

import errno
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from harness.core.failures import KeyStoreError
from harness.sealed.stick import StickError
from review.files.ratings import open_ratings
from review.log.event import Event
from review.log.fold import Person, fold
from review.log.payloads import Kind, Scope
from review.rating import CannotJudge, Rating
from review.session.view import Phase, TextField
from review.session.waiting import Kept, hand_over_all, kept
from review.session.words.catalogue import Words
from review.session.words.troubles import trouble
from tests import keyring_in_memory
from tests.review.session.scenes import (
    CODE,
    CUSTODIANS,
    Sitting,
    batch_of,
    item_of,
    items_of,
    sentences_of,
)
from tests.review.thorough import examples


@pytest.fixture(autouse=True)
def ring() -> Iterator[None]:
    with keyring_in_memory.memory_keyring():
        yield


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
    assert kept(sitting.laptop) == Kept(batches=1)
    first = sitting.see()
    sitting.session.save_text(first, TextField.COMMENT, "so")
    sitting.session.flag_harm(first, harmful=True)
    sitting.rate()
    sitting.rate()
    assert kept(sitting.laptop) == Kept(1, 2, 2, reviewers={sitting.batch.manifest.batch: CODE})
    sitting.see()
    sitting.session.undo()
    assert waiting(sitting) == (1, False)
    sitting.session.export(stick)
    assert kept(sitting.laptop) == Kept(1, 1)
    sitting.see()  # what is changed after handing over waits again
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
    assert kept(sitting.laptop) == Kept(1)


def test_everything_is_handed_over_without_opening_a_review(sitting: Sitting, stick: Path) -> None:
    sitting.rate()
    with pytest.raises(StickError):
        hand_over_all(sitting.laptop, stick / "gone")
    assert waiting(sitting) == (1, False)
    (file,) = hand_over_all(sitting.laptop, stick)
    opened = open_ratings(file.path.read_bytes(), CUSTODIANS)
    assert opened.phrase(earlier=True) == file.phrase
    assert opened.manifest.batch_sha256 == sitting.batch.sha256
    assert b'"rating":"gist"' in b"".join(opened.lines)
    assert hand_over_all(sitting.laptop, stick) == []


def test_translations_wait_like_answers(tmp_path: Path, stick: Path) -> None:
    sitting = Sitting(tmp_path / "home", batch_of(sentences_of(2), task="translate"))
    sitting.laptop.add_batch(sitting.batch.manifest_bytes, b"sealed", secret=False)
    sitting.session.translate(sitting.see(), "unu")
    found = kept(sitting.laptop)
    assert (found.answers, found.waiting) == (1, 1)
    hand_over_all(sitting.laptop, stick)
    assert waiting(sitting) == (0, False)
    sitting.see()
    sitting.session.undo()
    sitting.session.translate(sitting.see(), "unua")
    assert waiting(sitting) == (1, False)


def test_keys_without_room_are_told(
    sitting: Sitting, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, _: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    sitting.rate(Rating.GIST)
    monkeypatch.setattr("harness.sealed.keys.write_private", full)
    with pytest.raises(KeyStoreError) as caught:
        sitting.session.export(stick)
    said = trouble(Words.load("en"), caught.value)
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
            item: "0" if each.rating is None else str(each.rating.rank + 1)
            for item, each in state.judgements.items()
        }
        assert said == judged
        assert state.consented
        sitting.laptop.close()


def test_key_folds_only_its_own_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sitting = Sitting(tmp_path, batch_of(items_of(12)))
    for _ in range(8):
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
