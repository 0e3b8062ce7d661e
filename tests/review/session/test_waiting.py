"""What nobody else has yet: counted as people would count, and handed over without opening a review."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.core.failures import KeyStoreError
from harness.sealed.stick import StickError
from review.files.ratings import open_ratings
from review.log.payloads import Scope
from review.rating import Rating
from review.session.view import TextField
from review.session.waiting import Kept, hand_over_all, kept
from review.session.words.catalogue import Words
from review.session.words.troubles import trouble
from tests import keyring_in_memory
from tests.review.session.scenes import CODE, CUSTODIANS, Sitting, batch_of, sentences_of


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


def test_a_sentence_waits_once_however_much_was_said_of_it(sitting: Sitting, stick: Path) -> None:
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


def test_what_is_changed_after_handing_over_waits_again(sitting: Sitting, stick: Path) -> None:
    sitting.rate(Rating.GIST)
    sitting.session.export(stick)
    sitting.see()
    sitting.session.undo()
    assert waiting(sitting) == (1, False)
    sitting.rate(Rating.REJECT)
    assert waiting(sitting) == (1, False)
    sitting.session.export(stick)
    assert waiting(sitting) == (0, False)


def test_what_was_taken_back_must_be_told_only_where_it_was_handed_over(
    sitting: Sitting, stick: Path
) -> None:
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
    (file,) = hand_over_all(sitting.laptop, stick)
    opened = open_ratings(file.path.read_bytes(), CUSTODIANS)
    assert opened.phrase(earlier=True) == file.phrase
    assert opened.manifest.batch_sha256 == sitting.batch.sha256
    assert b'"rating":"gist"' in b"".join(opened.lines)
    assert hand_over_all(sitting.laptop, stick) == []


def test_where_nothing_can_be_written_everything_waits_on(sitting: Sitting, stick: Path) -> None:
    sitting.rate()
    with pytest.raises(StickError):
        hand_over_all(sitting.laptop, stick / "gone")
    assert waiting(sitting) == (1, False)


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


def test_keys_that_find_no_room_are_told_as_answers_that_find_none(
    sitting: Sitting, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, _: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    sitting.rate(Rating.GIST)
    monkeypatch.setattr("harness.sealed.keys.write_private", full)
    with pytest.raises(KeyStoreError) as caught:
        sitting.session.export(stick)
    said = trouble(Words.load("en"), caught.value)
    assert said.said.startswith("This was not saved: the computer's disk is full.")
    assert "No space left on device" in said.detail
