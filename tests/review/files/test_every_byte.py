"""Tampering: any single changed byte of a file, and any cut, is found, and said in words."""

import random
from collections.abc import Callable

import pytest

from review.files.batch import open_batch, write_batch
from review.files.ratings import open_ratings, sign_ratings
from review.sealed.problem import FileError
from review.sealed.sealing import seal
from tests.review.files.made import LAPTOP, ORGANISATION, batch, events
from tests.review.thorough import times

SMALL = batch()
RECIPIENTS = SMALL.manifest.organisation.recipients
Opening = Callable[[bytes], object]

FILES: dict[str, tuple[bytes, Opening]] = {
    "plain batch": (write_batch(SMALL), open_batch),
    "batch for a laptop": (
        write_batch(SMALL, recipients=[LAPTOP.public.recipient]),
        lambda data: open_batch(data, [LAPTOP.age]),
    ),
    "ratings": (
        seal(sign_ratings(events(2), SMALL, LAPTOP), RECIPIENTS),
        lambda data: open_ratings(data, [ORGANISATION.age]),
    ),
}


def refuse(opening: Opening, data: bytes) -> None:
    with pytest.raises(FileError) as refused:
        opening(data)
    said = str(refused.value)
    assert said.endswith(".")
    assert len(said.split()) > 4


@pytest.mark.thorough
@pytest.mark.parametrize("kind", FILES)
def test_every_single_changed_byte_is_found(kind: str) -> None:
    whole, opening = FILES[kind]
    opening(whole)
    for place, byte in enumerate(whole):
        for value in random.Random(place).sample(range(1, 256), times(4, 255)):
            refuse(opening, whole[:place] + bytes([byte ^ value]) + whole[place + 1 :])


@pytest.mark.parametrize("kind", FILES)
def test_every_cut_is_found(kind: str) -> None:
    whole, opening = FILES[kind]
    for length in range(len(whole)):
        refuse(opening, whole[:length])


@pytest.mark.parametrize("kind", FILES)
def test_every_missing_and_every_doubled_byte_is_found(kind: str) -> None:
    whole, opening = FILES[kind]
    for place in range(0, len(whole), times(2, 1)):
        refuse(opening, whole[:place] + whole[place + 1 :])
        refuse(opening, whole[:place] + whole[place : place + 1] + whole[place:])
