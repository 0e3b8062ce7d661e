"""What each system is told, a stick's page and checksums, and folders that are whole or not there."""

from __future__ import annotations

import ast
import plistlib
import re
import struct
import subprocess
import tomllib
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.core.version import VERSION
from review.files.batch import open_batch
from review.rating import Rating
from tests.desktop.real.display import program
from tests.packaging.parts import REVIEWER, part

icons = part("icons")
sample = part("sample")
start_here = part("start_here")


def png(size: int) -> bytes:
    """A black picture, made without Qt."""
    rows = zlib.compress(b"".join(b"\0" + bytes(4 * size) for _ in range(size)))
    head = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", rows), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def test_the_icon_for_windows_leads_to_each_of_its_pictures() -> None:
    images = {size: png(size) for size in icons.ICO_SIZES}
    data = icons.ico(images)
    assert struct.unpack_from("<HHH", data) == (0, 1, len(images))
    for number, (size, image) in enumerate(images.items()):
        width, height, *_, length, place = struct.unpack_from("<BBBBHHII", data, 6 + 16 * number)
        assert (width or 256, height or 256) == (size, size)
        assert data[place : place + length] == image


def test_the_icon_for_macos_is_a_row_of_elements_that_fills_the_file() -> None:
    data = icons.icns({size: png(size) for size in icons.ICNS_KINDS})
    assert data[:4] == b"icns"
    assert struct.unpack_from(">I", data, 4)[0] == len(data)
    place, kinds = 8, []
    while place < len(data):
        kinds.append(data[place : place + 4])
        place += struct.unpack_from(">I", data, place + 4)[0]
    assert place == len(data)
    assert kinds == list(icons.ICNS_KINDS.values())


def test_macos_is_told_whose_the_files_are() -> None:
    entries = plistlib.loads(plistlib.dumps(part("info_plist").entries()))
    [kind] = entries["UTExportedTypeDeclarations"]
    [document] = entries["CFBundleDocumentTypes"]
    assert kind["UTTypeTagSpecification"]["public.filename-extension"] == ["rosetta-batch"]
    assert document["LSItemContentTypes"] == [kind["UTTypeIdentifier"]]
    assert entries["LSMinimumSystemVersion"] == "12.0"


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("0.1.0", (0, 1, 0, 0)), ("0.2.0rc1", (0, 2, 0, 0)), ("1.2.3.4.5", (1, 2, 3, 4)),
     ("2", (2, 0, 0, 0)), ("0.3.dev0", (0, 3, 0, 0))],
)  # fmt: skip
def test_windows_knows_four_numbers_of_any_version(
    monkeypatch: pytest.MonkeyPatch, version: str, numbers: tuple[int, ...]
) -> None:
    windows_version = part("windows_version")
    monkeypatch.setattr(windows_version.recipe, "version", lambda: version)
    assert f"filevers={numbers}," in windows_version.text()


def test_windows_is_told_the_version() -> None:
    tree = ast.parse(part("windows_version").text(), mode="eval").body
    assert isinstance(tree, ast.Call)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    strings = {
        tuple(map(ast.literal_eval, each.args)) for each in calls if named(each) == "StringStruct"
    }
    assert {("ProductVersion", VERSION), ("FileVersion", VERSION)} <= strings
    [fixed] = [each for each in calls if named(each) == "FixedFileInfo"]
    numbers = {each.arg: ast.literal_eval(each.value) for each in fixed.keywords}
    assert numbers["filevers"] == numbers["prodvers"] == (*map(int, VERSION.split(".")), 0)


def named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def test_what_windows_is_told_is_taken_back() -> None:
    texts = {
        name: (REVIEWER / "windows" / name).read_text("ascii")
        for name in ("register.cmd", "unregister.cmd")
    }
    keys = set(re.findall(r'reg add "%CLASSES%\\([^"\\]+)', texts["register.cmd"]))
    assert keys == {".rosetta-batch", "RosettaReview.Batch"}
    assert keys == set(re.findall(r'reg delete "%CLASSES%\\([^"\\]+)"', texts["unregister.cmd"]))
    for text in texts.values():
        assert r'set "CLASSES=HKCU\Software\Classes"' in text
        assert "HKLM" not in text


# the stick


def test_the_sample_is_a_review_that_says_what_it_is() -> None:
    made = sample.make()
    batch = open_batch(made.data)
    assert len(batch.items) == len(sample.ENTRIES)
    assert {each.rating for each in batch.training} == {*Rating}
    assert "sample" in batch.manifest.title.lower()
    assert "nobody can open" in batch.manifest.consent
    assert made.phrase == batch.organisation_phrase
    assert batch.person(made.code.replace("-", ""))
    assert made.code.replace("-", "").encode() not in made.data
    assert sample.make().code != made.code


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.open: list[str] = []
        self.pictures_without_words = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.sources += [
            value for name in ("src", "href", "srcset", "action") if (value := said.get(name))
        ]
        if tag not in {"meta", "img"}:
            self.open.append(tag)
        self.pictures_without_words += tag == "img" and not said.get("alt")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("there", [["linux"], ["windows", "macos", "linux"]], ids="+".join)
def test_page_stands_alone_and_names_the_programs(there: list[str], tmp_path: Path) -> None:
    picture = tmp_path / "item.png"
    picture.write_bytes(png(2))
    made = sample.Sample(b"", "ABCD-1234", "one two three four five six")
    shown = {tag: [("An <item> & its answers", picture)] for tag in ("en", "fr")}
    text = start_here.page(there, made, shown)
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.pictures_without_words == 0
    assert {
        source.partition(":")[0] if ":" in source else source[:1] for source in page.sources
    } == {"data", "#"}
    assert "default-src 'none'" in text
    for system, name in start_here.ARCHIVES.items():
        assert (name in text) == (system in there)
    assert text.count("ABCD-1234") == text.count("one two three four five six") == 2
    assert "{" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_both_languages_of_the_page_say_as_much() -> None:
    texts = tomllib.loads((REVIEWER / "start_here.toml").read_text("utf-8"))
    assert shape(texts["en"]) == shape(texts["fr"])


def shape(said: object) -> object:
    if isinstance(said, dict):
        return {name: shape(value) for name, value in said.items()}
    return len(said) if isinstance(said, list) else isinstance(said, str)


def test_the_checksums_of_a_stick_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    stick = part("stick")
    (tmp_path / "Sample.rosetta-batch").write_bytes(b"one")
    (tmp_path / "START-HERE.html").write_bytes(b"two")
    (tmp_path / stick.CHECKSUMS).write_text(stick.checksums(tmp_path))
    command = [program("sha256sum"), "--check", "--strict", stick.CHECKSUMS]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "START-HERE.html").write_bytes(b"changed")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1


# a build that broke off goes on where it was


own_folder, stages = part("own_folder"), part("stages")


def test_stage_is_done_while_inputs_and_results_are_there(tmp_path: Path) -> None:
    made = tmp_path / "made"
    done = stages.Stages(tmp_path / "out")
    assert not done.is_done("program", "a" * 64, made)
    made.mkdir()
    done.note("program", "a" * 64)
    done.note("archives", "b" * 64)
    again = stages.Stages(tmp_path / "out")
    assert again.is_done("program", "a" * 64, made)
    assert not again.is_done("program", "b" * 64, made)
    made.rmdir()
    assert not again.is_done("program", "a" * 64, made)
    assert again.is_done("archives", "b" * 64)
    for damage in ("", "{", "[]"):
        (tmp_path / "out" / "stages.json").write_text(damage)
        damaged = stages.Stages(tmp_path / "out")
        assert not damaged.is_done("archives", "b" * 64), "it counts for nothing"
        damaged.note("archives", "b" * 64)
        assert damaged.is_done("archives", "b" * 64)


def test_hash_of_inputs_sees_every_name_and_byte(tmp_path: Path) -> None:
    folder = tmp_path / "review"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "one.py").write_text("1")
    seen = {stages.hash_of([folder])}
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "one.pyc").write_bytes(b"cache")
    assert stages.hash_of([folder]) in seen
    for act in (
        lambda: (folder / "deep" / "one.py").write_text("2"),
        lambda: (folder / "deep" / "one.py").rename(folder / "one.py"),
        lambda: (folder / "link").symlink_to("one.py"),
    ):
        act()
        found = stages.hash_of([folder])
        assert found not in seen
        seen.add(found)
    assert stages.hash_of([folder], "Python 3.13") not in seen


def test_a_folder_that_broke_off_leaves_what_was_there(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    with own_folder.filling(stick) as folder:
        (folder / "START-HERE.html").write_text("first")
    with pytest.raises(FileNotFoundError), own_folder.filling(stick) as folder:  # noqa: PT012
        (folder / "Review-Linux.tar.xz").write_bytes(b"half")
        (folder / "no such folder" / "START-HERE.html").write_text("half")
    assert (stick / "START-HERE.html").read_text() == "first"
    assert not (stick / "Review-Linux.tar.xz").exists()
    with own_folder.filling(stick) as folder:
        (folder / "START-HERE.html").write_text("second")
    assert (stick / "START-HERE.html").read_text() == "second"
    assert [each.name for each in tmp_path.iterdir()] == ["stick"]


def names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


def test_build_fills_a_folder_of_its_own_and_deletes_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "dist" / "new", tmp_path / "empty"):
        assert names(own_folder.make(folder)) == [own_folder.CHECKSUMS]
        (folder / "half.whl").touch()  # an earlier build, or one that was stopped, gives way
        assert names(own_folder.make(folder)) == [own_folder.CHECKSUMS]
    thesis = tmp_path / "thesis.odt"
    thesis.write_text("years of work")
    for folder in (tmp_path, thesis):
        with pytest.raises(SystemExit, match="holds"):
            own_folder.make(folder)
    assert thesis.read_text() == "years of work"
