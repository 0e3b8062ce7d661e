"""A program on a pseudo terminal whose frames are told apart: how long a person waits for one after a key."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import pyte

COLUMNS, LINES = 140, 40
QUIET_SECONDS = 0.12
"""Silence after which the last frame was painted."""
PATIENCE_SECONDS = 20.0
NOTHING_SECONDS = 1.5
"""Without a frame for so long, a key changed nothing that is seen."""

QUESTION, ANSWER, FRAME = b"\x1b[?2026$p", b"\x1b[?2026;2$y", b"\x1b[?2026l"
"""Whether the terminal shows whole frames only, that it does, and the end of one."""


class Waited(NamedTuple):
    """Seconds from a key to the first frame after it, and to the last; and of the processor until the first."""

    first: float
    last: float
    busy: float


class Watched:
    """A program on a pseudo terminal that says where a frame ends."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        env = {**env, "TERM": "xterm-256color"}
        self._process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=env)
        os.close(side)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._main)

    def _read(self, seconds: float) -> bytes:
        if not select.select([self._main], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            data = os.read(self._main, 1 << 20)
        except OSError as error:
            raise EOFError(f"the program has ended; the last that it showed:\n{self.shown}") from error
        if QUESTION in data:
            os.write(self._main, ANSWER)
        return data

    def _busy(self) -> float:
        """Return the processor time that the program has used, in seconds."""
        threads = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9

    def settle(self) -> None:
        """Read until the program is silent."""
        while data := self._read(QUIET_SECONDS):
            self._stream.feed(data)

    def press(self, key: str) -> Waited | None:
        """Press a key and read its frames until silence; gives None where nothing is painted."""
        drawn = bytearray()
        first = last = busy = 0.0
        before = self._busy()
        begun = time.perf_counter()
        os.write(self._main, key.encode())
        while (now := time.perf_counter() - begun) < last + (QUIET_SECONDS if first else NOTHING_SECONDS):
            data = self._read(last + (QUIET_SECONDS if first else NOTHING_SECONDS) - now)
            if FRAME in data:
                last = time.perf_counter() - begun
                first, busy = first or last, busy or self._busy() - before
            drawn += data
        self._stream.feed(bytes(drawn))
        return Waited(first, last, busy) if first else None

    @property
    def shown(self) -> str:
        """The text of the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def see(self, words: str, *, gone: str = "") -> None:
        """Wait until words are there and others no more, and then for silence; raises TimeoutError."""
        end = time.perf_counter() + PATIENCE_SECONDS
        waited = False
        while words not in (shown := self.shown) or (gone and gone in shown):
            if time.perf_counter() > end:
                raise TimeoutError(f"{words!r} never are there, or {gone!r} for ever:\n{shown}")
            self._stream.feed(self._read(0.1))
            waited = True
        if waited:
            self.settle()
