"""Methods of the reference implementation become folders of ours; nothing of them is run, no Dockerfile is read."""

import bz2
import gzip
import io
import json
import lzma
import sys
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.core.failures import UsageError
from harness.inputs.dictionary import read_dictionary
from harness.submission.bundle import RefusedBundle
from harness.submission.foreign import write_folder
from tests.harness.sealed.refusals import refuses

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
    theirs = _written(tmp_path / "theirs", described, shout_of_theirs__py=PLUGIN, Dockerfile="FROM evil\n")  # fmt: skip
    made = write_folder(theirs, tmp_path / "ours")
    sheet = _sheet(made)
    assert (sheet["name"], sheet["release"]) == ('Shout "it"', "2.0.0")
    entry = "rosetta_adapter:Adapter"
    assert sheet["method"] == {"lane": "code", "entry": entry, "options": {"temperature": 0.5}}
    assert sorted(p.name for p in (made / "code").iterdir()) == ["rosetta_adapter.py", "shout_of_theirs.py"]  # fmt: skip
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
    ({"kind": "lexicon", "dictionary": "../../etc/passwd"}, "names no file beside it"),
])  # fmt: skip
def test_refusal_says_what_can(tmp_path: Path, described: dict[str, Any], words: str) -> None:
    refuses(UsageError, words, write_folder, _written(tmp_path / "theirs", described), tmp_path / "ours")  # fmt: skip
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


@pytest.mark.parametrize("place", [-8, -4])
def test_archive_with_a_wrong_checksum_is_damaged(archive: Path, place: int) -> None:
    """Its members can be read, and what they were packed of was something else: the CRC, then the length."""
    data, ours = bytearray(archive.read_bytes()), archive.with_name("ours")
    data[place] ^= 1
    archive.write_bytes(data)
    words = r"cannot be read as an archive \(BadGzipFile\)"
    refuses(UsageError, words, write_folder, archive, ours)
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


@pytest.mark.parametrize("packed", [bz2.compress, lzma.compress])
def test_another_compression_is_refused(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "b.tar.gz"
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
    refuses(RefusedBundle, f"method/x: {words}", write_folder, _tar(tmp_path / "b.tar", info), tmp_path / "ours")  # fmt: skip


def test_archive_that_leads_out_or_is_too_large_is_refused(tmp_path: Path) -> None:
    out = tarfile.TarInfo("../x")
    with pytest.raises(RefusedBundle, match=r"\.\./x: a path that leads out"):
        write_folder(_tar(tmp_path / "a.tar.gz", out), tmp_path / "ours")
    path = tmp_path / "big.tar"
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
