"""Reading a line and printing lines, and nothing else: for screen readers, braille displays and pipes."""

from __future__ import annotations

import getpass
import io
import sys
from typing import TextIO

from rosetta_tui.show.text import plain

MOST_LINE = 20_000
"""Characters of one typed line that are read."""


class LeftError(Exception):
    """The input ended: the person closed it, or the pipe did."""


class Console:
    """Two streams; no cursor is moved, no colour set, nothing written twice."""

    def __init__(self, reads: TextIO | None = None, writes: TextIO | None = None) -> None:
        self._reads = reads or _standard_input()
        self._writes = writes or sys.stdout
        self.typed = self._reads.isatty()
        """True where a person types; a pipe's lines are all meant."""

    def say(self, text: str = "") -> None:
        """Print text, harmless whatever is in it; its line breaks stay."""
        for line in text.split("\n"):
            self._writes.write(f"{_shown(line)}\n")
        self._writes.flush()

    def labelled(self, label: str, text: str) -> None:
        """Print a text of others after its label; further lines are set in, so none looks like ours."""
        first, *rest = text.splitlines() or [""]
        self.say(f"{label} {plain(first)}")
        for line in rest:
            self.say(f"    {plain(line)}")

    def ask(self, prompt: str) -> str:
        """Print a prompt and give the line that is typed, without its end. Raises LeftError at the end."""
        self._writes.write(f"{_shown(prompt)} ")
        self._writes.flush()
        line = self._read_line()
        if not self.typed:
            self._writes.write("\n")
        if not line:
            raise LeftError
        return line.rstrip("\r\n")

    def _read_line(self) -> str:
        """Read a line; of one that is longer than anybody types, the beginning."""
        line = rest = self._reads.readline(MOST_LINE)
        while len(rest) == MOST_LINE and not rest.endswith("\n"):
            rest = self._reads.readline(MOST_LINE)
        return line

    def ask_hidden(self, prompt: str) -> str:
        """Ask for something that must not stay on the screen."""
        if not self.typed:
            return self.ask(prompt)

        try:
            return getpass.getpass(f"{_shown(prompt)} ", stream=self._writes)
        except EOFError:
            raise LeftError from None

    def forget_what_was_typed(self) -> None:
        """Drop keys that were typed before what they would act on was to be seen."""
        if not self.typed:
            return
        if sys.platform == "win32":
            import msvcrt

            while msvcrt.kbhit():
                msvcrt.getwch()
        else:
            import termios

            termios.tcflush(self._reads.fileno(), termios.TCIFLUSH)


def _standard_input() -> TextIO:
    """Let no wrong byte end the sitting: it becomes a mark. Pipes give UTF-8, as the program prints it."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        encoding = sys.stdin.encoding if sys.stdin.isatty() else "utf-8"
        sys.stdin.reconfigure(encoding=encoding, errors="surrogateescape")
    return sys.stdin


def _shown(ours: str) -> str:
    """Return words of a catalogue: harmless, with their no-break spaces as spaces."""
    return plain(ours.replace("\u00a0", " ").replace("\u202f", " "))
