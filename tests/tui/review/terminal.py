"""The review mode in a process and on a pseudo terminal of its own, read through a terminal emulator.

Run as ``python -m tests.tui.review.terminal FOLDER`` it is the program that the tests drive.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pexpect

from review.files.batch import Batch
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import Relation
from review.session.session import Session
from tests.review.session.scenes import CODE, write_file
from tests.tui.real.pseudo import Emulator

ROOT = Path(__file__).parents[3]
SECONDS = 30.0
"""Longest wait for anything."""
TOO_SOON = "That came too soon"
"""Said where a key comes in the moment between painting a sentence and noting that it was painted."""


def prepare(folder: Path, batch: Batch, *, agreed: bool = True) -> None:
    """Put a batch on the stick, with its maker trusted, the code known and the consent given."""
    from rosetta_tui.review.rating.sitting import TerminalOpening

    write_file(batch, folder / "stick")
    with Laptop.open(folder / "home") as laptop:
        opening = TerminalOpening(laptop)
        opening.accept(batch)
        opening.reviewer(batch, CODE)
        if agreed:
            session = opening.session(batch, CODE, Face.TERMINAL)
            session.agree(share_corrections=False)
            session.relate(Relation.NEITHER)


class Terminal:
    """A child on a terminal of 80 × 24; counts the keys that are pressed."""

    def __init__(self, folder: Path) -> None:
        self._emulator = Emulator(80, 24)
        self.keys = 0
        self._again = b""
        """What was pressed last, until it is pressed again because it came too soon: once, as a busy
        program that is slow to take the second would take a third for the next sentence."""
        env = {name: said for name, said in os.environ.items() if name not in {"NO_COLOR", "LANG"}}
        env["TERM"] = "xterm-256color"
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "tests.tui.review.terminal", str(folder)],
            dimensions=(24, 80),
            env=env,
            cwd=str(ROOT),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close(force=True)

    @property
    def shown(self) -> str:
        return self._emulator.text

    def look(self, seconds: float = 0.0) -> bool:
        """Take in what was drawn; tells whether there was anything."""
        ready, _, _ = select.select([self.child.child_fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.child.child_fd, 65536)
        except OSError:
            return False
        self._emulator.feed(data)
        return bool(data)

    def see(self, words: str) -> None:
        """Wait until words stand on the screen."""
        self.until(lambda: words in self.shown, words)

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + SECONDS
        while not is_so():
            if time.monotonic() > end:
                raise AssertionError(f"{what!r} never comes:\n{self.shown}")
            if not self.look(0.05) and self._again and TOO_SOON in self.shown:
                os.write(self.child.child_fd, self._again)
                self._again = b""

    def press(self, keys: str, then: str = "") -> None:
        """Press keys, each counted, once nothing more is drawn; then wait for words."""
        while self.look(0.03):
            pass
        self.keys += len(keys)
        self._again = keys.encode()
        os.write(self.child.child_fd, keys.encode())
        if then:
            self.see(then)

    def write(self, words: str) -> None:
        """Type a text, which is not counted."""
        os.write(self.child.child_fd, words.encode())

    def kill(self) -> None:
        """Kill at once, and take in what had been drawn."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child.pid, 9)  # type: ignore[arg-type]
        while self.look(0.05):
            pass
        self.child.wait()


def main(folder: Path) -> int:
    from rosetta_tui.review.rating.sitting import TerminalOpening
    from rosetta_tui.review.rating.visit import run_review

    class Doors(TerminalOpening):  # as of ``reviewing``, whose imports cost more than the program
        def sticks(self) -> list[Path]:
            return []

        def session(self, batch: Batch, reviewer: str, face: Face, **_: float) -> Session:
            return super().session(batch, reviewer, face, guard=0.0)

    with Laptop.open(folder / "home") as laptop:
        files = sorted((folder / "stick").glob("*.rosetta-batch"))
        return run_review(Doors(laptop, places=files, language="en"))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
