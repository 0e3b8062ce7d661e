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
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples, times

SMALL = {"a.txt": b"alpha", "b.jsonl": b"", "manifest.json": b"{}"}
NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}", fullmatch=True)


@examples(25, 100)
@given(st.dictionaries(NAMES, st.binary(max_size=200), min_size=1, max_size=8))
def test_what_is_packed_comes_back_whatever_its_order(members: dict[str, bytes]) -> None:
    packed = pack(members)
    assert unpack(packed, members) == members
    assert pack(dict(reversed(members.items()))) == packed


def test_form_is_pinned_and_any_zip_program_reads_it() -> None:
    packed = pack(SMALL)
    assert len(packed) == 307
    assert sha256(packed).hexdigest() == "e934b1cc8365621f0378c932da9b9799b16a68bd1a3c9b2d86adace1da382581"  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(packed)) as read:
        assert read.testzip() is None
        assert {name: read.read(name) for name in read.namelist()} == SMALL


def test_every_single_changed_byte_is_refused() -> None:
    packed = pack(SMALL)
    for place, byte in enumerate(packed):
        for value in random.Random(place).sample(range(1, 256), times(4, 255)):
            changed = packed[:place] + bytes([byte ^ value]) + packed[place + 1 :]
            refuses(FileError, r"\. |\.$", unpack, changed, SMALL)


def test_every_truncation_and_every_longer_file_is_refused() -> None:
    packed = pack(SMALL)
    for length in range(len(packed)):
        error = refuses(FileError, "", unpack, packed[:length], SMALL)
        assert error.problem is FileProblem.CUT_SHORT, length
    refuses(FileError, "", unpack, packed + b"\0", SMALL)


def zipped(
    *members: tuple[zipfile.ZipInfo | str, bytes],
    how: int = zipfile.ZIP_STORED,
    double: bool = False,
) -> bytes:
    """A zip by another hand; ``double``: the first name is in no list."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as other:
        for name, content in members:
            other.writestr(name, content)
            if double:
                other.filelist.clear()
                other.NameToInfo.clear()
                double = False
    return data.getvalue()


def ours(name: str) -> zipfile.ZipInfo:
    return archive._entry(name)  # all but the name is as the program writes it


def link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("a.txt", (1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o120777 << 16
    return entry


def lying_size() -> bytes:
    """A header that claims four gigabytes."""
    packed = bytearray(pack({"a.txt": b"alpha"}))
    packed[18:26] = struct.pack("<2I", 0xFFFFFFFF, 0xFFFFFFFF)
    return bytes(packed)


OTHERS = [(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), each) for name, each in SMALL.items()]
HOSTILE: dict[str, tuple[Callable[[], bytes], FileProblem]] = {
    "another program's zip": (lambda: zipped(*OTHERS), FileProblem.REPACKED),
    "compressed": (
        lambda: zipped(("a.txt", bytes(10**7)), how=zipfile.ZIP_DEFLATED),
        FileProblem.REPACKED,
    ),
    "a path upward": (lambda: zipped(("../a.txt", b"x")), FileProblem.REPACKED),
    "an absolute path": (lambda: zipped(("/etc/a.txt", b"x")), FileProblem.REPACKED),
    "a Windows path": (lambda: zipped(("C:\\a.txt", b"x")), FileProblem.REPACKED),
    "our form with a path": (lambda: zipped((ours("../a.txt"), b"x")), FileProblem.DAMAGED),
    "a folder": (lambda: zipped(("a/", b"x")), FileProblem.REPACKED),
    "a name in another script": (lambda: zipped(("\u1401.txt", b"x")), FileProblem.REPACKED),
    "a link": (lambda: zipped((link(), b"/etc/passwd")), FileProblem.DAMAGED),
    "one name twice": (
        lambda: zipped((ours("a.txt"), b"one"), (ours("a.txt"), b"two"), double=True),
        FileProblem.REPACKED,
    ),
    "one member too many": (
        lambda: zipped(*((ours(str(n)), b"") for n in range(archive.FLAT.most_members + 1))),
        FileProblem.REPACKED,
    ),
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
    error = refuses(FileError, "", unpack, make(), {"a.txt"}, optional=SMALL)
    assert error.problem is problem
    assert str(error).endswith(".")
    assert len(str(error).split()) > 5


def test_names_are_exactly_those_that_are_expected() -> None:
    packed = pack(SMALL)
    assert unpack(packed, {"a.txt", "b.jsonl"}, optional={"manifest.json", "c"}) == SMALL
    refuses(FileError, "holds no events", unpack, packed, {"events.jsonl"})
    refuses(FileError, "holds manifest.json, which does not", unpack, packed, {"a.txt", "b.jsonl"})


def test_too_much_is_refused_before_it_is_read() -> None:
    refuses(FileError, r"too much in a\.txt \(4 bytes", unpack, pack(SMALL), SMALL, most={"a.txt": 4})  # fmt: skip
    assert unpack(pack(SMALL), SMALL, most={"a.txt": 5}) == SMALL
    small = replace(archive.FLAT, most_bytes=4)
    for act in (
        lambda: pack(SMALL, small),
        lambda: archive.unpack_all(b"PK\3\4" + bytes(2**17), small),
    ):
        assert refuses(FileError, "", act).problem is FileProblem.TOO_LARGE


@pytest.mark.parametrize("name", ["", "../a", "a/b", ".hidden", "a\0", "x" * 81, "\u00e9"])
def test_no_such_name_is_written(name: str) -> None:
    refuses(FileError, "name", pack, {name: b""})


@examples(25, 100)
@given(st.binary(max_size=300))
def test_any_bytes_are_taken_or_refused_in_words(noise: bytes) -> None:
    refuses(FileError, "", unpack, b"PK\3\4" + noise, SMALL)
