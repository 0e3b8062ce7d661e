"""One zip form: it comes back as it went in; any changed byte, and any cut, is found."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sealed import archive
from harness.sealed.archive import pack, unpack
from harness.sealed.forms import FileError, FileProblem
from tests.review.thorough import times

SMALL = {"a.txt": b"alpha", "b.jsonl": b"", "manifest.json": b"{}"}
NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}", fullmatch=True)


@given(st.dictionaries(NAMES, st.binary(max_size=200), min_size=1, max_size=8))
def test_what_is_packed_comes_back_whatever_its_order(members: dict[str, bytes]) -> None:
    packed = pack(members)
    assert unpack(packed, members) == members
    assert pack(dict(reversed(members.items()))) == packed


def test_any_zip_program_reads_it() -> None:
    with zipfile.ZipFile(io.BytesIO(pack(SMALL))) as read:
        assert read.testzip() is None
        assert {name: read.read(name) for name in read.namelist()} == SMALL


def test_the_form_is_pinned() -> None:
    packed = pack(SMALL)
    assert len(packed) == 307
    assert sha256(packed).hexdigest() == (
        "e934b1cc8365621f0378c932da9b9799b16a68bd1a3c9b2d86adace1da382581"
    )


def test_every_single_changed_byte_is_refused() -> None:
    packed = pack(SMALL)
    for place, byte in enumerate(packed):
        for value in random.Random(place).sample(range(1, 256), times(16, 255)):
            changed = packed[:place] + bytes([byte ^ value]) + packed[place + 1 :]
            with pytest.raises(FileError, match=r"\. |\.$"):
                unpack(changed, SMALL)


def test_every_truncation_and_every_longer_file_is_refused() -> None:
    packed = pack(SMALL)
    for length in range(len(packed)):
        with pytest.raises(FileError) as refused:
            unpack(packed[:length], SMALL)
        assert refused.value.problem is FileProblem.CUT_SHORT, length
    with pytest.raises(FileError):
        unpack(packed + b"\0", SMALL)


def zipped(**options: object) -> bytes:
    """A zip of the same members by another hand."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", **options) as other:  # type: ignore[call-overload]
        for name, content in SMALL.items():
            other.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    return data.getvalue()


def with_name(name: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as other:
        other.writestr(name, b"x")
    return data.getvalue()


def bomb() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as other:
        other.writestr("a.txt", b"\0" * 10_000_000)
    return data.getvalue()


def ours(name: str) -> bytes:
    """A name that is none, in our own form."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as other:
        other.writestr(as_of_ours(name), b"x")
    return data.getvalue()


def link() -> bytes:
    data = io.BytesIO()
    entry = zipfile.ZipInfo("a.txt", (1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(data, "w") as other:
        other.writestr(entry, b"/etc/passwd")
    return data.getvalue()


def as_of_ours(name: str) -> zipfile.ZipInfo:
    return archive._entry(name)  # all but the name is as the program writes it


def doubled() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as other:
        other.writestr(as_of_ours("a.txt"), b"one")
        other.filelist.clear()
        other.NameToInfo.clear()
        other.writestr(as_of_ours("a.txt"), b"two")
    return data.getvalue()


def many() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as other:
        for number in range(70_000):
            other.writestr(as_of_ours(str(number)), b"")
    return data.getvalue()


def lying_size() -> bytes:
    """A header that claims four gigabytes."""
    packed = bytearray(pack({"a.txt": b"alpha"}))
    packed[18:26] = struct.pack("<2I", 0xFFFFFFFF, 0xFFFFFFFF)
    return bytes(packed)


HOSTILE: dict[str, tuple[Callable[[], bytes], FileProblem]] = {
    "another program's zip": (zipped, FileProblem.REPACKED),
    "compressed": (bomb, FileProblem.REPACKED),
    "a path upward": (lambda: with_name("../a.txt"), FileProblem.REPACKED),
    "an absolute path": (lambda: with_name("/etc/a.txt"), FileProblem.REPACKED),
    "a Windows path": (lambda: with_name("C:\\a.txt"), FileProblem.REPACKED),
    "our form with a path": (lambda: ours("../a.txt"), FileProblem.DAMAGED),
    "a folder": (lambda: with_name("a/"), FileProblem.REPACKED),
    "a name in another script": (lambda: with_name("\u1401.txt"), FileProblem.REPACKED),
    "a link": (link, FileProblem.DAMAGED),
    "one name twice": (doubled, FileProblem.REPACKED),
    "seventy thousand members": (many, FileProblem.REPACKED),
    "a size that lies": (lying_size, FileProblem.CUT_SHORT),
    "something before it": (lambda: b"#!/bin/sh\n" + pack(SMALL), FileProblem.NOT_OURS),
    "nothing": (lambda: b"", FileProblem.CUT_SHORT),
    "a zip without members": (lambda: b"PK\5\6" + bytes(18), FileProblem.NOT_OURS),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), FileProblem.NOT_OURS),
    "deflated by hand": (lambda: zlib.compress(pack(SMALL)), FileProblem.NOT_OURS),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_are_refused_in_words(kind: str) -> None:
    make, problem = HOSTILE[kind]
    with pytest.raises(FileError) as refused:
        unpack(make(), {"a.txt"}, optional=SMALL)
    assert refused.value.problem is problem
    assert str(refused.value).endswith(".")
    assert len(str(refused.value).split()) > 5


def test_names_are_exactly_those_that_are_expected() -> None:
    packed = pack(SMALL)
    assert unpack(packed, {"a.txt", "b.jsonl"}, optional={"manifest.json", "c"}) == SMALL
    with pytest.raises(FileError, match="holds no events"):
        unpack(packed, {"events.jsonl"})
    with pytest.raises(FileError, match=r"holds manifest.json, which does not belong"):
        unpack(packed, {"a.txt", "b.jsonl"})


def test_too_much_is_refused_before_it_is_read() -> None:
    with pytest.raises(FileError, match=r"too much in a\.txt \(4 bytes"):
        unpack(pack(SMALL), SMALL, most={"a.txt": 4})
    small = replace(archive.FLAT, most_bytes=4)
    with pytest.raises(FileError) as refused:
        pack(SMALL, small)
    assert refused.value.problem is FileProblem.TOO_LARGE
    with pytest.raises(FileError) as refused:
        archive.unpack_all(b"PK\3\4" + bytes(2**17), small)
    assert refused.value.problem is FileProblem.TOO_LARGE


@pytest.mark.parametrize("name", ["", "../a", "a/b", ".hidden", "a\0", "x" * 81, "\u00e9"])
def test_no_such_name_is_written(name: str) -> None:
    with pytest.raises(FileError, match="name"):
        pack({name: b""})


@given(st.binary(max_size=300))
def test_any_bytes_are_taken_or_refused_in_words(noise: bytes) -> None:
    with pytest.raises(FileError):
        unpack(b"PK\3\4" + noise, SMALL)
