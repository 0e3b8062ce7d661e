"""What each system is told, a stick's page and checksums, folders that are whole or not there, and the program on Linux."""

from __future__ import annotations

import ast
import os
import plistlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path

import pytest

from harness.core.version import VERSION
from harness.sealed.stick import ARCHIVES
from review.files.batch import open_batch
from review.office.making.reviewer_programs import write_starters
from review.rating import Rating
from rosetta_tui.html.stick_pages import SampleFacts, StepPicture, start_here_page, start_here_texts
from tests.desktop.real.display import program, until
from tests.packaging.parts import REVIEWER, part
from tests.tui.html.strict import StrictPage

icons = part("icons")
sample = part("sample")


def png(size: int) -> bytes:
    """A black picture, made without Qt."""
    rows = zlib.compress(b"".join(b"\0" + bytes(4 * size) for _ in range(size)))
    head = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", rows), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def test_icons_lead_to_each_of_their_pictures() -> None:
    images = {size: png(size) for size in icons.ICO_SIZES}
    data = icons.ico(images)
    assert struct.unpack_from("<HHH", data) == (0, 1, len(images))
    for number, (size, image) in enumerate(images.items()):
        width, height, *_, length, place = struct.unpack_from("<BBBBHHII", data, 6 + 16 * number)
        assert (width or 256, height or 256) == (size, size)
        assert data[place : place + length] == image
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


VERSIONS = {
    "0.1.0": (0, 1, 0, 0), "0.2.0rc1": (0, 2, 0, 0), "1.2.3.4.5": (1, 2, 3, 4), "2": (2, 0, 0, 0),
    "0.3.dev0": (0, 3, 0, 0),
}  # fmt: skip


def test_windows_is_told_four_numbers_of_any_version(monkeypatch: pytest.MonkeyPatch) -> None:
    told = part("windows_version").text()
    ast.parse(told, mode="eval")
    for name in ("ProductVersion", "FileVersion"):
        assert f"StringStruct('{name}', '{VERSION}')" in told
    for version, numbers in VERSIONS.items():
        monkeypatch.setattr(part("recipe"), "version", lambda version=version: version)
        told = part("windows_version").text()
        assert f"filevers={numbers}, prodvers={numbers}," in told


def test_what_windows_is_told_is_taken_back() -> None:
    texts = {name: (REVIEWER / "windows" / name).read_text("ascii") for name in ("register.cmd", "unregister.cmd")}
    keys = set(re.findall(r'reg add "%CLASSES%\\([^"\\]+)', texts["register.cmd"]))
    assert keys == {".rosetta-batch", "RosettaReview.Batch"}
    assert keys == set(re.findall(r'reg delete "%CLASSES%\\([^"\\]+)"', texts["unregister.cmd"]))
    for text in texts.values():
        assert r'set "CLASSES=HKCU\Software\Classes"' in text
        assert "HKLM" not in text


# the stick

PHRASE = "one two three four five six"


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


@pytest.mark.parametrize("there", [["linux"], ["windows", "macos", "linux"]], ids="+".join)
def test_page_stands_alone_and_names_the_programs(there: list[str]) -> None:
    shown = {tag: [StepPicture("An <item> & its answers", png(2))] for tag in ("en", "fr")}
    text = start_here_page(there, SampleFacts("ABCD-1234", PHRASE), shown)
    StrictPage(text)
    assert text.count("An &lt;item&gt; &amp; its answers") == 4
    assert "default-src &#39;none&#39;; img-src data:" in text
    for system, name in ARCHIVES.items():
        assert (name in text) == (system in there)
    assert text.count("ABCD-1234") == text.count(PHRASE) == 2
    assert "{" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    bare = start_here_page([])
    StrictPage(bare)
    assert "no program for Windows, Mac, Linux" in bare
    for words in ("Sample", "CHECKSUMS", *ARCHIVES.values()):
        assert words not in bare


def test_both_languages_of_the_page_say_as_much() -> None:
    def shape(said: object) -> object:
        if isinstance(said, dict):
            return {name: shape(value) for name, value in said.items()}
        return len(said) if isinstance(said, list) else isinstance(said, str)

    texts = start_here_texts()
    assert shape(texts["en"]) == shape(texts["fr"])


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


def test_folders_are_whole_or_as_they_were_and_nothing_else_goes(tmp_path: Path) -> None:
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


# among a person's own programs on Linux: installed, started from a stick, and taken away again


def around(home: Path) -> dict[str, str]:
    """Return what stands around a command of the installer."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def do(home: Path, *command: str | Path) -> str:
    done = subprocess.run(command, env=around(home), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """A bundle as a person unpacks it; instead of the program a script that notes what it was given."""
    if sys.platform != "linux":
        pytest.skip("the desktop files are those of Linux")
    folder = tmp_path / "Téléchargements" / "rosetta-review"
    share = folder / "share"
    share.mkdir(parents=True)
    for path in (REVIEWER / "linux").iterdir():
        shutil.copy(path, folder if path.suffix == ".sh" else share)
    shutil.copy(REVIEWER / "icon.svg", share / "rosetta-review.svg")
    for size in (32, 48, 64, 128, 256):
        (share / f"rosetta-review-{size}.png").write_bytes(b"png")
    (folder / "_internal").mkdir()
    (folder / "_internal" / "libQt6Core.so.6").symlink_to("elsewhere")
    program = folder / "rosetta-review"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$HOME/given.part"\nmv "$HOME/given.part" "$HOME/given"\n')
    program.chmod(0o755)
    return folder


@pytest.fixture(params=["ana", 'Ana $HOME "the 2nd" `é` \\ &'], ids=["plain", "hostile"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / str(request.param)
    folder.mkdir()
    return folder


NEEDED = ("gio", "update-mime-database", "update-desktop-database", "dbus-run-session")


def test_double_click_opens_and_answers_stay(unpacked: Path, home: Path, tmp_path: Path) -> None:
    for name in NEEDED:
        program(name)
    answers = home / ".local" / "share" / "rosetta-tui" / "review.sqlite"
    answers.parent.mkdir(parents=True)
    answers.write_bytes(b"answers")

    assert "Done." in do(home, unpacked / "install.sh")
    shutil.rmtree(unpacked)
    installed = home / ".local" / "lib" / "rosetta-review"
    assert (installed / "_internal" / "libQt6Core.so.6").is_symlink()

    review = tmp_path / "stick" / "Spring & more.rosetta-batch"
    review.parent.mkdir()
    review.write_bytes(b"PK\x03\x04 it looks like a zip")
    assert "content-type: application/vnd.rosetta-batch" in do(home, "gio", "info", review)
    assert "rosetta-review.desktop" in do(home, "gio", "mime", "application/vnd.rosetta-batch")
    do(home, "dbus-run-session", "gio", "open", review)
    until((home / "given").exists, "the program was given the file")
    assert (home / "given").read_text() == f"{review}\n"

    do(home, installed / "install.sh")  # once more, from where it was put
    assert (installed / "rosetta-review").exists()
    assert "Done." in do(home, installed / "uninstall.sh")
    assert not installed.exists()
    assert "rosetta-review.desktop" not in do(home, "gio", "mime", "application/vnd.rosetta-batch")
    assert [each for each in home.rglob("*rosetta*") if each.is_file()] == []
    assert answers.read_bytes() == b"answers"


def test_the_entry_of_the_menu_is_one_that_desktops_accept(unpacked: Path, tmp_path: Path) -> None:
    tool = program("desktop-file-validate")
    do(tmp_path, unpacked / "install.sh")
    entry = tmp_path / ".local" / "share" / "applications" / "rosetta-review.desktop"
    assert do(tmp_path, tool, entry) == ""


def test_program_is_installed_without_a_desktop(unpacked: Path, home: Path) -> None:
    tools = home / "tools"
    tools.mkdir()
    for name in ("sh", "sed", "cp", "mv", "rm", "mkdir", "dirname"):
        (tools / name).symlink_to(program(name))
    subprocess.run(["/bin/sh", unpacked / "install.sh"], env={"HOME": str(home), "PATH": str(tools)}, check=True)
    assert (home / ".local" / "lib" / "rosetta-review" / "rosetta-review").exists()
    assert (home / ".local" / "share" / "applications" / "rosetta-review.desktop").exists()


# a stick: a double click puts the program on the computer and opens it

ARCHIVE = "Review-Linux.tar.xz"


@pytest.fixture
def stick(unpacked: Path, tmp_path: Path) -> Path:
    """What a build lays out of it; nothing on it may be run, as on FAT."""
    folder = tmp_path / "media" / 'Ana\'s stick $HOME & "more"'
    folder.mkdir(parents=True)
    packed(unpacked, folder)
    for path in write_starters(folder):
        path.chmod(0o644)
    return folder


def packed(unpacked: Path, stick: Path) -> None:
    with tarfile.open(stick / ARCHIVE, "w:xz") as archive:
        archive.add(unpacked, "rosetta-review")


def start(stick: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", stick / "Start-Linux.sh"], env=around(home), check=False, capture_output=True, text=True
    )


def installed(home: Path) -> Path:
    return home / ".local" / "lib" / "rosetta-review"


def test_desktop_entry_installs_and_opens_the_program(stick: Path, home: Path) -> None:
    """Many programs of desktops give the place as a path."""
    entry = (stick / "Start-Linux.desktop").read_text("utf-8")
    [line] = re.findall("^Exec=(.*)$", entry, re.MULTILINE)
    command = line.replace("\\\\", "\\")  # what a value writes twice
    shell, option, script, *rest = [
        re.sub(r"\\(.)", r"\1", quoted or plain)
        for quoted, plain in re.findall(r'"((?:\\.|[^"\\])*)"|([^ "]+)', command)
    ]
    places = [str(stick / "Start-Linux.desktop") if each == "%k" else each for each in rest]
    do(home, shell, option, script, *places)
    assert (home / "given").exists()
    assert (installed(home) / "_internal" / "libQt6Core.so.6").is_symlink()
    assert sorted(each.name for each in installed(home).parent.iterdir()) == ["rosetta-review"]


def test_a_desktop_that_does_not_say_it_starts_beside_the_file(stick: Path, home: Path) -> None:
    launch = [program("gio"), "launch", "Start-Linux.desktop"]
    subprocess.run(launch, cwd=stick, env=around(home), check=True)
    until((home / "given").exists, "the program was started")


def test_program_is_unpacked_once_and_if_changed(stick: Path, unpacked: Path, home: Path) -> None:
    assert start(stick, home).returncode == 0
    mark = installed(home) / "mark"
    mark.touch()
    assert start(stick, home).returncode == 0
    assert mark.exists()
    (unpacked / "newer").touch()
    packed(unpacked, stick)
    assert start(stick, home).returncode == 0
    assert (installed(home) / "newer").exists()
    assert not mark.exists()


@pytest.mark.parametrize(("content", "said"), [(None, "is not beside"), (b"half", "could not be unpacked")])
def test_bad_archive_leaves_none(stick: Path, home: Path, content: bytes | None, said: str) -> None:
    (stick / ARCHIVE).unlink()
    if content is not None:
        (stick / ARCHIVE).write_bytes(content)
    done = start(stick, home)
    assert (done.returncode, said in done.stderr) == (1, True)
    programs = installed(home).parent
    assert not programs.exists() or list(programs.iterdir()) == []
