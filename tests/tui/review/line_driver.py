"""The line face: within this process, and as a program of its own through a terminal (pexpect) and through pipes."""

import contextlib
import io
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from review.log.fold import ReviewerState, fold
from review.log.laptop import Laptop
from rosetta_tui.review.rating.lines.face import run_lines
from rosetta_tui.review.rating.lines.pages import Console
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.keyring_in_memory import no_keyring
from tests.review.session.scenes import CODE, batch_of, write_file

__all__ = ["no_keyring"]

MAIN = ["-c", "from rosetta_tui.cli import main; main()", "review", "open", "--lines"]
PROMPT = re.compile(
    rb"(?:for help|continues|then Enter|press Enter|code|2 no|or q|stops|back|words|nowhere|nothing): \Z", re.IGNORECASE
)


def environment(home: Path) -> dict[str, str]:
    """Return a home of its own, no keyring to ask, and a locale that says nothing of languages."""
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "ROSETTA_HOME": str(home),
        "HOME": str(home),
        "LANG": "C.UTF-8",
    }


def _interruptible() -> None:
    """Let Ctrl-C act; a program that a shell began in the background inherits that it does nothing."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Typist:
    """A person at a terminal: types a line, reads until a prompt."""

    WAIT = 0.27
    """Seconds before a line is typed: longer than the guard; a person needs more."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.child: Any = pexpect.spawn(
            sys.executable,
            [*MAIN, *arguments],
            env=environment(home),
            encoding="utf-8",
            timeout=600,
            dimensions=(24, 80),
            echo=False,
            preexec_fn=_interruptible,
        )
        self.child.delaybeforesend = None  # type: ignore[assignment]

    def expect(self, text: str) -> None:
        """Read until some words."""
        self.child.expect_exact(text)

    def type(self, line: str, *, judging: bool = False) -> None:
        """Type a line and Enter; ``judging`` lines wait for the guard."""
        self.child.delaybeforesend = self.WAIT if judging else None
        self.child.send(line + "\r")


class Pipe:
    """A program at the other end of two pipes."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *MAIN, *arguments],
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.said = b""

    def read(self, seconds: float = 20.0) -> bool:
        """Read until a prompt; False where the time was over or the program ended."""
        assert self.process.stdout is not None
        while not PROMPT.search(self.said):
            if not select.select([self.process.stdout], [], [], seconds)[0]:
                return False
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                return False
            self.said += chunk
        return True

    def type(self, line: str) -> None:
        """Write a line."""
        assert self.process.stdin is not None
        self.said += b"\n"  # what was asked is answered
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.end()

    def end(self) -> int:
        """Close both pipes and wait."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        return self.process.wait(timeout=600)


BATCH = "ba" * 8
FIRST = ["1", CODE, "1", "3"]
"""Trust the organisation, type the code, agree, say that one did not take part."""


def sit(home: Path, file: Path, *lines: str, **options: object) -> tuple[int, str]:
    """Type lines into the face within this process; gives exit code and all that was printed."""
    printed = io.StringIO()
    with Laptop.open(home) as laptop:
        opening = TerminalOpening(laptop, places=[file], **options)  # type: ignore[arg-type]
        typed = io.StringIO("".join(f"{line}\n" for line in lines))
        code = run_lines(opening, Console(typed, printed))
    return code, printed.getvalue()


def state_of(home: Path, code: str = CODE) -> ReviewerState:
    with Laptop.open(home) as laptop:
        return fold(laptop.events()).reviewers.get((BATCH, code), ReviewerState())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_file(batch_of(), tmp_path / "stick")
