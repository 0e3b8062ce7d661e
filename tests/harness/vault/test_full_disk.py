"""A disk that is full at any moment of a change leaves the vault as it was, says so, and takes the change once there is room."""

import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.vault.folder import LOG, read_state
from harness.vault.vault import Vault
from tests.harness.vault.killed import ACTS, OF_SEVERAL, left
from tests.harness.vault.made import START, files, readable, ticking, vault

CHANGES = [name for name in ACTS if not name.startswith("init") and name != "export"]


def refusal(made: Vault, name: str) -> str | None:
    """Return the words with which a change is refused; None where it was done."""
    try:
        ACTS[name](made)
    except UsageError as error:
        return str(error)
    return None


def content(made: Vault) -> dict[str, bytes]:
    """Return the files that a change must leave alone; of the log only what its signed head covers counts."""
    return {name: (made.folder / name).read_bytes() for name in files(made.folder) if name != LOG}


@pytest.mark.parametrize("name", CHANGES)
def test_write_that_fails_leaves_the_vault_as_it_was(
    tmp_path: Path, single: Path, whole: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(whole if name in OF_SEVERAL else single, tmp_path, dirs_exist_ok=True)
    made = vault(tmp_path, START + timedelta(minutes=2))
    before, lines = content(made), made.read().head.lines
    real, left_writes = os.fsync, [0]

    def fails(handle: int) -> None:
        a_file = stat.S_ISREG(os.fstat(handle).st_mode)
        left_writes[0] -= a_file
        if a_file and left_writes[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", fails)
    refused = 0
    for write in count(1):
        left_writes[0] = write
        if (said := refusal(made, name)) is None:
            break
        refused += 1
        assert "No space left on device" in said
        assert "as it was before. Make room, and try again" in said
        assert read_state(made.folder).head.lines == lines
        assert {each: data for each, data in content(made).items() if each in before} == before
    assert refused >= 2
    state = made.read()
    assert (state.head.lines, state.left_over) == (lines + 1, ())
    assert readable(tmp_path) == []


def test_disk_that_may_not_be_written_is_not_said_to_be_full(
    made: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", fails)
    said = refusal(made, "rotate") or ""
    assert "could not be changed: Read-only file system. It is as it was before. Allow it" in said
    assert "room" not in said


def test_remains_of_a_stopped_change_go_before_the_next_one(
    made: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else two changes would have to find room at once, and on a full stick none ever would."""
    left_over = made.folder / ("0" * 64)
    left_over.write_bytes(b"sealed")
    assert made.read().left_over == (left_over.name,)
    real, there = os.fsync, []

    def noted(handle: int) -> None:
        there.append(left_over.exists())
        real(handle)

    monkeypatch.setattr(os, "fsync", noted)
    assert refusal(made, "rotate") is None
    assert there
    assert not any(there)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of its own that has little room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:  # fmt: skip
        pytest.skip("this system lets nobody make a small disk here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("name", ["rotate", "revoke"])
def test_disk_that_is_really_full_leaves_the_vault_as_it_was(
    tmp_path: Path, single: Path, small_disk: Path, name: str
) -> None:
    shutil.copytree(single / "vault", small_disk / "vault")
    made = Vault(small_disk / "vault", tmp_path / "memory", ticking(START + timedelta(minutes=2)))
    lines, ballast = made.read().head.lines, small_disk / "ballast"
    refused = 0
    for room in range(0, 64 * 1024, 4096):
        ballast.unlink(missing_ok=True)
        free = shutil.disk_usage(small_disk).free
        ballast.write_bytes(bytes(max(0, free - room)))
        if (said := refusal(made, name)) is None:
            break
        refused += 1
        assert "as it was before. Make room, and try again" in said
        assert read_state(made.folder).head.lines == lines
    ballast.unlink()
    assert refused
    assert made.read().head.lines == lines + 1
    assert left(made, founded=True) == 8
    assert readable(small_disk) == []
