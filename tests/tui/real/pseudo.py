"""A program on a pseudo terminal of its own, whose screen is read through a terminal emulator."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Self, TypeVar

import pyte
from pyte.screens import Char

PATIENCE_SECONDS = 60.0

Seen = TypeVar("Seen")

PROGRAM = """
import fcntl, os, signal, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
if sys.argv[1] == "ignore":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
from rosetta_tui.cli import main
main(sys.argv[2:])
"""


class Pseudo:
    """The app in a session of its own, on a terminal that can be taken away."""

    def __init__(self, home: Path, *words: object, ignore_hang_up: bool = False) -> None:
        """``words`` are the command line's; the app opens on Home without any."""
        self._emulator = Emulator(100, 30)
        self.drawn = bytearray()
        """Everything that came."""
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        ignored = "ignore" if ignore_hang_up else ""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, ignored, *map(str, words)],
            stdin=side, stdout=side, stderr=side,
            env={**env, "ROSETTA_HOME": str(home), "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(side)
        self._there = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._close()

    def _close(self) -> None:
        if self._there:
            os.close(self._main)
        self._there = False

    def screen(self) -> str:
        """Return what stands on the screen, after everything drawn so far."""
        while select.select([self._main], [], [], 0.02)[0]:
            try:
                data = os.read(self._main, 65536)
            except OSError:  # the program has ended
                break
            self.drawn += data
            self._emulator.feed(data)
        return self._emulator.text

    def wait_for(self, *words: str) -> str:
        return wait(self.screen, lambda seen: all(word in seen for word in words))

    def press(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def ended(self) -> int:
        """Read on until the program has ended, and give its exit code."""

        def code() -> int | None:
            self.screen()
            return self.process.poll()

        found = wait(code, lambda code: code is not None)
        self.screen()
        assert found is not None
        return found

    def vanish(self) -> int:
        """Take the terminal away and give the exit code of the program; fails where it goes on."""
        self._close()
        return self.process.wait(PATIENCE_SECONDS)


def wait(look: Callable[[], Seen], fits: Callable[[Seen], bool]) -> Seen:
    """Look again and again until it fits; fails with the last look when patience is over."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not fits(seen := look()):
        assert time.monotonic() < end, seen
        time.sleep(0.02)
    return seen


_COLOURS = re.compile(rb"\x1b\[[0-9;:]*m")
"""Three quarters of the bytes of an app, each of which the emulator looks at on its own."""
_BEGUN = re.compile(rb"\x1b(\[[0-9;:]*)?$")


@cache
def _cell(plain: Char, data: str) -> Char:
    return tuple.__new__(_PlainChar, (data, *plain[1:]))


class _PlainChar(Char):
    """A cell without colours; the emulator makes one for each letter that it draws."""

    __slots__ = ()

    def _replace(self, **changes: str) -> Char:  # type: ignore[override]
        return _cell(self, changes["data"]) if changes.keys() == {"data"} else super()._replace(**changes)  # type: ignore[arg-type]  # fmt: skip


class Emulator:
    """A terminal of so many columns and lines."""

    def __init__(self, columns: int, lines: int) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._screen.cursor.attrs = _PlainChar(*self._screen.cursor.attrs)
        self._stream = pyte.ByteStream(self._screen)
        self._begun = b""
        """The beginning of a colour whose end did not come yet."""
        self.text = ""
        """The lines that are shown."""

    def feed(self, data: bytes) -> None:
        """Take in what a program sent."""
        data = _COLOURS.sub(b"", self._begun + data)
        begun = _BEGUN.search(data)
        self._begun = begun[0] if begun else b""
        self._stream.feed(data[: len(data) - len(self._begun)])
        self.text = "\n".join(line.rstrip() for line in self._screen.display)
