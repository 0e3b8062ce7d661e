"""A killed reader's private copy is erased at the next start, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.store.file.database import PREFIX, erase_left_copies

READER = """
import sys
from pathlib import Path
from harness.store.file.database import copied
print(copied(Path(sys.argv[1]), Path(sys.argv[1] + "-wal")), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setenv("TMPDIR", str(found))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return found


@pytest.fixture
def reader(folder: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    store = tmp_path / "rosetta.sqlite"
    for each in (store, Path(f"{store}-wal")):
        each.write_bytes(b"what it holds")
    command = [sys.executable, "-P", "-c", READER, str(store)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def test_the_copy_of_a_killed_reader_is_erased_and_no_other(
    reader: subprocess.Popen[str], folder: Path
) -> None:
    assert reader.stdout is not None
    copy = Path(reader.stdout.readline().strip())
    erase_left_copies()
    assert copy.read_bytes() == b"what it holds", "its reader lives"
    reader.kill()
    reader.wait()
    assert copy.exists()
    erase_left_copies()
    assert list(folder.iterdir()) == []


def test_a_reader_that_ends_erases_its_copy_itself(
    reader: subprocess.Popen[str], folder: Path
) -> None:
    assert reader.stdout is not None
    assert reader.stdout.readline()
    reader.communicate("")
    assert list(folder.iterdir()) == []


def test_nothing_is_erased_that_may_be_another_persons(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    for each in (mine, folder / f"{PREFIX}open", folder / f"{PREFIX}bare", folder / "other"):
        each.mkdir(mode=0o700)
        (each / "kept").touch()
    for each in (mine, folder / f"{PREFIX}open", folder / "other"):
        (each / "held").touch()
    (folder / f"{PREFIX}open").chmod(0o755)
    (folder / f"{PREFIX}link").symlink_to(mine)
    linked = folder / f"{PREFIX}linked"
    linked.mkdir(mode=0o700)
    (linked / "held").symlink_to(mine / "held")
    (folder / f"{PREFIX}file").touch()
    before = sorted(tmp_path.rglob("*"))
    erase_left_copies()
    assert sorted(tmp_path.rglob("*")) == before
