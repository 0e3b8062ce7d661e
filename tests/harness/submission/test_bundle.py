"""A bundle comes back as it was packed, what is refused is named first; methods of others become folders of ours."""

import bz2
import gzip
import io
import itertools
import json
import lzma
import os
import stat
import sys
import tarfile
import tomllib
import warnings
import zipfile
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.core.failures import UsageError
from harness.inputs.dictionary import read_dictionary
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError, FileProblem
from harness.submission import members
from harness.submission.bundle import RefusedBundle, parse_submission, read_submission, unpack_into
from harness.submission.foreign import write_folder
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


PLUGIN = """
class Method:
    name = "shout"

    async def translate(self, entries, config):
        return [{"id": e["id"], "predicted": e["source"].upper() + str(config.temperature)} for e in entries][::-1]
"""


def _written(folder: Path, described: dict[str, Any], **files: str) -> Path:
    folder.mkdir()
    (folder / "method.json").write_text(json.dumps(described), "utf-8")
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, "utf-8")
    return folder


def _sheet(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "submission.toml").read_text("utf-8"))


def test_a_class_of_theirs_answers_lists_of_texts(tmp_path: Path) -> None:
    described = {"$schema": "https://champollion.dev/schemas/method/1.json", "id": "shout", "name": "Shout \"it\"", "version": "2.0.0",
                 "kind": "python", "entry_point": "shout_of_theirs:Method", "decode": {"temperature": 0.5}}  # fmt: skip
    theirs = _written(tmp_path / "theirs", described, shout_of_theirs__py=PLUGIN, Dockerfile="FROM evil\n")
    made = write_folder(theirs, tmp_path / "ours")
    sheet = _sheet(made)
    assert (sheet["name"], sheet["release"]) == ('Shout "it"', "2.0.0")
    entry = "rosetta_adapter:Adapter"
    assert sheet["method"] == {"lane": "code", "entry": entry, "options": {"temperature": 0.5}}
    assert sorted(p.name for p in (made / "code").iterdir()) == ["rosetta_adapter.py", "shout_of_theirs.py"]
    sys.path.insert(0, str(made / "code"))
    try:
        import rosetta_adapter  # type: ignore[import-not-found]

        adapter = rosetta_adapter.Adapter(sheet["method"]["options"])
        assert adapter.translate(["ab", "c"]) == ["AB0.5", "C0.5"]
    finally:
        sys.path.remove(str(made / "code"))
        sys.modules.pop("rosetta_adapter", None)
        sys.modules.pop("shout_of_theirs", None)


@pytest.mark.parametrize(("name", "text"), [
    ("words.tsv", "dog\thundo\ncat\tkato\n"),
    ("words.json", '{"dictionary": {"dog": ["hundo", "dogo"], "cat": "kato"}}'),
    ("words.jsonl", '{"source": "dog", "target": "hundo"}\n{"source": "cat", "target": "kato"}\n'),
])  # fmt: skip
def test_their_word_list_becomes_data(tmp_path: Path, name: str, text: str) -> None:
    theirs = _written(tmp_path / "theirs", {"kind": "lexicon", "name": "w", "dictionary": name}, **{name.replace(".", "__"): text})  # fmt: skip
    made = write_folder(theirs, tmp_path / "ours")
    assert _sheet(made)["method"]["method"] == "glossary"
    assert "hundo" in (made / "data" / "dictionary.tsv").read_text("utf-8")
    read_dictionary(made / "data" / "dictionary.tsv")


def test_their_coaching_becomes_a_prompt_with_its_braces(tmp_path: Path) -> None:
    described = {"kind": "llm-coached", "name": "c", "model": "some/model", "coaching": {"file": "c.txt"}, "decode": {"temperature": 0.2, "x-y": 1}}  # fmt: skip
    theirs = _written(tmp_path / "theirs", described, c__txt="Keep {name} as it is.")
    made = write_folder(theirs, tmp_path / "ours")
    files, options = {"prompt": "data/prompt.txt"}, {"temperature": 0.2}
    assert _sheet(made)["method"] == {"lane": "data", "method": "chat", "made_for": "some/model", "files": files, "options": options}  # fmt: skip
    assert (made / "data" / "prompt.txt").read_text("utf-8") == "Keep {{name}} as it is."


@pytest.mark.parametrize(("described", "words"), [
    ({"kind": "service", "service": {"endpoint": "http://192.0.2.1"}}, "a server that answers somewhere"),
    ({"kind": "mt-api"}, "Secret texts are sent to none"),
    ({"kind": "nmt-checkpoint"}, "CTranslate2"), ({"kind": "magic"}, "'magic' is not known"),
    ({"kind": ["python"]}, "is not known"),
    ({"kind": "python", "entry_point": "os;system"}, "module:Class"),
    ({"kind": "lexicon", "dictionary": "../../etc/passwd"}, "names no file next to it"),
])  # fmt: skip
def test_refusal_says_what_can(tmp_path: Path, described: dict[str, Any], words: str) -> None:
    refuses(UsageError, words, write_folder, _written(tmp_path / "theirs", described), tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


def _tar(path: Path, *members: tarfile.TarInfo, **files: bytes) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for each in members:
            archive.addfile(each)
        for name, content in files.items():
            info = tarfile.TarInfo(name.replace("__", "/"))
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return _tar(tmp_path / "b.tar.gz", **{"method/method.json": b"{}"})


def test_archive_of_theirs_is_read(tmp_path: Path) -> None:
    described = json.dumps({"name": "s", "entry_point": "shout:Method"}).encode()
    path = _tar(tmp_path / "b.tar.gz", **{"manifest.json": b"{}", "method/method.json": described, "method/shout.py": PLUGIN.encode()})  # fmt: skip
    made = write_folder(path, tmp_path / "ours")
    assert (made / "code" / "shout.py").read_text("utf-8") == PLUGIN


def test_archive_with_a_wrong_checksum_is_damaged(archive: Path) -> None:
    """Its members can be read, and what they were packed of was something else: the CRC, then the length."""
    whole, ours = archive.read_bytes(), archive.with_name("ours")
    for place in (-8, -4):
        data = bytearray(whole)
        data[place] ^= 1
        archive.write_bytes(data)
        refuses(UsageError, r"cannot be read as .*\(BadGzipFile\)", write_folder, archive, ours)
    assert not ours.exists()


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> str:
    """An archive may unpack to a megabyte here; gives what is said of more."""
    monkeypatch.setattr("harness.submission.foreign.MOST_BYTES", 2**20)
    monkeypatch.setattr("harness.submission.foreign.MOST_MEMBERS", 10)
    return "it unpacks to more than the 1 MiB"


def test_what_follows_the_last_member_is_read_so_far(archive: Path, little: str) -> None:
    archive.write_bytes(archive.read_bytes() + gzip.compress(bytes(2**22)))
    refuses(UsageError, little, write_folder, archive, archive.with_name("ours"))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_header_that_unpacks_to_too_much_is_not_read(tmp_path: Path, little: str, monkeypatch: pytest.MonkeyPatch, kind: bytes) -> None:  # fmt: skip
    """The library reads it whole into memory before it tells of the member."""

    def read(*_: object) -> NoReturn:
        raise AssertionError

    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 2**31
    path = tmp_path / "b.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(2**22)))
    monkeypatch.setattr(tarfile, "open", read)
    refuses(UsageError, little, write_folder, path, tmp_path / "ours")


def test_another_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.gz"
    for packed in (bz2.compress, lzma.compress):
        path.write_bytes(packed(bytes(10_240)))
        refuses(UsageError, "in another way than by gzip", write_folder, path, tmp_path / "ours")


def test_what_they_wrote_stands_in_our_sheet_in_any_script(tmp_path: Path) -> None:
    """Osage and Adlam lie beyond U+FFFF, of which TOML takes no halves; it takes no NaN of JSON's either."""
    described = {"kind": "python", "entry_point": "m:M", "name": "\U000104b0\x7f\x00\"", "author": "\U0001e900\ud800", "decode": {"a": float("inf"), "b": True}}  # fmt: skip
    made = write_folder(_written(tmp_path / "theirs", described, m__py=""), tmp_path / "ours")
    sheet = _sheet(made)
    assert (sheet["name"], sheet["submitter"]) == ('\U000104b0\x7f\x00"', "\U0001e900\ufffd")
    assert sheet["method"]["options"] == {"a": float("inf"), "b": True}


@pytest.mark.parametrize(("kind", "words"), [
    (tarfile.SYMTYPE, "a link"), (tarfile.LNKTYPE, "a link"), (tarfile.CHRTYPE, "a device"),
    (tarfile.FIFOTYPE, "a device or pipe"),
])  # fmt: skip
def test_links_and_devices_of_an_archive_are_named(tmp_path: Path, kind: bytes, words: str) -> None:
    info = tarfile.TarInfo("method/x")
    info.type, info.linkname = kind, "/etc/passwd"
    refuses(RefusedBundle, f"method/x: {words}", write_folder, _tar(tmp_path / "b.tar", info), tmp_path / "ours")


def test_archive_that_leads_out_or_is_too_large_is_refused(tmp_path: Path) -> None:
    out = tarfile.TarInfo("../x")
    path, leads = tmp_path / "big.tar", _tar(tmp_path / "a.tar.gz", out)
    refuses(RefusedBundle, r"\.\./x: a path that leads", write_folder, leads, tmp_path / "ours")
    info = tarfile.TarInfo("method/big.bin")
    info.size = 10 * 2**30
    path.write_bytes(info.tobuf() + bytes(1024))
    refuses(RefusedBundle, "10,240 MiB declared", write_folder, path, tmp_path / "ours")
    path.write_bytes(b"\x1f\x8b\x08junk")
    refuses(UsageError, "as an archive", write_folder, path, tmp_path / "ours")


def test_an_archive_that_is_damaged_is_said(tmp_path: Path) -> None:
    """At some places the damage is found while a member is read, at others while the next one is looked for."""
    described = json.dumps({"kind": "lexicon", "name": "w", "dictionary": "w.tsv"}).encode()
    rows = "".join(f"word {n * n}\tvorto {n * 7}\n" for n in range(3000)).encode()
    path, said = tmp_path / "theirs.tar.gz", set()
    _tar(path, **{"method/method.json": described, "method/w.tsv": rows})
    data = path.read_bytes()
    for at in range(100, len(data) - 100, len(data) // 40):
        path.write_bytes(data[:at] + b"\x00\xaa\x55\xff" * 10 + data[at + 40 :])
        try:
            write_folder(path, tmp_path / str(at))
        except UsageError as wrong:
            said.add(str(wrong).partition("archive ")[2])
    assert "(error). Ask for it once more." in said
