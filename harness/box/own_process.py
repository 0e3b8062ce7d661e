"""A process of this program's own for an engine that reads data of others: limited, and killed from outside; it shuts nothing off."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Final

from harness.box.engine import Inside, Launch
from harness.box.limits import Limits

_KEPT: Final = ("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")  # fmt: skip
"""What of this program's environment the process is told: where Windows and libraries lie, and how many threads to use."""


class OwnProcess:
    """Starts our code as a process with this user's rights and without this program's environment.

    It is for code of ours that reads data of others in native code: a fault, or a batch without end, is the process's alone.
    On Linux its memory is limited (``RLIMIT_AS``); macOS holds no such limit, and Windows has none that a program sets itself.
    """

    name = "a process of its own"
    holds_secrets = True

    def lacking(self) -> str | None:
        """Say that nothing is missing; see ``BoxEngine``."""
        return None

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        """Return how the process is started; see ``BoxEngine``."""
        runner = files("harness.box.inside") / "runner.py"
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        paths = os.pathsep.join(each for each in sys.path if each)
        yield Launch(
            [sys.executable, "-P", "-s", "-B", "-X", "utf8", str(runner)],
            limits={} if sys.platform == "win32" else _held(limits),
            environment={**kept, "PYTHONPATH": paths, "MALLOC_ARENA_MAX": "2"},
            places={"/box/code": str(inside.code.folder)},
        )


def _held(limits: Limits) -> dict[str, int]:
    memory = {"RLIMIT_AS": limits.memory_bytes} if sys.platform == "linux" else {}
    return limits.by_file() | memory
