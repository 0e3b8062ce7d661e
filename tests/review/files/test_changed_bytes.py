"""Files of a review: any changed byte, and any cut, is found; reading them loads little."""

import random
import subprocess
import sys
from collections.abc import Callable

import pytest

from harness.sealed.forms import FileError
from harness.sealed.sealing import seal
from review.files.batch import open_batch, write_batch
from review.files.ratings import open_ratings, sign_ratings
from tests.review.files.made import LAPTOP, ORGANISATION, batch, events
from tests.review.thorough import times

LEAST = batch()
RECIPIENTS = LEAST.manifest.organisation.recipients
Opening = Callable[[bytes], object]

FILES: dict[str, tuple[bytes, Opening]] = {
    "plain batch": (write_batch(LEAST), open_batch),
    "batch for a laptop": (
        write_batch(LEAST, recipients=[LAPTOP.public.recipient]),
        lambda data: open_batch(data, [LAPTOP.age]),
    ),
    "ratings": (
        seal(sign_ratings(events(2), LEAST, LAPTOP), RECIPIENTS),
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


LOOK = """
import sys
import review.files.batch, harness.sealed.stick, review.files.statements, review.files.ratings
print(*sorted({"cryptography", "filelock", "keyring", "numpy", "pyrage"} & set(sys.modules)))
"""


def test_heavy_libraries_wait_until_they_are_needed() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
