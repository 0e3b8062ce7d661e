"""A full disk leaves a vault as it was; what a computer saw of it never goes back, whatever two programs do at once."""

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from harness.core.failures import UsageError
from harness.core.written_files import write_file
from harness.sealed.forms import FileProblem
from harness.vault import seen
from harness.vault.folder import LOG, VaultState, read_state
from harness.vault.log import VaultError
from harness.vault.seen import LOCK, VaultsSeen
from harness.vault.vault import Vault
from tests.harness.vault.killed import ACTS, OF_SEVERAL, left
from tests.harness.vault.made import MINE, START, files, readable, refused, ticking, vault

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


def test_read_only_disk_is_not_said_to_be_full(
    made: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", fails)
    said = refusal(made, "rotate") or ""
    assert "could not be changed: Read-only file system. It is as it was before. Allow it" in said
    assert "room" not in said


def test_remains_of_a_change_go_before_the_next(
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


# What a computer saw of a vault, written by two programs at once: it never goes back, and nobody is told a falsehood

OTHER = """
import sys
from pathlib import Path
from harness.vault import seen
from harness.vault.folder import read_state
from harness.vault.log import VaultError
seen.BUSY_SECONDS = float(sys.argv[3])
try:
    seen.VaultsSeen(Path(sys.argv[2])).remember(read_state(Path(sys.argv[1])))
except VaultError as error:
    print(error)
"""


def in_another_process(made: Vault, seconds: float) -> str:
    """Remember the vault as it is now in a process of its own, which waits so long for others; gives what it said."""
    words = (str(made.folder), str(made.memory), str(seconds))
    program = [sys.executable, "-P", "-c", OTHER, *words]
    return str(subprocess.run(program, capture_output=True, text=True, check=True).stdout)


def remembered(made: Vault) -> int:
    """Return how many lines this computer saw."""
    [kept] = made.memory.glob("*.json")
    return int(json.loads(kept.read_bytes())[0])


@pytest.mark.costly("two programs see a vault at once")
def test_program_that_saw_less_writes_not_over_one_that_saw_more(
    made: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second process tries in the very moment between the look and the write of the first."""
    elsewhere = Vault(made.folder, tmp_path / "elsewhere", ticking(START + timedelta(hours=1)))
    elsewhere.open("greetings", "first", MINE)
    less, said = read_state(made.folder), []
    elsewhere.open("greetings", "second", MINE)

    def meanwhile(*given: Any, **more: Any) -> None:
        said.append(in_another_process(made, 0))
        write_file(*given, **more)

    monkeypatch.setattr(seen, "write_file", meanwhile)
    made.seen.remember(less)
    assert ["Another program of this computer is writing" in each for each in said] == [True]
    assert remembered(made) == 3
    assert in_another_process(made, 20) == ""
    assert remembered(made) == 4
    made.seen.remember(less)
    assert remembered(made) == 4


def test_vault_that_grew_meanwhile_is_no_older_copy(
    made: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare, times = VaultsSeen.compare, []

    def grown(self: VaultsSeen, state: VaultState) -> None:
        times.append(state.head.lines)
        if len(times) == 1:
            monkeypatch.setattr(VaultsSeen, "compare", compare)
            made.open("greetings", "meanwhile", MINE)
        compare(self, state)

    monkeypatch.setattr(VaultsSeen, "compare", grown)
    assert made.read().head.lines == 3
    assert times == [2]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root writes anywhere")
def test_data_folder_that_takes_nothing_is_said(made: Vault) -> None:
    (made.memory / LOCK).unlink()
    made.memory.chmod(0o500)
    try:
        with pytest.raises(VaultError) as said:
            made.seen.forget(made.folder)
    finally:
        made.memory.chmod(0o700)
    assert said.value.problem is FileProblem.INVALID


@pytest.mark.parametrize("openings", [1, 2])
def test_copy_used_elsewhere_is_known_at_any_length(
    made: Vault, tmp_path: Path, openings: int
) -> None:
    """By its length alone, a copy whose log has other lines would pass for the newest one."""
    shutil.copytree(made.folder, tmp_path / "copy")
    made.open("greetings", "at home", MINE)
    later = ticking(START + timedelta(hours=1))
    elsewhere = Vault(tmp_path / "copy", tmp_path / "elsewhere", later)
    for number in range(openings):
        elsewhere.open("greetings", f"elsewhere {number}", MINE)
    shutil.rmtree(made.folder)
    shutil.copytree(tmp_path / "copy", made.folder)
    refused("used elsewhere meanwhile", made.read)
    assert remembered(made) == 3
