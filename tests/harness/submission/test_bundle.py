"""A bundle comes back as it was packed, what is refused is named first; methods of others become folders of ours."""

import io
import itertools
import os
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError, FileProblem
from harness.submission import members
from harness.submission.bundle import parse_submission, read_submission, unpack_into
from harness.submission.members import (
    MOST_BYTES,
    FoundMember,
    MemberKind,
    member_problems,
    requirements,
    wheel_problems,
)
from tests.harness.sealed.refusals import refuses
from tests.harness.submission.made import MAKER, raw_zip, resigned, wheel


def refusal(data: bytes) -> str:
    error = refuses(FileError, "", parse_submission, data)
    return str(error)


def test_a_bundle_comes_back_and_is_known_by_its_bytes(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.rosetta-submission"
    path.write_bytes(data)
    found = read_submission(path)
    assert found.manifest.by == MAKER.public.signing_key
    assert set(found.members) == {"card.json", "README.md", "data/words.tsv"}
    assert found.manifest.source_language == "en"
    refuses(UsageError, "cannot be read", read_submission, tmp_path / "none.rosetta-submission")
    with zipfile.ZipFile(path) as archive:  # anybody can look into it with any program
        assert "data/words.tsv" in archive.namelist()


def test_bundle_with_a_changed_byte_or_another_signer_is_refused(data: bytes) -> None:
    for at in (40, len(data) // 2, len(data) - 5):
        refuses(FileError, "", parse_submission, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    other = Identity.make(Role.COMPUTER)
    assert "changed after it was signed" in refusal(resigned(data, {}, other))
    assert "changed after it was signed" in refusal(resigned(data, {}, by=other.public.signing_key))
    assert parse_submission(resigned(data, {}, other, by=other.public.signing_key))


@pytest.mark.parametrize(("name", "words"), [
    ("data/../../outside.txt", "data/../../outside.txt: a path that leads out"),
    ("/etc/passwd", "/etc/passwd: a path that leads out"),
    ("C:/windows.txt", "C:/windows.txt: a path that leads out"),
    ("data\\words.txt", "a backslash in a name"), ("data/.hidden", "data/.hidden: hidden"),
    (".hidden", ".hidden: hidden"), ("data/.git/config", "data/.git/config: hidden"),
    ("data/con.txt", "data/con.txt: a name that Windows does not take"),
    ("data/words.", "data/words.: a name that Windows does not take"),
    ("data/wörter.txt", "data/wörter.txt: letters, digits"),
    ("data/a\x1b[2J.txt", "letters, digits"), ("data/" + "x" * 300, "letters, digits"),
    ("data/Words.tsv", "the same as data/Words.tsv but for capital letters"),
    ("data/words.tsv/inner", "below data/words.tsv, which is a file"),
    ("notes.txt", "notes.txt: nothing that a submission has"),
    ("other/notes.txt", "other/notes.txt: no folder that a submission has"),
])  # fmt: skip
def test_a_member_that_is_refused_is_named(data: bytes, name: str, words: str) -> None:
    assert words in refusal(resigned(data, {name: b"x\n"}))


def test_links_and_devices_are_named(data: bytes) -> None:
    kinds = {stat.S_IFLNK: "link", stat.S_IFCHR: "device", stat.S_IFIFO: "device", stat.S_IFSOCK: "device"}
    for kind, word in kinds.items():
        told = refusal(raw_zip(members_of(data), {"data/words.tsv": kind | 0o644}))
        assert f"data/words.tsv: a {word}" in told


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {each: archive.read(each) for each in archive.namelist()}


def test_doubled_hidden_or_lying_member_is_found(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        doubled = raw_zip(members_of(data), double="README.md")
    assert "README.md: twice" in refusal(doubled)
    hidden = raw_zip({"data/hidden.txt": b"x"})
    local = hidden[: hidden.index(b"PK\x01\x02")]
    assert "damaged" in refusal(local + data)  # what is in no list of the zip
    at = data.rindex(b"PK\x01\x02") + 24
    assert refusal(data[:at] + (2**31).to_bytes(4, "little") + data[at + 4 :])
    assert "not a file of Rosetta" in refusal(b"hello")


def test_too_much_is_refused_by_what_is_declared(tmp_path: Path) -> None:
    """Ten gigabytes: neither read nor unpacked."""
    path = tmp_path / "big.rosetta-submission"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)  # a sparse file: no block of it is on the disk
    refused = refuses(FileError, "10,240 MiB, and a submission has 256 at most", read_submission, path)
    assert refused.problem is FileProblem.TOO_LARGE
    sizes = {"data/small.bin": 2**20, "data/big.bin": MOST_BYTES - 2**20 + 1}
    declared = [FoundMember(name, MemberKind.FILE, size) for name, size in sizes.items()]
    [words] = member_problems(declared)
    assert "257 MiB declared, and 256 are the most; the largest is data/big.bin with 256." in words
    many = [FoundMember(f"data/{n}.txt", MemberKind.FILE, 1) for n in range(2001)]
    assert member_problems(many) == ["2,001 files, and 2,000 are the most. Leave some out."]


def test_many_members_and_long_names_hold_nobody_up() -> None:
    """65,000 folders in each: looking up every folder of such a name took minutes."""
    assert "lists more than 200,000 members" in refusal(b"PK\x03\x04" + b"PK\x01\x02" * 200_001)
    long = [FoundMember("a/" * 30_000 + str(n), MemberKind.FILE, 1) for n in range(300)]
    told = member_problems(long)
    assert len(told) == 300
    assert "a name of 60,001 characters. Give it a shorter one." in told[1]
    assert max(map(len, told)) < 300
    told = refusal(raw_zip({f"../{n:02}": b"" for n in range(60)})).splitlines()
    assert told[1] == "../00: a path that leads out of the bundle. Take it out."
    assert told[-2:] == ["../49: a path that leads out of the bundle. Take it out.", "And 10 more."]


def test_parts_entry_point_and_options_must_name_members(data: bytes, code: bytes) -> None:
    for name in ("card.json", "README.md"):
        assert f"{name}: missing" in refusal(resigned(data, {name: None}))
    lane: dict[str, object] = {"lane": "code", "entry": "other:Method", "options": {}}
    assert "code/other.py: missing" in refusal(resigned(code, {}, method=lane))
    assert "method" in refusal(resigned(code, {}, method=lane | {"entry": "os;system"}))
    for path in ("data/none.tsv", "../words.tsv", "README.md"):
        lane = {"lane": "data", "method": "glossary", "options": {}, "files": {"glossary": path}, "made_for": ""}
        assert f"{path}: the option glossary names it" in refusal(resigned(data, {}, method=lane))
    told = refusal(resigned(data, {"code/run.py": b"import os\n", "wheels/a-1-py3-none-any.whl": wheel()}))
    assert "code/run.py: code, and this submission is of data alone" in told
    assert "wheels/a-1-py3-none-any.whl: code" in told


WHEEL = "wheels/tiny-1.0-py3-none-any.whl"


def test_a_wheel_is_pinned_by_its_hash(code: bytes) -> None:
    found = parse_submission(resigned(code, {WHEEL: wheel()}))
    line = requirements(found.members)
    assert line.startswith("tiny==1.0 --hash=sha256:")
    assert found.manifest.members[WHEEL] in line


@pytest.mark.parametrize(
    "path",
    ["start.pth", "tiny-1.0.data/purelib/start.pth", "sitecustomize.py", "usercustomize/__init__.py",
     "tiny-1.0.data/platlib/sitecustomize.cpython-311-x86_64-linux-gnu.so"],
)  # fmt: skip
def test_a_file_that_runs_at_every_start_is_named(code: bytes, path: str) -> None:
    told = refusal(resigned(code, {WHEEL: wheel(**{path: b"import os\n"})}))
    assert path in told
    assert "Python runs at every start" in told


@pytest.mark.parametrize(("name", "words"), [
    ("wheels/tiny-1.0.tar.gz", "a source distribution"),
    ("wheels/tiny-1.0.zip", "a source distribution"), ("wheels/tiny.whl", "not named as a wheel"),
    ("wheels/sub/tiny-1.0-py3-none-any.whl", "not named as a wheel"),
])  # fmt: skip
def test_what_is_no_wheel_is_named(code: bytes, name: str, words: str) -> None:
    told = refusal(resigned(code, {name: wheel()}))
    assert name in told
    assert words in told


def test_a_wheel_that_leads_out_or_is_a_bomb_is_named(code: bytes) -> None:
    assert "leads out" in refusal(resigned(code, {WHEEL: wheel(**{"../evil.py": b""})}))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tiny.py", b"0" * 2**22)
    assert "4,194,304 bytes declared" in refusal(resigned(code, {WHEEL: made.getvalue()}))
    assert "no archive" in refusal(resigned(code, {WHEEL: b"PK\x03\x04 nothing"}))


def test_a_damaged_wheel_is_named_wherever_it_is_damaged() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("tiny.py", "tiny-1.0.dist-info/METADATA"):
            archive.writestr(name, b"answer = 42\nquestion = None\n" * 9)
    whole, name = made.getvalue(), WHEEL.removeprefix("wheels/")
    assert [*wheel_problems(name, whole)] == []
    damaged = [whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :] for at in range(len(whole)) for bits in (1, 8, 255)]  # fmt: skip
    told = [*itertools.chain.from_iterable(wheel_problems(name, each) for each in damaged)]
    assert {words.partition(":")[0] for words in told} == {name}
    assert f"{name}: a member is damaged. Download it again." in told


def test_wheels_too_large_together_stay_packed(code: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def unpacked(_: zipfile.ZipFile) -> None:
        raise AssertionError

    one = wheel(**{"more.py": b"import this\n" * 10})
    names = [f"wheels/tiny-1.{n}-py3-none-any.whl" for n in range(4)]
    bundle = resigned(code, dict.fromkeys(names, one))
    parse_submission(bundle)
    monkeypatch.setattr("harness.submission.members.MOST_UNPACKED", 500)
    monkeypatch.setattr(zipfile.ZipFile, "testzip", unpacked)
    assert "4 wheels that declare" in refusal(bundle)


def test_a_wheel_that_is_packed_in_another_way_is_named(code: bytes) -> None:
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", method) as archive:
            archive.writestr("tiny.py", b"answer = 42\n")
        told = refusal(resigned(code, {WHEEL: made.getvalue()}))
        assert "tiny.py is packed in a way" in told


def test_members_are_written_as_plain_files_into_a_new_folder(tmp_path: Path) -> None:
    place = tmp_path / "new"
    unpack_into({"a/b/c.txt": b"x", "d.txt": b"y"}, place)
    assert (place / "a/b/c.txt").read_bytes() == b"x"
    assert stat.S_IMODE((place / "d.txt").stat().st_mode) == 0o600
    refuses(FileExistsError, "", unpack_into, {"d.txt": b"z"}, place)


def test_a_folder_tells_links_and_pipes_from_files(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "link.txt").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    kinds = {each.path: each.kind for each in members.in_folder(tmp_path)}
    assert kinds == {"file.txt": MemberKind.FILE, "link.txt": MemberKind.LINK, "pipe": MemberKind.DEVICE}
