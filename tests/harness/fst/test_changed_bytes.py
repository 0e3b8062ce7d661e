"""One changed byte of an analyser never ends the process: it is refused in words, or read."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from harness.fst.analyser import open_analyser
from harness.fst.model import AnalyserError
from tests.harness.fst.making import needs, real
from tests.outside import STRICT
from tests.review.thorough import times

EPO = Path(__file__).parents[3] / "corpora" / "languages" / "shipped" / "epo" / "epo.hfstol"
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def flips(content: bytes, places: Iterable[int], seed: int = 3) -> list[tuple[int, int]]:
    """Return a place and a mask for each of the places: one bit, any bits, or all."""
    choice = random.Random(seed)
    return [(at, choice.choice([1 << choice.randrange(8), choice.randrange(1, 256), 255]))
            for at in places]  # fmt: skip


def signals_of(act: Callable[[int, int], None], changes: Iterable[tuple[int, int]]) -> list[str]:
    """Do something for each change in a child process of its own; gives the deaths by a signal."""
    found = []
    for at, mask in changes:
        child = os.fork()
        if not child:
            code = 3
            try:
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 1)
                os.dup2(quiet, 2)
                act(at, mask)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if status:
            told = signal.Signals(status).name if os.WIFSIGNALED(status) else "an exception"
            found.append(f"byte {at} ^ {mask:#x}: {told}")
    return found


def asking(path: Path, folder: Path, engine: str, words: list[str]) -> Callable[[int, int], None]:
    """Return what opens a changed copy of an analyser, and asks it about words."""
    content = path.read_bytes()
    copy = folder / "changed.hfstol"

    def act(at: int, mask: int) -> None:
        copy.write_bytes(content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :])
        with suppress(AnalyserError):
            open_analyser(copy, engine).analyse(words)

    return act


@pytest.mark.thorough
@forks
@pytest.mark.parametrize("engine", ["builtin", "hfst"])
@pytest.mark.parametrize(
    "path", [EPO, pytest.param(STRICT, marks=real)], ids=lambda path: path.name
)
def test_no_changed_byte_ends_the_process(tmp_path: Path, path: Path, engine: str) -> None:
    """Properties and counts, the makers' header, and as many bytes of the tables."""
    needs(engine)
    open_analyser(path, engine)  # what is imported is shared by the children
    content = path.read_bytes()
    counts = 8 + int.from_bytes(content[5:7], "little")
    choice = random.Random(11)
    tables = [choice.randrange(counts + 56, len(content)) for _ in range(times(30, 400))]
    places = [*range(0, counts, times(9, 1)), *range(counts, counts + 56), *tables]
    act = asking(path, tmp_path, engine, ["hundo", "parolas", "atim", "niwâpamâw"])
    assert signals_of(act, flips(content, places)) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("at", "words"),
    [
        (-1, "not UTF-8"),
        (0, "a property in its header is neither 0 nor 1"),
        (7, "a property in its header is neither 0 nor 1"),
    ],
)
@pytest.mark.parametrize("command", [["doctor"], ["language", "check", "eo"]])
def test_the_commands_say_what_is_wrong_with_the_file(
    tmp_path: Path, command: list[str], at: int, words: str
) -> None:
    """Place −1 is a letter of the makers' header, 0 … 7 a property behind ``weighted``."""
    content = bytearray(EPO.read_bytes())
    counts = 8 + int.from_bytes(content[5:7], "little")
    place = 12 if at < 0 else counts + 24 + 4 * at
    content[place] ^= 0x80 if at < 0 else 2
    folder = tmp_path / "languages" / "eo"
    folder.mkdir(parents=True)
    (folder / "epo.hfstol").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()", *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ROSETTA_HOME": str(tmp_path), "COLUMNS": "200"},
    )
    assert done.returncode in {0, 1}, done.stderr
    assert words in " ".join(done.stdout.split())
    assert "epo.hfstol" in done.stdout
