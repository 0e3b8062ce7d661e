"""A batch that lists nobody's code: who types theirs finds their sentences, and events name them by the tag."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from review.files.batch import Batch
from review.files.ratings import open_ratings
from review.log.laptop import FILE_NAME, Laptop
from review.log.payloads import Face
from review.rating import Rating
from review.session.opening import Opening
from review.session.session import Session
from review.session.view import Phase
from review.session.waiting import hand_over_all, kept
from review.session.words.troubles import OtherReviewerError
from tests.keyring_in_memory import no_keyring
from tests.review.session.scenes import (
    CODE,
    CUSTODIANS,
    OTHER_CODE,
    STRANGER,
    batch_of,
    write_file,
)

__all__ = ["no_keyring"]

SALT = bytes(range(32))
NEW = batch_of(salt=SALT)
OLD = batch_of(batch="0d" * 8, title="Autumn sentences")


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Laptop]:
    with Laptop.open(tmp_path / "home") as opened:
        yield opened


def opened(laptop: Laptop, stick: Path, batch: Batch) -> tuple[Opening, Batch]:
    """Open the file of a batch as it lies on a stick."""
    file = write_file(batch, stick)
    opening = Opening(laptop, places=[file], mounted=lambda: [stick])
    found = opening.open(opening.choices()[0])
    opening.accept(found)
    return opening, found


def rate_all(session: Session) -> None:
    session.agree(share_corrections=False)
    while session.view.phase is Phase.ITEMS:
        item = session.view.item
        assert item
        session.painted(item.id)
        session.rate(item.id, Rating.GIST)


def test_whoever_types_their_code_gets_their_sentences(laptop: Laptop, tmp_path: Path) -> None:
    opening, batch = opened(laptop, tmp_path / "stick", NEW)
    assert opening.remembered(batch) is None
    with pytest.raises(OtherReviewerError):
        opening.reviewer(batch, STRANGER)
    person = opening.reviewer(batch, CODE.lower())
    assert person == NEW.person(CODE)
    other = NEW.person(OTHER_CODE)
    assert other
    assert batch.manifest.order(person) == batch.manifest.order(other)[::-1]
    session = opening.session(batch, person, Face.LINES, guard=0)
    rate_all(session)
    said = {getattr(event.payload, "reviewer", person) for event in laptop.events()}
    assert said == {person}
    assert (opening.remembered(batch), opening.answered(batch), opening.asked(batch)) == (
        CODE[:2],
        4,
        4,
    )
    [again] = Opening(laptop, mounted=list).choices()
    assert (again.done, again.total) == (4, 4)
    file = session.export(tmp_path / "stick").path
    read = open_ratings(file.read_bytes(), CUSTODIANS)
    assert CODE.encode() not in b"".join(read.lines)
    assert person.encode() in b"".join(read.lines)


def test_batches_of_both_kinds_lie_on_one_laptop(laptop: Laptop, tmp_path: Path) -> None:
    opening, old = opened(laptop, tmp_path / "old", OLD)
    rate_all(opening.session(old, opening.reviewer(old, CODE), Face.LINES, guard=0))
    opening, new = opened(laptop, tmp_path / "new", NEW)
    assert (
        opening.remembered(new) is None
    )  # the code that was typed for the other review is no tag here
    rate_all(opening.session(new, opening.reviewer(new, OTHER_CODE), Face.LINES, guard=0))
    assert opening.remembered(new) == OTHER_CODE[:2]
    there = Opening(laptop, mounted=list)
    assert [(each.title, each.done) for each in there.choices()] == [
        ("Spring sentences", 4),
        ("Autumn sentences", None),
    ]
    assert kept(laptop).reviewers == {
        OLD.manifest.batch: CODE, NEW.manifest.batch: NEW.person(OTHER_CODE)
    }  # fmt: skip
    stick = tmp_path / "out"
    stick.mkdir()
    assert len(hand_over_all(laptop, stick)) == 2
    assert kept(laptop).waiting == 0


def test_who_did_not_agree_is_forgotten(laptop: Laptop, tmp_path: Path) -> None:
    opening, batch = opened(laptop, tmp_path / "stick", NEW)
    person = opening.reviewer(batch, CODE)
    opening.session(batch, person, Face.LINES, guard=0)
    opening.forget_reviewer()
    assert opening.remembered(batch) is None
    content = laptop.path.read_bytes()
    assert laptop.path.name == FILE_NAME
    assert CODE.encode() not in content
    assert person.encode() not in content


def test_a_laptop_keeps_no_code_and_goes_on_by_how_the_last_one_begins(
    laptop: Laptop, tmp_path: Path
) -> None:
    opening, batch = opened(laptop, tmp_path / "stick", NEW)
    for code in (CODE, OTHER_CODE):
        rate_all(opening.session(batch, opening.reviewer(batch, code), Face.LINES, guard=0))
    content = laptop.path.read_bytes()
    assert not [code for code in (CODE, OTHER_CODE) if code.encode() in content]
    assert laptop.setting("reviewer") == OTHER_CODE[:2]
    again = Opening(laptop, mounted=list)
    assert again.remembered(batch) == OTHER_CODE[:2]
    assert again.reviewer(batch, "") == NEW.person(OTHER_CODE)
