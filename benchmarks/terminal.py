"""A real pseudo-terminal with our program in it, for measurements that a test harness would flatter."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROSETTA = [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()"]


class Terminal:
    """Runs a command on a pseudo-terminal and keeps what it draws."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], columns: int = 140, rows: int = 40) -> None:
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.started = time.perf_counter()
        self.drawn = 0
        self._tail = b""
        self._awaited = b"\0never"
        self._seen = threading.Event()
        self._process = subprocess.Popen(
            command, stdin=side, stdout=side, stderr=side, env={**env, "TERM": "xterm-256color"}
        )
        os.close(side)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._main, 65536)
            except OSError:
                return
            if not data:
                return
            self.drawn += len(data)
            self._tail = (self._tail + data)[-65536:]
            if self._tail.find(self._awaited) >= 0:
                self._seen.set()

    def see(self, text: str, seconds: float) -> float:
        """Wait until a text is drawn; gives the seconds since the start, raises TimeoutError."""
        self._awaited = text.encode()
        self._seen.clear()
        if self._awaited not in self._tail and not self._seen.wait(seconds):
            raise TimeoutError(text)
        return time.perf_counter() - self.started

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._main, keys.encode())

    def wait(self, seconds: float) -> float:
        """Wait for the end; gives the seconds since the start."""
        self._process.wait(seconds)
        return time.perf_counter() - self.started

    def processor(self) -> float:
        """Return the processor's seconds that the command took by now (Linux)."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Kill what is left."""
        self._process.kill()
        self._process.wait()
