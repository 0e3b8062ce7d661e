"""Who has a laptop's file open: seen across programs, and no longer than they live."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.core.storage_problems import StorageProblem
from review.log.laptop import Laptop
from review.log.table import NotSaved

_OPEN = (
    "import sys; from pathlib import Path; from review.log.laptop import Laptop;"
    "laptop = Laptop.open(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
)


def another_program(folder: Path) -> subprocess.Popen[str]:
    """Start a program that opens the file and does nothing with it."""
    pipe = subprocess.PIPE
    program = subprocess.Popen(
        [sys.executable, "-c", _OPEN, str(folder)], stdin=pipe, stdout=pipe, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "open\n"
    return program


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_an_idle_program_is_seen_until_it_ends(tmp_path: Path, end: signal.Signals) -> None:
    with Laptop.open(tmp_path, busy_seconds=0.05) as laptop:
        with another_program(tmp_path) as program:
            with pytest.raises(NotSaved) as refused:
                laptop.close_alone()
            assert refused.value.problem is StorageProblem.BUSY
            laptop.set_setting("still", "open")
            program.send_signal(end)
        laptop.close_alone().close()


def test_nobody_comes_in_while_one_is_alone(tmp_path: Path) -> None:
    presence = Laptop.open(tmp_path).close_alone()
    with pytest.raises(NotSaved) as refused:
        Laptop.open(tmp_path, busy_seconds=0.05)
    assert refused.value.problem is StorageProblem.BUSY
    presence.close()
    Laptop.open(tmp_path).close()


def test_two_that_want_to_be_alone_hinder_each_other_and_nobody_is_lost(tmp_path: Path) -> None:
    one, other = (Laptop.open(tmp_path, busy_seconds=0.05) for _ in range(2))
    for laptop in (one, other):
        with pytest.raises(NotSaved):
            laptop.close_alone()
    one.close()
    other.close_alone().close()
