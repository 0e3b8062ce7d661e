"""Commands where nobody is at a terminal: a standard stream is closed, or ends before the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import keyring_in_memory
from tests.tui.commands.processes import START, Rosetta
from tests.tui.commands.vault_office import Homes

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="closes a stream as a Unix shell does")


def called(
    home: Path, *words: object, first: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", START, *map(str, words)], env=Rosetta(home).environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, preexec_fn=first,
    )  # fmt: skip


@UNIX
@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_command_runs_without_one_of_the_standard_streams(stream: int, tmp_path: Path) -> None:
    done = called(tmp_path, "runs", "list", first=lambda: os.close(stream))
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) is (stream != 1)


@UNIX
def test_a_question_that_nobody_answers_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not interrupted, which is what a person does."""
    homes = Homes(tmp_path, monkeypatch)
    with keyring_in_memory.memory_keyring():
        homes("office", "grant request elders greetings {stick}/a.rosetta-request --purpose spring")
        homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    asked = ("vault", "grant", "allow", homes.stick / "elders", homes.stick / "a.rosetta-request", "--to", "a.rosetta-answer")  # fmt: skip
    for first in (None, lambda: os.close(0)):
        done = called(homes.folder / "school", *asked, first=first)
        assert done.returncode == 2, done.stderr
        assert "Do you allow this?" in done.stdout
        assert "error: Nobody is there to answer" in done.stderr
    assert not list(homes.folder.rglob("*.rosetta-answer"))
