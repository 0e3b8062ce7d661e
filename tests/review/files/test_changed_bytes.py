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


@pytest.mark.parametrize("kind", FILES)
def test_every_changed_byte_is_found(kind: str) -> None:
    whole, opening = FILES[kind]
    opening(whole)
    for place in range(0, len(whole), times(17, 1)):
        for value in random.Random(place).sample(range(1, 256), times(1, 255)):
            refuse(opening, whole[:place] + bytes([whole[place] ^ value]) + whole[place + 1 :])


@pytest.mark.parametrize("kind", FILES)
def test_every_cut_missing_and_doubled_byte_is_found(kind: str) -> None:
    whole, opening = FILES[kind]
    for place in range(0, len(whole), times(29, 1)):
        refuse(opening, whole[:place])
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
