"""Ctrl-C at the start of a real process: whatever is being imported, it ends with 130 and one word, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rosetta_tui.cli import main
from tests.review.thorough import times

PROGRAM = """
import os, signal, sys
place, seen = int(sys.argv.pop(1)), 0

class Counting:  # sends Ctrl-C while the module of this place is looked for
    @staticmethod
    def find_spec(name, path=None, target=None):
        global seen
        seen += 1
        if seen == place:
            os.kill(os.getpid(), signal.SIGINT)

from rosetta_tui.cli import main
sys.meta_path.insert(0, Counting)
try:
    main()
finally:
    print(f"imports: {seen}", file=sys.stderr)
"""

SWALLOWED = """
import os, signal, sys

class Swallowing:  # as extensions in C do: whatever goes wrong in them is an ImportError
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "click":
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except BaseException:
                raise ImportError("failed to import") from None

from rosetta_tui.cli import main
sys.meta_path.insert(0, Swallowing)
main()
"""

LATER = """
import os, signal, sys
from rosetta_tui import cli

done = cli._run  # the work, which is interrupted outside of any import
def interrupted(arguments):
    os.kill(os.getpid(), signal.SIGINT)
    return done(arguments)
cli._run = interrupted
cli.main()
"""


def run(program: str, *arguments: str, home: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, env=os.environ | {"ROSETTA_HOME": str(home)},
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT that a process sends itself")
@pytest.mark.costly("starts the program again and again")
def test_ctrl_c_while_anything_is_imported_is_one_word(tmp_path: Path) -> None:
    for command in ("leaderboard", "verify README.md")[: times(1, 2)]:
        words = command.split()
        run(PROGRAM, "0", *words, home=tmp_path)  # makes the store, with libraries of its own
        code, said = run(PROGRAM, "0", *words, home=tmp_path)
        count = int(said.rpartition("imports: ")[2])
        assert code != 130
        assert count > 50
        tries = times(2, thorough=12)
        for place in sorted({1, *(max(1, count * each // tries) for each in range(tries))}):
            code, said = run(PROGRAM, str(place), *words, home=tmp_path)
            assert (code, "Traceback" in said) == (130, False), (place, code, said)
            assert said.lstrip().startswith("Interrupted.\n"), (place, said)
    for program in (SWALLOWED, LATER):
        code, said = run(program, "leaderboard", home=tmp_path)
        assert (code, said.strip()) == (130, "Interrupted.")


def test_the_handler_is_python_s_own_where_another_program_calls_in() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit):
        main(["--help"])
    assert signal.getsignal(signal.SIGINT) is before
