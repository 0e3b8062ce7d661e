"""What a computer saw of a vault, written by two programs at once: it never goes back, and nobody is told a falsehood."""

import json
import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.core.written_files import write_file
from harness.sealed.forms import FileProblem
from harness.vault import seen
from harness.vault.folder import VaultState, read_state
from harness.vault.log import VaultError
from harness.vault.seen import LOCK, VaultsSeen
from harness.vault.vault import Vault
from tests.harness.vault.made import MINE, START, refused, ticking

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
    program = [sys.executable, "-P", "-c", OTHER, made.folder, made.memory, str(seconds)]
    return subprocess.run(program, capture_output=True, text=True, check=True).stdout


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


def test_vault_that_grew_while_it_was_read_is_no_older_copy(
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
def test_copy_used_on_its_own_is_known_however_long_it_grew(
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
