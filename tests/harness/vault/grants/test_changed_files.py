"""A request or an answer of which one byte is another one, is missing or is there twice, is refused in words."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.sealed.forms import FileError
from harness.vault.grants.files import read_answer, read_request
from tests.harness.vault.grants.made import SCHOOL, allowed, asked, at, founded


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("written")
    founded(folder)
    grants = at(folder)
    data, _ = asked(grants)
    return {
        "request": data,
        "allowed": allowed(grants, data, SCHOOL)[0],
        "refused": grants.answer(data, SCHOOL, allowed=False, reason="not now"),
    }


READ: dict[str, Callable[[bytes], object]] = {
    "request": read_request,
    "allowed": read_answer,
    "refused": read_answer,
}


@pytest.mark.parametrize("name", READ)
def test_every_single_byte_counts(written: dict[str, bytes], name: str) -> None:
    data, read, draw = written[name], READ[name], random.Random(name)
    read(data)
    for at_ in range(len(data)):
        bit = 1 << draw.randrange(8)
        changed = data[:at_] + bytes([data[at_] ^ bit]) + data[at_ + 1 :]
        for spoilt in (changed, data[:at_] + data[at_ + 1 :], data[: at_ + 1] + data[at_:]):
            with pytest.raises(FileError, match="Ask for the file once more"):
                read(spoilt)
        with pytest.raises(FileError):
            read(data[:at_])
    for spoilt in (
        b"",
        data + b"\n",
        data * 20,
        b"[" * 100_000,
        b"\xff",
        Path(__file__).read_bytes(),
    ):
        with pytest.raises(FileError):
            read(spoilt)


def test_the_bits_behind_the_end_of_a_share_count(written: dict[str, bytes]) -> None:
    """Base64 has letters whose last bits mean nothing; they are one form only here."""
    data = written["allowed"]
    end = data.index(b'"', data.index(b'"sealed":"') + 10)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = data[:end].rstrip(b"=")
    for other in letters:
        if ord(other) != last[-1]:
            spoilt = last[:-1] + other.encode() + data[len(last) :]
            with pytest.raises(FileError, match="Ask for the file once more"):
                read_answer(spoilt)
